//! One output on the screen: Preview and Spill, how they move, search, windows, limits, and what is drawn of them.

pub(crate) mod describe;
pub mod doc;
pub mod drawer;
pub(crate) mod jump;
pub(crate) mod limits;
pub mod output;
pub mod panes;
pub mod planning;
pub(crate) mod reader;
pub(crate) mod rules;
pub mod scroll;
pub mod search;
pub(crate) mod sideways;
pub mod view;
pub(crate) mod window;
