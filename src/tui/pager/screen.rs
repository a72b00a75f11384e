//! The output as a screen of the application: what its keys and prompts do, and what events change of it.

use std::path::{Path, PathBuf};

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::document::reader::Cost;
use crate::output::recorded::RecordedCall;
use crate::source::PathStatus;
use crate::text::filter::LineScope;
use crate::text::search::Toward;
use crate::tui::event::{Event, Message, Purpose};
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::list::List;
use crate::tui::popup::prompt::Prompt;
use crate::tui::screen::{Effect, Effects, Link, Screen, ScreenRequest, ScreenRows, StatusRow};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::Span;

use super::panes::TargetLine;
use super::text_box::TextBox;
use super::{OutputEvent, Pager, ThenRead, picker, view};

impl Screen for Pager {
    fn context(&self) -> KeyContext {
        if self.drawer.picker.is_some() { KeyContext::Lists } else { KeyContext::Pager }
    }

    fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    fn say(&mut self, message: Option<Message>) {
        self.message = message;
    }

    fn update(&mut self, event: Event, is_top: bool, effects: &mut Effects) -> Result<(), Event> {
        match event.downcast()? {
            OutputEvent::Ready(_) if !is_top => {}
            event => self.handle(event, effects),
        }
        Ok(())
    }

    fn key(&mut self, key: KeyEvent, effects: &mut Effects) -> bool {
        if self.drawer.picker.is_some() {
            return false;
        }
        self.drawer.is_open() && self.drawer_key(key, effects)
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if self.drawer.picker.is_some() {
            return self.picker_act(action, count, effects);
        }
        match action {
            Action::Facts => self.show_facts(effects),
            Action::Stores => match &self.output.recorded {
                Some(RecordedCall { index: Some(index), .. }) => effects.send(Link::SpillOfCall(*index)),
                _ => effects.show(Link::Stores(None)),
            },
            Action::Back if !self.back(effects) => effects.request(ScreenRequest::Back),
            Action::Back => {}
            Action::Search | Action::SearchBack => {
                let toward = if action == Action::Search { Toward::End } else { Toward::Start };
                effects.push_layer(Prompt::new(Purpose::Search { toward, times: count }));
            }
            Action::Matching => {
                effects.push_layer(Prompt::new(Purpose::Lines { scope: LineScope::All, around: count }));
            }
            Action::Window | Action::NextWindow | Action::PreviousWindow | Action::ReadForm
                if self.output.is_rest_missing() =>
            {
                self.note_text_only();
            }
            Action::Window => effects.push_layer(Prompt::new(Purpose::Window)),
            Action::Json => {
                let (side, at) = (self.focus(), self.current_line(self.focus()));
                match self.output.line_as_json(side, count, at) {
                    Ok(line) => effects.push_layer(TextBox::new(line)),
                    Err(words) => self.fail(words),
                }
            }
            Action::Copy => self.copy(effects),
            _ => self.carry_out(action, count, effects),
        }
        self.advise_again(effects);
    }

    fn supports(&self, action: Action) -> bool {
        match action {
            _ if self.drawer.picker.is_some() => picker::supports(action),
            Action::Direction => self.output.policy().direction().is_some(),
            _ => true,
        }
    }

    fn close_inner(&mut self, effects: &mut Effects) -> bool {
        self.close_picker(effects) || self.close_drawer(effects) || self.close_read_form(effects)
    }

    fn stop(&mut self, effects: &mut Effects) -> bool {
        self.give_up_planning(effects)
            || self.stop_search(effects)
            || std::mem::take(&mut self.panes.following)
            || self.close_picker(effects)
            || self.close_drawer(effects)
    }

    fn repaint(&mut self, canvas: Canvas, _effects: &mut Effects) {
        if canvas.size == self.canvas.size {
            self.canvas = canvas;
            return;
        }
        self.save_anchor();
        self.canvas = canvas;
        self.drawer.picker.iter_mut().for_each(|picker| picker.fit(canvas.size));
        self.show_otherwise();
        self.follow();
    }

    fn close(&mut self, effects: &mut Effects) {
        effects.stop(Slot::OF_OUTPUT);
    }

    fn sort_by(&mut self, column: usize, effects: &mut Effects) {
        self.on_picker(|list| list.sort_by(column), effects);
    }

    fn draw(&self, status: StatusRow, frame: &mut Frame, area: Rect, cost: &Cost) -> ScreenRows {
        view::draw(self, status, frame, area, cost)
    }

    fn enter(&mut self, purpose: Purpose, text: &str, effects: &mut Effects) -> Result<(), String> {
        match (purpose, text.trim()) {
            (Purpose::Search { toward, times }, _) => self.search(text, (toward, nth(times)), effects)?,
            (Purpose::Lines { scope, around }, _) => self.filter(text, scope, around, effects)?,
            (_, text) if self.drawer.picker.is_some() => {
                let done = self.drawer.picker.as_mut().map(|picker| picker.list.enter(purpose, text));
                done.transpose()?;
                self.on_picker(|_| (), effects);
            }
            (Purpose::GoTo, "n") => self.other_file(Some(self.file + 1), effects),
            (Purpose::GoTo, "p") => self.other_file(self.file.checked_sub(1), effects),
            (Purpose::GoTo, text) => self.go_to(text)?,
            (Purpose::Mark, name) => self.panes.set_mark(name),
            (Purpose::ToMark, name) => self.go_to_mark(name)?,
            (Purpose::Window, text) => self.set_window(text, effects)?,
            _ => {}
        }
        self.advise_again(effects);
        Ok(())
    }

    fn type_on(&mut self, purpose: Purpose, text: &str, effects: &mut Effects) {
        match purpose {
            Purpose::Search { toward, times } => self.type_search(text, (toward, nth(times)), effects),
            Purpose::Filter => self.on_picker(|list| list.filter_by(text), effects),
            _ => {}
        }
    }

    fn give_up_typing(&mut self, purpose: Purpose, effects: &mut Effects) {
        match purpose {
            Purpose::Filter => self.on_picker(List::give_up_filter, effects),
            _ => self.give_up_search(effects),
        }
    }

    fn history(&self, purpose: Purpose) -> &[String] {
        match purpose {
            Purpose::Lines { .. } => &self.filter.history,
            _ => &self.find.history,
        }
    }

    fn prompt_note(&self) -> Option<Span> {
        view::status::typing_note(self)
    }

    fn is_running(&self) -> bool {
        self.running
    }
}

/// Returns which match a search goes to, 1-based: that of the number typed before it, else the first.
fn nth(times: Option<u64>) -> u64 {
    times.unwrap_or(1).max(1)
}

impl Pager {
    fn other_file(&mut self, to: Option<usize>, effects: &mut Effects) {
        match to.filter(|to| *to < self.files) {
            Some(to) => effects.request(ScreenRequest::OtherFile(to)),
            None if self.files < 2 => self.note("no other file was named on the command line"),
            None => {
                let end = if self.file == 0 { "first" } else { "last" };
                self.note(format!("file {} of {} is the {end}", self.file + 1, self.files));
            }
        }
    }

    pub(crate) fn handle(&mut self, event: OutputEvent, effects: &mut Effects) {
        match event {
            OutputEvent::Counted { counts, measure, measured } => {
                if self.output.add_counts(&counts, (measured, measure)) {
                    self.plan_again(effects);
                    self.compare_on(effects);
                }
                self.count_errors(effects);
            }
            OutputEvent::Sought(sought) => self.on_sought(sought, effects),
            OutputEvent::MatchesCounted(what, end, count) => self.on_match_count(what, end, count),
            OutputEvent::Filtered(first, lines) => self.on_filter_counts(first, &lines),
            OutputEvent::Changed(changed) => self.on_change(changed, effects),
            OutputEvent::SavedAs(path) => {
                self.output.subject.context.saved_as = path;
                self.plan_again(effects);
            }
            OutputEvent::CutShort(fault) => {
                let shown = if self.output.view.is_empty() { "" } else { "; what came before is shown" };
                self.fail(format!("{fault}{shown}"));
                self.output.fault = Some(fault);
            }
            OutputEvent::Packed(form, bytes) => {
                self.output.packed = Some((form, bytes));
                // Once all of it is unpacked, there is nothing to follow.
                self.panes.following &= self.is_coming();
            }
            OutputEvent::Ended(ending) => self.on_ending(*ending, effects),
            OutputEvent::Planned(planned) => self.on_plan(*planned, effects),
            OutputEvent::Compared(reply) => self.on_comparison(reply, effects),
            OutputEvent::Advised(change) => {
                if let Some(advice) = self.drawer.advice.as_mut().filter(|advice| advice.found.is_none()) {
                    advice.found = Some(change);
                }
            }
            OutputEvent::ReadTool(choice, then) => self.on_read_tool(choice, then, effects),
            OutputEvent::Policies(choices) => self.open_picker(choices, effects),
            OutputEvent::Ready(ready)
                if ready.recorded.index.and_then(|index| self.recorded(index)).is_some() =>
            {
                effects.push(Effect::OpenCall(ready, Default::default()));
            }
            OutputEvent::Kept(paths) => self.on_keep(&paths, effects),
            // Lines are marked as soon as they are drawn again.
            OutputEvent::Ready(_) | OutputEvent::SeveritiesCompiled => {}
            OutputEvent::Checked(index, verdict) => {
                if let Some(recorded) = self.recorded(index) {
                    recorded.check = Some(*verdict);
                }
            }
            OutputEvent::Facts(index, facts) => {
                if let Some(recorded) = self.recorded(index) {
                    (recorded.facts, recorded.texts) = (facts.facts, Some(facts.texts));
                }
            }
            OutputEvent::Record(path, found) => self.on_record(&path, found, effects),
        }
        self.start_now(effects);
        self.refresh_picker();
        self.advise_again(effects);
    }

    fn carry_out(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        self.start = None;
        match action {
            Action::NextMatch
            | Action::PreviousMatch
            | Action::NextMissed
            | Action::PreviousMissed
            | Action::NextError
            | Action::PreviousError => self.seek_by(action, count, effects),
            Action::Select => self.toggle_selection(),
            Action::Editor => {
                let line = self.output.line_number(self.current_offset()).unwrap_or(1);
                let subject = &self.output.subject;
                // What was read of a pipe, or of a file that was deleted, is in another one once it is kept.
                let is_gone = subject.file.is_none() || self.path_status == PathStatus::Gone;
                let path = (subject.is_kept && is_gone).then(|| subject.path().into());
                effects.push(Effect::Edit { path, line });
            }
            Action::Keep => self.keep(effects),
            Action::Refresh if self.output.subject.is_kept && self.output.subject.file.is_none() => {
                self.note("what was read is kept, and does not change");
            }
            Action::Refresh => effects.push(Effect::Reopen),
            Action::ReadForm if self.close_read_form(effects) => {}
            Action::ReadForm => self.ask_read_tool(ThenRead::Show, effects),
            Action::NextWindow => self.go_window(true, nth(count), effects),
            Action::PreviousWindow => self.go_window(false, nth(count), effects),
            Action::Limits if self.drawer.is_open() => {}
            Action::Limits => self.open_drawer(effects),
            Action::Evidence => self.toggle_evidence(effects),
            Action::Down | Action::Up if self.selection.is_some_and(|of| of.side == self.focus()) => {
                self.extend_selection(action, count);
            }
            _ => {
                self.move_by(action, count);
                self.extend_selection(action, count);
            }
        }
    }

    fn on_keep(&mut self, paths: &[PathBuf], effects: &mut Effects) {
        let subject = &mut self.output.subject;
        let is_it = paths.iter().any(|path| path == Path::new(subject.path()));
        let Some(last) = paths.last().filter(|_| is_it) else { return };
        subject.is_kept = true;
        // Output in no file, or in a deleted one, is in the last of them.
        let last = last.to_string_lossy().into_owned();
        if subject.file.is_none() {
            self.handle(OutputEvent::SavedAs(last), effects);
        } else if self.path_status == PathStatus::Gone {
            subject.file = Some(last);
        }
    }

    fn stop_search(&mut self, effects: &mut Effects) -> bool {
        let is_running = self.find.seeking.take().is_some();
        if is_running {
            self.note("search stopped");
            effects.stop([Slot::Search]);
            // A count that ends early would stay, and say nothing.
            if self.find.current == [None, None] {
                self.find.clear();
                effects.stop([Slot::CountMatches]);
            }
        }
        is_running
    }

    /// Handles Esc: abandons a plan, a search, the filter or following. Returns false if there is none.
    pub(crate) fn back(&mut self, effects: &mut Effects) -> bool {
        if self.give_up_planning(effects) || self.selection.take().is_some() || self.stop_search(effects) {
            return true;
        }
        if self.find.pattern.is_some() || self.find.current != [None, None] {
            let side = self.focus();
            let at = self.find.current(side).map(|found| found.start);
            let line = |at| TargetLine { side, at, offset: self.output.doc(side).to_file(at) };
            self.panes.target = at.map(line);
            self.find.clear();
            effects.stop([Slot::CountMatches]);
            return true;
        }
        self.leave_filter(true, effects)
            || std::mem::take(&mut self.panes.following)
            || self.close_read_form(effects)
    }

    fn recorded(&mut self, index: usize) -> Option<&mut RecordedCall> {
        self.output.recorded.as_mut().filter(|recorded| recorded.index == Some(index))
    }
}
