//! The pop-ups that lie over any screen.

pub(crate) mod copying;
pub mod help;
mod help_box;
pub mod leaving;
pub(crate) mod legend;
pub(crate) mod menu;
mod prompt;
