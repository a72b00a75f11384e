//! Which row of a list is selected, which are on the screen, and which are marked to act on several at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::base::human::parse_time;
use crate::tui::event::{JUMP, Purpose};
use crate::tui::keys::Action;

use super::List;
use super::arrange::Landing;

/// Whether the newest row stays selected as rows come in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FollowState {
    /// The row that is selected does.
    #[default]
    Off,
    On,
    /// The last is the newest.
    AtEnd,
    /// Another screen lies over the list, and leaving it leads back to the selected row, whatever has come in.
    Covered,
}

impl<R: Clone> List<R> {
    pub fn chosen_index(&self) -> Option<usize> {
        self.shown.order.get(self.chosen).map(|row| *row as usize)
    }

    pub fn chosen(&self) -> Option<&R> {
        self.rows.get(self.chosen_index()?)
    }

    /// Selects a row by its index. Returns false if it is not shown.
    pub(crate) fn choose(&mut self, row: usize) -> bool {
        let at = self.shown_at(row);
        at.into_iter().for_each(|at| self.move_to(at));
        at.is_some()
    }

    /// Selects a row by its index until the user selects one.
    pub(crate) fn begin_at(&mut self, row: usize) {
        if let Some(at) = self.shown_at(row).filter(|_| !self.has_moved) {
            self.chosen = at;
            self.clamp();
        }
    }

    /// Whether a row was left out when the rows were arranged last.
    pub(crate) fn hides(&self, row: usize) -> bool {
        self.running.is_none() && row < self.shown.all && self.shown_at(row).is_none()
    }

    pub(super) fn shown_at(&self, row: usize) -> Option<usize> {
        self.shown.order.iter().position(|n| *n as usize == row)
    }

    pub(crate) fn chosen_on_screen(&self) -> usize {
        self.place_of(self.chosen).saturating_sub(self.top)
    }

    /// Returns where a shown row stands, counted with headings.
    pub(super) fn place_of(&self, shown: usize) -> usize {
        shown + self.shown.headings.partition_point(|heading| heading.before <= shown)
    }

    /// Moves by an action and the number typed before it. Returns false if the action does not move.
    pub(crate) fn act(&mut self, action: Action, count: Option<u64>) -> bool {
        let to = action.destination(count, [self.chosen, self.len()], self.height);
        let is_jump = matches!(action, Action::Start | Action::End | Action::Percent);
        to.into_iter().for_each(|to| if is_jump { self.jump_to(to) } else { self.move_to(to) });
        if self.grows_at_end && (action, count) == (Action::End, None) && self.is_in_first_order() {
            self.following = FollowState::AtEnd;
        }
        to.is_some()
    }

    fn jump_to(&mut self, chosen: usize) {
        self.set_mark(JUMP);
        self.move_to(chosen);
    }

    fn move_to(&mut self, chosen: usize) {
        self.chosen = chosen;
        self.go_on_following(false);
        self.has_moved = !self.is_following();
        self.stay();
        self.running.iter_mut().for_each(|running| running.landing = None);
        self.clamp();
    }

    /// Goes to the row of a typed number, 1-based, or percentage, or to the latest that is not after a typed time.
    pub(super) fn go_to(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        let (action, number) = match text.strip_suffix('%') {
            Some(percent) => (Action::Percent, percent),
            None => (Action::Start, text),
        };
        match number.trim_end().parse() {
            Ok(number) => drop(self.act(action, Some(number))),
            Err(_) if matches!(text, "n" | "p") => {
                return Err("n and p lead to other files from an output, not from a list".to_owned());
            }
            Err(_) => self.jump_to(self.row_at(text)?),
        }
        Ok(())
    }

    pub(crate) fn enter(&mut self, purpose: Purpose, text: &str) -> Result<(), String> {
        match purpose {
            Purpose::GoTo => return self.go_to(text),
            Purpose::Mark => self.set_mark(text),
            Purpose::ToMark => {
                let is_it =
                    |row: &u32| Some(&(self.spec.key)(&self.rows[*row as usize])) == self.letters.get(text);
                let at = self.shown.order.iter().position(is_it);
                let at = at.ok_or_else(|| format!("no row that is shown has mark {text}"))?;
                self.jump_to(at);
            }
            // What was typed is followed already.
            _ => {}
        }
        Ok(())
    }

    fn set_mark(&mut self, name: &str) {
        let key = self.chosen().map(self.spec.key);
        self.letters.extend(key.map(|key| (name.to_owned(), key)));
    }

    fn row_at(&self, text: &str) -> Result<usize, String> {
        let now = self.look.now.to_zoned(TimeZone::system());
        let Some(end) = parse_time(text, &now) else {
            return Err(format!("'{text}' is neither a row (120, 50%) nor a time (14:30, 2026-11-24, 3d)"));
        };
        let Some(dated) = self.spec.columns.iter().find(|column| column.time.is_some()) else {
            return Err("the rows of this list have no times; type the number of one".to_owned());
        };
        let (when, sorted) = (dated.table.heading, self.sort_columns()[self.options.sort].name);
        let time = dated.time.filter(|_| sorted == when);
        let time = time.ok_or_else(|| format!("sorted by {sorted}: sort by {when} to go to a time"))?;
        let rows = self.shown.order.iter().enumerate().rev();
        let times = rows.filter_map(|(at, row)| Some((at, time(&self.rows[*row as usize])?)));
        let latest = times.filter(|(_, time)| *time <= end).max_by_key(|(_, time)| *time);
        latest.map(|(at, _)| at).ok_or_else(|| format!("no row is as old as {text}"))
    }

    /// Scrolls so that the selected row is on the screen, with the heading of its group, and no blank rows stand there.
    pub(super) fn clamp(&mut self) {
        self.chosen = self.chosen.min(self.len().saturating_sub(1));
        let place = self.place_of(self.chosen);
        let headings = &self.shown.headings;
        let begins = headings.binary_search_by_key(&self.chosen, |heading| heading.before).is_ok();
        let first = if begins && self.height > 1 { place.saturating_sub(1) } else { place };
        self.top = self.top.clamp((place + 1).saturating_sub(self.height), first);
        let all = self.len() + headings.len();
        self.top = self.top.min(all.saturating_sub(self.height));
    }

    /// Scrolls back to the heading of the group of the selected row, if that stays on the screen.
    pub(super) fn show_heading(&mut self) {
        let heading = self.shown.headings.iter().rfind(|heading| heading.before <= self.chosen);
        let place = heading.map_or(self.top, |heading| heading.place);
        if self.place_of(self.chosen) < place + self.height {
            self.top = self.top.min(place);
        }
    }

    pub(crate) fn is_following(&self) -> bool {
        self.following != FollowState::Off
    }

    /// Puts the rows in their first order, and the newest stays selected. Returns whether the order was another.
    pub(crate) fn follow(&mut self) -> bool {
        let is_other = !self.is_in_first_order();
        (self.options.sort, self.options.reversed) = (0, false);
        self.following = if self.grows_at_end { FollowState::AtEnd } else { FollowState::On };
        match is_other {
            true => self.arrange(Some(Landing::FIRST), true),
            false if self.grows_at_end => drop(self.act(Action::End, None)),
            false => self.move_to(0),
        }
        is_other
    }

    pub(crate) fn end_following(&mut self) -> bool {
        std::mem::take(&mut self.following) != FollowState::Off
    }

    /// Has the selected row stay selected, because another screen comes on top.
    pub(crate) fn cover(&mut self) {
        self.has_moved = true;
        if self.following == FollowState::On {
            self.following = FollowState::Covered;
        }
    }

    /// Ends following if the newest row of the first order is not selected. `is_new` is whether rows were replaced.
    pub(super) fn go_on_following(&mut self, is_new: bool) {
        let newest = if self.is_at_end() { self.len().saturating_sub(1) } else { 0 };
        self.following = match self.following {
            _ if self.chosen != newest || !self.is_in_first_order() => FollowState::Off,
            FollowState::Covered if is_new => FollowState::On,
            following => following,
        };
    }

    /// Returns which row is to be selected: the first while it follows, else the one asked for, else the same as now.
    pub(super) fn landing(&self, asked: Option<Landing>) -> Landing {
        match self.following {
            FollowState::On if self.is_in_first_order() => Landing::FIRST,
            _ => asked.unwrap_or(Landing { row: self.chosen_index(), else_first: false }),
        }
    }

    /// Whether the last row stays selected as rows come in.
    pub(super) fn is_at_end(&self) -> bool {
        self.following == FollowState::AtEnd && self.is_in_first_order()
    }

    fn is_in_first_order(&self) -> bool {
        self.sort() == (0, false)
    }

    /// Marks the selected row and those after it, as many as were typed, or ends that, and selects the last of them.
    pub(crate) fn toggle_marks(&mut self, count: Option<u64>) {
        let count = count.unwrap_or(1).max(1);
        for row in self.shown.order.iter().skip(self.chosen).take(count as usize) {
            if !self.marks.remove(row) {
                self.marks.insert(*row);
            }
        }
        self.act(Action::Down, Some(count - 1));
    }

    pub(crate) fn toggle_all(&mut self) {
        let shown: BTreeSet<u32> = self.shown.order.iter().copied().collect();
        match shown.is_subset(&self.marks) {
            true => self.marks.retain(|row| !shown.contains(row)),
            false => self.marks.extend(shown),
        }
    }

    pub(crate) fn is_marked(&self, row: usize) -> bool {
        self.marks.contains(&(row as u32))
    }

    pub fn marked(&self) -> usize {
        self.marks.len()
    }

    pub(crate) fn marked_rows(&self) -> Arc<Vec<u32>> {
        Arc::new(self.marks.iter().copied().collect())
    }

    pub(crate) fn unmark(&mut self) -> bool {
        !std::mem::take(&mut self.marks).is_empty()
    }

    pub fn marked_or_chosen(&self) -> Vec<&R> {
        match self.marks.is_empty() {
            true => self.chosen().into_iter().collect(),
            false => self.marks.iter().filter_map(|row| self.rows.get(*row as usize)).collect(),
        }
    }
}
