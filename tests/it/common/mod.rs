//! What the whole-program tests share: a home of their own, the screens without a terminal, and a terminal.
#![allow(dead_code, reason = "each test program uses its own share")]

pub mod bench;
pub mod home;
pub mod looks;
pub mod samples;
pub mod sequences;
pub mod session;
pub mod svg;
