//! The file that a command reads is rewritten at one of its reads, or at each from there on: what it prints is of one
//! content, or it says that it cannot tell.

use std::fs;
use std::process::{Command, Stdio};

use crate::calls::Counts;
use crate::common::home::{Ran, finish};
use crate::plan::{Kind, Order, REWRITE, REWRITE_ALWAYS};
use crate::stocked::{ID, Stocked};
use crate::{CHANGED, COUNTS, ORDER};

/// A command that reads `{}`, perhaps besides `{other}`, which does not change, and its status once it gives up.
struct Reader {
    words: &'static [&'static str],
    gives_up: i32,
    /// Whether it prints before it has read all.
    is_early: bool,
}

const fn reader(words: &'static [&'static str], gives_up: i32) -> Reader {
    Reader { words, gives_up, is_early: false }
}

const READERS: &[Reader] = &[
    reader(&["compare", "{}", "-p", "opencode/output", "-p", "pi/bash", "--find", "needle|thread"], 1),
    reader(
        &["compare", "{}", "{other}", "-p", "opencode/output", "-p", "pi/bash", "--find", "needle|thread"],
        1,
    ),
    reader(&["tune", "{}", "-p", "opencode/output", "--find", "needle|thread", "--json"], 1),
    reader(&["grep", "(needle|------) [0-9]+000$", "{}"], 2),
    Reader { words: &["grep", "needle|thread", "{}"], gives_up: 2, is_early: true },
    Reader { words: &["preview", "{}", "-p", "pi/bash"], gives_up: 1, is_early: true },
    reader(&["hook", "opencode"], 0),
];

/// Lines enough not to be read at once. Both contents have as many bytes.
const LINES: u32 = 120_000;

/// How many of a command's reads are tried.
const SOME: u32 = 3;

/// Lines with a word once or twice, as long for each word.
fn content(word: &str) -> String {
    let other = if word == "needle" { word } else { "------" };
    let line = |n| match n {
        90_000 => format!("error: {word} in line {n}\n"),
        _ => format!("line {n}, {n}, of an output: {word} {other} {n}\n"),
    };
    (1..=LINES).map(line).collect()
}

/// What a run said, and how many reads it made.
fn run(reader: &Reader, word: &str, order: Option<Order>) -> (Ran, u32) {
    let home = Stocked::new();
    let path = home.private_entry("opencode", ID, content(word), 2);
    let counts = home.dir("counts");
    fs::write(&counts, vec![0; size_of::<Counts>()]).expect("a file for the counts");
    for (name, word) in [("0", "thread"), ("1", "needle")] {
        fs::write(path.with_file_name(name), content(word)).expect("a content");
    }
    let other = path.with_file_name("0");
    let [named, other] = [&path, &other].map(|path| path.to_str().expect("UTF-8"));
    let words = reader.words.iter().map(|word| word.replace("{}", named).replace("{other}", other));
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(words).current_dir(home.work()).env_clear().envs(home.env());
    command.env(ORDER, order.map(Order::words).unwrap_or_default()).env(COUNTS, &counts).env(CHANGED, &path);
    let input = serde_json::json!({ "hook_event_name": "tool.execute.after", "tool_name": "bash",
        "tool_response": { "output": "...", "metadata": { "outputPath": path } } });
    fs::write(home.at("input"), input.to_string()).expect("an input");
    command.stdin(fs::File::open(home.at("input")).expect("an input"));
    let mut ran = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"));
    let root = home.dir("").display().to_string();
    ran.stdout = String::from_utf8_lossy(&ran.stdout).replace(&root, "HOME/").into_bytes();
    let bytes = fs::read(&counts).expect("the counts");
    let at = 4 * Kind::Read as usize;
    (ran, u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes")))
}

/// What is wrong with a run that should be as one of `usual`, if anything is.
fn judge(reader: &Reader, ran: &Ran, usual: &[Ran; 2], is_always: bool) -> Result<(), String> {
    let text = String::from_utf8_lossy(&ran.stdout);
    let is_of_one = |word: &str| !text.contains(word);
    if ran.stderr.contains("panicked") || ran.status >= 100 {
        return Err("it died".into());
    }
    if ran.status == 0 && usual.iter().any(|usual| usual.stdout == ran.stdout) {
        return Ok(());
    }
    let may_fail = is_always || reader.is_early;
    let is_told = ran.stderr.contains("cut or rewritten") || reader.gives_up == 0 && ran.stdout.is_empty();
    if !may_fail || ran.status != reader.gives_up || !is_told {
        return Err("it is of neither content, or not told".into());
    }
    if is_of_one("needle") || is_of_one("thread") { Ok(()) } else { Err("it is of both contents".into()) }
}

/// Tries every reader, and returns what is wrong.
pub fn try_all() -> (usize, Vec<String>) {
    let (mut tried, mut found) = (0, Vec::new());
    for reader in READERS {
        let (first, reads) = run(reader, "needle", None);
        let usual = [first, run(reader, "thread", None).0];
        assert!(usual.iter().all(|ran| ran.status == 0 && !ran.stdout.is_empty()), "{}", usual[0].stderr);
        assert!(usual[0].stdout != usual[1].stdout, "{:?}", reader.words);
        for fault in [REWRITE, REWRITE_ALWAYS] {
            for nth in (0..SOME.min(reads)).map(|n| reads - n * reads / (2 * SOME)) {
                let order = Order { kind: Kind::Read, nth, fault };
                let (ran, _) = run(reader, "needle", Some(order));
                let fault = judge(reader, &ran, &usual, fault == REWRITE_ALWAYS).err();
                let said =
                    format!("{} {:?} {}", ran.status, ran.stderr, String::from_utf8_lossy(&ran.stdout));
                found.extend(fault.map(|why| format!("{:?} {order:?}: {why}; it said {said}", reader.words)));
                tried += 1;
            }
        }
    }
    (tried, found)
}
