//! Goes to a line, a percentage, a byte, a mark, a cut or an end, and sideways along lines.

use crate::base::human::thousands;
use crate::base::provenance::Certainty;
use crate::document::scroll::{Long, Viewport};
use crate::text::search::Toward;
use crate::tui::event::JUMP;
use crate::tui::keys::Action;
use crate::tui::screen::Effects;
use crate::tui::target::StartAt;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::panes::TargetLine;

impl Pager {
    pub(crate) fn go_start(&mut self, side: Side, line: Option<u64>) {
        self.panes.leave();
        match line {
            Some(line) => self.go_line(side, line),
            None => self.scroll_to(side, 0),
        }
    }

    pub(crate) fn go_end(&mut self, side: Side, line: Option<u64>) {
        if line.is_some() {
            return self.go_start(side, line);
        }
        self.panes.leave();
        self.scroll_to_end(side);
        self.panes.following = side == Side::Spill && self.is_coming();
    }

    /// Goes `times` cuts, or differences of two texts, further, as far as there are any.
    pub(crate) fn go_cut(&mut self, side: Side, next: bool, times: usize) {
        let output = &self.output;
        let above = self.third(side);
        let mut cuts: Vec<u64> = match side {
            Side::Preview => output.made.seen.notices().collect(),
            Side::Spill => output.made.rules.places().collect(),
        };
        if let Some(found) = output.made.differences.as_ref().filter(|_| side == Side::Preview) {
            cuts.extend(found.starts());
            cuts.sort_unstable();
        }
        let place = |at: u64| (self.scroll(side).top_at(at, above), at);
        let cuts: Vec<(u64, u64)> = cuts.into_iter().map(place).collect();
        // The text may not scroll as far as a cut that is on the screen: then the current line tells them apart.
        let (top, target) = (self.panes.top(side), self.panes.target.filter(|line| line.side == side));
        let from_end = !next && self.panes.place.at_end == Some(side);
        let here = (top, target.map_or(if from_end { u64::MAX } else { top }, |line| line.at));
        let to = match next {
            true => cuts.iter().filter(|cut| **cut > here).take(times).last(),
            false => cuts.iter().rev().filter(|cut| **cut < here).take(times).last(),
        };
        match to {
            Some(&(top, at)) => {
                self.panes.leave();
                self.scroll_to(side, top);
                self.panes.target = Some(TargetLine { side, at, offset: self.output.doc(side).to_file(at) });
            }
            None if cuts.is_empty() => self.note(self.no_cut()),
            None => {
                let (where_to, back) =
                    if next { ("down", Action::PreviousCut) } else { ("up", Action::NextCut) };
                self.note(format!("no cut further {where_to}; {} goes the other way", self.key_of(back)))
            }
        }
    }

    pub(super) fn no_cut(&self) -> &'static str {
        self.output.missing_rest().unwrap_or("nothing was cut")
    }

    pub(super) fn note_text_only(&mut self) {
        self.note(format!("only what the model got is left: {}", self.no_cut()));
    }

    fn go_line(&mut self, side: Side, line: u64) {
        if let Some(offset) = self.output.start_of_line(line) {
            return self.go_offset(side, offset);
        }
        self.fail(self.no_line(line));
    }

    pub(super) fn no_line(&self, line: u64) -> String {
        let line = thousands(line);
        match self.output.lines() {
            Some(last) => format!("no line {line}: the last is {}", thousands(last)),
            None => format!("line {line} is not counted yet; try again in a moment"),
        }
    }

    /// Scrolls to an offset of the file. If Preview has not got it, says so: Spill has.
    fn go_offset(&mut self, side: Side, offset: usize) {
        // The end of the file is that of its last line.
        let offset = match self.output.view.len().checked_sub(1) {
            Some(last) if offset > last => {
                self.output.reader(Side::Spill, None).line_start(last as u64) as usize
            }
            _ => offset,
        };
        if side == Side::Spill || self.output.is_kept(offset) || !self.output.has_preview() {
            self.show_offset(side, offset, 0);
            self.tell_hidden(side, offset);
        } else {
            self.point_to(offset, 0);
            self.tell_lost(offset);
        }
        self.panes.target = Some(TargetLine { side, at: self.output.position(side, offset), offset });
    }

    fn tell_lost(&mut self, offset: usize) {
        let line = self.output.line_number(offset);
        let line = line.map_or_else(|| "that line".into(), |line| format!("line {}", thousands(line)));
        let is = if self.output.certainty() == Certainty::WouldGet { "would be" } else { "was" };
        let key = self.key_of(Action::Other);
        let where_to = if self.shows_both() { String::new() } else { format!(" · {key} shows it") };
        self.note(format!("{line} {is} lost{where_to}"));
    }

    pub(crate) fn go_percent(&mut self, percent: Option<u64>) {
        let Some(percent) = percent else {
            return self.note(format!("type the number first: 50{}", self.key_of(Action::Percent)));
        };
        self.panes.leave();
        let offset = u128::from(self.output.view.len() as u64) * u128::from(percent.min(100)) / 100;
        self.go_offset(self.focus(), offset as usize);
    }

    /// Goes to a typed line (`120`), percentage (`50%`) or byte (`4096b`).
    pub(crate) fn go_to(&mut self, text: &str) -> Result<(), String> {
        let usage = "type a line (120), a percentage (50%) or a byte (4096b)";
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| usage.to_owned());
        let side = self.focus();
        let len = self.output.view.len() as u64;
        self.panes.leave();
        if let Some(percent) = text.strip_suffix('%') {
            self.go_percent(Some(number(percent)?));
        } else if let Some(byte) = text.strip_suffix('b') {
            let byte = number(byte)?;
            if byte > len {
                return Err(format!("byte {} is past the end, {}", thousands(byte), thousands(len)));
            }
            self.go_offset(side, byte as usize);
        } else {
            self.go_line(side, number(text)?);
        }
        Ok(())
    }

    pub(super) fn go_to_mark(&mut self, name: &str) -> Result<(), String> {
        let mark = self.panes.marks.get(name).copied();
        let (side, top) = mark.ok_or_else(|| format!("no line has mark {name}"))?;
        self.panes.leave();
        self.panes.place.focus = side;
        self.scroll_to(side, self.scroll(side).top_at(top, 0));
        Ok(())
    }

    /// Goes to the place at which the output is to be opened, once the preview is made and the place is known.
    pub(crate) fn start_now(&mut self, effects: &mut Effects) {
        if self.output.is_awaited() || !self.is_start_known() {
            return;
        }
        match self.start.take() {
            None => {}
            Some(StartAt::End) => self.start_at_end(),
            Some(StartAt::Line(line)) => self.start_at_line(line),
            Some(StartAt::Found(line, pattern)) => self.start_at_found(line, &pattern, effects),
            Some(StartAt::Match(pattern)) => {
                if let Err(fault) = self.search(&pattern, (Toward::End, 1), effects) {
                    self.fail(format!("{pattern}: {fault}"));
                }
            }
        }
    }

    fn is_start_known(&self) -> bool {
        match &self.start {
            Some(StartAt::Line(line) | StartAt::Found(line, _)) => {
                let is_counted = !self.is_coming() && self.output.index.is_complete();
                is_counted || self.output.start_of_line(*line).is_some()
            }
            Some(StartAt::Match(_)) => !self.is_coming(),
            _ => true,
        }
    }

    fn start_at_end(&mut self) {
        if !self.shows_both() {
            self.panes.place.focus = Side::Spill;
        }
        if !self.is_coming() {
            self.go_end(Side::Spill, None);
        } else if !self.panes.following {
            self.toggle_follow();
        }
    }

    /// Shows the line: in Spill, if Preview has the screen for itself and has not got the line.
    fn start_at_line(&mut self, line: u64) {
        let output = &self.output;
        let offset = output.start_of_line(line);
        let is_lost = offset.is_some_and(|offset| output.has_preview() && !output.is_kept(offset));
        if is_lost && !self.shows_both() {
            self.panes.place.focus = Side::Spill;
        }
        self.go_start(self.focus(), Some(line));
    }

    fn start_at_found(&mut self, line: u64, pattern: &str, effects: &mut Effects) {
        match (self.set_search(pattern, Toward::End, effects), self.output.start_of_line(line)) {
            (Ok(()), Some(offset)) => self.seek_line(offset, effects),
            (Ok(()), None) => self.start_at_line(line),
            (Err(fault), _) => self.fail(format!("{pattern}: {fault}")),
        }
    }

    pub(crate) fn go_sideways(&mut self, right: bool, count: Option<u64>) {
        let (width, _) = self.room(self.focus());
        let step = count.unwrap_or(u64::from(width / 2).max(1));
        self.panes.place.long = match (self.panes.place.long, right) {
            (Long::Wrapped, false) => return,
            (Long::Wrapped, true) => return self.stop_wrapping(),
            (Long::Sideways(at), true) => Long::Sideways(at.saturating_add(step)),
            (Long::Sideways(at), false) => Long::Sideways(at.saturating_sub(step)),
        };
        self.align_panes();
    }

    /// Goes to the first row of the line at the top or, if lines are not wrapped, to the left edge.
    pub(crate) fn go_line_start(&mut self, side: Side) {
        match self.panes.place.long {
            Long::Sideways(_) => self.panes.place.long = Long::Sideways(0),
            Long::Wrapped => {
                let scroll = self.scroll(side);
                let start = scroll.top_at(scroll.reader.line_start(self.panes.top(side)), 0);
                self.panes.set_mark(JUMP);
                self.scroll_to(side, start);
            }
        }
    }

    /// Goes to where the end of the top line is visible or, if lines are not wrapped, that of the longest line shown.
    pub(crate) fn go_line_end(&mut self, side: Side) {
        let (scroll, top) = (self.scroll(side), self.panes.top(side));
        let end = match self.panes.place.long {
            Long::Sideways(_) => scroll.longest_end(top),
            Long::Wrapped => scroll.reader.line_end(top),
        };
        if !scroll.reader.ends_line(end) {
            let percent = self.output.counted_percent();
            return self.note(format!("the line's end is not known yet: counting lines, {percent}%"));
        }
        let Viewport { width, height, .. } = scroll.frame;
        match self.panes.place.long {
            Long::Sideways(_) => {
                let columns = scroll.column_of(end);
                self.panes.place.long = Long::Sideways(columns.saturating_sub(u64::from(width)));
            }
            Long::Wrapped => {
                let rows = usize::from(height).saturating_sub(1);
                let to = scroll.up(scroll.row_at(end), rows).max(top);
                self.panes.set_mark(JUMP);
                self.scroll_to(side, to);
            }
        }
    }
}
