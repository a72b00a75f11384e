//! What all screens are drawn with: lines of words, the layout of regions, the theme, the ASCII fallback.

pub(crate) mod ascii;
pub mod canvas;
pub mod layout;
pub(crate) mod line;
pub mod theme;
pub(crate) mod wide;
