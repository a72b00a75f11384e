//! The canvas of the screens: the size of the terminal and what it can show.

use super::glyphs::{self, Glyphs};
use super::theme::Theme;

/// The size and capabilities of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Columns and rows.
    pub size: (u16, u16),
    /// The styles.
    pub theme: Theme,
    /// Whether the terminal can show characters beyond ASCII.
    pub unicode: bool,
}

impl Canvas {
    /// Returns the marks that the terminal can show.
    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        if self.unicode { &glyphs::UNICODE } else { &glyphs::ASCII }
    }
}
