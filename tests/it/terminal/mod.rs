//! Sessions in a real pseudo-terminal: keys are typed, the screen is waited for, the terminal must be restored.

mod ascii;
mod background;
mod closed;
mod explain;
mod files;
mod following;
mod mouse;
mod moving;
mod outside;
mod panics;
mod places;
mod planning;
mod safety;
mod sessions;
mod signals;
mod sizes;
mod stores;
mod tables;
mod tune;
