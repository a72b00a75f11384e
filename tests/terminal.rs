//! Sessions in a real pseudo-terminal: keys typed, the screen waited for, the terminal given back.

mod common;

#[path = "terminal/files.rs"]
mod files;
#[path = "terminal/moving.rs"]
mod moving;
#[path = "terminal/outside.rs"]
mod outside;
#[path = "terminal/planning.rs"]
mod planning;
#[path = "terminal/safety.rs"]
mod safety;
#[path = "terminal/stores.rs"]
mod stores;
