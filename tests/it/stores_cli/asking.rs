//! On a terminal the commands ask for confirmation, and only a yes deletes.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

use crate::common::home::DEADLINE;
use crate::stores_cli::stocked::{Stocked, name};

/// The program in a terminal of 100 columns.
struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    seen: String,
    _master: Box<dyn portable_pty::MasterPty + Send>,
}

impl Terminal {
    fn start(home: &Stocked, words: &[&str]) -> Terminal {
        let size = PtySize { rows: 30, cols: 100, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_overspill"));
        command.args(words);
        command.cwd(home.work());
        command.env_clear();
        home.env().into_iter().for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                let _ = send.send(bytes[..read].to_vec());
            }
        });
        Terminal { child, keys, output, seen: String::new(), _master: pair.master }
    }

    /// Reads until the terminal shows this text.
    #[track_caller]
    fn wait_for(&mut self, words: &str) {
        while !self.seen.contains(words) {
            let more = self.output.recv_timeout(DEADLINE);
            let more = more.unwrap_or_else(|_| panic!("no {words:?} in {:?}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
    }

    /// Answers the question; returns the exit status and everything shown.
    fn answer(mut self, answer: &str) -> (u32, String) {
        self.wait_for("[y/N] ");
        self.keys.write_all(answer.as_bytes()).unwrap();
        let status = self.child.wait().unwrap().exit_code();
        while let Ok(more) = self.output.recv_timeout(DEADLINE) {
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
        (status, self.seen)
    }
}

fn due() -> (Stocked, [std::path::PathBuf; 2]) {
    let home = Stocked::new();
    let paths = [1, 2].map(|n| home.own(n, "0123456789", 240));
    (home, paths)
}

fn there(paths: &[impl AsRef<Path>; 2]) -> [bool; 2] {
    paths.each_ref().map(|path| path.as_ref().exists())
}

#[test]
fn clean_deletes_after_a_yes() {
    let (home, paths) = due();
    let (status, seen) = Terminal::start(&home, &["clean"]).answer("y\r");
    assert_eq!((status, there(&paths)), (0, [false; 2]), "{seen}");
    assert!(
        seen.contains("Delete 2 outputs, 20 B? [y/N]") && seen.contains("deleted: 2 outputs, 20 B"),
        "{seen}"
    );
    assert!(seen.contains("when  size  agent      why      path"), "{seen}");
}

#[test]
fn clean_and_rm_delete_nothing_after_any_other_answer() {
    let (home, paths) = due();
    for answer in ["\r", "n\r", "yy\r", "\u{4}"] {
        let (status, seen) = Terminal::start(&home, &["clean"]).answer(answer);
        assert_eq!((status, there(&paths)), (0, [true; 2]), "{seen}");
        assert!(seen.contains("nothing was deleted"), "{seen}");
    }
    let (status, seen) = Terminal::start(&home, &["rm", name(&paths[0])]).answer("no\r");
    assert_eq!((status, there(&paths)), (0, [true; 2]), "{seen}");
}

#[test]
fn clean_keeps_a_file_that_changed_during_the_question() {
    let (home, paths) = due();
    let mut terminal = Terminal::start(&home, &["clean"]);
    terminal.wait_for("[y/N] ");
    File::options().append(true).open(&paths[0]).unwrap().write_all(b"more").unwrap();
    let (status, seen) = terminal.answer("y\r");
    assert_eq!((status, there(&paths)), (0, [true, false]), "{seen}");
    assert!(seen.contains("changed since it was listed"), "{seen}");
}

#[test]
fn rm_keeps_files_that_were_swapped_during_the_question() {
    let (home, paths) = due();
    let outside = home.file("outside", "precious");
    let mut terminal = Terminal::start(&home, &["rm", name(&paths[0]), name(&paths[1])]);
    terminal.wait_for("[y/N] ");
    fs::remove_file(&paths[0]).unwrap();
    std::os::unix::fs::symlink(&outside, &paths[0]).unwrap();
    fs::remove_file(&paths[1]).unwrap();
    home.put(&paths[1], "9876543210", 240);
    let (status, seen) = terminal.answer("y\r");
    assert_eq!((status, there(&paths)), (1, [true, true]), "{seen}");
    assert_eq!(
        (fs::read(outside).unwrap(), fs::read(&paths[1]).unwrap()),
        (b"precious".into(), b"9876543210".into())
    );
    assert!(seen.contains("not deleted: "), "{seen}");
}

#[test]
fn rm_of_a_hard_link_asks_and_names_the_other_links() {
    let (home, paths) = due();
    fs::hard_link(&paths[0], home.at("other")).unwrap();
    let (status, seen) = Terminal::start(&home, &["rm", name(&paths[0])]).answer("y\r");
    assert_eq!((status, there(&paths)), (0, [false, true]), "{seen}");
    assert!(seen.contains("has other names (hard link)"), "{seen}");
    assert_eq!(fs::read(home.at("other")).unwrap(), b"0123456789");
}
