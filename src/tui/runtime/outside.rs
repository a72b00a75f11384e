//! Carries out the effects that the screens request.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use crate::config::EffectivePolicy;
use crate::source::{Change, Hold, Source};
use crate::tui::event::{Event, Message};
use crate::tui::job::{Job, Pace, Slot};
use crate::tui::outputs::OutputsEvent;
use crate::tui::outputs::deletion::delete;
use crate::tui::pager::event::{Changed, OutputEvent};
use crate::tui::screen::{Effect, Effects, OpenRequest};

use super::viewed::OpenAs;
use super::{Session, editor, terminal};

/// Whether an effect makes a job that was postponed needless.
fn replaces(later: &Effect, earlier: &Job) -> bool {
    match later {
        Effect::Run(job) => job.slot == earlier.slot,
        Effect::Stop(slot) => *slot == earlier.slot,
        _ => false,
    }
}

impl Session {
    /// Passes an event to the screens and carries out the effects that follow.
    pub(crate) fn happen(&mut self, event: impl Into<Event>) -> io::Result<()> {
        let mut effects = Effects::default();
        self.app.update(event, &mut effects);
        self.carry_out(effects)
    }

    /// Carries out effects in their order. While the same key waits again, what would hold it up, and be made anew for
    /// it, is postponed.
    pub(crate) fn carry_out(&mut self, effects: impl IntoIterator<Item = Effect>) -> io::Result<()> {
        let mut closing = Effects::default();
        self.close_left(&mut closing);
        let mut events = Vec::new();
        for effect in effects.into_iter().chain(closing) {
            self.postponed.retain(|earlier| !replaces(&effect, earlier));
            match effect {
                Effect::Run(job) if self.key_repeats && job.pace != Pace::Background => {
                    self.postponed.push(job)
                }
                Effect::Run(job) => events.extend(self.jobs.run(job)),
                Effect::Stop(slot) => self.jobs.stop(slot),
                Effect::Ask(slot, request) => self.jobs.ask(slot, request),
                Effect::Quit(to_delete) => (self.left, self.to_delete) = (true, to_delete),
                Effect::StopCommand => self.stop_command(),
                Effect::Copy(text) => self.copy(&text)?,
                Effect::Edit(line) => self.edit(line)?,
                Effect::Open(request) => self.open_stored(request)?,
                Effect::Reopen => self.reopen()?,
                Effect::LoadPolicies(request) => {
                    let found = self.load_policies(&request.names);
                    self.happen((request.answer)(found))?;
                }
                Effect::OtherFile { next } => {
                    let mut effects = Effects::default();
                    self.other_file(next, &mut effects);
                    self.carry_out(effects)?;
                }
                Effect::Delete(to_delete) => {
                    self.let_go(&to_delete);
                    self.run(Job::new(Slot::Other, Pace::Background, move |context| {
                        context.send(OutputsEvent::Deleted(delete(&to_delete, context.env())));
                    }))?;
                }
                Effect::OpenCall(ready) => self.open_call(*ready)?,
                Effect::Redraw => terminal::paint(|| terminal::forget(&mut self.screen))?,
                Effect::Suspend => self.suspend()?,
            }
        }
        // What they lead to comes after all of them, so that nothing newer is undone.
        events.into_iter().try_for_each(|event| self.happen(event))
    }

    /// Starts a job, and handles what it has for the next frame.
    pub(super) fn run(&mut self, job: Job) -> io::Result<()> {
        self.jobs.run(job).into_iter().try_for_each(|event| self.happen(event))
    }

    /// Loads the first policy of these names that exists; all policies if there are none.
    fn load_policies(&self, names: &[String]) -> Vec<EffectivePolicy> {
        let load = &self.services.load_policies;
        match names {
            [] => load(None),
            names => {
                names.iter().map(|name| load(Some(name))).find(|found| !found.is_empty()).unwrap_or_default()
            }
        }
    }

    /// Copies with OSC 52, which reaches the clipboard even through ssh and tmux.
    fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = crate::fs::patient::screen();
        terminal::paint(|| {
            crossterm::execute!(out, crossterm::clipboard::CopyToClipboard::to_clipboard_from(text))?;
            out.flush()
        })
    }

    /// Opens the user's editor and leaves the terminal to it until it exits.
    fn edit(&mut self, line: u64) -> io::Result<()> {
        let Some(path) = self.source().and_then(Source::path).map(Path::to_owned) else {
            self.tell(Message::note("standard input has no file to edit"));
            return Ok(());
        };
        let editor =
            ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
        let editor = editor.unwrap_or_else(|| "vi".into());
        let (program, arguments) = editor::command(&editor, line, &path);
        let hold = self.keyboard.hold();
        terminal::restore();
        let status = Command::new(&program).args(arguments).status();
        terminal::enter()?;
        terminal::forget(&mut self.screen)?;
        drop(hold);
        if let Err(error) = status {
            self.tell(Message::error(format!("{program}: {error}; $EDITOR names the editor")));
        }
        Ok(())
    }

    fn open_stored(&mut self, request: OpenRequest) -> io::Result<()> {
        match (self.services.open)(&request.path, Hold::Lock) {
            Ok(target) => {
                let mut effects = Effects::default();
                self.open(target, OpenAs::Stored(Box::new(request)), &mut effects);
                self.carry_out(effects)
            }
            Err(fault) => {
                self.tell(Message::error(fault));
                Ok(())
            }
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        let Some(source) = self.source_mut() else { return Ok(()) };
        match source.reopen() {
            Ok(()) => {
                let changed = Changed {
                    view: source.view(),
                    content: Change::Grown { from: 0 },
                    path: source.path_status(),
                    streaming: false,
                };
                self.watch();
                let mut effects = Effects::default();
                self.app.update(OutputEvent::Changed(changed), &mut effects);
                self.tell(Message::note("opened again"));
                self.carry_out(effects)
            }
            Err(error) => {
                self.tell(Message::error(error.to_string()));
                Ok(())
            }
        }
    }
}
