//! Shared by the tests: a home directory per test, the screens without a terminal, and a terminal.

pub mod bench;
pub mod home;
pub mod looks;
pub mod records;
pub mod rng;
pub mod samples;
pub mod sequences;
pub mod session;
pub mod skip;
pub mod svg;
