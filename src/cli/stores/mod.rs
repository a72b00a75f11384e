//! The commands on stored outputs: list, clean, rm, stores, and what they share.

pub(crate) mod clean;
pub(crate) mod confirm;
pub(crate) mod facts;
pub(crate) mod follow;
pub(crate) mod list;
pub(crate) mod overview;
pub(crate) mod rm;
pub(crate) mod select;
