//! What every worker has: a ticket, which says whether it is still wanted, and where it reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use crate::tui::event::Event;
use crate::tui::runtime::signal::Signal;

/// Where workers report.
#[derive(Debug, Clone)]
pub(crate) struct Reporter(Sender<Signal>);

impl Reporter {
    /// Reports over this channel.
    pub(crate) fn new(signals: Sender<Signal>) -> Self {
        Self(signals)
    }

    /// Whether anyone still listens.
    pub(crate) fn send(&self, event: impl Into<Event>) -> bool {
        self.0.send(Signal::App(event.into())).is_ok()
    }
}

/// Whether a worker is still wanted: until its kind has a newer one.
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
