//! The pop-ups that lie over any screen.

pub(crate) mod copying;
pub mod help;
pub mod leaving;
pub(crate) mod menu;
mod prompt;
