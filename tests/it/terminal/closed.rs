//! A terminal that nobody holds open any more (bar 30), or whose output nobody reads (bar 34).

use std::fs::{self, File};
use std::io::{Read, Write};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::capture::{record, spill, wait_until};
use crate::common::home::Home;

/// The end of each frame: the cursor is hidden again.
const FRAME_END: &[u8] = b"\x1b[?25l";

/// A program in a terminal whose output is read only when a test does so.
struct Unread {
    /// The test's end of the terminal, until it is closed.
    end: Option<End>,
    child: Box<dyn Child + Send + Sync>,
    /// What has been read so far, and what a terminal shows then.
    seen: Vec<u8>,
    screen: vt100::Parser,
}

fn screen((columns, rows): (u16, u16)) -> vt100::Parser {
    vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0)
}

const USUAL: (u16, u16) = (80, 24);

/// A frame of this size is more than a terminal holds that nobody reads.
const LARGE: (u16, u16) = (300, 100);

struct End {
    master: Box<dyn MasterPty + Send>,
    reader: Box<dyn Read + Send>,
    keys: Box<dyn Write + Send>,
}

impl Unread {
    fn start(home: &Home, columns_rows: (u16, u16), words: &[&str]) -> Self {
        let mut command = CommandBuilder::new(words[0]);
        command.args(&words[1..]);
        command.env_clear();
        home.env().into_iter().for_each(|(name, value)| command.env(name, value));
        command.env("overspill", env!("CARGO_BIN_EXE_overspill"));
        command.cwd(home.work());
        let size = PtySize { rows: columns_rows.1, cols: columns_rows.0, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a terminal");
        let child = pty.slave.spawn_command(command).expect("the program starts");
        let reader = pty.master.try_clone_reader().expect("a reader");
        let keys = pty.master.take_writer().expect("a writer");
        Self {
            end: Some(End { master: pty.master, reader, keys }),
            child,
            seen: Vec::new(),
            screen: screen(columns_rows),
        }
    }

    fn end(&mut self) -> &mut End {
        self.end.as_mut().expect("it is not closed")
    }

    /// Reads once; returns the number of bytes. A terminal whose program has exited returns an error.
    fn read(&mut self) -> usize {
        let mut bytes = [0; 4096];
        let count = self.end().reader.read(&mut bytes).unwrap_or(0);
        self.seen.extend_from_slice(&bytes[..count]);
        self.screen.process(&bytes[..count]);
        count
    }

    /// Reads until this is shown.
    #[track_caller]
    fn until(&mut self, text: &str) {
        while !self.screen.screen().contents().contains(text) {
            assert!(self.read() > 0, "no {text} in {}", self.screen.screen().contents());
        }
    }

    fn type_keys(&mut self, keys: &str) {
        let writer = &mut self.end().keys;
        writer.write_all(keys.as_bytes()).and_then(|()| writer.flush()).expect("keys are taken");
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("a process");
        kill_process(pid, signal).expect("the program lives");
    }

    /// Waits for the program to exit without reading; returns its status as a shell tells it.
    #[track_caller]
    fn ended(&mut self) -> u32 {
        let mut status = None;
        wait_until("it ends", || {
            status = self.child.try_wait().expect("a child");
            status.is_some()
        });
        let status = status.expect("a status");
        // A shell tells the same of a process that HUP ended, as it does once there is nothing left to save.
        if status.signal() == Some("Hangup") { 129 } else { status.exit_code() }
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        // A session leader also leads its group.
        let pid = self.child.process_id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let _ = pid.map(|pid| kill_process_group(pid, Signal::KILL));
        let _ = self.child.wait();
    }
}

fn home() -> Home {
    let home = Home::new();
    home.file("big", (1..=9000).map(|n| format!("row {n}\n")).collect::<String>());
    home
}

/// How the signal HUP reaches overspill when its terminal is closed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hup {
    /// It leads the session, and is told.
    Told,
    /// The shell that leads the session ignores HUP, and so does what it runs.
    Ignored,
}

/// Shows a command of overspill with the terminal on all three descriptors, closes the terminal once it shows this text,
/// and does `then`. Returns overspill's exit status.
#[track_caller]
fn status_closed(
    home: &Home,
    (before, command): (&str, &str),
    text: &str,
    hup: Hup,
    then: impl FnOnce(),
) -> u32 {
    let line = match hup {
        Hup::Told => format!("{before} exec \"$overspill\" {command}"),
        Hup::Ignored => format!("trap '' HUP; {before} \"$overspill\" {command}; echo $? > status"),
    };
    let mut terminal = Unread::start(home, USUAL, &["/bin/sh", "-c", &line]);
    terminal.until(text);
    terminal.end = None;
    then();
    match (hup, terminal.ended()) {
        (Hup::Told, status) => status,
        (Hup::Ignored, shell) => {
            assert_eq!(shell, 0, "the shell");
            fs::read_to_string(home.at("status")).unwrap().trim().parse().unwrap()
        }
    }
}

#[test]
fn a_closed_terminal_exits_129_like_hup() {
    for hup in [Hup::Told, Hup::Ignored] {
        for (command, text) in [("big", "row 1"), ("", "overspill")] {
            let home = home();
            assert_eq!(status_closed(&home, ("", command), text, hup, || {}), 129, "{command} {hup:?}");
        }
    }
}

/// How the output of the only spill ended, as its record says.
fn ending(home: &Home) -> String {
    let record = record(home, &spill(home));
    format!("{} {}", record["exit"], record["stopped"])
}

#[test]
fn a_closed_terminal_stops_the_command_and_keeps_what_it_printed() {
    let home = Home::new();
    let command = "run -i -- sh -c 'seq 1 3000; exec sleep 60'";
    assert_eq!(status_closed(&home, ("", command), "of 3,000 lines", Hup::Told, || {}), 129);
    assert!(fs::read_to_string(spill(&home)).unwrap().ends_with("\n3000\n"));
    assert_eq!(ending(&home), r#"{"signal":1} "signal 1""#);
}

#[test]
fn a_closed_terminal_keeps_the_output_of_a_surviving_command() {
    let home = Home::new();
    let command = "run -i -- sh -c 'seq 1 3000; while ! [ -e go ]; do sleep 0.02; done; echo last'";
    let go = || drop(home.file("go", ""));
    assert_eq!(status_closed(&home, ("", command), "still running", Hup::Ignored, go), 129);
    assert!(fs::read_to_string(spill(&home)).unwrap().ends_with("3000\nlast\n"));
    assert_eq!(ending(&home), r#"{"code":0} null"#);
}

#[test]
fn a_closed_terminal_saves_piped_text_even_if_uncut() {
    for hup in [Hup::Told, Hup::Ignored] {
        let home = Home::new();
        let before = "mkfifo pipe; (seq 1 40; exec sleep 60) > pipe &";
        assert_eq!(status_closed(&home, (before, "< pipe"), "40", hup, || {}), 129, "{hup:?}");
        assert!(fs::read_to_string(spill(&home)).unwrap().ends_with("\n40\n"), "{hup:?}");
        assert_eq!(ending(&home), r#"null "left before its end""#, "{hup:?}");
    }
}

/// Number of keys typed while nothing is read.
const KEYS: usize = 3000;

/// Scrolls down this far without reading; returns when all keys have reached the program.
fn scrolled_unread(home: &Home, columns_rows: (u16, u16), words: &[&str]) -> Unread {
    let mut terminal =
        Unread::start(home, columns_rows, &[&[env!("CARGO_BIN_EXE_overspill")], words].concat());
    terminal.until("row 1");
    terminal.type_keys("\t");
    terminal.until("1 │ row 1");
    let tty = File::open(terminal.end().master.tty_name().expect("a name")).expect("a terminal");
    for _ in 0..KEYS / 100 {
        terminal.type_keys(&"j".repeat(100));
        wait_until("the keys are taken", || rustix::io::ioctl_fionread(&tty).expect("a count") == 0);
    }
    terminal
}

#[test]
fn a_terminal_that_is_read_late_gets_no_frame_for_each_key() {
    let mut terminal = scrolled_unread(&home(), USUAL, &["big"]);
    terminal.type_keys("q");
    while terminal.read() > 0 {}
    let mut screen = screen(USUAL);
    let (mut tops, mut rest) = (Vec::new(), &terminal.seen[..]);
    // Each frame sets the cursor at its end.
    while let Some(at) = rest.windows(FRAME_END.len()).position(|window| window == FRAME_END) {
        let (frame, after) = rest.split_at(at + FRAME_END.len());
        screen.process(frame);
        rest = after;
        let top = screen.screen().contents();
        let top = top.lines().nth(1).and_then(|row| row.split_whitespace().next()?.parse::<usize>().ok());
        tops.extend(top);
    }
    let steps = tops.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let last = tops.last().copied();
    assert_eq!(last, Some(KEYS + 1), "{tops:?}");
    assert!(tops.len() < KEYS / 3, "{} frames", tops.len());
    // One frame was being drawn; the next one shows the effect of all keys since.
    assert!(steps.max() > Some(KEYS / 2), "{tops:?}");
}

#[test]
fn a_signal_ends_overspill_even_if_nobody_reads_the_terminal() {
    let home = home();
    let mut terminal = scrolled_unread(&home, LARGE, &["big"]);
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.ended(), 143);
}

#[test]
fn a_signal_ends_run_i_even_if_nobody_reads_the_terminal() {
    let home = Home::new();
    let script = "seq -f 'row %g' 1 9000; exec sleep 60";
    let mut terminal = scrolled_unread(&home, LARGE, &["run", "-i", "--", "sh", "-c", script]);
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.ended(), 143);
    assert!(fs::read_to_string(spill(&home)).unwrap().ends_with("\nrow 9000\n"));
}
