//! The screens: state and updates in `app`, drawing in `view`, threads in `jobs`, all joined by the loop here.

mod along;
pub mod app;
pub mod arrange;
pub mod detail;
pub mod doc;
pub mod drawer;
pub mod event;
pub mod find;
pub mod geometry;
mod jobs;
mod keyboard;
pub mod keys;
mod limits;
pub mod list;
pub mod list_acts;
pub mod output;
mod overlay;
pub mod pager;
pub mod picker;
pub mod planning;
pub mod prompt;
mod reader;
mod rules;
mod run;
mod saying;
mod scans;
pub mod scroll;
mod stores;
mod terminal;
pub mod theme;
mod travel;
pub mod view;
mod window;

pub use output::Subject;
pub use picker::Choice;
pub use run::{Live, LiveNews, Maker, Over, Start, Target, run};
