//! What all screens are drawn with: lines of words, boxes, the layout of regions, the theme, marks, the ASCII fallback.

pub(crate) mod ascii;
pub mod canvas;
pub(crate) mod frame;
pub(crate) mod glyphs;
pub mod layout;
pub(crate) mod line;
pub mod theme;
pub(crate) mod wide;
