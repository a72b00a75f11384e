//! The canvas of the screens: the size of the terminal, what it can show, and the keys that are named on it.

use crate::tui::keys::KeyMap;

use super::glyphs::{self, Glyphs};
use super::theme::Theme;

/// The size and capabilities of the terminal, and the keys in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Columns and rows.
    pub size: (u16, u16),
    pub theme: Theme,
    /// Whether the terminal can show characters beyond ASCII.
    pub unicode: bool,
    /// The keys in use. They are set once, when the screens start, and kept until overspill ends.
    pub keys: &'static KeyMap,
}

impl Canvas {
    /// Creates a canvas of `size` columns and rows with the keys of the table.
    pub fn new(size: (u16, u16), theme: Theme, unicode: bool) -> Self {
        Self { size, theme, unicode, keys: KeyMap::standard() }
    }

    /// Returns the marks that the terminal can show.
    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        if self.unicode { &glyphs::UNICODE } else { &glyphs::ASCII }
    }
}
