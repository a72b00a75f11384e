//! The outputs on the stack of the screens, with their files: how they are opened, watched, completed and closed.

use std::io;
use std::path::Path;
use std::sync::mpsc::Receiver;

use crate::config::EffectivePolicy;
use crate::output::Target;
use crate::output::recorded::ReadyCall;
use crate::session::examine::OutputPlace;
use crate::source::{Change, FileLock, Identity, PathStatus, Source, Watcher};
use crate::store::PendingDelete;
use crate::tui::event::{Event, Message};
use crate::tui::pager::{ContentChange, OutputEvent};
use crate::tui::screen::{Effects, OpenRequest};
use crate::tui::target::{LiveUpdate, PagerInput, Producer, StartView};

use super::{Session, Signal, terminal};

pub(super) enum ViewedOutput {
    /// One of those named on the command line, by its index. The first may still be being made.
    Named(usize),
    Stored(Source),
    /// It is in no file.
    Memory,
}

impl Session {
    pub(super) fn open_file(&mut self, number: usize, effects: &mut Effects) {
        let Target { subject, source, under } = &mut self.files[number];
        self.file = number;
        let start = StartView { place: self.places.remove(&number), under: under.take() };
        let mut opened = PagerInput { start, ..PagerInput::new(subject.clone(), source.view()) };
        let producer = self.producer.as_ref().filter(|_| number == 0);
        opened.running = matches!(producer, Some(Producer::Command(_)));
        opened.streaming = matches!(producer, Some(Producer::Stream));
        opened.is_named = true;
        self.show(opened, ViewedOutput::Named(number), effects);
    }

    pub(super) fn open_stored(&mut self, request: OpenRequest) -> io::Result<()> {
        let Some(Target { mut subject, source, .. }) = self.target(&request.path) else { return Ok(()) };
        if !request.name.is_empty() {
            subject.name = request.name.to_string();
        }
        (subject.id, subject.command, subject.is_kept) = (request.id, request.command, request.is_kept);
        let opened = PagerInput { start: request.start, ..PagerInput::new(subject, source.view()) };
        self.on_screens(|session, effects| session.show(opened, ViewedOutput::Stored(source), effects))
    }

    fn target(&mut self, path: &Path) -> Option<Target> {
        (self.services.open)(path, FileLock::Shared).map_err(|fault| self.tell(Message::error(fault))).ok()
    }

    /// Opens a call of a session: what was recorded, over the output that it was cut from.
    pub(super) fn open_call(&mut self, ready: ReadyCall, start: StartView) -> io::Result<()> {
        let Some(policy) = self.policy_of(&ready) else { return Ok(()) };
        let (spill, view, viewed) = match &ready.place {
            OutputPlace::File(path) => {
                let Some(Target { subject, source, .. }) = self.target(path) else { return Ok(()) };
                (Some(subject), source.view(), ViewedOutput::Stored(source))
            }
            OutputPlace::Memory(view) => (None, view.clone(), ViewedOutput::Memory),
        };
        let subject = ready.subject(policy, spill);
        let opened = PagerInput { start, recorded: Some(ready.recorded), ..PagerInput::new(subject, view) };
        self.on_screens(|session, effects| session.show(opened, viewed, effects))
    }

    /// Returns the policy that cut the call, or else the first of its agent.
    fn policy_of(&self, ready: &ReadyCall) -> Option<EffectivePolicy> {
        if let Some(policy) = &ready.recorded.policy {
            return Some(EffectivePolicy::chosen(policy.clone(), true));
        }
        let mut choices = (self.services.load_policies)(None);
        let of_agent = |choice: &EffectivePolicy| choice.policy.agent() == ready.agent && choice.is_current;
        let at = choices.iter().position(of_agent).unwrap_or(0);
        (!choices.is_empty()).then(|| choices.swap_remove(at))
    }

    /// Puts an output on the screen, in place of one that is there.
    fn show(&mut self, mut opened: PagerInput, viewed: ViewedOutput, effects: &mut Effects) {
        (opened.file, opened.files) = (self.file, self.files.len());
        opened.streaming |= self.source_of(&viewed).is_some_and(|source| !source.is_complete());
        self.app.open(opened, effects);
        self.close_above(self.app.outputs().count() - 1);
        self.viewed.push(viewed);
        self.watch();
        self.report_form(effects);
    }

    fn close_above(&mut self, lowest: usize) {
        for viewed in self.viewed.drain(lowest.min(self.viewed.len())..) {
            // A worker that still reads it keeps it open for a while, which is no reason not to delete it.
            if let ViewedOutput::Stored(source) = viewed {
                source.unlock();
            }
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

    pub(super) fn reopen(&mut self) -> io::Result<()> {
        if let Err(why) = self.path() {
            self.tell(Message::note(why));
            return Ok(());
        }
        let Some(source) = self.source_mut() else { return Ok(()) };
        if let Err(error) = source.reopen() {
            self.tell(Message::error(error.to_string()));
            return Ok(());
        }
        self.watch();
        self.tell(Message::note("opened again"));
        self.on_screens(|session, effects| session.on_change(Change::Grown, effects))
    }

    pub(super) fn source_of<'a>(&'a self, viewed: &'a ViewedOutput) -> Option<&'a Source> {
        match viewed {
            ViewedOutput::Named(number) => Some(&self.files[*number].source),
            ViewedOutput::Stored(source) => Some(source),
            ViewedOutput::Memory => None,
        }
    }

    pub(super) fn source(&self) -> Option<&Source> {
        self.source_of(self.viewed.last()?)
    }

    /// Returns the path of the file of the output being viewed, or why it cannot be edited or opened again.
    pub(super) fn path(&self) -> Result<&Path, &'static str> {
        self.source().and_then(Source::path).ok_or("this output is in no file")
    }

    pub(super) fn source_mut(&mut self) -> Option<&mut Source> {
        match self.viewed.last_mut()? {
            ViewedOutput::Named(number) => Some(&mut self.files[*number].source),
            ViewedOutput::Stored(source) => Some(source),
            ViewedOutput::Memory => None,
        }
    }

    /// Releases the files being deleted, which showing them here must not prevent. Those open in another viewer stay.
    pub(super) fn let_go(&self, to_delete: &[PendingDelete]) {
        let is_it = |file: &Identity| to_delete.iter().any(|marked| marked.entry.identity.same_file(file));
        let viewed = self.viewed.iter().filter_map(|viewed| self.source_of(viewed));
        for source in self.files.iter().map(|target| &target.source).chain(viewed) {
            if source.identity().as_ref().is_some_and(is_it) {
                source.unlock();
            }
        }
    }

    pub(super) fn look(&mut self, effects: &mut Effects) {
        let Some(source) = self.source_mut() else { return };
        let content = source.refresh();
        self.on_change(content, effects);
    }

    /// Passes a change to the screens. A refresh reports each change only once, so it must not get lost.
    pub(super) fn on_change(&mut self, content: Change, effects: &mut Effects) {
        let Some(source) = self.source() else { return };
        let changed = ContentChange {
            view: source.view(),
            content,
            // A file that has no name yet has not lost its name.
            path: if self.is_live() { PathStatus::Current } else { source.path_status() },
            streaming: self.is_live() && matches!(self.producer, Some(Producer::Stream))
                || !source.is_complete(),
        };
        self.app.update(OutputEvent::Changed(changed), effects);
        self.report_form(effects);
    }

    /// Reports how the file is compressed, and why a stream ended early.
    fn report_form(&mut self, effects: &mut Effects) {
        if let Some((form, bytes)) = self.source().and_then(|source| source.packed) {
            self.app.update(OutputEvent::Packed(form, bytes), effects);
        }
        let ended = self.source().filter(|source| source.identity().is_none() && source.is_complete());
        if let Some(fault) = ended.and_then(Source::error) {
            self.app.update(OutputEvent::CutShort(fault.to_string()), effects);
        }
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

    pub(super) fn follow(&mut self, producer: Producer, updates: Receiver<LiveUpdate>) -> io::Result<()> {
        let control = match &producer {
            Producer::Command(control) => Some(control.clone()),
            Producer::Stream => None,
        };
        let leave = self.signals.clone();
        // What has arrived is kept, as when the user quits: the caller that started the screens takes care of it.
        terminal::on_exit_signal(move |signal| {
            if let Some(control) = &control {
                control.ask(signal);
            }
            let _ = leave.send(Signal::TerminalGone(None));
        });
        self.producer = Some(producer);
        let signals = self.signals.clone();
        std::thread::Builder::new().name("news".into()).spawn(move || {
            // Sending fails once the screens are left.
            updates.iter().map_while(|update| signals.send(Signal::Live(update)).ok()).for_each(drop);
        })?;
        Ok(())
    }

    pub(super) fn on_live_update(&mut self, update: LiveUpdate, effects: &mut Effects) {
        let (path, saved_as, message, ending) = match update {
            LiveUpdate::Error(words) => return self.tell(Message::error(words)),
            LiveUpdate::SavedAs(path) => return self.app.live_event(OutputEvent::SavedAs(path), effects),
            LiveUpdate::Finished { path, saved_as, message, ending } => (path, saved_as, message, ending),
        };
        self.producer = None;
        self.app.live_event(OutputEvent::SavedAs(saved_as), effects);
        self.app.live_event(OutputEvent::Ended(Box::new(ending)), effects);
        if let Some(Target { source, .. }) = self.files.first_mut() {
            source.moved_to(path);
        }
        if matches!(self.viewed[..], [ViewedOutput::Named(0)]) {
            self.watch();
            self.look(effects);
        }
        if let Some(words) = message {
            self.app.update(Event::Message(Message::note(words)), effects);
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.producer.is_some() && matches!(self.viewed.last(), Some(ViewedOutput::Named(0)))
    }
}
