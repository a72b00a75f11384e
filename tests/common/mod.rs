//! What the whole-program tests share: a home of their own, and the program run in it.
#![allow(dead_code, reason = "each test program uses its own share")]

pub mod home;
