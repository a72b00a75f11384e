//! The signals that reach the event loop over its only channel, and how long each may wait to be drawn.

use std::time::Duration;

use crate::tui::event::{Event, OutputEvent, StoresEvent};
use crate::tui::pager::search::job::SearchReply;

use super::news::LiveNews;
use super::terminal::Panic;

/// Progress is drawn at most this often.
const FRAME: Duration = Duration::from_millis(16);

/// Figures that grow during counting are drawn less often, because drawing takes time away from counting.
const COUNTING: Duration = Duration::from_millis(50);

/// A signal for the event loop.
pub enum Signal {
    /// An event for the screens.
    App(Event),
    /// The file may have changed.
    Look,
    /// News of the output that is still being made.
    Live(LiveNews),
    /// The terminal is gone, or cannot be read; the error if there is one to report.
    TerminalGone(Option<std::io::Error>),
    /// Another process asked overspill to stop for a while, as Ctrl-Z does.
    Pause,
    /// overspill was stopped from outside and continues: the terminal's modes and contents have changed meanwhile.
    GoesOn,
    /// A thread that the screens cannot do without has panicked.
    Panicked(Panic),
}

impl Signal {
    /// Returns how long the signal may wait to be drawn: zero for anything the user has just asked for.
    pub fn patience(&self) -> Duration {
        match self {
            Signal::App(Event::Stores(
                StoresEvent::Scanned(_) | StoresEvent::Peeked(_) | StoresEvent::Copied(_),
            ))
            | Signal::App(Event::Output(OutputEvent::Compared(_)))
            | Signal::Look => FRAME,
            Signal::App(Event::Output(OutputEvent::Counted { .. })) => COUNTING,
            Signal::App(Event::Output(OutputEvent::Found(found)))
                if matches!(found.reply, SearchReply::Counted(..)) =>
            {
                COUNTING
            }
            _ => Duration::ZERO,
        }
    }
}
