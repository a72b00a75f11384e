//! The core: how an agent truncates an output before its model reads it. Pure: takes bytes, returns parts.
//!
//! A [`Policy`] (data, from a [`Catalog`]) says what an agent's tool does; [`plan`] applies it to an [`Input`] and
//! returns a [`Preview`]: an ordered list of [`Part`]s whose joined texts are what the model got.
//!
//! ```
//! use overspill::preview::{Input, Policy, plan_counted};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut policy = Policy::builtin("opencode/output")?;
//! policy.set("max_lines", "2")?;
//! let input = Input::from_bytes(b"one\ntwo\nthree\n", "/tmp/out");
//! let preview = plan_counted(&input, &policy)?;
//! assert!(preview.truncated && preview.text(&input).starts_with("one\ntwo\n"));
//! assert_eq!((preview.kept.lines, preview.total.bytes), (Some(2), Some(14)));
//! # Ok(())
//! # }
//! ```
//!
//! From the bottom up: `measure` reads as little of an output as possible; `template` renders what the agent adds;
//! `strategy` selects ranges; `policy` compiles TOML into a `Policy` that contains all of them; `plan` puts them
//! together.

#![warn(missing_docs)]

mod input;
mod limits;
pub(crate) mod measure;
pub(crate) mod model;
mod plan;
mod policy;
#[cfg(feature = "app")]
mod recorded;
mod report;
mod rewrite;
mod section;
pub(crate) mod strategy;
#[cfg(feature = "app")]
pub(crate) mod sweep;
pub(crate) mod template;
#[cfg(feature = "records")]
mod witness;

pub use crate::base::provenance::Confidence;
pub use crate::text::units::{Decoding, TotalsMask};
pub use input::{Input, InputContext, LineIndex, Output, PerStream, Stream, Totals};
pub use model::{Counts, Direction, Fragment, LimitHit, Part, PlanError, Preview, Status, Unit};
pub use plan::{plan, plan_counted};
#[cfg(test)]
pub(crate) use policy::PARSED;
pub(crate) use policy::ParamRole;
pub use policy::catalog::Catalog;
pub use policy::param::{Param, ParamError, ParamKind};
pub use policy::{Policy, PolicyError};
#[cfg(feature = "app")]
pub(crate) use recorded::recorded;
pub use template::Value;
#[cfg(all(test, feature = "app"))]
pub(crate) use template::pattern::NoticePattern;

// For the program and the tests; none of this is stable.
#[doc(hidden)]
pub use {crate::base::provenance::Certainty, plan::plan_touching, report::Report};

pub(crate) use plan::{CountedPlan, TotalsFor, plan_counting};
#[cfg(feature = "records")]
pub(crate) use witness::{PlanContext, Witness, witness};

#[cfg(test)]
mod tests;
