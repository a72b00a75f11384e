//! An output that is still being made while it is viewed.

use std::io;
use std::path::PathBuf;

use crate::output::subject::Target;
use crate::source::Source;
use crate::tui::event::{Event, Message};
use crate::tui::pager::event::OutputEvent;
use crate::tui::screen::Effects;
use crate::tui::target::{Finished, Live, LiveUpdate, Producer};

use super::signal::Signal;
use super::viewed::ViewedOutput;
use super::{Session, terminal};

impl Session {
    /// Receives the news of the first output while it is being made.
    pub(super) fn follow(&mut self, live: Live) -> io::Result<()> {
        let control = match &live.producer {
            Producer::Command(control) => Some(control.clone()),
            Producer::Stream => None,
        };
        let leave = self.signals.clone();
        // What has arrived is kept, as when the user quits: the caller that started the screens takes care of it.
        terminal::at_last(move |signal| {
            if let Some(control) = &control {
                control.ask(signal);
            }
            let _ = leave.send(Signal::TerminalGone(None));
        });
        self.producer = Some(live.producer);
        let signals = self.signals.clone();
        std::thread::Builder::new().name("news".into()).spawn(move || {
            // Sending fails once the screens are left.
            live.updates.iter().map_while(|update| signals.send(Signal::Live(update)).ok()).for_each(drop);
        })?;
        Ok(())
    }

    pub(super) fn on_live_update(&mut self, update: LiveUpdate, effects: &mut Effects) {
        let Finished { path, saved_as, message, ending } = match update {
            LiveUpdate::Error(words) => return self.tell(Message::error(words)),
            LiveUpdate::SavedAs(path) => return self.app.live_event(OutputEvent::SavedAs(path), effects),
            LiveUpdate::Finished(finished) => finished,
        };
        self.producer = None;
        self.app.live_event(OutputEvent::Finished, effects);
        self.app.live_event(OutputEvent::SavedAs(saved_as), effects);
        self.app.live_event(OutputEvent::Ended(Box::new(ending)), effects);
        self.move_to(path, effects);
        if let Some(words) = message {
            self.app.update(Event::Message(Message::note(words)), effects);
        }
    }

    /// Handles that the first output is complete; `path` is where it was saved, if it was.
    fn move_to(&mut self, path: Option<PathBuf>, effects: &mut Effects) {
        if let Some(Target { source, .. }) = self.files.first_mut() {
            source.moved_to(path);
        }
        if matches!(self.viewed[..], [ViewedOutput::Named(0)]) {
            self.watch();
            self.look(effects);
        }
    }

    /// Stops the command, if it still runs, as Ctrl-C does.
    pub(super) fn stop_command(&self) {
        if let Some(Producer::Command(control)) = &self.producer {
            control.interrupt();
        }
    }

    /// Whether the output being viewed is still being made.
    pub(super) fn is_live(&self) -> bool {
        self.producer.is_some() && matches!(self.viewed.last(), Some(ViewedOutput::Named(0)))
    }

    /// Whether more of the output being viewed may arrive.
    pub(super) fn is_streaming(&self, source: &Source) -> bool {
        self.is_live() && matches!(self.producer, Some(Producer::Stream)) || !source.is_complete()
    }

    /// Stops overspill, and the command if there is one, until it is continued.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        let _pause = self.keyboard.pause();
        let mut done = Ok(());
        match &self.producer {
            Some(Producer::Command(control)) => control.pause(|| done = terminal::suspend()),
            _ => done = terminal::suspend(),
        }
        done?;
        terminal::forget(&mut self.screen)
    }

    /// Takes the terminal back after a stop from outside.
    pub(super) fn go_on(&mut self) -> io::Result<()> {
        let _pause = self.keyboard.pause();
        terminal::reclaim()?;
        terminal::forget(&mut self.screen)
    }
}
