//! Takes an output while it arrives: counted, held, then written to a file within its limits.

pub(crate) mod content;
pub(crate) mod copy;
pub(crate) mod count;
pub(crate) mod dir;
pub(crate) mod ends;
pub(crate) mod file;
pub(crate) mod location;
pub(crate) mod session;
pub(crate) mod sink;
