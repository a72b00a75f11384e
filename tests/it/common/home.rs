//! A home directory for one test, and the program run in it, isolated from the user's own files.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// Maximum run time of the program under test; a test that hangs fails instead.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// A home directory, initially empty.
pub struct Home {
    dir: TempDir,
}

/// The result of running the program.
#[derive(Debug)]
pub struct Ran {
    /// The exit status; 128 or more for a signal.
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ran {
    /// Returns standard output, which must be UTF-8.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("UTF-8 on standard output")
    }

    /// Returns standard output parsed as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).expect("JSON on standard output")
    }

    /// Checks for status 0 and an empty standard error.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{}", self.stdout.escape_ascii());
        self
    }

    /// Checks for this status, an empty standard output, and one line of error that contains all of `words`.
    #[track_caller]
    pub fn fails(self, status: i32, words: &[&str]) -> Self {
        assert_eq!(self.status, status, "{}", self.stderr);
        assert_eq!(self.stdout, b"", "data of a failed run");
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {:?}", self.stderr);
        }
        self
    }
}

impl Home {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("ov").tempdir().expect("a temporary directory");
        for name in ["home", "data", "config", "state", "tmp", "work"] {
            fs::create_dir(dir.path().join(name)).expect("a directory");
        }
        Self { dir }
    }

    /// Returns the directory in which the program runs.
    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Returns a path in the working directory.
    pub fn at(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// Writes a file in the working directory.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, content).expect("a file");
        path
    }

    /// Creates a sparse file of this length; it takes no disk space.
    pub fn sparse(&self, name: &str, len: u64) -> PathBuf {
        let path = self.file(name, b"");
        File::options().write(true).open(&path).and_then(|file| file.set_len(len)).expect("a sparse file");
        path
    }

    /// Creates an entry of an agent's store that everyone can read, last modified this many hours ago.
    pub fn entry(&self, agent: &str, id: &str, content: impl AsRef<[u8]>, hours: u64) -> PathBuf {
        let path = self.private_entry(agent, id, content, hours);
        fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).expect("rights");
        path
    }

    /// The same, readable only by its owner.
    pub fn private_entry(&self, agent: &str, id: &str, content: impl AsRef<[u8]>, hours: u64) -> PathBuf {
        self.entry_at(&format!("data/{agent}/tool-output/{id}"), content, hours)
    }

    /// Creates a stored output at a path from the top, readable only by its owner.
    pub fn entry_at(&self, path: &str, content: impl AsRef<[u8]>, hours: u64) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a store")).expect("a store");
        fs::write(&path, content).expect("an entry");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("rights");
        let then = SystemTime::now() - Duration::from_secs(hours * 3600);
        File::open(&path).and_then(|file| file.set_modified(then)).expect("an age");
        path
    }

    /// Returns the environment of the program: nothing of the user's own.
    pub fn env(&self) -> Vec<(&'static str, PathBuf)> {
        let at = |name: &str| self.dir.path().join(name);
        vec![
            ("HOME", at("home")),
            ("XDG_DATA_HOME", at("data")),
            ("XDG_CONFIG_HOME", at("config")),
            ("XDG_STATE_HOME", at("state")),
            ("TMPDIR", at("tmp")),
            ("PATH", "/usr/bin:/bin".into()),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
        ]
    }

    /// Returns the program with these arguments, not started yet.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overspill"));
        command.args(words).current_dir(self.work()).env_clear().envs(self.env());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end, with an empty standard input.
    pub fn run(&self, words: &[&str]) -> Ran {
        finish(self.command(words).spawn().expect("the program starts"))
    }

    /// Runs the program to its end, with these bytes on standard input.
    pub fn pipe(&self, input: impl Into<Vec<u8>>, words: &[&str]) -> Ran {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.into();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let ran = finish(child);
        let _ = writer.join();
        ran
    }
}

/// Waits for a started program to exit, or fails at the deadline.
pub fn finish(mut child: Child) -> Ran {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let pid = rustix::process::Pid::from_child(&child);
    let (send, ended) = channel();
    let waiter = std::thread::spawn(move || {
        let read = |pipe: Option<&mut dyn Read>| {
            let mut bytes = Vec::new();
            pipe.map(|pipe| pipe.read_to_end(&mut bytes));
            bytes
        };
        let errors =
            std::thread::spawn(move || read(stderr.map(Box::new).as_mut().map(|p| p as &mut dyn Read)));
        let stdout = read(stdout.map(Box::new).as_mut().map(|p| p as &mut dyn Read));
        let status = child.wait();
        let _ = send.send(());
        (status, stdout, errors.join().expect("standard error"))
    });
    let late = ended.recv_timeout(DEADLINE).is_err();
    if late {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    let (status, stdout, stderr) = waiter.join().expect("the program was waited for");
    let stderr = String::from_utf8(stderr).expect("UTF-8 on standard error");
    assert!(!late, "still running after {DEADLINE:?}; it said {stderr:?}");
    Ran { status: code(status.expect("a status")), stdout, stderr }
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).expect("an end")
}

/// Creates a FIFO.
pub fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success());
}
