//! Commands about a single output or policy: preview, read, compare, show, policies.

pub(crate) mod compare;
pub(crate) mod policies;
pub(crate) mod preview;
pub(crate) mod show;
