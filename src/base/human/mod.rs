//! Numbers, sizes, ages and durations, as people read and write them.

#[cfg(feature = "app")]
mod figure;
mod size;
mod time;

#[cfg(feature = "app")]
pub(crate) use figure::{count, limit, limit_in, lines, size, span, span_left, thousands, tokens};
#[cfg(feature = "app")]
pub(crate) use time::{local_time, parse_duration, parse_time, utc};

pub use size::TypedSize;
pub use time::parse_age;
