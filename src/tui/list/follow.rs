//! Following: rows come in on top of a list, and the first of them stays selected until the user moves.

use super::List;
use super::order::Landing;

/// Whether the first row stays selected as rows come in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FollowState {
    /// The row that is selected does.
    #[default]
    Off,
    On,
    /// Another screen lies over the list, and leaving it leads back to the selected row, whatever has come in.
    Covered,
}

impl<R: Clone> List<R> {
    pub(crate) fn is_following(&self) -> bool {
        self.following != FollowState::Off
    }

    /// Puts the rows in their first order and selects the first, which stays selected as rows come in. Returns whether the
    /// order was another one.
    pub(crate) fn follow(&mut self) -> bool {
        let is_other = !self.is_in_first_order();
        (self.options.sort, self.options.reversed) = (0, false);
        self.following = FollowState::On;
        match is_other {
            true => self.arrange(Some(Landing::FIRST), true),
            false => self.move_to(0),
        }
        is_other
    }

    /// Returns false if it did not follow.
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

    /// Ends following if the first row of the first order is no longer selected. `is_new` is whether other rows have
    /// replaced those of before.
    pub(super) fn go_on_following(&mut self, is_new: bool) {
        self.following = match self.following {
            _ if self.chosen != 0 || !self.is_in_first_order() => FollowState::Off,
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

    fn is_in_first_order(&self) -> bool {
        self.sort() == (0, false)
    }
}
