//! Strategies used by a single agent.

pub(crate) mod balanced;
pub(crate) mod clipped;
pub(crate) mod collected;
pub(crate) mod filtered;
pub(crate) mod held;
pub(crate) mod numbered;
pub(crate) mod sampled;
mod sequences;
pub(crate) mod shaped;
pub(crate) mod shares;
pub(crate) mod stripped;
pub(crate) mod text_mode;
pub(crate) mod weighed;
