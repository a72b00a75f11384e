//! The two panes of one output: their positions, how they move, and how each keeps up with the other.

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::layout::Rect;

use crate::document::fold::ProgressLines;
use crate::document::reader::ReadWindow;
use crate::document::scroll::{CurrentLine, Long, ScreenRow, Scroll, Viewport};
use crate::text::cells::Show;
use crate::tui::event::JUMP;
use crate::tui::keys::Action;
use crate::tui::widget::layout::{self, Side, SideBySide};

use super::Pager;

/// Where the panes are: the state itself, and a copy of it to come back to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub focus: Side,
    /// The top of each pane: the offset of a row in its document.
    tops: [u64; 2],
    /// The pane last sent to its end. It stays at the end when its size changes.
    pub(super) at_end: Option<Side>,
    pub long: Long,
    pub window: ReadWindow,
}

impl Place {
    pub(super) fn is_at_start(&self) -> bool {
        self.tops == [0, 0] && self.at_end.is_none()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Panes {
    pub place: Place,
    pub(super) beside: SideBySide,
    /// Whether each pane shows escapes and progress lines as they are; Preview does, as the model got them.
    pub(super) raw: [bool; 2],
    /// An offset in the progress line that each pane shows with all its states although it folds the others.
    pub(super) unfolded: [Option<u64>; 2],
    pub(crate) is_paging: bool,
    /// By how many lines the user paged last.
    pub(super) page: Option<u64>,
    /// Whether the panes follow the end of the file as it grows.
    pub following: bool,
    pub(crate) marks: BTreeMap<String, (Side, u64)>,
    /// What was gone to: the current line until the pane is scrolled.
    pub(super) target: Option<TargetLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TargetLine {
    pub side: Side,
    pub at: u64,
    /// Its offset in the output; if the model's text lacks it, `at` is that of a notice.
    pub offset: usize,
}

impl Panes {
    pub fn top(&self, side: Side) -> u64 {
        self.place.tops[side as usize]
    }

    fn set_top(&mut self, side: Side, top: u64) {
        self.place.tops[side as usize] = top;
        (self.place.at_end, self.target) = (None, None);
    }

    /// Scrolls both panes. A pane that was at the end of the file counts as still there.
    pub(crate) fn set_tops(&mut self, tops: [u64; 2]) {
        self.place.tops = tops;
        self.place.at_end = self.place.at_end.filter(|side| *side == Side::Spill);
    }

    pub(crate) fn leave(&mut self) {
        self.following = false;
        self.set_mark(JUMP);
    }

    pub(crate) fn set_mark(&mut self, name: &str) {
        let here = (self.place.focus, self.top(self.place.focus));
        self.marks.insert(name.to_owned(), here);
    }
}

impl Pager {
    /// Returns how a pane shows its text: as the model reads it, or as people do.
    pub fn show(&self, side: Side) -> Show {
        let show = match (side, self.panes.raw[side as usize]) {
            (Side::Preview, true) => Show::MODEL,
            (Side::Preview, false) => Show { invalid: Show::MODEL.invalid, ..Show::PAGER },
            (Side::Spill, true) => Show::RAW,
            (Side::Spill, false) => Show { utf16: self.output.utf16(), ..Show::PAGER },
        };
        Show { ascii: !self.canvas.unicode, ..show }
    }

    /// Returns how a pane shows progress lines. In UTF-16 a carriage return may be half of a letter.
    pub(crate) fn progress(&self, side: Side) -> ProgressLines {
        match self.panes.raw[side as usize] || self.output.utf16().is_some() {
            true => ProgressLines::Unfolded,
            false => ProgressLines::Folded(self.panes.unfolded[side as usize]),
        }
    }

    /// Returns the columns and rows that a pane on the screen has for text, without the gutter.
    pub fn room(&self, side: Side) -> (u16, u16) {
        let height = self.canvas.size.1 - self.drawer_height();
        let pager = layout::pager(Rect::new(0, 0, self.canvas.size.0, height), side, self.shows_both());
        let Rect { width, height, .. } = [pager.preview, pager.spill][side as usize].unwrap_or_default();
        let heading = u16::from(pager.between.is_some());
        (width.saturating_sub(self.output.gutter(side)), height.saturating_sub(heading))
    }

    pub fn viewport(&self, side: Side) -> Viewport {
        let (width, height) = self.room(side);
        Viewport {
            width,
            height,
            long: self.panes.place.long,
            show: self.show(side),
            progress: self.progress(side),
        }
    }

    pub(crate) fn scroll(&self, side: Side) -> Scroll<'_> {
        self.output.scroll(side, self.viewport(side), None)
    }

    pub(crate) fn shown_range(&self, side: Side) -> Range<u64> {
        let top = self.panes.top(side);
        top..self.scroll(side).screen(top).last().map_or(top, |row| row.next)
    }

    pub(crate) fn move_by(&mut self, action: Action, count: Option<u64>) {
        let side = self.focus();
        let (_, height) = self.room(side);
        let times = count.unwrap_or(1) as usize;
        if let Some(rows) = action.rows(count, height.into()) {
            self.panes.following &= rows >= 0;
            let go = if rows < 0 { Scroll::up } else { Scroll::down };
            let top = go(&self.scroll(side), self.panes.top(side), rows.unsigned_abs());
            return self.scroll_to(side, top);
        }
        match action {
            Action::Start => self.go_start(side, count),
            Action::End => self.go_end(side, count),
            Action::Left => self.go_sideways(false, count),
            Action::Right => self.go_sideways(true, count),
            Action::LineStart => self.go_line_start(side),
            Action::LineEnd => self.go_line_end(side),
            Action::NextCut => self.go_cut(side, true, times),
            Action::PreviousCut => self.go_cut(side, false, times),
            Action::Percent => self.go_percent(count),
            Action::Other => self.switch(),
            Action::Beside => self.toggle_beside(),
            Action::Wrap => self.toggle_wrap(),
            Action::Raw => self.toggle_raw(),
            Action::Follow if self.is_coming() || self.output.packed.is_none() => self.toggle_follow(),
            Action::Follow => self.note("a compressed file is read once: there is nothing to follow"),
            _ => {}
        }
    }

    /// Scrolls a pane to a row, and the other pane to the corresponding one.
    pub(crate) fn scroll_to(&mut self, side: Side, top: u64) {
        self.panes.set_top(side, top);
        let other = side.other();
        let target = self.output.position(other, self.output.doc(side).to_file(top));
        self.panes.set_top(other, self.scroll(other).top_at(target, 0));
        self.reanchor();
    }

    pub(crate) fn scroll_to_end(&mut self, side: Side) {
        self.scroll_to(side, self.scroll(side).last_top());
        self.panes.place.at_end = Some(side);
    }

    pub(crate) fn current_line(&self, side: Side) -> u64 {
        let top = self.panes.top(side);
        let rows = self.scroll(side).screen(top);
        CurrentLine::find(&rows, self.chosen(side)).map_or(top, |line| line.at)
    }

    /// Returns the offset in the output of the current line of the pane with the focus. For a notice, that is the cut.
    pub(crate) fn current_offset(&self) -> usize {
        let side = self.focus();
        self.output.doc(side).to_file(self.current_line(side))
    }

    /// Returns what makes a line on the screen current: the match, the end of the selection, what was gone to.
    pub(crate) fn chosen(&self, side: Side) -> [Option<u64>; 2] {
        let found = self.find.current(side).map(|found| found.start);
        match self.selection.filter(|selection| selection.side == side) {
            Some(selection) => [found, Some(selection.to)],
            None => [self.panes.target.filter(|line| line.side == side).map(|line| line.at), found],
        }
    }

    /// Scrolls to an offset of the file, shown `above` rows below the top.
    pub(crate) fn show_offset(&mut self, side: Side, offset: usize, above: usize) {
        self.scroll_to(side, self.scroll(side).top_at(self.output.position(side, offset), above));
    }

    pub(crate) fn shows_both(&self) -> bool {
        self.panes.beside.is_split(self.canvas.size.0) && !self.output.is_rest_missing()
    }

    /// Scrolls both panes to an offset of the file, `above` rows below the top. Preview shows the notice of what was lost.
    pub(crate) fn point_to(&mut self, offset: usize, above: usize) {
        self.show_offset(Side::Preview, offset, above);
        let top = self.scroll(Side::Spill).top_at(offset as u64, above);
        self.panes.set_top(Side::Spill, top);
        self.reanchor();
    }

    pub(crate) fn go_back(&mut self, place: &Place) {
        // Aligning the panes moves the window, so it is set again.
        self.panes.place = Place { window: self.panes.place.window, ..place.clone() };
        self.align_panes();
        self.panes.place.window = place.window;
    }

    /// Returns a third of the rows of a pane: what is gone to has as many above it.
    pub(crate) fn third(&self, side: Side) -> usize {
        usize::from(self.room(side).1 / 3)
    }

    /// Scrolls until the start of a range of a side's document is on the screen.
    pub(crate) fn reveal(&mut self, side: Side, range: Range<u64>) {
        self.panes.following = false;
        let fold = self.scroll(side).fold(range.start);
        if fold.is_some_and(|fold| !fold.state.contains(&range.start)) {
            self.panes.unfolded[side as usize] = Some(range.start);
            self.align_panes();
        }
        if !self.shown_range(side).contains(&range.start) {
            self.scroll_to(side, self.scroll(side).top_at(range.start, self.third(side)));
        }
        self.reveal_sideways(side, &range);
    }

    pub(crate) fn toggle_follow(&mut self) {
        self.panes.following = !self.panes.following;
        let is_hidden = !self.shows_both() && !self.output.is_rest_missing();
        if self.panes.following && self.output.is_cut() && is_hidden {
            // New lines arrive in the whole output.
            self.panes.place.focus = Side::Spill;
        }
        self.follow();
    }

    pub(crate) fn follow(&mut self) {
        if self.panes.following {
            self.scroll_to(Side::Spill, self.scroll(Side::Spill).last_top());
            if !self.shows_both() {
                // Its last lines may take more rows.
                self.panes.set_top(Side::Preview, self.scroll(Side::Preview).last_top());
            }
        }
    }

    fn switch(&mut self) {
        if self.focus() == Side::Preview && self.output.is_rest_missing() {
            return self.note_text_only();
        }
        let (side, offset) = (self.focus(), self.current_offset());
        let is_chosen = self.chosen(side) != [None, None];
        let other = side.other();
        self.panes.place.focus = other;
        // The current line stays the same in the other text.
        let line = TargetLine { side: other, at: self.output.position(other, offset), offset };
        self.panes.target = is_chosen.then_some(line).or(self.panes.target);
    }

    fn toggle_beside(&mut self) {
        if self.canvas.size.0 < layout::WIDE_ENOUGH {
            return self.note(format!("side by side needs {} columns", layout::WIDE_ENOUGH));
        }
        self.save_anchor();
        self.panes.beside = if self.shows_both() { SideBySide::Never } else { SideBySide::Always };
        self.show_otherwise();
    }

    /// Holds the text under examination where it was, or a pane at its end, after a change of how text is shown.
    pub(crate) fn show_otherwise(&mut self) {
        match self.panes.place.at_end {
            Some(ended) => self.scroll_to_end(ended),
            None => self.restore_anchor(),
        }
    }

    /// Moves each pane to the start of a row again after a change of size, file or limits. What was gone to stays so.
    pub(crate) fn align_panes(&mut self) {
        let target = self.panes.target;
        if let Some(ended) = self.panes.place.at_end {
            self.scroll_to_end(ended);
        } else {
            for side in [Side::Preview, Side::Spill] {
                self.panes.set_top(side, self.scroll(side).top_at(self.panes.top(side), 0));
            }
            if self.focus() == Side::Spill {
                self.scroll_to(Side::Spill, self.panes.top(Side::Spill));
            }
        }
        self.panes.target = target;
    }

    fn reveal_sideways(&mut self, side: Side, range: &Range<u64>) {
        let Long::Sideways(from) = self.panes.place.long else { return };
        let (width, _) = self.room(side);
        let column = self.scroll(side).column_of(range.start);
        if !(from..from + u64::from(width)).contains(&column) {
            self.panes.place.long = Long::Sideways(column.saturating_sub(u64::from(width) / 3));
        }
    }

    fn toggle_wrap(&mut self) {
        match self.panes.place.long {
            Long::Wrapped => {
                self.stop_wrapping();
                let [left, right] = [Action::Left, Action::Right].map(|action| self.key_of(action));
                let [left, right] = [left, right].map(|key| self.canvas.key_name(key));
                self.note(format!("wrap off · {left} {right} scroll"));
            }
            Long::Sideways(_) => {
                self.save_anchor();
                self.panes.place.long = Long::Wrapped;
                self.show_otherwise();
                self.note("long lines wrap");
            }
        }
    }

    /// Shows each line as one row, from the column on that shows the text under examination.
    pub(super) fn stop_wrapping(&mut self) {
        self.save_anchor();
        let side = self.focus();
        self.panes.place.long = Long::Sideways(self.column_at_top(side));
        self.show_otherwise();
        let shown = self.shown_range(side);
        if let Some(found) = self.find.current(side).filter(|found| shown.contains(&found.start)).cloned() {
            self.reveal_sideways(side, &found);
        }
        self.mark_unmoved();
    }

    /// Returns the column of the top of a wrapped line too long to be shown from its start; 0 for other lines.
    fn column_at_top(&self, side: Side) -> u64 {
        let (scroll, top) = (self.scroll(side), self.panes.top(side));
        let segment = scroll.reader.segment(scroll.reader.segment_start(top));
        let is_whole = segment.opens && segment.closes;
        let fills = scroll.screen(top).iter().skip(1).all(|row| !row.opens);
        if is_whole && !fills { 0 } else { scroll.column_of(top) }
    }

    fn toggle_raw(&mut self) {
        let side = self.focus();
        let raw = !self.panes.raw[side as usize];
        self.save_anchor();
        self.panes.raw[side as usize] = raw;
        self.panes.unfolded[side as usize] = None;
        self.show_otherwise();
        let key = self.key_of(Action::Raw);
        let words = match (side, raw) {
            (Side::Preview, true) => {
                format!("raw: escapes as text, as the model {} them", self.output.certainty().verb())
            }
            (Side::Preview, false) if self.leaves_states(side) => {
                "a long progress line that was cut cannot be folded; the others are".to_owned()
            }
            (Side::Preview, false) => {
                format!("escapes as colours, as the model did not see them; {key} goes back")
            }
            (Side::Spill, true) => "raw: escapes as text, lines with all their states".to_owned(),
            (Side::Spill, false) => "escapes as colours, lines by their last state".to_owned(),
        };
        self.note(words);
    }

    /// Whether a line still shows all its states: the length of a line cut in Preview is unknown.
    fn leaves_states(&self, side: Side) -> bool {
        let top = self.panes.top(side);
        let rows = self.scroll(side).screen(top);
        self.output.index.is_complete() && rows.iter().any(ScreenRow::shows_states)
    }
}
