//! Judges limits on many outputs: counts what each of many settings of a policy keeps of them.
//!
//! A `TuneGrid` is the settings around a policy's limits. A `Tuner` visits outputs, each once, and returns what every
//! setting does to one, in figures that hold no text; `TuneSums` adds them up; `frontier` finds the settings that
//! are worth choosing between; `ChangedOutputs` keeps the outputs that a setting cuts differently than the present one.
//! `prepare_tuning` lists the outputs and finds the policies that were asked for, and a `TuneRun` measures them for a screen.

mod limits;
pub(super) mod request;
pub(super) mod run;
mod sums;
mod visit;

pub(crate) use limits::{
    LimitChange, TuneGrid, TuneSetting, describe_change, describe_value, flags, next_value, other_end,
    smallest_change,
};
pub(crate) use sums::{
    ChangedOutput, ChangedOutputs, SettingFigures, TuneMove, TuneSums, describe_share, frontier,
};
pub(crate) use visit::{Tuner, VisitedOutput};

#[cfg(test)]
pub(crate) mod tests;
