//! Takes the output elsewhere: copies some of it or what is known of it, and has all of it kept.

use std::any::Any;
use std::ops::Range;
use std::path::Path;

use crate::base::human::{lines, size, thousands};
use crate::document::reader::ReadWindow;
use crate::session::examine::RestOfOutput;
use crate::tui::keys::Action;
use crate::tui::popup::menu::{CopyWhat, Copyable, MenuEntry, copy_menu};
use crate::tui::screen::{self, Effect, Effects, Link};
use crate::tui::widget::layout::Side;

use super::{Pager, ThenRead, drawer};

/// The most that is copied, in bytes: terminals refuse long texts, and some stand still over them.
const MAX_COPY: u64 = 1024 * 1024;

/// Maximum number of lines by which a count moves the end of a selection: more than can be copied.
const MAX_LINES: u64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineSelection {
    pub(crate) side: Side,
    /// The offset in its document of a byte of the first line marked.
    from: u64,
    pub(crate) to: u64,
}

impl Pager {
    pub(crate) fn toggle_selection(&mut self) {
        let (side, at) = (self.focus(), self.current_line(self.focus()));
        self.selection = self.selection.is_none().then_some(LineSelection { side, from: at, to: at });
    }

    /// Moves the end of the selection by lines that are shown, also where the pane cannot scroll on; other motions take it to the top.
    pub(crate) fn extend_selection(&mut self, action: Action, count: Option<u64>) {
        let here = self.selection.filter(|selection| selection.side == self.focus());
        let Some(LineSelection { side, to, .. }) = here else { return };
        let times = count.unwrap_or(1).min(MAX_LINES);
        let scroll = self.scroll(side);
        let reader = scroll.reader;
        let (last, top) = (reader.doc.len().saturating_sub(1), self.panes.top(side));
        let next = |at: u64| match scroll.onward(reader.line_end(at).saturating_add(1).min(last)) {
            shown if shown > last => at,
            shown => shown,
        };
        let previous = |at: u64| match scroll.backward(reader.line_start(at)) {
            0 => at,
            end => reader.line_start(end - 1),
        };
        let to = match action {
            Action::Down => (0..times).fold(to, |at, _| next(at)),
            Action::Up => (0..times).fold(to, |at, _| previous(at)),
            Action::End if count.is_none() => last,
            // These show the same lines in another way.
            Action::Other | Action::Beside | Action::Wrap | Action::Raw | Action::Follow => to,
            _ => top,
        };
        self.selection = self.selection.map(|selection| LineSelection { to, ..selection });
        if matches!(action, Action::Down | Action::Up) && !self.shown_range(side).contains(&to) {
            self.move_by(action, count);
        }
    }

    /// Returns the selected bytes of a pane's document, whole lines without the last line feed.
    pub(crate) fn selected(&self, side: Side) -> Option<Range<u64>> {
        let LineSelection { from, to, .. } = self.selection.filter(|selection| selection.side == side)?;
        Some(self.output.lines_of(side, from.min(to), from.max(to)))
    }

    /// Describes the selection: `selected lines 120-140 · 1.2 KB · y copies · Esc ends`.
    pub(crate) fn describe_selection(&self) -> Option<String> {
        let side = self.selection?.side;
        let range = self.selected(side)?;
        let numbers = self.describe_numbers(side, &range);
        let numbers = numbers.unwrap_or_else(|| "lines of the model's text".to_owned());
        let (copy, end) = (self.key_of(Action::Copy), self.key_of(Action::Back));
        let of = self.describe_extent(side, &range);
        Some(format!("selected {numbers} · {of} · {copy} copies · {end} ends"))
    }

    pub(crate) fn copy(&mut self, effects: &mut Effects) {
        let selected =
            self.selection.and_then(|LineSelection { side, .. }| Some((side, self.selected(side)?)));
        let Some((side, range)) = selected else { return effects.push_layer(copy_menu(self.to_copy())) };
        if self.copy_text(side, range, effects) {
            self.selection = None;
        }
    }

    fn to_copy(&self) -> Vec<MenuEntry> {
        let mut entries = if self.drawer.is_open() { self.limits_to_copy() } else { Vec::new() };
        let subject = &self.output.subject;
        let path = Some(subject.path()).filter(|path| Path::new(path).is_absolute());
        entries.extend(path.map(|path| Copyable::path(path.as_bytes()).entry()));
        let stretches = [CopyWhat::LINE, CopyWhat::WINDOW, CopyWhat::MODEL_TEXT];
        entries.extend(stretches.into_iter().filter_map(|what| self.stretch_to_copy(what)));
        entries.extend(Copyable::command(&subject.command).map(Copyable::entry));
        entries.extend((!subject.id.is_empty()).then(|| Copyable::id(subject.id.as_bytes()).entry()));
        let ReadWindow { offset, limit } = self.panes.place.window;
        entries.extend(path.map(|_| {
            let note = format!("offset {offset}, limit {limit}");
            let entry = CopyWhat::READ_CALL.entry(note, |below, effects| {
                on_pager(below, |pager| pager.ask_read_tool(ThenRead::CopyCall, effects));
            });
            entry.or([format!("offset {offset}")])
        }));
        entries
    }

    pub(crate) fn limits_to_copy(&self) -> Vec<MenuEntry> {
        drawer::copyable(self.output.policy()).into_iter().map(Copyable::entry).collect()
    }

    /// Returns the bytes of a pane's document that are copied as the current line, the window or the model's text.
    fn stretch(&self, what: CopyWhat) -> Option<(Side, Range<u64>)> {
        match what {
            CopyWhat::LINE => {
                let (side, at) = (self.focus(), self.current_line(self.focus()));
                Some((side, self.output.lines_of(side, at, at)))
            }
            CopyWhat::WINDOW => {
                let window = self.panes.place.window;
                Some((Side::Spill, self.output.window(window.offset..window.after(window.limit).offset)?))
            }
            CopyWhat::MODEL_TEXT => Some((Side::Preview, 0..self.output.made.seen.len())),
            _ => None,
        }
        .filter(|(_, range)| !range.is_empty())
    }

    /// Returns the entry that copies a stretch as it is when the entry is picked; `None` if it is empty now.
    fn stretch_to_copy(&self, what: CopyWhat) -> Option<MenuEntry> {
        let (side, range) = self.stretch(what)?;
        let name = match what {
            CopyWhat::MODEL_TEXT => Some(self.output.heading().to_owned()),
            _ => self.describe_numbers(side, &range),
        };
        let extent = match what {
            CopyWhat::LINE => size(range.end - range.start),
            // Bytes that are no text are copied as the characters that stand for them.
            CopyWhat::MODEL_TEXT if range.end <= MAX_COPY => {
                let parts = self.output.shown_parts(side, range.clone(), MAX_COPY);
                size(self.output.text_of(side, parts, self.show(side).utf16).len() as u64)
            }
            _ => self.describe_extent(side, &range),
        };
        let notes: Vec<String> = name.into_iter().chain([extent]).collect();
        let entry = what.entry(notes.join(" · "), move |below, effects| {
            on_pager(below, |pager| {
                if let Some((side, range)) = pager.stretch(what) {
                    pager.copy_text(side, range, effects);
                }
            });
        });
        Some(entry.or(notes))
    }

    fn describe_extent(&self, side: Side, range: &Range<u64>) -> String {
        match self.output.filter_of(side) {
            Some(_) => "those shown".into(),
            None => size(range.end - range.start),
        }
    }

    /// Names the lines of a range of Spill, if they are counted: `line 7`, `lines 120-140`.
    fn describe_numbers(&self, side: Side, range: &Range<u64>) -> Option<String> {
        let output = &self.output;
        let number = |at: u64| output.line_number(at as usize).map(thousands);
        let (first, last) = (number(range.start)?, number(range.end)?);
        (side == Side::Spill).then(|| match first == last {
            true => format!("line {first}"),
            false => format!("lines {first}-{last}"),
        })
    }

    /// Copies what is shown of a range of a pane's document, and says how much that was. Returns false if it is too much.
    fn copy_text(&mut self, side: Side, range: Range<u64>, effects: &mut Effects) -> bool {
        let parts = self.output.shown_parts(side, range, MAX_COPY);
        let long: u64 = parts.iter().map(|part| part.end.saturating_sub(part.start)).sum();
        if long > MAX_COPY {
            self.fail(format!("too large to copy: {} (limit {})", size(long), size(MAX_COPY)));
            return false;
        }
        let text = self.output.text_of(side, parts, self.show(side).utf16);
        let count =
            lines(memchr::memchr_iter(b'\n', text.trim_end_matches('\n').as_bytes()).count() as u64 + 1);
        if text.is_empty() {
            self.note("nothing to copy: the text is empty");
        } else {
            self.note(format!("copied {count}, {}", size(text.len() as u64)));
            effects.push(Effect::Copy(text));
        }
        true
    }

    pub(crate) fn keep(&mut self, effects: &mut Effects) {
        let refusal = match self.output.recorded.as_ref().map(|recorded| &recorded.rest) {
            _ if self.is_coming() => Some("still coming; keep it once it is complete"),
            Some(RestOfOutput::Missing(why)) => return self.note(format!("nothing to keep: {why}")),
            Some(RestOfOutput::Unknown) => Some("not kept: it is not recorded whether the agent cut it"),
            Some(RestOfOutput::NotCut) => {
                Some("not kept: the agent did not cut it, so the records hold all of it")
            }
            Some(RestOfOutput::Here) if self.output.subject.file.is_none() => {
                Some("not kept: it is in no file of its own, and the records hold all of it")
            }
            _ => None,
        };
        if let Some(words) = refusal {
            return self.note(words);
        }
        let output = &self.output;
        effects.send(Link::Keep(Box::new((output.subject.clone(), output.view.clone()))));
    }
}

fn on_pager(below: &mut dyn screen::Screen, act: impl FnOnce(&mut Pager)) {
    if let Some(pager) = (below as &mut dyn Any).downcast_mut() {
        act(pager);
    }
}
