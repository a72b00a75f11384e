//! Drawing what lies over the screen: help, facts, the policy picker.

pub mod facts;
pub mod help;
pub(crate) mod picker;
