//! What the screens are drawn on: the size of the terminal, and what it can show.

use super::glyphs::{self, Glyphs};
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

impl Canvas {
    /// The marks that it can show.
    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        if self.unicode { &glyphs::UNICODE } else { &glyphs::ASCII }
    }
}
