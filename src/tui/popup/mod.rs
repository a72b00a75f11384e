//! The pop-ups that lie over any screen.

pub mod help;
pub mod leaving;
mod prompt;
pub mod sort_menu;
