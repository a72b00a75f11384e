//! The pop-ups that lie over any screen.

pub mod help;
mod help_box;
pub mod leaving;
pub(crate) mod legend;
mod prompt;
pub mod sort_menu;
