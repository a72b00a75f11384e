//! Agents' records and outputs: how soon a long transcript is open, many sessions are listed, many outputs are measured,
//! and in how much memory.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use overspill::internals::session::find::Exposure;
use overspill::internals::session::list;
use overspill::internals::store::Env;

use super::table::{Pairs, alone, pairs, plain, row};

/// What the peer counts: the lines with a result.
const PATTERN: &str = "\"tool_result\"";

/// How many sessions a screen shows.
const SCREEN: usize = 32;

/// Measures the opening of a transcript against a search for all results in it. `run` runs a command to its end.
pub fn opening(transcript: &Path, rounds: usize, run: impl Fn(&[&str]) -> Option<Duration>) {
    let open = || {
        let started = Instant::now();
        let file = list::recognise(transcript).ok()?;
        let before = memory("self");
        let opened = list::open(&file, &()).ok()?;
        let time = started.elapsed();
        Some((time, memory("self").saturating_sub(before), opened.transcript().calls.len()))
    };
    let mut held = (0, 0);
    let ours = || {
        let (time, memory, calls) = open()?;
        // Later rounds use again what the first gave back.
        held = (memory.max(held.0), calls);
        Some(time)
    };
    let times: Pairs = pairs(rounds, ours, || run(&["rg", "-c", PATTERN, transcript.to_str()?]));
    let size = transcript.metadata().map_or(0, |meta| meta.len()) as f64 / 1e9;
    row(&format!("transcript of {size:.1} GB: open, {} calls", held.1), "rg -c", &times, "<= 3.0");
    plain("the same: own memory while it is open", &format!("{:.0} MB", held.0 as f64 / 1e6), "<= 64 MB");
}

/// Measures the list of the sessions below a home directory, and the commands that read all of them.
pub fn listing(ours: &str, home: &Path, rounds: usize) {
    let (mut first, mut all, mut count) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let started = Instant::now();
        let files = list::list(&Env::hermetic(home), None, &()).sessions;
        let mut exposure = Exposure::default();
        count = files.len();
        for (n, file) in files.into_iter().enumerate() {
            let _ = list::read_listed(file, &mut exposure);
            if n + 1 == count.min(SCREEN) {
                first.push(started.elapsed());
            }
        }
        all.push(started.elapsed());
    }
    alone(&format!("{count} sessions: first rows"), &first, "<= 100 ms");
    alone(&format!("{count} sessions: complete list, before counting"), &all, "");
    for words in [&["sessions"][..], &["verify"]] {
        let (time, most) = watched(ours, words, home);
        let figures = format!("{:.1} MB in {:.1} s", most as f64 / 1e6, time.as_secs_f64());
        plain(&format!("{count} sessions: own memory of `{}`", words.join(" ")), &figures, "<= 64 MB");
    }
}

/// Measures 60 settings of a policy on many outputs against a search for the same in them.
pub fn tuning(ours: &str, outputs: &Path, rounds: usize, run: impl Fn(&[&str]) -> Option<Duration>) {
    let find = "needle is [a-z]+ line|words? [0-9]+";
    let Some(dir) = outputs.to_str() else { return };
    let words = ["tune", "-p", "opencode/output", "--find", find, dir];
    let mut most = 0;
    let tune = || {
        let (time, memory) = watched(ours, &words, outputs);
        most = most.max(memory);
        Some(time)
    };
    let times = pairs(rounds, tune, || run(&["rg", "-c", "-i", find, dir]));
    let count = std::fs::read_dir(outputs).map_or(0, Iterator::count);
    row(&format!("`tune`: {count} outputs of 200 KB, 60 settings"), "rg -c -i", &times, "<= 3.0");
    plain("the same: own memory", &format!("{:.1} MB", most as f64 / 1e6), "<= 64 MB");
}

/// Runs a command to its end; returns how long it took, and the most memory of its own that was seen, in bytes.
fn watched(ours: &str, words: &[&str], home: &Path) -> (Duration, u64) {
    let started = Instant::now();
    let mut command = Command::new(ours);
    command.args(words).env_clear().env("HOME", home);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let most = child.map_or(0, most_memory);
    (started.elapsed(), most)
}

fn most_memory(mut child: Child) -> u64 {
    let (process, mut most) = (child.id().to_string(), 0);
    while child.try_wait().is_ok_and(|status| status.is_none()) {
        most = most.max(memory(&process));
        std::thread::sleep(Duration::from_millis(2));
    }
    most
}

/// The anonymous memory of a process, in bytes: its own, without mapped files.
fn memory(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kb| kb * 1024)
}
