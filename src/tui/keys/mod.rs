//! The keys: one table of what each does, on which screen, and how help and docs describe it; and the keys in use.

mod action;
mod in_use;
mod own;
mod press;
mod table;

pub use action::{Action, KeyContext};
pub use in_use::KeyMap;
pub use own::{KeyFault, former_names};
pub(super) use press::is_character;
pub use press::name;
pub(super) use table::MOTIONS;
pub use table::{Binding, BoundKeys, TABLE};
