//! Draws the pop-ups: help, facts, the policy picker and the prompt.

pub mod facts;
pub(crate) mod figures;
pub mod help;
pub(crate) mod json;
pub(crate) mod leaving;
pub(crate) mod picker;
pub(crate) mod prompt;
pub(crate) mod sort_menu;
