//! The commands that look at many outputs together.

pub(crate) mod grep;
mod meter;
mod render;
