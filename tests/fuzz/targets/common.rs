//! The tests' screens without a terminal.
#![allow(dead_code, reason = "the tests use the rest")]

#[path = "../../common/bench.rs"]
pub mod bench;
#[path = "../../common/looks.rs"]
pub mod looks;
#[path = "../../common/samples.rs"]
pub mod samples;
