//! What both policies and stores say about their own facts: how certain they are, when they hold, what to warn of; and how a preview is
//! known.

mod certainty;
mod era;
mod warning;

pub use certainty::{Certainty, Confidence};
pub use era::{Date, Edge, Era};
pub(crate) use warning::WARNING;
pub use warning::{Extent, Warning};
