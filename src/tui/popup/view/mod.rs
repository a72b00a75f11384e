//! Drawing what lies over the screen: help, facts, the policy picker, a line being typed.

pub mod facts;
pub mod help;
pub(crate) mod picker;
pub(crate) mod prompt;
