//! Effects outside the screens: jobs on threads, copying, editing, opening, and stopping.

use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{SendError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::output::recorded::CallRequest;
use crate::tui::event::{Event, Message};
use crate::tui::job::{Gate, Job, JobContext, Pace, Reporter, Slot, Tickets};
use crate::tui::outputs::OutputsEvent;
use crate::tui::outputs::deletion::delete;
use crate::tui::screen::{Effect, Effects};
use crate::tui::target::{Producer, Services};

use super::terminal::{self, ThreadRole};
use super::{Session, Signal};

impl Session {
    pub(super) fn happen(&mut self, event: impl Into<Event>) -> io::Result<()> {
        self.on_screens(|session, effects| session.app.update(event, effects))
    }

    /// Does something to the screens, and carries out the effects that follow.
    pub(super) fn on_screens(&mut self, act: impl FnOnce(&mut Self, &mut Effects)) -> io::Result<()> {
        let mut effects = self.app.effects();
        act(self, &mut effects);
        self.carry_out(effects.outside)
    }

    /// Carries out effects. While the same key waits again, what it would make anew is postponed.
    pub(super) fn carry_out(&mut self, effects: impl IntoIterator<Item = Effect>) -> io::Result<()> {
        let mut closing = self.app.effects();
        self.close_left(&mut closing);
        let mut events = Vec::new();
        for effect in effects.into_iter().chain(closing.outside) {
            match effect {
                Effect::Run(job)
                    if self.key_repeats && job.pace != Pace::Background && job.slot() != Slot::Other =>
                {
                    self.postponed.retain(|earlier| earlier.ticket.is_wanted());
                    self.postponed.push(job);
                }
                Effect::Run(job) => events.extend(self.jobs.run(job)),
                Effect::Stop(slot) => self.jobs.stop(slot),
                Effect::Ask(request) => self.jobs.ask(request),
                Effect::Quit(to_delete) => self.exit = Some(Ok(to_delete)),
                Effect::StopCommand => self.stop_command(),
                Effect::Copy(text) => self.copy(&text)?,
                Effect::Edit { path, line } => self.edit(path, line)?,
                Effect::Open(request) => self.open_stored(request)?,
                Effect::Reopen => self.reopen()?,
                Effect::OtherFile(number) => {
                    self.on_screens(|session, effects| session.open_file(number, effects))?;
                }
                Effect::Delete(to_delete) => {
                    self.let_go(&to_delete);
                    let delete = move |context: &JobContext| {
                        let (message, stayed) = delete(to_delete, context.env());
                        context.send(OutputsEvent::Deleted(message, stayed));
                    };
                    self.on_screens(|_, effects| effects.run(Slot::Other, delete))?;
                }
                Effect::OpenCall(ready, start) => self.open_call(*ready, start)?,
                Effect::Redraw => terminal::paint(|| terminal::clear(&mut self.screen))?,
                Effect::Suspend => self.suspend()?,
            }
        }
        // Handle their events after all effects, so that nothing newer is undone.
        events.into_iter().try_for_each(|event| self.happen(event))
    }

    /// Copies with OSC 52, which goes through ssh; or through tmux, which by default ignores that.
    fn copy(&mut self, text: &str) -> io::Result<()> {
        if std::env::var_os("TMUX").is_some_and(|socket| !socket.is_empty()) && copy_by_tmux(text).is_ok() {
            return Ok(());
        }
        let mut out = crate::base::fs::blocking::screen();
        terminal::paint(|| {
            crossterm::execute!(out, crossterm::clipboard::CopyToClipboard::to_clipboard_from(text))?;
            out.flush()
        })
    }

    /// Returns the file to edit, by default that being viewed, or why not: an editor would begin a deleted file anew.
    fn file_to_edit(&self, path: Option<PathBuf>) -> Result<PathBuf, &'static str> {
        let (path, deleted) = match path {
            Some(path) => (path, "the file was deleted"),
            None => (self.path()?.to_owned(), "the file was deleted; copy what is shown, or keep it"),
        };
        if path.try_exists().is_ok_and(|exists| !exists) { Err(deleted) } else { Ok(path) }
    }

    fn edit(&mut self, path: Option<PathBuf>, line: u64) -> io::Result<()> {
        let path = self.file_to_edit(path).map_err(|why| self.tell(Message::note(why)));
        let Ok(path) = path else { return Ok(()) };
        let editor =
            ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
        let editor = editor.unwrap_or_else(|| "vi".into());
        let (program, arguments) = editor_command(&editor, line, &path);
        let status = self.keyboard.pause(|| {
            terminal::restore();
            let status = Command::new(&program).args(arguments).status();
            terminal::enter()?;
            terminal::clear(&mut self.screen).map(|()| status)
        });
        if let Err(error) = status? {
            self.tell(Message::error(format!("{program}: {error}; $EDITOR names the editor")));
        }
        Ok(())
    }

    fn stop_command(&self) {
        if let Some(Producer::Command(control)) = &self.producer {
            control.ask(rustix::process::Signal::INT.as_raw());
        }
    }

    /// Stops overspill, and the command if there is one, until it is continued.
    fn suspend(&mut self) -> io::Result<()> {
        self.keyboard.pause(|| {
            let mut done = Ok(());
            match &self.producer {
                Some(Producer::Command(control)) => control.pause(|| done = terminal::suspend()),
                _ => done = terminal::suspend(),
            }
            done?;
            terminal::clear(&mut self.screen)
        })
    }

    pub(super) fn resume_screen(&mut self) -> io::Result<()> {
        self.keyboard.pause(|| {
            terminal::reclaim()?;
            terminal::clear(&mut self.screen)
        })
    }
}

/// Makes a text the newest buffer of tmux, which passes it on to the terminal's clipboard.
fn copy_by_tmux(text: &str) -> io::Result<()> {
    let mut tmux = Command::new("tmux");
    tmux.args(["load-buffer", "-w", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut tmux = tmux.spawn()?;
    let written = tmux.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
    let status = tmux.wait()?;
    written.and(if status.success() { Ok(()) } else { Err(io::Error::other("tmux failed")) })
}

/// Editors that accept `+LINE`, and a file after `--`.
const WITH_DASHES: &str = "vi vim nvim view vimx gvim nvi ex nano emacs emacsclient kak hx helix less";

/// Editors that accept `+LINE` but not `--`. An absolute path is safe there, because it starts with a slash.
const WITH_LINE: &str = "micro joe mg";

/// Returns the program and its arguments to open a file at a line (1-based), so that a file name is never taken for an
/// option. `editor` is the value of `$EDITOR`; one that is in no list gets only the absolute path.
fn editor_command(editor: &str, line: u64, path: &Path) -> (String, Vec<OsString>) {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi").to_owned();
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    let mut arguments: Vec<OsString> = words.map(OsString::from).collect();
    let is_in = |editors: &str| editors.split(' ').any(|editor| editor == name);
    if is_in(WITH_DASHES) {
        arguments.extend([format!("+{line}").into(), "--".into()]);
    } else if is_in(WITH_LINE) {
        arguments.push(format!("+{line}").into());
    }
    // Without a working directory it starts with a dot.
    arguments.push(std::path::absolute(path).unwrap_or_else(|_| Path::new(".").join(path)).into());
    (program, arguments)
}

pub(super) struct Jobs {
    services: Arc<Services>,
    events: Reporter,
    tickets: Tickets,
    /// To the job that holds the open session.
    requests: Option<Sender<CallRequest>>,
    gate: Gate,
    keeping: Vec<JoinHandle<()>>,
}

impl Jobs {
    pub(super) fn new(signals: Sender<Signal>, services: Arc<Services>, tickets: Tickets) -> Self {
        Self {
            services,
            events: Arc::new(move |event| signals.send(Signal::App(event)).is_ok()),
            tickets,
            requests: None,
            gate: Gate::default(),
            keeping: Vec::new(),
        }
    }

    /// Starts a job, unless it has been replaced already. Returns the events that it has for the next frame.
    pub(super) fn run(&mut self, job: Job) -> Vec<Event> {
        if !job.ticket.is_wanted() {
            return Vec::new();
        }
        let patience = match job.pace {
            Pace::AtOnce => return job.run_here(&self.services),
            Pace::Soon(patience) => patience,
            Pace::Background => {
                self.start(job, self.events.clone());
                return Vec::new();
            }
        };
        // The channel has no buffer: sending succeeds only while this thread waits.
        let (here, soon) = sync_channel(0);
        let events = self.events.clone();
        let report = move |event| match here.send(event) {
            Ok(()) => true,
            Err(SendError(event)) => events(event),
        };
        self.start(job, Arc::new(report));
        soon.recv_timeout(patience).into_iter().collect()
    }

    pub(super) fn stop(&mut self, slot: Slot) {
        if slot == Slot::OpenSession {
            self.requests = None;
        }
    }

    /// Passes on a request. A job that has ended has said why.
    pub(super) fn ask(&self, request: CallRequest) {
        if let Some(requests) = &self.requests {
            let _ = requests.send(request);
        }
    }

    pub(super) fn finish_keeping(&mut self) {
        // A panic has been reported.
        self.keeping.drain(..).for_each(|thread| drop(thread.join()));
    }

    fn start(&mut self, job: Job, events: Reporter) {
        let slot = job.slot();
        let (sender, requests) = channel();
        if slot == Slot::OpenSession {
            self.requests = Some(sender);
        }
        let context = JobContext {
            services: self.services.clone(),
            ticket: job.ticket.clone(),
            gate: self.gate.clone(),
            events,
            requests: Mutex::new(requests),
        };
        let guarded = move || {
            terminal::ROLE.set(ThreadRole::Caught);
            context.gate.pass(slot.rank(), || {
                if catch_unwind(AssertUnwindSafe(|| (job.work)(&context))).is_err() {
                    let words = "a background task crashed; some figures are missing";
                    context.send_always(Event::Message(Message::error(words)));
                }
            });
        };
        match std::thread::Builder::new().name(format!("{slot:?}")).spawn(guarded) {
            Ok(thread) if slot == Slot::Keep => self.keeping.push(thread),
            Ok(_) => {}
            Err(error) => {
                let words = format!("cannot start a thread: {error}");
                (self.events)(Event::Message(Message::error(words)));
            }
        }
    }
}

/// Stops the copy being made and waits for it, so that none is left half done, however the screens end.
impl Drop for Jobs {
    fn drop(&mut self) {
        self.tickets.void(Slot::Keep);
        self.finish_keeping();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor_words(editor: &str, path: &str) -> Vec<String> {
        let (program, arguments) = editor_command(editor, 7, Path::new(path));
        let arguments = arguments.into_iter().map(|word| word.into_string().unwrap());
        std::iter::once(program).chain(arguments).collect()
    }

    #[test]
    fn a_file_is_named_by_its_absolute_path_after_the_dashes() {
        let here = std::env::current_dir().unwrap().join("+!touch pwned");
        let here = here.to_str().unwrap();
        assert_eq!(editor_words("vi", "+!touch pwned"), ["vi", "+7", "--", here]);
        assert_eq!(
            editor_words("/usr/bin/vim.basic -R", "+!touch pwned"),
            ["/usr/bin/vim.basic", "-R", "+7", "--", here]
        );
        assert_eq!(editor_words("micro", "-x"), ["micro", "+7", &here.replace("+!touch pwned", "-x")]);
        assert_eq!(editor_words("code --wait", "+!touch pwned"), ["code", "--wait", here]);
        assert_eq!(editor_words(" ", "/a"), ["vi", "+7", "--", "/a"]);
    }
}
