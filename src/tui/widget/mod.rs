//! What all screens share for drawing: text lines, boxes, the layout, the theme, the marks and the ASCII fallback.

pub mod canvas;
pub(crate) mod finish;
pub(crate) mod frame;
pub(crate) mod glyphs;
pub mod layout;
pub mod line;
pub mod prompt;
pub(crate) mod table;
pub mod theme;
