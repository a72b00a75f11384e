//! Strategies used by a single agent.

pub(crate) mod both_ends;
pub(crate) mod clipped;
pub(crate) mod escapes;
pub(crate) mod held;
pub(crate) mod shaped;
pub(crate) mod weighed;
