//! The screens: state and updates in `app`, drawing in `view`, threads in `jobs`, all joined by the loop here.

pub mod app;
pub mod event;
pub mod keys;
pub mod pager;
pub mod popup;
#[allow(unreachable_pub, reason = "a test starts the screens in its own process")]
pub(crate) mod runtime;
pub mod stores;
pub mod view;
pub mod widget;

pub use pager::subject::{Choice, Subject};
pub use runtime::{Completed, Live, LiveNews, Maker, Start, Target, run};
