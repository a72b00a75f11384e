//! The tests' screens without a terminal.
#![allow(dead_code, reason = "the tests use the rest")]

#[path = "../../it/common/bench.rs"]
pub mod bench;
#[path = "../../it/common/looks.rs"]
pub mod looks;
#[path = "../../it/common/samples.rs"]
pub mod samples;
