//! The cursor of a list: which row is selected, and which is the first on the screen.

use crate::tui::keys::Action;

/// Where the cursor of a list is. Rows are numbered from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListCursor {
    /// The selected row.
    pub chosen: usize,
    /// The first row on the screen.
    pub top: usize,
}

impl ListCursor {
    /// Moves by an action and the number typed before it, in a list of `len` rows of which `height` are on the screen.
    /// Returns false if the action does not move.
    pub(crate) fn act(&mut self, action: Action, count: Option<u64>, len: usize, height: usize) -> bool {
        let (at, times) = (self.chosen, count.unwrap_or(1) as usize);
        let (page, half) = (height.saturating_sub(1).max(1), (height / 2).max(1));
        let to = match action {
            Action::Down => at.saturating_add(times),
            Action::Up => at.saturating_sub(times),
            Action::HalfDown => at.saturating_add(half.saturating_mul(times)),
            Action::HalfUp => at.saturating_sub(half.saturating_mul(times)),
            Action::PageDown => at.saturating_add(page.saturating_mul(times)),
            Action::PageUp => at.saturating_sub(page.saturating_mul(times)),
            Action::Start => count.map_or(0, |n| (n as usize).saturating_sub(1)),
            Action::End => count.map_or(usize::MAX, |n| (n as usize).saturating_sub(1)),
            _ => return false,
        };
        self.go(to, len, height);
        true
    }

    /// Selects the row whose number, 1-based, was typed.
    ///
    /// # Errors
    /// The text is not a number.
    pub(crate) fn go_to(&mut self, text: &str, len: usize, height: usize) -> Result<(), String> {
        let text = text.trim();
        let row: usize = text.parse().map_err(|_| format!("'{text}' is not the number of a row"))?;
        self.go(row.saturating_sub(1), len, height);
        Ok(())
    }

    /// Selects a row, or the last if there are fewer.
    pub(crate) fn go(&mut self, to: usize, len: usize, height: usize) {
        self.chosen = to.min(len.saturating_sub(1));
        self.settle(len, height);
    }

    /// Scrolls so that the selected row is on the screen, and no blank rows are shown while there are others.
    pub(crate) fn settle(&mut self, len: usize, height: usize) {
        let height = height.max(1);
        self.chosen = self.chosen.min(len.saturating_sub(1));
        self.top = self.top.clamp((self.chosen + 1).saturating_sub(height), self.chosen);
        self.top = self.top.min(len.saturating_sub(height));
    }

    /// Returns the rows on a screen of `height` rows.
    pub(crate) fn rows(&self, len: usize, height: usize) -> std::ops::Range<usize> {
        self.top.min(len)..self.top.saturating_add(height).min(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_in_the_list_and_on_the_screen() {
        let mut cursor = ListCursor::default();
        assert!(cursor.act(Action::End, None, 100, 10));
        assert_eq!(cursor, ListCursor { chosen: 99, top: 90 });
        assert!(cursor.act(Action::Up, Some(9), 100, 10));
        assert_eq!(cursor, ListCursor { chosen: 90, top: 90 });
        assert!(cursor.act(Action::Up, None, 100, 10));
        assert_eq!(cursor, ListCursor { chosen: 89, top: 89 });
        cursor.settle(5, 10);
        assert_eq!(cursor, ListCursor { chosen: 4, top: 0 });
        assert!(cursor.act(Action::PageDown, Some(u64::MAX), 0, 0));
        assert_eq!(cursor, ListCursor::default());
        assert!(!cursor.act(Action::Open, None, 0, 0));
    }
}
