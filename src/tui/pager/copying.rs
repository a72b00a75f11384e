//! Copies text to the clipboard: a line, the window, a selection of lines, or the preview.

use std::ops::Range;

use crossterm::event::KeyEvent;

use crate::human::{lines, size, thousands};
use crate::text::utf16::Utf16Text;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::screen::{Effect, Effects};
use crate::tui::widget::layout::Side;

use super::Pager;

/// The most that is copied, in bytes: terminals refuse long texts, and some stand still over them.
const MOST: u64 = 1024 * 1024;

/// The most lines by which a count moves the end of a selection: more than can be copied.
const MOST_LINES: u64 = 10_000;

/// Describes the choice after the key that copies text.
pub(crate) fn choice(keys: &KeyMap) -> String {
    let key = |action| keys.of(KeyContext::CopyText, action);
    let [line, window, preview] = [Action::CopyLine, Action::CopyWindow, Action::CopyPreview].map(key);
    let back = key(Action::Back);
    format!("copy: {line} line · {window} window · {preview} preview · {back} nothing")
}

/// Lines being selected: from the current one to the one moved to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineSelection {
    /// The pane in which lines are selected.
    pub(crate) side: Side,
    /// The offset in its document of a byte of the first line marked.
    from: u64,
    /// The offset of a byte of the line moved to.
    pub(crate) to: u64,
}

impl Pager {
    /// Starts selecting lines at the current one, or gives the selection up.
    pub(crate) fn turn_selection(&mut self) {
        let side = self.focus();
        let at = self.current_line(side);
        self.selection = match self.selection {
            Some(_) => None,
            None => Some(LineSelection { side, from: at, to: at }),
        };
    }

    /// Moves the end of the selection by lines, also where the pane cannot scroll any further. Other motions take it
    /// along to the top of the pane, or to the end of the document.
    pub(crate) fn extend_selection(&mut self, action: Action, count: Option<u64>) {
        let Some(LineSelection { side, to, .. }) = self.selection else { return };
        let times = count.unwrap_or(1).min(MOST_LINES);
        let reader = self.output.reader(side, None);
        let (len, top) = (reader.doc.len(), self.panes.top(side));
        let next = |at: u64| reader.line_end(at).saturating_add(1).min(len.saturating_sub(1));
        let previous = |at: u64| reader.line_start(reader.line_start(at).saturating_sub(1));
        let to = match action {
            Action::Down => (0..times).fold(to, |at, _| next(at)),
            Action::Up => (0..times).fold(to, |at, _| previous(at)),
            Action::End if count.is_none() => len.saturating_sub(1),
            _ => top,
        };
        self.selection = self.selection.map(|selection| LineSelection { to, ..selection });
        if matches!(action, Action::Down | Action::Up) && !self.shown_range(side).contains(&to) {
            self.move_by(action, count);
        }
    }

    /// Gives a selection up. Returns false if there is none.
    pub(crate) fn drop_selection(&mut self) -> bool {
        self.selection.take().is_some()
    }

    /// Returns the selected bytes of a pane's document, whole lines without the last line feed.
    pub(crate) fn selected(&self, side: Side) -> Option<Range<u64>> {
        let LineSelection { from, to, .. } = self.selection.filter(|selection| selection.side == side)?;
        Some(self.lines_of(side, from.min(to), from.max(to)))
    }

    /// Describes the selection: `selected lines 120-140 · 1.2 KB · Y copies · Esc ends`.
    pub(crate) fn selection_in_words(&self) -> Option<String> {
        let side = self.selection?.side;
        let range = self.selected(side)?;
        let number = |at: u64| match side {
            Side::Spill => self.output.index.line_at(&self.output.view, at).map(|line| thousands(line + 1)),
            Side::Preview => None,
        };
        let numbers = match (number(range.start), number(range.end)) {
            (Some(first), Some(last)) if first == last => format!("line {first}"),
            (Some(first), Some(last)) => format!("lines {first}-{last}"),
            _ => "lines of Preview".into(),
        };
        let (copy, end) = (self.key_of(Action::CopyText), self.key_of(Action::Back));
        let of = match self.output.sift_of(side) {
            Some(_) => "those shown".into(),
            None => size(range.end - range.start),
        };
        Some(format!("selected {numbers} · {of} · {copy} copies · {end} ends"))
    }

    /// Copies the selection.
    pub(crate) fn copy_selection(&mut self, effects: &mut Effects) {
        let Some(side) = self.selection.map(|selection| selection.side) else { return };
        let Some(range) = self.selected(side) else { return };
        if self.copy_text(side, range, effects) {
            self.selection = None;
        }
    }

    /// Returns the number of the line to edit: the current one of the pane with the focus, or in Preview the one that it
    /// shows. 1-based; the first one if it is not counted.
    pub(crate) fn line_to_edit(&self) -> u64 {
        let (at, output) = (self.current_offset() as u64, &self.output);
        output.index.line_at(&output.view, at).map_or(1, |line| line + 1)
    }

    /// Handles the key after the one that copies text.
    pub(crate) fn copy_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let side = self.focus();
        match self.canvas.keys.action(KeyContext::CopyText, key) {
            Some(Action::CopyLine) => {
                let at = self.current_line(side);
                self.copy_text(side, self.lines_of(side, at, at), effects);
            }
            Some(Action::CopyWindow) => match self.window_range() {
                Some(range) => drop(self.copy_text(Side::Spill, range, effects)),
                None => self.message = Some(Message::error("the lines of the window are not counted yet")),
            },
            Some(Action::CopyPreview) => {
                self.copy_text(Side::Preview, 0..self.output.seen.len(), effects);
            }
            Some(Action::Back) => {}
            _ => self.message = Some(Message::note(choice(self.canvas.keys))),
        }
    }

    /// Returns the bytes of the lines from the one that holds `first` to the one that holds `last`.
    fn lines_of(&self, side: Side, first: u64, last: u64) -> Range<u64> {
        let reader = self.output.reader(side, None);
        let len = reader.doc.len();
        let start = reader.line_start(first.min(len));
        start..reader.line_end(last.min(len)).max(start)
    }

    /// Returns the bytes of the window of lines, without the last line feed, as far as they are counted.
    fn window_range(&self) -> Option<Range<u64>> {
        let (window, output) = (self.panes.window, &self.output);
        let start = output.index.offset_of(&output.view, window.offset.saturating_sub(1))?;
        let end = output.index.offset_of(&output.view, window.next().saturating_sub(1));
        let is_whole = output.index.is_complete();
        let end = end.map(|end| end.saturating_sub(1)).or(is_whole.then_some(output.view.len() as u64))?;
        Some(start..end.max(start))
    }

    /// Returns the parts of a range of lines that a filter shows, without the last line feed, until they are too long to
    /// be copied; all of it if there is no filter.
    fn shown_parts(&self, side: Side, range: Range<u64>) -> Vec<Range<u64>> {
        let Some(sift) = self.output.sift_of(side) else { return vec![range] };
        let reader = self.output.reader(side, None);
        let (mut parts, mut long) = (Vec::new(), 0);
        let mut at = sift.onward(&reader, range.start);
        while at < range.end && long <= MOST {
            let part = at..reader.line_end(at).saturating_add(1).min(range.end);
            long += part.end - part.start;
            at = sift.onward(&reader, part.end.max(at + 1));
            parts.push(part);
        }
        if let Some(last) = parts.last_mut().filter(|last| last.end < range.end) {
            last.end -= 1;
        }
        parts
    }

    /// Copies what is shown of a range of a pane's document, and says how much that was. Returns false if it is too much.
    fn copy_text(&mut self, side: Side, range: Range<u64>, effects: &mut Effects) -> bool {
        let parts = self.shown_parts(side, range);
        let long: u64 = parts.iter().map(|part| part.end.saturating_sub(part.start)).sum();
        if long > MOST {
            let (is, most) = (size(long), size(MOST));
            self.message = Some(Message::error(format!("not copied: {is}, and at most {most} can be")));
            return false;
        }
        let reader = self.output.reader(side, None);
        let text = match self.show(side).utf16 {
            Some(order) => {
                let decode = |part: Range<u64>| {
                    Utf16Text::new(&reader.copy(part.clone()), order, part.start).into_text()
                };
                parts.into_iter().map(decode).collect()
            }
            None => {
                let bytes: Vec<u8> = parts.into_iter().flat_map(|part| reader.copy(part)).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        let count =
            lines(memchr::memchr_iter(b'\n', text.trim_end_matches('\n').as_bytes()).count() as u64 + 1);
        self.message = Some(match text.is_empty() {
            true => Message::note("nothing to copy: the text is empty"),
            false => Message::note(format!("copied {count}, {}", size(long))),
        });
        if !text.is_empty() {
            effects.push(Effect::Copy(text));
        }
        true
    }
}
