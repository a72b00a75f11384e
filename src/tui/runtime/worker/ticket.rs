//! What every worker has: a ticket, which shows whether its work is still wanted, and a reporter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use crate::tui::event::Event;
use crate::tui::runtime::signal::Signal;

/// Sends events from workers to the event loop.
#[derive(Debug, Clone)]
pub(crate) struct Reporter(Sender<Signal>);

impl Reporter {
    /// Creates a reporter that sends over this channel.
    pub(crate) fn new(signals: Sender<Signal>) -> Self {
        Self(signals)
    }

    /// Sends an event. Returns whether the event loop still receives.
    pub(crate) fn send(&self, event: impl Into<Event>) -> bool {
        self.0.send(Signal::App(event.into())).is_ok()
    }
}

/// Shows whether work is still wanted: it is until newer work of the same kind begins.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    newest: Arc<AtomicU64>,
    mine: u64,
}

impl Ticket {
    pub(crate) fn next(newest: &Arc<AtomicU64>) -> Self {
        let mine = newest.fetch_add(1, Ordering::Relaxed) + 1;
        Self { newest: newest.clone(), mine }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.newest.load(Ordering::Relaxed) == self.mine
    }
}
