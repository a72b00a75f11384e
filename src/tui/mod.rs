//! The screens: `app` holds the state and updates it, `view` draws it, and `runtime` owns the event loop, the terminal
//! and the worker threads.

pub mod app;
pub mod calls;
pub mod event;
pub mod footer;
pub mod job;
pub mod keys;
pub mod lines;
pub mod list;
pub mod outputs;
pub mod pager;
pub mod popup;
pub mod recorded;
#[allow(unreachable_pub, reason = "a test starts the screens in its own process")]
pub(crate) mod runtime;
pub mod screen;
pub mod services;
pub mod sessions;
pub mod target;
pub mod tune;
pub mod view;
pub mod widget;

pub use outputs::TuneStart;
pub use runtime::terminal::{ended_by, is_closed_unheard};
pub use runtime::{Completed, Live, LiveNews, Maker, Start, run};
pub use services::Services;
pub use target::{Ending, StartAt, Subject, Target};
