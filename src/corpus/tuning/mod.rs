//! Limits judged on many outputs, for a screen: which outputs and policies were asked for, and a run that measures them.

pub(super) mod request;
pub(super) mod run;
