//! Carries out the effects that the screens request.

use std::io::{self, Write};
use std::mem::discriminant;
use std::path::Path;
use std::process::Command;

use crate::session::examine::Paths;
use crate::source::{Change, Hold, Source};
use crate::tui::event::{Changed, Effect, Effects, Event, Message, OutputEvent, StoresEvent};
use crate::tui::pager::counted::Uncounted;
use crate::tui::sessions::job::CallRequest;

use super::{Session, editor, terminal};

/// The read tool shown for agents whose own is unknown.
const READ_TOOL: &str = "opencode/read";

/// Whether an effect makes an earlier one needless.
fn replaces(later: &Effect, earlier: &Effect) -> bool {
    discriminant(later) == discriminant(earlier)
        || matches!((later, earlier), (Effect::StopPlan, Effect::Plan(_)))
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
        for effect in effects.into_iter().chain(closing) {
            self.postponed.retain(|earlier| !replaces(&effect, earlier));
            match effect {
                Effect::Plan(_) | Effect::PlanPair(_) | Effect::Glance(_) if self.key_repeats => {
                    self.postponed.push(effect);
                }
                Effect::Quit(to_delete) => (self.left, self.to_delete) = (true, to_delete),
                Effect::StopCommand => self.stop_command(),
                Effect::Count { number, from } => self.count(number, from),
                Effect::Search(job) => self.jobs.search(*job),
                Effect::CountMatches(job) => self.jobs.count_matches(job),
                Effect::Sift(job) => self.jobs.sift(job),
                Effect::StopSift => self.jobs.stop_sift(),
                Effect::StopSearch => self.jobs.stop_search(),
                Effect::Plan(task) => {
                    if let Some(planned) = self.jobs.plan(*task) {
                        self.happen(OutputEvent::Planned(planned))?;
                    }
                }
                Effect::StopPlan => self.jobs.stop_plan(),
                Effect::PlanPair(task) => {
                    if let Some(made) = self.jobs.plan_pair(*task) {
                        self.happen(OutputEvent::PairPlanned(made))?;
                    }
                }
                Effect::Compare(job) => self.jobs.compare(*job),
                Effect::StopComparing => self.jobs.stop_comparing(),
                Effect::Advise(options) => self.jobs.advise(*options),
                Effect::Copy(text) => self.copy(&text)?,
                Effect::Edit(line) => self.edit(line)?,
                Effect::Open(path) => self.open_path(&path)?,
                Effect::Reopen => self.reopen()?,
                Effect::Policies => {
                    let choices = (self.chooser)(None);
                    self.happen(Event::Policies(choices))?;
                }
                Effect::ReadTool { agent, then } => {
                    let names = [format!("{agent}/read"), READ_TOOL.to_owned()];
                    let choice = names.iter().find_map(|name| (self.chooser)(Some(name)).pop());
                    if let Some(choice) = choice {
                        self.happen(OutputEvent::ReadTool(choice, then))?;
                    }
                }
                Effect::OtherFile { next } => {
                    let mut effects = Effects::default();
                    self.other_file(next, &mut effects);
                    self.carry_out(effects)?;
                }
                Effect::Scan(number) => self.jobs.scan(number),
                Effect::Sort(task) => self.jobs.sort(*task),
                Effect::Glance(path) => {
                    if let Some(glance) = self.jobs.glance(path, self.opener.clone()) {
                        self.happen(StoresEvent::Glanced(glance))?;
                    }
                }
                Effect::Grep(number, pattern) => self.jobs.grep(number, *pattern, self.finder.clone()),
                Effect::StopGrep => self.jobs.stop_grep(),
                Effect::Delete(to_delete) => {
                    self.let_go(&to_delete);
                    self.jobs.delete(to_delete);
                }
                Effect::Keep { entry, keep } => self.jobs.keep(*entry, keep),
                Effect::StopKeeping => self.jobs.stop_keeping(),
                Effect::Peek(entries) => self.jobs.peek(entries),
                Effect::ReadTexts(task) => self.jobs.read_texts(*task),
                Effect::Weigh(entries) => self.jobs.weigh(entries, self.opener.clone()),
                Effect::FindCalls(entries) => self.jobs.find_calls(entries),
                Effect::CountLines(entries) => self.jobs.count_lines(entries),
                Effect::ListSessions(number) => self.jobs.list_sessions(number),
                Effect::SumSessions(task) => self.jobs.sum_sessions(task),
                Effect::StopSessions => self.jobs.stop_sessions(),
                Effect::OpenSession(file) => self.jobs.open_session(file, self.examiner.clone()),
                Effect::CloseSession => self.jobs.close_session(),
                Effect::AskSession(request) => self.jobs.ask_session(request),
                Effect::OpenClaim => {
                    if let Some(index) = self.app.sessions.shown_call {
                        self.jobs.ask_session(CallRequest::Show(index, Paths::Any));
                    }
                }
                Effect::OpenCall(ready) => self.open_call(*ready)?,
                Effect::Tune(job) => self.jobs.tune(*job, self.preparer.clone()),
                Effect::StopTune => self.jobs.stop_tune(),
                Effect::LetGo(runs) => self.jobs.let_go(runs),
                Effect::ListChanged(job, run, setting) => self.jobs.list_changed(job, run, setting),
                Effect::Suspend => self.suspend()?,
            }
        }
        Ok(())
    }

    /// Starts a count unless a newer one has replaced it, as happens if the file grew in the meantime.
    fn count(&self, number: u64, from: Uncounted) {
        if let Some(pager) = self.app.stack.output()
            && pager.output.count_number() == number
        {
            self.jobs.count(&pager.output.view, number, from);
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

    fn open_path(&mut self, path: &Path) -> io::Result<()> {
        match (self.opener)(path, Hold::Lock) {
            Ok(target) => {
                let mut effects = Effects::default();
                self.open(target, None, None, &mut effects);
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
