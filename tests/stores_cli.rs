//! The commands that go through the stores without the screen: what they show, and above all what they delete.

mod common;

#[path = "stores_cli/asking.rs"]
mod asking;
#[path = "stores_cli/clean.rs"]
mod clean;
#[path = "stores_cli/compare.rs"]
mod compare;
#[path = "stores_cli/faults.rs"]
mod faults;
#[path = "stores_cli/list.rs"]
mod list;
#[path = "stores_cli/rm.rs"]
mod rm;
#[path = "stores_cli/shared.rs"]
mod shared;
#[path = "stores_cli/show.rs"]
mod show;
#[path = "stores_cli/stocked.rs"]
mod stocked;
#[path = "stores_cli/stores.rs"]
mod stores;
