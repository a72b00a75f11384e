//! The heart: how an agent cuts an output before its model reads it. Pure: bytes in, parts out.
//!
//! A [`Policy`] (data, from a [`Catalog`]) says what an agent's tool does; [`plan`] applies it to an [`Input`] and
//! gives a [`Preview`]: an ordered list of [`Part`]s whose texts, joined, are what the model got.
//!
//! ```
//! use overspill::preview::{Input, Policy, plan_counted};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut policy = Policy::builtin("opencode/output")?;
//! policy.set("max_lines", "2")?;
//! let input = Input::of(b"one\ntwo\nthree\n", "/tmp/out");
//! let preview = plan_counted(&input, &policy)?;
//! assert!(preview.truncated && preview.text(&input).starts_with("one\ntwo\n"));
//! assert_eq!((preview.kept_lines, preview.total_bytes), (Some(2), Some(14)));
//! # Ok(())
//! # }
//! ```
//!
//! The engine reads in this order: `policy` turns TOML into a [`Policy`]; `measure` looks at an output
//! frugally; `strategy` chooses ranges; `template` renders what the agent adds; `plan` puts them together.

mod bounds;
mod cap;
mod counting;
#[allow(unreachable_pub)]
mod counts;
mod details;
mod input;
#[allow(unreachable_pub)]
pub(crate) mod measure;
pub(crate) mod model;
mod per_stream;
mod plan;
#[allow(unreachable_pub)]
mod policy;
mod refuse;
mod report;
mod rewrite;
#[allow(unreachable_pub)]
pub(crate) mod strategy;
#[allow(unreachable_pub)]
pub(crate) mod template;

pub use crate::known::Confidence;
pub use crate::text::units::Want;
pub use counting::plan_counted;
pub(crate) use counting::{Counted, Counts, plan_counting};
pub use input::{Input, LineSeek, Output, Stream, Totals};
pub use model::{Bit, Decoding, Direction, LimitHit, Part, Preview, Status, Unit};
pub use per_stream::PerStream;
pub use plan::{PlanError, plan, plan_touching};
pub use policy::catalog::Catalog;
pub use policy::param::{Param, ParamError, ParamKind, Value};
pub use policy::{Policy, PolicyError};
pub use report::{Report, ReportPart, report};

#[cfg(test)]
mod tests;
