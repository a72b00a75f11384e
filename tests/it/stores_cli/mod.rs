//! The commands that go through the stores without the screen: what they show, and above all what they delete.

mod asking;
mod clean;
mod compare;
mod faults;
mod list;
mod rm;
mod show;
mod stocked;
mod stores;
