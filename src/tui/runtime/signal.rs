//! What comes over the one channel to the loop, and how long it may wait to be drawn.

use std::time::Duration;

use crate::tui::event::{Event, OutputEvent, StoresEvent};
use crate::tui::pager::search::job::SearchReply;

use super::news::LiveNews;
use super::terminal::Panic;

/// What only shows progress is drawn at most this often,
const FRAME: Duration = Duration::from_millis(16);

/// and figures that grow while they are counted less often: drawing takes time from counting.
const COUNTING: Duration = Duration::from_millis(50);

/// What comes over the one channel to the loop.
pub enum Signal {
    /// An event for the screens.
    App(Event),
    /// The file may have changed.
    Look,
    /// Something is to be told of what is still coming.
    Live(LiveNews),
    /// There is no terminal any more, or it could not be read from to begin with.
    TerminalGone(Option<std::io::Error>),
    /// Another process asks overspill to stop for a while, as Ctrl-Z does.
    Pause,
    /// overspill was stopped from outside, and goes on: the terminal has other modes now, and shows something else.
    GoesOn,
    /// A thread panicked without which there are no screens.
    Panicked(Panic),
}

impl Signal {
    /// How long what it tells may wait to be drawn: not at all where a person has just asked for it.
    pub fn patience(&self) -> Duration {
        match self {
            Signal::App(Event::Stores(
                StoresEvent::Scanned(_) | StoresEvent::Peeked(_) | StoresEvent::Copied(_),
            ))
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
