//! The outputs on the stack of the screens, with their files: how they are opened, watched and closed.

use crate::source::{Source, Watcher};
use crate::tui::event::Message;
use crate::tui::pager::event::OutputEvent;
use crate::tui::recorded::RecordedCall;
use crate::tui::screen::{Effects, OpenRequest};
use crate::tui::target::{Opened, OpenedFrom, Subject, Target};

use super::Session;
use super::news::Maker;
use super::signal::Signal;

/// An output on the stack of the screens.
pub(super) struct Viewed {
    /// `None` if it is in no file.
    pub(super) source: Option<Source>,
    /// Its index among the outputs named on the command line, 0-based, and its subject, if it is one of them.
    pub(super) named: Option<(usize, Subject)>,
}

/// What an output is opened as.
pub(super) enum OpenAs {
    /// One of those named on the command line, by its index.
    Named(usize),
    /// One that a screen lists.
    Stored(Box<OpenRequest>),
    /// The spill of a call.
    Call(Box<RecordedCall>),
}

impl Viewed {
    /// Whether it is the first output named on the command line, which may still be being made.
    pub(super) fn is_first(&self) -> bool {
        self.named.as_ref().is_some_and(|(number, _)| *number == 0)
    }
}

impl Session {
    /// Opens one of the outputs named on the command line.
    pub(super) fn open_file(&mut self, number: usize, effects: &mut Effects) {
        let Some(target) = self.files.get_mut(number).and_then(Option::take) else { return };
        self.file = number;
        self.open(target, OpenAs::Named(number), effects);
        if let Some(place) = self.places.remove(&number) {
            self.app.update(OutputEvent::StartAt(place), effects);
        }
    }

    /// Switches to the next or previous of the outputs named on the command line.
    pub(super) fn other_file(&mut self, next: bool, effects: &mut Effects) {
        let at = self.file;
        let to = if next { Some(at + 1) } else { at.checked_sub(1) };
        let Some(to) = to.filter(|to| *to < self.files.len()) else {
            let words = format!(
                "file {} of {} is the {}",
                at + 1,
                self.files.len(),
                if next { "last" } else { "first" }
            );
            self.tell(Message::note(words));
            return;
        };
        if let Some(Viewed { source: Some(source), named: Some((number, subject)) }) = self.viewed.pop() {
            self.files[number] = Some(Target { subject, source });
        }
        self.open_file(to, effects);
    }

    /// Opens an output.
    pub(super) fn open(&mut self, target: Target, open_as: OpenAs, effects: &mut Effects) {
        let Target { mut subject, source } = target;
        let (named, request, recorded) = match open_as {
            OpenAs::Named(number) => (Some(number), None, None),
            OpenAs::Stored(request) => (None, Some(request), None),
            OpenAs::Call(recorded) => (None, None, Some(recorded)),
        };
        let origin = match (&request, &recorded) {
            (Some(request), _) => request.origin,
            (None, Some(_)) => OpenedFrom::Session,
            (None, None) => OpenedFrom::Named,
        };
        if let Some(request) = &request {
            if !request.name.is_empty() {
                subject.name = request.name.to_string();
            }
            (subject.id, subject.command) = (request.id.clone(), request.command.clone());
            subject.is_kept = request.is_kept;
        }
        let is_made = named == Some(0);
        let opened = Opened {
            subject: subject.clone(),
            view: source.view(),
            recorded,
            streaming: is_made && self.is_stream_made() || source.is_stream() && !source.is_complete(),
            running: is_made && matches!(self.maker, Some(Maker::Command(_))),
            file: self.file,
            files: self.files.len(),
            origin,
            line: request.as_ref().and_then(|request| request.line),
            find: request.as_ref().and_then(|request| request.find.clone()),
            under: request.and_then(|request| request.under).map(|under| *under),
        };
        let named = named.map(|number| (number, subject));
        self.show(opened, Viewed { source: Some(source), named }, effects);
    }

    /// Puts an output on the screen, in place of one that is there.
    pub(super) fn show(&mut self, opened: Opened, viewed: Viewed, effects: &mut Effects) {
        self.app.open(opened, effects);
        self.close_above(self.app.outputs().count() - 1);
        self.viewed.push(viewed);
        self.watch();
    }

    /// Closes the outputs above the lowest ones.
    fn close_above(&mut self, lowest: usize) {
        for left in self.viewed.drain(lowest.min(self.viewed.len())..).filter_map(|viewed| viewed.source) {
            // A worker that still reads it keeps it open for a while, which is no reason not to delete it.
            left.let_go();
        }
    }

    /// Closes the outputs that the screens have left, and goes on watching the one beneath.
    pub(super) fn close_left(&mut self, effects: &mut Effects) {
        let count = self.app.outputs().count();
        if self.viewed.len() > count {
            self.close_above(count);
            self.watch();
            self.look(effects);
        }
    }

    /// Returns the file of the output being viewed, if it is in one.
    pub(super) fn source(&self) -> Option<&Source> {
        self.viewed.last()?.source.as_ref()
    }

    pub(super) fn source_mut(&mut self) -> Option<&mut Source> {
        self.viewed.last_mut()?.source.as_mut()
    }

    /// Watches the output being viewed, and no other.
    pub(super) fn watch(&mut self) {
        let signals = self.signals.clone();
        let probe = self.source().map(|source| match self.is_live() {
            true => source.probe().often(),
            false => source.probe(),
        });
        match probe.map(|probe| Watcher::spawn(probe, move || signals.send(Signal::Look).is_ok())).transpose()
        {
            Ok(watcher) => self.watcher = watcher,
            Err(error) => self.tell(Message::error(format!("cannot watch the file for changes: {error}"))),
        }
    }
}
