//! The commands that look at many outputs together.

pub(crate) mod gather;
pub(crate) mod grep;
pub(crate) mod measure;
mod meter;
mod render;
pub(crate) mod tune;
