//! The commands that work on the stores without a screen: what they show, and above all what they delete.

mod asking;
mod clean;
mod compare;
mod faults;
mod follow;
mod list;
mod rm;
mod shared;
mod show;
pub mod stocked;
mod stores;
