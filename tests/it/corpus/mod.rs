//! The commands that look at many outputs together.

mod grep;
mod tune;
