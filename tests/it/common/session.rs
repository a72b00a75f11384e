//! The program in a real pseudo-terminal, with a model of the terminal behind it. Nothing here waits for time to pass,
//! only for something to appear on the screen.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal};

use super::home::{DEADLINE, Home};

/// A program in a terminal.
pub struct Session {
    master: Box<dyn MasterPty + Send>,
    writer: Keys,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    /// The terminal's modes before the program ran.
    pub before: String,
}

/// Types to the program.
type Keys = Arc<Mutex<Box<dyn Write + Send>>>;

/// What the program asks at the start: the terminal's background, and which terminal it is.
pub const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";

/// What terminals answer that do not tell their background.
const NO_BACKGROUND: &str = "\x1b[?62;c";

/// The output of the program so far.
pub struct Seen {
    pub parser: vt100::Parser,
    /// Every byte.
    pub raw: Vec<u8>,
    /// Whether that was all.
    pub ended: bool,
}

impl Seen {
    /// Returns the screen as text.
    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }

    /// Whether the terminal has been asked what its background is.
    pub fn asked(&self) -> bool {
        self.raw.windows(QUESTION.len()).any(|window| window == QUESTION)
    }

    /// Returns the last row with text.
    pub fn status(&self) -> String {
        let (_, columns) = self.parser.screen().size();
        self.parser.screen().rows(0, columns.get()).last().unwrap_or_default()
    }
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn not_zero(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).expect("a terminal has room")
}

impl Session {
    /// Runs `overspill` with these arguments in a terminal of 80 by 24.
    pub fn start(home: &Home, words: &[&str]) -> Self {
        Self::start_sized(home, (80, 24), words)
    }

    /// The same in a terminal of this many columns and rows.
    pub fn start_sized(home: &Home, columns_rows: (u16, u16), words: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_overspill"));
        command.args(words);
        Self::run(home, columns_rows, command, &[])
    }

    /// Runs a line of shell, in which `$overspill` is the program.
    pub fn shell(home: &Home, line: &str) -> Self {
        Self::shell_with(home, (80, 24), &[], line)
    }

    /// Runs a line of shell with more variables set, in a terminal of so many columns and rows.
    pub fn shell_with(home: &Home, columns_rows: (u16, u16), vars: &[(&str, &str)], line: &str) -> Self {
        let mut command = CommandBuilder::new("/bin/sh");
        command.args(["-c", line]);
        Self::run(home, columns_rows, command, vars)
    }

    /// Runs another program, with additional variables.
    pub fn program(home: &Home, program: &std::path::Path, vars: &[(&str, &str)], words: &[&str]) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(words);
        Self::run(home, (80, 24), command, vars)
    }

    /// Runs `overspill` with additional variables.
    pub fn start_with(home: &Home, vars: &[(&str, &str)], words: &[&str]) -> Self {
        Self::start_answering(home, NO_BACKGROUND, vars, words)
    }

    /// The same in a terminal with this answer to the question what its background is.
    pub fn start_answering(home: &Home, answer: &'static str, vars: &[(&str, &str)], words: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_overspill"));
        command.args(words);
        Self::run_answering(home, (80, 24), command, vars, answer)
    }

    /// Runs a line of shell in a terminal with this answer.
    pub fn shell_answering(home: &Home, answer: &'static str, line: &str) -> Self {
        let mut command = CommandBuilder::new("/bin/sh");
        command.args(["-c", line]);
        Self::run_answering(home, (80, 24), command, &[], answer)
    }

    fn run(home: &Home, columns_rows: (u16, u16), command: CommandBuilder, vars: &[(&str, &str)]) -> Self {
        Self::run_answering(home, columns_rows, command, vars, NO_BACKGROUND)
    }

    fn run_answering(
        home: &Home,
        (columns, rows): (u16, u16),
        mut command: CommandBuilder,
        vars: &[(&str, &str)],
        answer: &'static str,
    ) -> Self {
        command.env_clear();
        for (name, value) in home.env() {
            command.env(name, value);
        }
        command.env("overspill", env!("CARGO_BIN_EXE_overspill"));
        for (name, value) in vars {
            command.env(name, value);
        }
        command.cwd(home.work());
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a terminal");
        let before = format!("{:?}", pair.master.get_termios());
        let reader = pair.master.try_clone_reader().expect("a reader");
        let writer = Arc::new(Mutex::new(pair.master.take_writer().expect("a writer")));
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let parser = vt100::Parser::new(not_zero(rows), not_zero(columns), 0);
        let seen = Arc::new((Mutex::new(Seen { parser, raw: Vec::new(), ended: false }), Condvar::new()));
        follow(reader, Arc::clone(&seen), (Arc::clone(&writer), answer));
        Self { master: pair.master, writer, child, seen, before }
    }

    /// Returns the output so far.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.0.lock().expect("the reader lives")
    }

    /// Waits until `enough` returns something, and returns that. Fails at the deadline, showing the screen.
    #[track_caller]
    pub fn wait_until<T>(&self, what: &str, enough: impl Fn(&Seen) -> Option<T>) -> T {
        let deadline = Instant::now() + DEADLINE;
        let mut seen = self.seen();
        loop {
            if let Some(found) = enough(&seen) {
                return found;
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            assert!(!rest.is_zero() && !seen.ended, "no {what}\n{}", seen.text());
            seen = self.seen.1.wait_timeout(seen, rest).expect("the reader lives").0;
        }
    }

    /// Waits until something holds, the program has ended, or so long; whether it holds.
    pub fn holds_within(&self, most: Duration, enough: impl Fn(&Seen) -> bool) -> bool {
        let waiting = |seen: &mut Seen| !enough(seen) && !seen.ended;
        let waited = self.seen.1.wait_timeout_while(self.seen(), most, waiting);
        enough(&waited.expect("the reader lives").0)
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> &Self {
        self.wait_until(text, |seen| seen.text().contains(text).then_some(()));
        self
    }

    /// Waits until the screen no longer shows a text.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) -> &Self {
        self.wait_until(&format!("end of {text}"), |seen| (!seen.text().contains(text)).then_some(()));
        self
    }

    /// Waits until the last row shows a text.
    #[track_caller]
    pub fn wait_status(&self, text: &str) -> &Self {
        self.wait_until(&format!("{text} at the foot"), |seen| seen.status().contains(text).then_some(()));
        self
    }

    /// Waits until the first row below the title begins with a text, ignoring white space.
    #[track_caller]
    pub fn wait_top(&self, text: &str) -> &Self {
        self.wait_until(&format!("{text} at the top"), |seen| {
            let screen = seen.text();
            screen.lines().nth(1).is_some_and(|row| row.trim_start().starts_with(text)).then_some(())
        });
        self
    }

    /// Types keys.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        type_keys(&self.writer, keys);
        self
    }

    /// Resizes the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.seen().parser.set_size(not_zero(rows), not_zero(columns));
        self.master.resize(size(columns, rows)).expect("another size");
        self
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        let pid = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("a process");
        rustix::process::kill_process(pid, signal).expect("the program lives");
    }

    /// Waits until the program is stopped, as a shell would before it continues it.
    #[track_caller]
    pub fn wait_until_stopped(&self) {
        let pid = self.child.process_id().expect("a process").to_string();
        let until = Instant::now() + DEADLINE;
        let is_stopped = || {
            let ps = Command::new("ps").args(["-o", "state=", "-p", &pid]).output().expect("ps");
            ps.stdout.starts_with(b"T")
        };
        while !is_stopped() {
            assert!(Instant::now() < until, "it is not stopped\n{}", self.seen().text());
        }
    }

    /// Waits for the program to exit and its output to end; returns its exit status.
    #[track_caller]
    pub fn ended(&mut self) -> u32 {
        let is_over = self.holds_within(DEADLINE, |seen| seen.ended);
        assert!(is_over, "still running\n{}", self.seen().text());
        self.child.wait().expect("an end").exit_code()
    }

    /// Checks that the terminal is as it was before the program ran.
    #[track_caller]
    pub fn is_restored(&self) {
        let seen = self.seen();
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "pastes are still bracketed");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        for was_on in [true, false] {
            let is_on = alternate_scroll(&seen.raw, was_on);
            assert_eq!(is_on, was_on, "alternate scroll, which the model of the terminal lacks");
        }
        assert_eq!(self.modes(), self.before, "the terminal's modes");
    }

    /// Returns the terminal's device.
    pub fn name(&self) -> std::path::PathBuf {
        self.master.tty_name().expect("a terminal has a name")
    }

    /// Returns the terminal's modes.
    pub fn modes(&self) -> String {
        format!("{:?}", self.master.get_termios())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a terminal has alternate scroll on after these bytes, if it had it on before or not. It remembers the mode
/// when told to, in one place.
fn alternate_scroll(raw: &[u8], was_on: bool) -> bool {
    let mut saved = None;
    raw.windows(8).fold(was_on, |is_on, window| match window {
        b"\x1b[?1007h" => true,
        b"\x1b[?1007l" => false,
        b"\x1b[?1007s" => {
            saved = Some(is_on);
            is_on
        }
        b"\x1b[?1007r" => saved.expect("saved before it is restored"),
        _ => is_on,
    })
}

fn type_keys(writer: &Keys, keys: &str) {
    let mut writer = writer.lock().expect("a writer");
    writer.write_all(keys.as_bytes()).and_then(|()| writer.flush()).expect("the terminal takes keys");
}

/// Reads what the program writes until it exits, and answers what it asks at the start.
fn follow(
    mut reader: Box<dyn Read + Send>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    (writer, answer): (Keys, &'static str),
) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        loop {
            // A terminal whose program has exited returns an error, not an end.
            let count = reader.read(&mut bytes).unwrap_or(0);
            let Ok(mut state) = seen.0.lock() else { return };
            state.parser.process(&bytes[..count]);
            let asked = state.asked();
            state.raw.extend_from_slice(&bytes[..count]);
            if !asked && state.asked() {
                type_keys(&writer, answer);
            }
            state.ended = count == 0;
            seen.1.notify_all();
            if count == 0 {
                return;
            }
        }
    });
}
