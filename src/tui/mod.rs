//! The screens: `app` holds and draws the state; `runtime` has the event loop, the terminal and the threads.

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
pub mod popup {
    pub mod help;
    pub mod leaving;
    pub(crate) mod menu;
    pub mod prompt;
}
#[allow(unreachable_pub, reason = "a test starts the screens in its own process")]
pub(crate) mod runtime;
pub mod screen;
pub mod sessions;
pub mod target;
pub mod tune;
pub mod widget {
    pub mod canvas;
    pub mod layout;
    pub mod line;
    pub mod theme;
}

pub use runtime::terminal::{ended_by, take_missed_hangup};
pub use runtime::{Start, Startup, run};
pub use target::{LiveUpdate, Producer, Services, StartAt};
