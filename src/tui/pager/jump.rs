//! Jumps to a line, a percentage, a byte, a mark, a cut or an end.

use crossterm::event::{KeyCode, KeyEvent};

use crate::human::thousands;
use crate::tui::event::Message;
use crate::tui::keys::Action;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::Pager;
use crate::tui::recorded::RestOfOutput;

/// A key that needs a second key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    SetMark,
    ToMark,
    Copy,
}

impl Pager {
    pub(crate) fn go_start(&mut self, side: Side, line: Option<u64>) {
        self.panes.leave();
        match line {
            Some(line) => self.go_line(side, line),
            None => self.place(side, 0),
        }
    }

    pub(crate) fn go_end(&mut self, side: Side, line: Option<u64>) {
        self.panes.leave();
        match line {
            Some(line) => self.go_line(side, line),
            None => {
                self.place_at_end(side);
                self.panes.following = side == Side::Spill && self.is_coming();
            }
        }
    }

    /// Goes to the next or previous cut, or difference of two texts that are compared, or `times` of them on or back as far as there are any, and shows it a third of the
    /// pane below the top.
    pub(crate) fn go_cut(&mut self, side: Side, next: bool, times: usize) {
        let output = &self.output;
        let above = self.third(side);
        let mut tops: Vec<u64> = match side {
            Side::Preview => output.seen.notices().collect(),
            Side::Spill => output.rules.places().collect(),
        };
        if let Some(found) = output.differences.as_ref().filter(|_| side == Side::Preview) {
            tops.extend(found.starts());
            tops.sort_unstable();
        }
        let place = |at: &u64| self.scroll(side).top_at(*at, above);
        let tops: Vec<u64> = tops.iter().map(place).collect();
        let here = self.panes.top(side);
        let to = if next {
            tops.iter().filter(|top| **top > here).take(times).last()
        } else {
            tops.iter().rev().filter(|top| **top < here).take(times).last()
        };
        match to.copied() {
            Some(top) => {
                self.panes.leave();
                self.place(side, top);
            }
            None if tops.is_empty() => self.message = Some(Message::note(self.no_cut())),
            None => {
                self.message =
                    Some(Message::note(if next { "no cut further down" } else { "no cut further up" }))
            }
        }
    }

    /// Returns why there is no cut to go to.
    pub(super) fn no_cut(&self) -> &'static str {
        match self.output.recorded.as_ref().map(|recorded| &recorded.rest) {
            Some(RestOfOutput::Missing(why)) => why,
            _ => "nothing was cut",
        }
    }

    /// Goes to a line of the file, 1-based.
    fn go_line(&mut self, side: Side, line: u64) {
        let output = &self.output;
        match output.index.offset_of(&output.view, line.saturating_sub(1)) {
            Some(offset) => self.go_offset(side, offset as usize),
            None => {
                let (line, last) = (thousands(line), output.lines().map(thousands));
                self.message = Some(match last {
                    Some(last) => Message::error(format!("no line {line}: the last is {last}")),
                    None => Message::error(format!("line {line} is not counted yet; try again in a moment")),
                });
            }
        }
    }

    /// Scrolls to an offset of the file. If Preview has not got it, says so: Spill has.
    fn go_offset(&mut self, side: Side, offset: usize) {
        if side == Side::Spill || self.output.is_kept(offset) || !self.output.has_preview() {
            self.show_offset(side, offset, 0);
            return self.tell_hidden(side, offset);
        }
        self.point_to(offset, 0);
        self.message = Some(self.lost(offset));
    }

    /// Says that the line at an offset was lost, and which key shows it.
    pub(crate) fn lost(&self, offset: usize) -> Message {
        let output = &self.output;
        let line = output.index.line_at(&output.view, offset as u64);
        let line = line.map_or_else(|| "that line".into(), |line| format!("line {}", thousands(line + 1)));
        let key = self.key_of(Action::Other);
        let where_to = if self.shows_both() { String::new() } else { format!(" · {key} shows it") };
        Message::note(format!("{line} was lost{where_to}"))
    }

    /// Goes to a percentage of the file.
    pub(crate) fn go_percent(&mut self, percent: Option<u64>) {
        let Some(percent) = percent else {
            let key = self.key_of(Action::Percent);
            self.message = Some(Message::note(format!("type the number first: 50{key}")));
            return;
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

    /// Handles the key after `m`, `'` or `Y`.
    pub(crate) fn second_key(&mut self, waiting: Waiting, key: KeyEvent, effects: &mut Effects) {
        match waiting {
            Waiting::Copy => return self.copy_key(key, effects),
            Waiting::SetMark | Waiting::ToMark => {}
        }
        let KeyCode::Char(name) = key.code else { return };
        match waiting {
            Waiting::Copy => {}
            Waiting::SetMark => {
                let here = (self.focus(), self.panes.top(self.focus()));
                self.panes.marks.insert(name, here);
                let back = self.key_of(Action::ToMark);
                self.message =
                    Some(Message::note(format!("mark {name} is set; {back}{name} comes back here")));
            }
            Waiting::ToMark => match self.panes.marks.get(&name).copied() {
                Some((side, top)) => {
                    self.panes.leave();
                    self.panes.focus = side;
                    self.place(side, self.scroll(side).top_at(top, 0));
                }
                None => {
                    let set = self.key_of(Action::Mark);
                    self.message = Some(Message::error(format!("no mark {name}; {set}{name} sets it")));
                }
            },
        }
    }
}
