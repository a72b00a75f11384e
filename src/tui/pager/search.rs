//! The search in an output: the pattern, also while it is typed, the current match and going from one to the next.

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use crate::document::scans::Search;
use crate::text::label::SafeText;
use crate::text::search::{Pattern, Severity, Toward};
use crate::tui::event::{JUMP, Message};
use crate::tui::job::Slot;
use crate::tui::keys::Action;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::count::Tally;
use super::panes::Panes;
use super::{Counting, OutputEvent, Pager, enter_in};

/// Previews up to this many bytes are searched; of longer ones, the file is searched instead.
const MAX_PREVIEW: u64 = 64 << 20;

#[derive(Debug, Clone, Default)]
pub struct Find {
    pub pattern: Option<Pattern>,
    toward: Option<Toward>,
    pub history: Vec<String>,
    /// The current match in each pane: a range of its document.
    pub current: [Option<Range<u64>>; 2],
    pub tally: Tally,
    /// The kind of the current match.
    pub at: Counting,
    pub(crate) typing: Option<Typing>,
    /// What a worker is searching for, and in which text.
    pub(super) seeking: Option<(SearchTarget, Side)>,
    /// The first match in the model's text, a range of its document, which is next if the lines shown have no lost one.
    pub(super) first: Option<Range<u64>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Typing {
    before: Box<Find>,
    panes: Panes,
    /// The generation of the file's content then.
    generation: u64,
    text: String,
    fault: Option<String>,
    said: Option<Message>,
}

impl Typing {
    /// Returns what to show beside the typed text instead of counts, if anything.
    pub(crate) fn note(&self) -> Option<SafeText> {
        let said = |said: &Message| if said.is_error { "no match".into() } else { said.text.clone() };
        self.fault.as_deref().map(SafeText::from).or(self.said.as_ref().map(said))
    }
}

impl Find {
    /// Prepares for another output: keeps the pattern, drops the matches.
    pub fn forget_place(&mut self) {
        self.current = [None, None];
        self.tally = Tally::default();
        self.seeking = None;
    }

    pub fn clear(&mut self) {
        self.forget_place();
        self.pattern = None;
    }

    pub fn current(&self, side: Side) -> Option<&Range<u64>> {
        self.current[side as usize].as_ref()
    }
}

impl Pager {
    /// Searches for a typed pattern; an empty one repeats the last, from the current match on.
    pub(crate) fn search(
        &mut self,
        text: &str,
        (toward, times): (Toward, u64),
        effects: &mut Effects,
    ) -> Result<(), String> {
        if self.accept_typing(text)? {
            enter_in(&mut self.find.history, text);
            return Ok(());
        }
        self.give_up_search(effects);
        let last = self.find.history.last();
        let text = if text.is_empty() { last.ok_or("type what to search for")? } else { text }.to_owned();
        self.set_search(&text, toward, effects)?;
        self.seek(SearchTarget { what: Counting::Matches, missed: false, toward, times }, effects);
        Ok(())
    }

    /// Makes a typed pattern that of the search, without going to a match.
    pub(super) fn set_search(
        &mut self,
        text: &str,
        toward: Toward,
        effects: &mut Effects,
    ) -> Result<(), String> {
        let pattern = Pattern::in_text(text, self.output.utf16()).map_err(|error| error.describe())?;
        enter_in(&mut self.find.history, text);
        self.find.toward = Some(toward);
        self.panes.set_mark(JUMP);
        if !self.find.pattern.as_ref().is_some_and(|old| old.same(&pattern)) {
            self.find.forget_place();
            self.find.pattern = Some(pattern);
            self.count(Counting::Matches, effects);
        }
        Ok(())
    }

    /// Goes on to a match, as `less` does, or to a lost one; to an error, or a warning where there is none.
    pub(crate) fn seek_by(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if matches!(action, Action::NextMatch | Action::PreviousMatch)
            && self.find.pattern.is_none()
            && let (Some(last), Some(toward)) = (self.find.history.last().cloned(), self.find.toward)
            && let Err(fault) = self.set_search(&last, toward, effects)
        {
            return self.fail(fault);
        }
        let toward = self.find.toward.filter(|_| self.find.pattern.is_some());
        let severity = Counting::Severity(self.severity());
        let (what, missed, ahead) = match (action, toward) {
            (Action::NextError | Action::PreviousError, _) => (severity, false, Toward::End),
            (Action::NextMissed | Action::PreviousMissed, None) => (severity, true, Toward::End),
            (Action::NextMissed | Action::PreviousMissed, Some(_)) => (Counting::Matches, true, Toward::End),
            (_, Some(toward)) => (Counting::Matches, false, toward),
            (_, None) => {
                return self.note(format!("no search yet; {} to search", self.key_of(Action::Search)));
            }
        };
        if !missed && what == severity {
            self.panes.set_mark(JUMP);
        }
        let is_ahead = matches!(action, Action::NextMatch | Action::NextMissed | Action::NextError);
        let toward = if is_ahead { ahead } else { ahead.reversed() };
        self.seek(SearchTarget { what, missed, toward, times: count.unwrap_or(1).max(1) }, effects);
    }

    /// Searches for what is typed so far, from where the typing began, for the match of a number, 1-based.
    pub(crate) fn type_search(&mut self, text: &str, (toward, times): (Toward, u64), effects: &mut Effects) {
        if self.find.typing.as_ref().map_or(text.is_empty(), |typing| typing.text == text) {
            return;
        }
        self.begin_typing();
        self.find.clear();
        let Some(typing) = &mut self.find.typing else { return };
        let (pattern, panes) = (Pattern::in_text(text, self.output.utf16()), typing.panes.clone());
        let fault = pattern.as_ref().err().map(|error| error.describe());
        (typing.text, typing.fault, typing.said) = (text.to_owned(), fault, None);
        self.restore_panes(panes);
        let Some(pattern) = pattern.ok().filter(|_| !text.is_empty()) else {
            return effects.stop([Slot::Search, Slot::CountMatches]);
        };
        self.find.toward = Some(toward);
        self.find.pattern = Some(pattern);
        self.count(Counting::Matches, effects);
        self.seek(SearchTarget { what: Counting::Matches, missed: false, toward, times }, effects);
    }

    fn begin_typing(&mut self) {
        if self.find.typing.is_some() {
            return;
        }
        let mut before = mem::take(&mut self.find);
        self.find.history = mem::take(&mut before.history);
        self.find.typing = Some(Typing {
            before: Box::new(before),
            panes: self.panes.clone(),
            generation: self.output.view.generation(),
            text: String::new(),
            fault: None,
            said: None,
        });
    }

    fn restore_panes(&mut self, panes: Panes) {
        self.panes = panes;
        self.align_panes();
        self.follow();
    }

    pub(crate) fn give_up_search(&mut self, effects: &mut Effects) {
        let Some(Typing { before, panes, generation, .. }) = self.find.typing.take() else { return };
        let history = mem::take(&mut self.find.history);
        self.find = Find { history, ..*before };
        self.find.seeking = None;
        self.restore_panes(panes);
        effects.stop([Slot::Search, Slot::CountMatches]);
        self.recount_matches(generation == self.output.view.generation(), effects);
    }

    /// Accepts the typed pattern: its search stays. Returns false if `text` is not what was being typed.
    fn accept_typing(&mut self, text: &str) -> Result<bool, String> {
        let Some(mut typing) = self.find.typing.take_if(|typing| typing.text == text && !text.is_empty())
        else {
            return Ok(false);
        };
        if let Some(fault) = typing.fault.clone() {
            self.find.typing = Some(typing);
            return Err(fault);
        }
        typing.panes.set_mark(JUMP);
        self.panes.marks = typing.panes.marks;
        self.message = typing.said;
        Ok(true)
    }

    /// Searches the pane with the focus, or Spill for what only Spill has.
    pub(crate) fn seek(&mut self, sought: SearchTarget, effects: &mut Effects) {
        let is_in_spill = sought.missed || self.output.made.seen.len() > MAX_PREVIEW;
        let side = if is_in_spill { Side::Spill } else { self.focus() };
        self.seek_in(side, sought, effects);
    }

    pub(super) fn seek_in(&mut self, side: Side, sought: SearchTarget, effects: &mut Effects) {
        self.seek_after(self.seek_from(side, sought.toward) as usize, side, sought, effects);
    }

    /// Goes to the first match from a line on. The file is searched: Preview's text moves when it is made again.
    pub(crate) fn seek_line(&mut self, offset: usize, effects: &mut Effects) {
        let sought = SearchTarget { what: Counting::Matches, missed: false, toward: Toward::End, times: 1 };
        self.seek_after(offset, Side::Spill, sought, effects);
    }

    fn seek_after(&mut self, from: usize, side: Side, sought: SearchTarget, effects: &mut Effects) {
        let Some(pattern) = self.pattern(sought.what).cloned() else { return };
        let output = &self.output;
        let view = match output.text_to_search(side) {
            Ok(view) => view,
            Err(error) => return self.message = Some(Message::error(error.to_string())),
        };
        (self.find.seeking, self.find.first) = (Some((sought, side)), None);
        let search = Search {
            pattern,
            view,
            skip: if sought.missed { output.made.kept.clone().into() } else { Arc::default() },
            from,
            toward: sought.toward,
            times: sought.times,
            within: output.filter_of(side).cloned(),
        };
        effects.run(Slot::Search, move |context| {
            let found = search.find(&|| context.is_wanted());
            context.send(OutputEvent::Sought(found));
        });
    }

    /// Returns where to search from: the current match if it is visible, else the edge of the screen.
    fn seek_from(&self, side: Side, toward: Toward) -> u64 {
        let shown = self.shown_range(side);
        let len = self.output.doc(side).len();
        let current = self.find.current(side).filter(|m| shown.contains(&m.start));
        match (current, toward) {
            (Some(found), Toward::End) => found.end,
            (Some(found), Toward::Start) => found.start,
            (None, Toward::Start) if shown.end >= len => len,
            (None, _) => shown.start,
        }
    }

    fn no_match(&self) -> Message {
        let name = self.find.pattern.as_ref().map_or("", |pattern| pattern.text());
        Message::error(format!("no match for {name}"))
    }

    pub(super) fn on_match_count(&mut self, what: Counting, end: usize, count: u64) {
        self.tally_mut(what).counts.push(end, count);
        // The output has grown, and has one now.
        if self.find.tally.counts.total() > 0 && self.message == Some(self.no_match()) {
            self.message = None;
        }
    }

    pub(super) fn on_sought(&mut self, sought: Option<(Range<usize>, bool)>, effects: &mut Effects) {
        let Some((target, side)) = self.find.seeking.take() else { return };
        let found = sought.map(|(range, wrapped)| (range.start as u64..range.end as u64, wrapped));
        match found {
            Some((range, true)) if self.goes_on_in_spill(target, side) => {
                let at = self.seek_from(side, target.toward);
                let at = at.saturating_sub((target.toward == Toward::End).into());
                let from = self.output.made.seen.kept_at(at).unwrap_or_default();
                self.seek_after(from, Side::Spill, SearchTarget { missed: true, ..target }, effects);
                self.find.first = Some(range);
            }
            Some((range, wrapped)) => self.go_to_match((target, side), range, wrapped),
            None => self.on_no_match((target, side), effects),
        }
        // What a search says while its pattern is being typed stands beside the pattern.
        if let Some(typing) = &mut self.find.typing {
            typing.said = self.message.take();
        }
    }

    /// Searches Spill if Preview has no match; otherwise says that there is none.
    fn on_no_match(&mut self, (sought, side): (SearchTarget, Side), effects: &mut Effects) {
        if side == Side::Preview {
            return self.seek_in(Side::Spill, sought, effects);
        }
        if let Some(first) = self.find.first.take() {
            return self.go_to_match((SearchTarget { missed: false, ..sought }, Side::Preview), first, true);
        }
        let SearchTarget { what, missed, .. } = sought;
        if what == Counting::Severity(Severity::Error) && self.tally(what).counts.total() == 0 {
            return self
                .seek(SearchTarget { what: Counting::Severity(Severity::Warning), ..sought }, effects);
        }
        let tally = self.tally(what);
        let exists = !tally.is_whole(self.output.view.len()) || tally.counts.total() > 0;
        let verb = self.output.certainty().verb();
        let is_filtered = self.output.filter.is_some();
        let place = if is_filtered { "in the lines shown" } else { "found" };
        let name = match what {
            Counting::Matches => "match",
            Counting::Severity(severity) => severity.as_str(),
        };
        self.message = Some(match what {
            _ if missed && exists && is_filtered => Message::note(format!("no lost {name} {place}")),
            _ if missed && exists => Message::note(format!("the model {verb} every {name}")),
            Counting::Matches if is_filtered => {
                let (none, filter) = (self.no_match().text, self.key_of(Action::Matching));
                Message::error(format!("{none} {place}; {filter} Enter shows all"))
            }
            Counting::Matches => self.no_match(),
            Counting::Severity(_) if self.output.utf16().is_some() => {
                Message::note("errors and warnings are not counted in UTF-16; search for their words")
            }
            Counting::Severity(Severity::Error) => Message::note(format!("no error {place}")),
            Counting::Severity(Severity::Warning) => Message::note(format!("no error or warning {place}")),
        });
    }

    /// Whether what follows the last match that the model got, or backwards its first one, is one that was lost.
    fn goes_on_in_spill(&self, sought: SearchTarget, side: Side) -> bool {
        let tally = self.tally(sought.what);
        let got = tally.got(&self.output).filter(|_| tally.is_whole(self.output.view.len()));
        (side, sought.times) == (Side::Preview, 1) && got.is_some_and(|got| got < tally.counts.total())
    }

    fn go_to_match(&mut self, (sought, side): (SearchTarget, Side), range: Range<u64>, wrapped: bool) {
        let offset = range.start as usize;
        self.panes.target = None;
        // A lost match is only in the file: continue there.
        if sought.missed || side == Side::Spill && !self.output.is_kept(offset) {
            self.panes.set_mark(JUMP);
            self.panes.place.focus = Side::Spill;
        }
        if self.find.at != sought.what {
            (self.find.at, self.find.current) = (sought.what, [None, None]);
        }
        self.find.current[side as usize] = Some(range.clone());
        let other = (self.focus() != side).then(|| self.output.seen_match(offset, range.end - range.start));
        match other.flatten() {
            Some(seen) => {
                self.find.current[Side::Preview as usize] = Some(seen.clone());
                self.reveal(Side::Preview, seen);
            }
            None if self.focus() == side || self.shows_both() => self.reveal(side, range),
            None => self.point_to(offset, self.third(side)),
        }
        if wrapped {
            let end = if sought.toward == Toward::Start { "bottom" } else { "top" };
            let what = match sought.what {
                Counting::Severity(severity) => severity.plural(),
                Counting::Matches => "search",
            };
            self.note(format!("{what} wrapped to the {end}"));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchTarget {
    pub(crate) what: Counting,
    pub(crate) missed: bool,
    pub(crate) toward: Toward,
    pub(crate) times: u64,
}
