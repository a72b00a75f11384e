//! An output that is still being made while it is viewed.

use std::io;
use std::path::PathBuf;

use crate::capture::set_true;
use crate::preview::Policy;
use crate::source::Source;
use crate::tui::event::OutputEvent;
use crate::tui::pager::subject::Ending;

use super::news::{Completed, Live, LiveNews, Maker};
use super::signal::Signal;
use super::{Effects, Event, Message, Session, terminal};

impl Session {
    /// Receives the news of the first output while it is being made.
    pub(crate) fn expect(&mut self, live: Live) -> io::Result<()> {
        let control = match &live.maker {
            Maker::Command(control) => Some(control.clone()),
            Maker::Stream => None,
        };
        let leave = self.signals.clone();
        // What has arrived is kept, as when the user quits: the caller that started the screens takes care of it.
        terminal::at_last(move |signal| {
            if let Some(control) = &control {
                control.ask(signal);
            }
            let _ = leave.send(Signal::TerminalGone(None));
        });
        self.maker = Some(live.maker);
        let signals = self.signals.clone();
        std::thread::Builder::new().name("news".into()).spawn(move || {
            // Sending fails once the screens are left.
            live.news.iter().map_while(|news| signals.send(Signal::Live(news)).ok()).for_each(drop);
        })?;
        Ok(())
    }

    pub(crate) fn hear(&mut self, news: LiveNews, effects: &mut Effects) {
        let Completed { words, path, saved_as, exit_code, failed, told } = match news {
            LiveNews::Fault(words) => return self.tell(Message::error(words)),
            LiveNews::SavedAs(path) => return self.print_as(path, effects),
            LiveNews::Over(over) => over,
        };
        self.maker = None;
        self.app.update(OutputEvent::Finished, effects);
        self.print_as(saved_as, effects);
        self.tell_end(exit_code, failed.as_ref(), &told, effects);
        if self.is_first() {
            self.settled(path, effects);
        } else if let Some(Some(target)) = self.files.first_mut() {
            target.source.moved_to(path);
        }
        if let Some(words) = words {
            self.app.update(Event::Told(Message::note(words)), effects);
        }
    }

    /// Sets the path that the notices of the first output print.
    fn print_as(&mut self, saved_as: String, effects: &mut Effects) {
        if !self.is_first() {
            if let Some(Some(target)) = self.files.first_mut() {
                target.subject.context.saved_as = saved_as;
            }
            return;
        }
        if let Some((_, subject)) = &mut self.current {
            subject.context.saved_as.clone_from(&saved_as);
        }
        self.app.update(OutputEvent::SavedAs(saved_as), effects);
    }

    /// Tells the policy how the first output ended: some agents report that to the model, or cut with another policy
    /// then.
    fn tell_end(
        &mut self,
        exit_code: Option<i32>,
        failed: Option<&Policy>,
        told: &[&'static str],
        effects: &mut Effects,
    ) {
        let is_first = self.is_first();
        let subject = match (is_first, self.files.first_mut()) {
            (true, _) => self.current.as_mut().map(|(_, subject)| subject),
            (false, target) => target.and_then(Option::as_mut).map(|target| &mut target.subject),
        };
        if let Some(subject) = subject {
            subject.context.exit_code = exit_code.or(subject.context.exit_code);
            subject.policy = failed.unwrap_or(&subject.policy).clone();
            set_true(&mut subject.policy, told);
        }
        if is_first {
            let ending = Ending { exit_code, failed: failed.cloned(), told: told.to_vec() };
            self.app.update(OutputEvent::Ended(Box::new(ending)), effects);
        }
    }

    /// Handles the completion of the output being viewed; `path` is where it was saved, if it was.
    fn settled(&mut self, path: Option<PathBuf>, effects: &mut Effects) {
        let Some(mut source) = self.source.take() else { return };
        source.moved_to(path);
        let content = source.refresh();
        self.watch(&source);
        self.source = Some(source);
        self.changed(content, effects);
    }

    /// Stops the command, if it still runs, as Ctrl-C does.
    pub(crate) fn stop_command(&self) {
        if let Some(Maker::Command(control)) = &self.maker {
            control.interrupt();
        }
    }

    /// Whether the first output is being viewed.
    fn is_first(&self) -> bool {
        self.current.as_ref().is_some_and(|(number, _)| *number == 0)
    }

    /// Whether the output being viewed is still being made.
    pub(crate) fn is_live(&self) -> bool {
        self.maker.is_some() && self.is_first()
    }

    pub(crate) fn is_streaming(&self, source: &Source) -> bool {
        let stream = matches!(self.maker, Some(Maker::Stream)) && self.is_first();
        stream || source.is_stream() && !source.is_complete()
    }

    /// Stops overspill, and the command if there is one, until it is continued.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        let _hold = self.keyboard.hold();
        let mut done = Ok(());
        match &self.maker {
            Some(Maker::Command(control)) => control.pause(|| done = terminal::suspend()),
            _ => done = terminal::suspend(),
        }
        done?;
        terminal::forget(&mut self.screen)
    }

    /// Takes the terminal back after a stop from outside.
    pub(crate) fn go_on(&mut self) -> io::Result<()> {
        let _hold = self.keyboard.hold();
        terminal::reclaim()?;
        terminal::forget(&mut self.screen)
    }
}
