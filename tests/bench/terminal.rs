//! A program in a terminal of its own: keys in, the screen out, and when it was painted.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Rows and columns: narrow enough that one pane has the whole screen.
pub const ROWS: u16 = 24;
/// See [`ROWS`].
pub const COLUMNS: u16 = 80;

/// What a program may ask at its start, the terminal's background and which terminal it is, and what a dark one answers.
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
const ANSWER: &[u8] = b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?62;c";

/// Types to a program.
type Keys = Arc<Mutex<Box<dyn Write + Send>>>;

/// A running program and what it has painted.
pub struct Session {
    child: Box<dyn Child + Send + Sync>,
    keys: Keys,
    painted: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
    started: Instant,
    _terminal: Box<dyn MasterPty + Send>,
}

impl Session {
    /// Starts `words` with an empty home directory.
    pub fn start(words: &[&str], home: &Path) -> Self {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(words[0]);
        command.args(&words[1..]);
        command.env_clear();
        for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env(name, home);
        }
        for (name, value) in [("PATH", "/usr/bin:/bin"), ("TERM", "xterm-256color"), ("LANG", "C.UTF-8")] {
            command.env(name, value);
        }
        let mut reader = pty.master.try_clone_reader().expect("what is painted");
        let keys = Arc::new(Mutex::new(pty.master.take_writer().expect("keys")));
        let started = Instant::now();
        let child = pty.slave.spawn_command(command).expect("the program starts");
        let (sender, painted) = channel();
        let answers = Arc::clone(&keys);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if buffer[..count].windows(QUESTION.len()).any(|bytes| bytes == QUESTION) {
                    write(&answers, ANSWER);
                }
                if sender.send((Instant::now(), buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
        });
        let [rows, columns] = [ROWS, COLUMNS].map(|n| NonZeroU16::new(n).expect("more than none"));
        let parser = vt100::Parser::new(rows, columns, 0);
        Self { child, keys, painted, parser, started, _terminal: pty.master }
    }

    /// Presses keys; when that was.
    pub fn press(&mut self, keys: &str) -> Instant {
        let now = Instant::now();
        write(&self.keys, keys.as_bytes());
        now
    }

    /// Waits until the screen is as wanted; how long after `since` that was painted, or nothing in `patience`.
    pub fn until(
        &mut self,
        since: Instant,
        patience: Duration,
        wanted: impl Fn(&[String]) -> bool,
    ) -> Option<Duration> {
        let mut at = since;
        loop {
            if wanted(&self.rows()) {
                return Some(at.saturating_duration_since(since));
            }
            let left = patience.saturating_sub(since.elapsed());
            let Ok((when, bytes)) = self.painted.recv_timeout(left) else {
                eprintln!("gave up on this screen:\n{}", self.parser.screen().contents());
                return None;
            };
            self.parser.process(&bytes);
            at = when;
        }
    }

    /// As [`Session::until`], from the program's start.
    pub fn first(&mut self, patience: Duration, wanted: impl Fn(&[String]) -> bool) -> Option<Duration> {
        self.until(self.started, patience, wanted)
    }

    /// Takes in what is painted for a while.
    pub fn settle(&mut self, time: Duration) {
        let since = Instant::now();
        while let Some(left) = time.checked_sub(since.elapsed()) {
            if let Ok((_, bytes)) = self.painted.recv_timeout(left) {
                self.parser.process(&bytes);
            }
        }
    }

    /// The rows of the screen as text.
    pub fn rows(&self) -> Vec<String> {
        self.parser.screen().rows(0, COLUMNS).collect()
    }

    /// Bytes of memory that are the program's own: neither the file's pages nor the program's text.
    pub fn own_memory(&self) -> Option<u64> {
        let pid = self.child.process_id()?;
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    }
}

fn write(keys: &Keys, bytes: &[u8]) {
    let mut keys = keys.lock().expect("a writer");
    keys.write_all(bytes).and_then(|()| keys.flush()).expect("a terminal");
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
