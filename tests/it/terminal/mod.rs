//! Sessions in a real pseudo-terminal: keys typed, the screen waited for, the terminal given back.

mod files;
mod moving;
mod planning;
mod safety;
mod stores;
