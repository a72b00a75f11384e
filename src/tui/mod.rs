//! The screens: `app` holds the state and updates it, `view` draws it, and `runtime` owns the event loop, the terminal
//! and the worker threads.

pub mod app;
pub mod event;
pub mod footer;
pub mod keys;
pub mod pager;
pub mod popup;
#[allow(unreachable_pub, reason = "a test starts the screens in its own process")]
pub(crate) mod runtime;
pub mod sessions;
pub mod stores;
pub mod tune;
pub mod view;
pub mod watch;
pub mod widget;

pub use pager::subject::Ending;
pub use pager::subject::{Choice, StartAt, Subject};
pub use runtime::terminal::{ended_by, is_closed_unheard};
pub use runtime::{Completed, Follower, Live, LiveNews, Maker, Start, Target, run};
pub use tune::job::{TuneSource, TuneStart};
