//! What the screens are drawn on: the size of the terminal, and what it can show.

use super::theme::Theme;

/// A terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Columns and rows.
    pub size: (u16, u16),
    /// Looks.
    pub theme: Theme,
    /// Whether it knows more than ASCII.
    pub unicode: bool,
}
