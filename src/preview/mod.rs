//! The heart: how an agent cuts an output before its model reads it. Pure: bytes in, parts out.
//!
//! A [`Policy`] (data, from a [`Catalog`]) says what an agent's tool does; [`plan`] applies it to an [`Input`] and
//! gives a [`Preview`]: an ordered list of [`Part`]s whose texts, joined, are what the model got.
//!
//! ```
//! use overspill::preview::{Catalog, Input, Output, Totals, plan};
//! let policy = Catalog::builtin().get("opencode/output").unwrap();
//! let totals = Totals::count(b"hello\n");
//! let input = Input::new(Output { bytes: b"hello\n", totals: &totals }, "/tmp/out");
//! assert_eq!(plan(&input, &policy).unwrap().text(&input), "hello\n");
//! ```
//!
//! From the bottom up: `measure` looks at an output frugally; `template` renders what the agent adds; `strategy` selects
//! ranges; `policy` turns TOML into a `Policy` that holds all of them, compiled; `plan` puts them together.

mod cap;
mod counts;
mod details;
mod error;
mod input;
mod limits;
pub(crate) mod measure;
pub(crate) mod model;
mod plan;
mod policy;
mod refuse;
mod report;
mod rewrite;
mod section;
pub(crate) mod strategy;
pub(crate) mod template;
mod value;

pub use crate::known::Confidence;
pub use crate::text::units::Want;
pub use error::PlanError;
pub use input::{Input, LineSeek, Output, Stream, Totals};
pub use model::{Bit, Decoding, Direction, LimitHit, Part, Preview, Status, Unit};
pub use plan::{plan, plan_touching};
pub use policy::catalog::Catalog;
pub use policy::param::{Param, ParamError, ParamKind};
pub use policy::{Policy, PolicyError};
pub use report::{Report, ReportPart, report};
pub use value::Value;

#[cfg(test)]
mod tests;
