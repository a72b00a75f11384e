//! The program against those that people use instead, on the same file in the same run:
//! `cargo bench --bench peers -- SPILL [ROUNDS [PART...]]`, where `generate` has written SPILL. Parts are
//! `opening`, `ending`, `counting`, `searching`, `previewing`, `memory`, `pressing`, `long`, `stores`, `records`, `tuning`;
//! all by default. `tuning` looks for `outputs-10000` beside SPILL, as `generate -- outputs` writes it.
//! `records` looks for `transcript.jsonl` and `sessions-10000` beside SPILL, as `generate -- transcript` and `-- sessions`
//! write them; `stores` looks for `stores-100000` and `stores-1000000` beside SPILL, as `generate -- stores` writes them.

mod browse;
mod keys;
mod listed;
mod records;
mod spill;
mod table;
mod terminal;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use table::{Pairs, alone, pairs, plain, row};
use terminal::Session;

/// The program under measurement, as an installation copies it: a linker writes the file in small pieces, which take longer to
/// map at every start.
const OURS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/overspill");

/// No single thing may take longer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Characters that make a stretch of text known.
const NO_CHANCE: usize = 50;

/// Bytes of the one long line, and of the small output.
const LINE: u64 = 200_000_000;
const SMALL: u64 = 1_000_000;

/// The files that are looked at.
struct Bench {
    spill: Sample,
    small: Sample,
    line: Sample,
    /// Lines of the spill.
    lines: u64,
    home: tempfile::TempDir,
    rounds: usize,
}

/// A part of the table: its name, and what measures it.
type Part = (&'static str, fn(&Bench));

/// What can be measured, in the order of the table.
const PARTS: &[Part] = &[
    ("opening", Bench::opening),
    ("ending", Bench::ending),
    ("counting", Bench::counting),
    ("searching", Bench::searching),
    ("filtering", Bench::filtering),
    ("previewing", Bench::previewing),
    ("memory", Bench::memory),
    ("pressing", Bench::pressing),
    ("long", Bench::long_line),
    ("stores", Bench::stores),
    ("records", Bench::records),
    ("tuning", Bench::tuning),
];

/// A file, and what of it shows that its start or its end is on the screen.
struct Sample {
    path: PathBuf,
    start: String,
    end: String,
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let Some(spill) = words.first() else {
        println!("peers: nothing measured; -- SPILL [ROUNDS] says on which file, and how often");
        return Ok(());
    };
    std::fs::copy(env!("CARGO_BIN_EXE_overspill"), OURS)?;
    let home = tempfile::tempdir()?;
    let made = |name: &str, len, shape| {
        let path = home.path().join(name);
        spill::write(&mut io::BufWriter::new(File::create(&path)?), len, shape)?;
        Sample::of(path)
    };
    let bench = Bench {
        spill: Sample::of(PathBuf::from(spill))?,
        small: made("small", SMALL, spill::Shape::Lines)?,
        line: made("line", LINE, spill::Shape::OneLine)?,
        rounds: words.get(1).map_or(Ok(5), |n| n.parse()).map_err(io::Error::other)?,
        lines: lines(spill)?,
        home,
    };
    let parts = words.get(2..).unwrap_or_default();
    let chosen = |part: &&Part| parts.is_empty() || parts.iter().any(|chosen| chosen == part.0);
    table::head();
    PARTS.iter().filter(chosen).for_each(|(_, measure)| measure(&bench));
    Ok(())
}

impl Sample {
    fn of(path: PathBuf) -> io::Result<Self> {
        let mut file = File::open(&path)?;
        let mut start = vec![0; 4096];
        let count = file.read(&mut start)?;
        start.truncate(count);
        let mut end = Vec::new();
        file.seek(SeekFrom::End(-(count.min(1024) as i64)))?;
        file.read_to_end(&mut end)?;
        // By these it is recognised on the screen.
        let first = plain_runs(&start).into_iter().next().map(|run| run[..NO_CHANCE].to_owned());
        let last = plain_runs(&end).pop().map(|run| run[run.len() - NO_CHANCE..].to_owned());
        let Some((start, end)) = first.zip(last) else {
            let words = format!(
                "{}: begins or ends without {NO_CHANCE} characters of plain text on one line, by which it would be \
                 recognised on the screen; name a file that `cargo bench --bench generate -- PATH` wrote",
                path.display()
            );
            return Err(io::Error::other(words));
        };
        Ok(Self { path, start, end })
    }

    fn name(&self) -> &str {
        self.path.to_str().expect("a path in UTF-8")
    }
}

/// Stretches of plain text, each in one line, without spaces.
fn plain_runs(bytes: &[u8]) -> Vec<String> {
    let bytes = anstream::adapter::strip_bytes(bytes).into_vec();
    let is_plain = |byte: &u8| (b' '..0x7F).contains(byte);
    let runs = bytes.split(|byte| !is_plain(byte)).map(|run| squeezed(&String::from_utf8_lossy(run)));
    runs.filter(|run| run.len() >= NO_CHANCE).collect()
}

/// Text without spaces, as it is found however the screen wraps it.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The text of the panes, squeezed: without gutter, title and status.
fn shown(rows: &[String]) -> String {
    let text = |row: &String| squeezed(row.split_once(['│', '┊']).map_or(row.as_str(), |(_, text)| text));
    rows[..rows.len() - 1].iter().map(text).collect()
}

/// Whether the whole screen is painted, to the line at its foot.
fn is_painted(rows: &[String]) -> bool {
    rows.last().is_some_and(|row| !row.trim().is_empty())
}

/// Whether the whole screen is painted, and has this text on it.
fn shows(rows: &[String], text: &str) -> bool {
    is_painted(rows) && shown(rows).contains(text)
}

/// Reads a file once, so that it is in the page cache.
fn warm(path: &Path) {
    let mut buffer = vec![0; 1 << 20];
    let mut file = File::open(path).expect("the file is there");
    while file.read(&mut buffer).expect("the file can be read") > 0 {}
}

/// How long a command takes to its end; nothing if it is not installed or fails.
fn run(words: &[&str]) -> Option<Duration> {
    let started = Instant::now();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    io::copy(child.stdout.as_mut()?, &mut io::sink()).ok()?;
    child.wait().ok()?.success().then(|| started.elapsed())
}

/// Lines by `wc -l`.
fn lines(path: &str) -> io::Result<u64> {
    let counted = Command::new("wc").args(["-l", path]).output()?;
    let text = String::from_utf8_lossy(&counted.stdout).into_owned();
    text.split_whitespace().next().and_then(|n| n.parse().ok()).ok_or_else(|| io::Error::other("no wc -l"))
}

impl Bench {
    fn ours(&self, sample: &Sample) -> Session {
        Session::start(&[OURS, sample.name()], self.home.path())
    }

    /// Without line numbers, so that it need not count.
    fn less(&self, sample: &Sample) -> Session {
        Session::start(&["less", "-Rn", sample.name()], self.home.path())
    }

    /// Ours with the start of Spill on the screen, and line after line, as `less -S` has them.
    fn in_spill(&self, sample: &Sample) -> Session {
        let mut session = self.ours(sample);
        session.first(PATIENCE, is_painted);
        let tab = session.press("\t");
        session.until(tab, PATIENCE, |rows| rows.last().is_some_and(|row| row.contains("line 1 of ")));
        session
    }

    fn opening(&self) {
        for (what, sample) in [("8 GB", &self.spill), ("1 MB", &self.small)] {
            let times = pairs(
                self.rounds * 3,
                || self.ours(sample).first(PATIENCE, |rows| shows(rows, &sample.start)),
                || self.less(sample).first(PATIENCE, |rows| shows(rows, &sample.start)),
            );
            row(&format!("open: first screen, {what}"), "less -n", &times, "<= 2.0");
        }
    }

    fn ending(&self) {
        let less = || {
            let mut session = self.less(&self.spill);
            session.first(PATIENCE, |rows| shows(rows, &self.spill.start));
            session
        };
        let ours = || self.end(self.in_spill(&self.spill), &self.spill);
        let times = pairs(self.rounds, ours, || self.end(less(), &self.spill));
        row("`G`: last screen, while counting lines", "less -n", &times, "<= 16 ms");
    }

    /// How long after `G` the end is painted.
    fn end(&self, mut session: Session, sample: &Sample) -> Option<Duration> {
        let pressed = session.press("G");
        session.until(pressed, PATIENCE, |rows| shows(rows, &sample.end))
    }

    /// From the program's start; the keys are pressed as soon as there is something to see.
    fn counting(&self) {
        let numbered = || {
            warm(&self.spill.path);
            let mut session = self.in_spill(&self.spill);
            session.press("G");
            session.first(PATIENCE, |rows| keys::has_number(rows, self.lines))
        };
        let times = pairs(self.rounds, numbered, || self.wc());
        row("open: exact number of the last line", "wc -l", &times, "<= 0.5");
    }

    fn wc(&self) -> Option<Duration> {
        warm(&self.spill.path);
        run(&["wc", "-l", self.spill.name()])
    }

    fn searching(&self) {
        let any_case = spill::NEEDLE.to_lowercase();
        let regex = "Needle is [a-z]+ line [0-9a-f]{6}$";
        let searches = [
            ("literal", spill::NEEDLE, "-s", "<= 1.0"),
            ("literal, ignoring case", &any_case, "-S", "<= 0.8"),
            ("regular expression", regex, "-s", "<= 0.8"),
        ];
        for (what, pattern, case, target) in searches {
            let ours = || {
                warm(&self.spill.path);
                let mut session = self.counted(&self.spill);
                self.find(&mut session, pattern)
            };
            let rg = || {
                warm(&self.spill.path);
                run(&["rg", "-c", case, pattern, self.spill.name()])
            };
            let times = pairs(self.rounds, ours, rg);
            row(&format!("search, match near the end: {what}"), &format!("rg -c {case}"), &times, target);
        }
    }

    fn filtering(&self) {
        let any_case = spill::NEEDLE.to_lowercase();
        let regex = "Needle is [a-z]+ line [0-9a-f]{6}$";
        for (what, pattern, case) in
            [("literal, ignoring case", any_case.as_str(), "-S"), ("regular expression", regex, "-s")]
        {
            let ours = || {
                warm(&self.spill.path);
                let mut session = self.counted(&self.spill);
                self.filter(&mut session, pattern)
            };
            let rg = || {
                warm(&self.spill.path);
                run(&["rg", "-c", case, pattern, self.spill.name()])
            };
            let times = pairs(self.rounds, ours, rg);
            row(
                &format!("filter (`&`) to its last figure: {what}"),
                &format!("rg -c {case}"),
                &times,
                "<= 1.1",
            );
        }
    }

    /// Types a filter; how long after the last key its figures are final.
    fn filter(&self, session: &mut Session, pattern: &str) -> Option<Duration> {
        let typed = session.press(&format!("&{pattern}"));
        session.until(typed, PATIENCE, |rows| squeezed(&rows[rows.len() - 1]).contains(&squeezed(pattern)));
        let pressed = session.press("\r");
        session.until(pressed, PATIENCE, |rows| {
            let status = squeezed(&rows[rows.len() - 1]);
            status.contains("1line") && !status.contains("sofar")
        })
    }

    /// Ours in Spill, with all lines counted.
    fn counted(&self, sample: &Sample) -> Session {
        let mut session = self.in_spill(sample);
        session.press("G");
        session.first(PATIENCE, |rows| keys::has_number(rows, self.lines));
        let pressed = session.press("g");
        session.until(pressed, PATIENCE, |rows| shows(rows, &sample.start));
        session
    }

    /// Types a search; how long after the last key the needle is painted.
    fn find(&self, session: &mut Session, pattern: &str) -> Option<Duration> {
        let typed = session.press(&format!("/{pattern}"));
        session.until(typed, PATIENCE, |rows| squeezed(&rows[rows.len() - 1]).contains(&squeezed(pattern)));
        let pressed = session.press("\r");
        session.until(pressed, PATIENCE, |rows| shown(rows).contains(&squeezed(spill::NEEDLE)))
    }

    fn previewing(&self) {
        let previews = [
            ("line total only", "basic/line-limit", "<= 0.6"),
            ("decoded bytes", "opencode/output", "<= 1.0"),
            ("UTF-16 units", "gemini-cli/output", "<= 1.0"),
            ("file length only", "opencode/metadata", "< 20 ms"),
        ];
        for (what, policy, target) in previews {
            let ours = || {
                warm(&self.spill.path);
                run(&[OURS, "preview", "-p", policy, self.spill.name()])
            };
            let times = pairs(self.rounds, ours, || self.wc());
            row(&format!("`overspill preview`: {what} (`{policy}`)"), "wc -l", &times, target);
        }
    }

    fn memory(&self) {
        let indexing = most_memory(&mut self.in_spill(&self.spill), Duration::from_secs(2));
        let mut session = self.counted(&self.spill);
        session.press("/.\r");
        let matching = most_memory(&mut session, Duration::from_secs(8));
        drop(session);
        let mut session = self.in_spill(&self.line);
        let line = most_memory(&mut session, Duration::from_secs(1));
        session.press("G");
        let line = line.max(most_memory(&mut session, Duration::from_secs(1)));
        self.find(&mut session, spill::NEEDLE);
        let line = line.max(most_memory(&mut session, Duration::from_secs(1)));
        let states = [("counting lines", indexing), ("search that matches every line", matching)];
        for (what, most) in states.into_iter().chain([("one line of 200 MB", line)]) {
            plain(&format!("private memory: {what}"), &format!("{:.1} MB", most as f64 / 1e6), "<= 12 MB");
        }
    }

    fn pressing(&self) {
        let mut counting = Vec::new();
        let mut searching = Vec::new();
        for _ in 0..self.rounds * 4 {
            counting.extend(keys::steps(&mut self.in_spill(&self.spill), 1, Duration::from_millis(400)));
            let mut session = self.in_spill(&self.spill);
            session.press("/no such words in it\r");
            searching.extend(keys::steps(&mut session, 1, Duration::from_millis(600)));
        }
        for (what, times) in [("counting", &counting), ("searching", &searching)] {
            let part = |percent| table::share(times, percent).map_or("-".into(), table::words);
            let words = format!("{}; 99% within {}; {} presses", part(50), part(99), times.len());
            plain(&format!("key press to repaint, while {what}"), &words, "99% within 16 ms");
        }
    }

    fn stores(&self) {
        for count in [100_000, 1_000_000] {
            let data = self.spill.path.with_file_name(format!("stores-{count}"));
            if data.is_dir() {
                browse::measure(OURS, &data, count, self.rounds)
            } else {
                eprintln!("peers: no {}; `generate -- stores` writes it", data.display())
            }
        }
    }

    fn records(&self) {
        let (transcript, home) = ("transcript.jsonl", "sessions-10000");
        let [transcript, home] = [transcript, home].map(|name| self.spill.path.with_file_name(name));
        if transcript.is_file() {
            warm(&transcript);
            records::opening(&transcript, self.rounds, run);
        }
        if home.is_dir() {
            records::listing(OURS, &home, self.rounds);
            listed::measure(OURS, &home, self.rounds);
        }
    }

    fn tuning(&self) {
        let outputs = self.spill.path.with_file_name("outputs-10000");
        if outputs.is_dir() {
            records::tuning(OURS, &outputs, self.rounds, run);
        }
    }

    fn long_line(&self) {
        let mut times: [Pairs; 3] = Default::default();
        for _ in 0..self.rounds {
            times[0].ours.extend(self.ours(&self.line).first(PATIENCE, is_painted));
            times[1].ours.extend(self.end(self.in_spill(&self.line), &self.line));
            times[2].ours.extend(self.find(&mut self.in_spill(&self.line), spill::NEEDLE));
        }
        for (what, times) in ["open", "end", "find"].iter().zip(&times) {
            alone(&format!("one line of 200 MB: {what}"), &times.ours, "<= 100 ms");
        }
    }
}

/// The most memory of its own that a program has within a while, bytes.
fn most_memory(session: &mut Session, time: Duration) -> u64 {
    let since = Instant::now();
    let mut most = 0;
    while since.elapsed() < time {
        session.settle(Duration::from_millis(10));
        most = most.max(session.own_memory().unwrap_or(0));
    }
    most
}
