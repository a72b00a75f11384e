//! Limits judged on many outputs, for a screen: which outputs and policies were asked for, and a run that measures them.

mod request;
mod run;

pub use request::{TuneFault, TuneOutputs, TunePolicies, TuneRequest, prepare_tuning};
pub use run::{TuneFigures, TuneRun};

pub(crate) use request::{is_design, likely_policy};
pub(crate) use run::{TuneKind, seconds_left};
