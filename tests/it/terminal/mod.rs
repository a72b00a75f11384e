//! Sessions in a real pseudo-terminal: keys typed, the screen waited for, the terminal given back.

mod closed;
mod files;
mod moving;
mod outside;
mod panics;
mod planning;
mod safety;
mod signals;
mod sizes;
mod stores;
