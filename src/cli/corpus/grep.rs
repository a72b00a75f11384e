//! `overspill grep`: searches stored outputs, files and standard input, and prints hits as rg does, each with whether the
//! model got the line.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anstyle::{AnsiColor, Style};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::base::human::{size, span};
use crate::base::provenance::Certainty;
use crate::cli::args::GrepArgs;
use crate::cli::progress::Meter;
use crate::cli::{CommandResult, Failure, fail, terminal, usage};
use crate::config::Config;
use crate::corpus::{
    Corpus, CorpusOutput, CorpusReader, FoundReceipt, Hit, LineReceipt, OrderedSender, ReadFault, Receipts,
    STDIN, WantedLines, each_hit, in_order,
};
use crate::text::cells::Show;
use crate::text::label::{label, write_safe};
use crate::text::search::{Pattern, PatternError};
use crate::text::supply::OwnBytes;
use crate::text::units;

use super::{gather, or_piped};

/// Exit status of a search without hits, and of one that could not read everything, as with grep and rg.
const NO_HITS: u8 = 1;
const INCOMPLETE: u8 = 2;

/// A longer line is printed in part, in bytes: in a pipe, and on a terminal.
const MAX_IN_PIPE: usize = 64 << 10;
const MAX_ON_TERMINAL: usize = 2 << 10;

/// Bytes before the match that a part of a line begins with.
const BEFORE: usize = 200;

const NAME: Style = AnsiColor::Magenta.on_default();
const DIM: Style = Style::new().dimmed();

pub(crate) fn run(config: &Config, args: &GrepArgs) -> CommandResult {
    let mut pattern = Pattern::new(&args.pattern).map_err(|error| fault_in(&args.pattern, &error))?;
    if args.ignore_case {
        let text = format!("(?i){}", args.pattern);
        pattern = Pattern::new(&text).map_err(|error| fault_in(&args.pattern, &error))?;
    }
    let agent = args.agent.as_deref();
    let (corpus, is_whole) = gather(config, &or_piped(&args.paths, args.stores, agent), agent)?;
    let search = Search {
        config,
        wanted: if args.invert { WantedLines::Others(&pattern) } else { WantedLines::Matching(&pattern) },
        pattern: &pattern,
        receipts: Receipts::new(config, Default::default(), &corpus.outputs, &|| true),
        form: match (args.json, terminal::is_escaped(&io::stdout()), terminal::colour()) {
            (true, _, _) => GrepForm::Json,
            (false, false, _) => GrepForm::Pipe,
            (false, true, false) => GrepForm::Terminal,
            (false, true, true) => GrepForm::Colour,
        },
        args,
        now: crate::base::env::now(),
        meter: Meter::new("searched", corpus.outputs.len()),
        hits: AtomicU64::new(0),
        is_faulty: AtomicBool::new(!is_whole || !corpus.faults.is_empty()),
    };
    corpus.faults.iter().for_each(|words| fail(words));
    // With 1 it would say that there are no hits.
    search.run(&corpus).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => error.into(),
        _ => {
            fail(&error.to_string());
            anyhow::Error::from(Failure::Ended(INCOMPLETE))
        }
    })?;
    match (search.is_faulty.into_inner(), search.hits.into_inner()) {
        (true, _) => Err(Failure::Ended(INCOMPLETE).into()),
        (false, 0) => Err(Failure::Ended(NO_HITS).into()),
        (false, _) => Ok(()),
    }
}

fn fault_in(pattern: &str, error: &PatternError) -> anyhow::Error {
    let place = error.at.map(|at| format!(", at character {}", at + 1)).unwrap_or_default();
    usage(format!("REGEX {pattern}: {error}{place}"))
}

struct Search<'a> {
    config: &'a Config,
    wanted: WantedLines<'a>,
    args: &'a GrepArgs,
    pattern: &'a Pattern,
    receipts: Receipts<'a>,
    form: GrepForm,
    now: Timestamp,
    meter: Meter,
    hits: AtomicU64,
    is_faulty: AtomicBool,
}

impl Search<'_> {
    fn run(&self, corpus: &Corpus) -> io::Result<()> {
        let mut written = Ok(());
        self.meter.show_during(|| {
            let mut out = terminal::shared_stdout();
            let mut is_first = self.prints_lines() && self.form.has_headings();
            let take = |block: &mut Vec<u8>| {
                let _room = self.meter.clear();
                let skipped = usize::from(std::mem::take(&mut is_first));
                match out.write_all(block.get(skipped..).unwrap_or_default()).and_then(|()| out.flush()) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        written = Err(error);
                        ControlFlow::Break(())
                    }
                }
            };
            in_order(&corpus.outputs, |reader, output, sender| self.search(reader, output, sender), take);
        });
        written
    }

    fn prints_lines(&self) -> bool {
        !self.args.names && !self.args.count
    }

    /// Searches one output. The plan of its preview is made once there is a hit.
    fn search(
        &self,
        reader: &mut CorpusReader,
        output: &CorpusOutput,
        sender: &mut OrderedSender<u8>,
    ) -> ControlFlow<()> {
        let path = output.path();
        let (sender, hits) = (RefCell::new(sender), Cell::new(0));
        let mut again = || sender.borrow_mut().take_back();
        let looked = reader.look(output, &mut again, &mut |open| {
            let (mut got, mut heading, mut flow) = (None, None, ControlFlow::Continue(()));
            hits.set(0);
            each_hit(&mut open.supply(), self.wanted, &|| true, |hit| {
                let is_told = self.args.lost || self.prints_lines();
                let found = is_told.then(|| &*got.get_or_insert_with(|| self.receipts.find(output, &open)));
                let fate = found.map_or(LineReceipt::Unknown, |found| found.receipt.line(&hit.line));
                if self.args.lost && !fate.is_lost() {
                    return ControlFlow::Continue(());
                }
                hits.set(hits.get() + 1);
                let found = match found.filter(|_| self.prints_lines()) {
                    Some(found) => found,
                    None if self.args.names => return ControlFlow::Break(()),
                    None => return ControlFlow::Continue(()),
                };
                let write = |out: &mut Vec<u8>| {
                    let heading = heading.get_or_insert_with(|| self.heading(out, output, &path, found));
                    // Writing to memory does not fail.
                    let _ = self.form.hit(out, heading, (&hit, fate), self.pattern);
                };
                flow = sender.borrow_mut().put(write, || open.is_steady());
                flow
            });
            if !self.prints_lines() && hits.get() > 0 {
                let count = self.args.count.then(|| hits.get());
                // Writing to memory does not fail.
                let write = |out: &mut Vec<u8>| drop(self.form.total(out, printed_path(&path), count));
                flow = sender.borrow_mut().put(write, || open.is_steady());
            }
            (flow, open.len() as u64)
        });
        match looked {
            Ok((flow, bytes)) => {
                self.hits.fetch_add(hits.get(), Ordering::Relaxed);
                self.meter.add(bytes);
                return flow;
            }
            Err(ReadFault::Gone) => {}
            Err(ReadFault::Failed(words)) => self.complain(&words),
            Err(ReadFault::Unsteady(words)) => match again() {
                true => self.complain(&words),
                false => self.complain(&format!("{words}; its hits above are of what it was before")),
            },
        }
        ControlFlow::Continue(())
    }

    fn heading<'a>(
        &self,
        out: &mut Vec<u8>,
        output: &CorpusOutput,
        path: &'a Path,
        found: &FoundReceipt,
    ) -> Heading<'a> {
        let seconds = |age: SignedDuration| u64::try_from(age.as_secs()).ok();
        let heading = Heading {
            path: printed_path(path),
            agent: output.agent(self.config),
            id: output.id().map(Cow::into_owned),
            age: output.age(self.now).and_then(seconds),
            source: match &found.policy {
                _ if found.is_recorded => Certainty::Recorded.describe().to_owned(),
                Ok(by) => by.policy.name().to_owned(),
                Err(why) => why.clone(),
            },
            certainty: found.certainty,
        };
        // Writing to memory does not fail.
        let _ = self.form.heading(out, &heading);
        heading
    }

    fn complain(&self, words: &str) {
        self.is_faulty.store(true, Ordering::Relaxed);
        let _room = self.meter.clear();
        fail(words);
    }
}

fn printed_path(path: &Path) -> &Path {
    if path == Path::new(STDIN) { Path::new("(standard input)") } else { path }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrepForm {
    /// One JSON object per line.
    Json,
    /// `path:line:fate:text`, byte for byte.
    Pipe,
    /// Headings and escaped text.
    Terminal,
    Colour,
}

#[derive(Debug)]
struct Heading<'a> {
    path: &'a Path,
    agent: Option<String>,
    id: Option<String>,
    /// Seconds since the last change.
    age: Option<u64>,
    /// `recorded`, or the name of the policy, or why there is none.
    source: String,
    certainty: Option<Certainty>,
}

impl GrepForm {
    fn has_headings(self) -> bool {
        matches!(self, GrepForm::Terminal | GrepForm::Colour)
    }

    /// Writes what precedes the hits of an output. It begins with the line feed that separates it from the output before.
    fn heading(self, out: &mut Vec<u8>, heading: &Heading) -> io::Result<()> {
        if !self.has_headings() {
            return Ok(());
        }
        let path = label(heading.path.as_os_str().as_bytes());
        let agent = heading.agent.as_deref().map(|agent| label(agent.as_bytes()));
        let facts = [agent, heading.age.map(span), Some(label(heading.source.as_bytes()))];
        let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let (name, dim) = (self.style(NAME), self.style(DIM));
        writeln!(out, "\n{name}{path}{name:#}  {dim}{facts}{dim:#}")
    }

    /// Writes the name of an output with hits, and how many there are where they are counted.
    fn total(self, out: &mut Vec<u8>, path: &Path, count: Option<u64>) -> io::Result<()> {
        let bytes = path.as_os_str().as_bytes();
        let name = self.style(NAME);
        match self.has_headings() {
            true => write!(out, "{name}{}{name:#}", label(bytes))?,
            false => out.write_all(bytes)?,
        }
        writeln!(out, "{}", count.map_or_else(String::new, |count| format!(":{count}")))
    }

    fn hit(
        self,
        out: &mut Vec<u8>,
        heading: &Heading,
        (hit, got): (&Hit, LineReceipt),
        pattern: &Pattern,
    ) -> io::Result<()> {
        let most = if self.has_headings() { MAX_ON_TERMINAL } else { MAX_IN_PIPE };
        let text = part_of(hit, most, pattern);
        match self {
            GrepForm::Json => return crate::cli::json(out, &record(heading, (hit, got), &text)),
            GrepForm::Pipe => {
                out.write_all(heading.path.as_os_str().as_bytes())?;
                write!(out, ":{}:{}:", hit.number, got.describe())?;
                out.write_all(&text)?;
                if text.len() == hit.line.len() && hit.has_return {
                    out.write_all(b"\r")?;
                }
            }
            GrepForm::Terminal | GrepForm::Colour => {
                let number = self.style(AnsiColor::Green.on_default());
                let lost = AnsiColor::Yellow.on_default();
                let fate = self.style(if got == LineReceipt::Kept { DIM } else { lost });
                let words = got.describe();
                write!(out, "{number}{}{number:#}:{fate}{words}{fate:#}:", hit.number)?;
                self.text(out, text, pattern)?;
            }
        }
        if text.len() < hit.line.len() {
            write!(out, " [{} of a line of {}]", size(text.len() as u64), size(hit.line.len() as u64))?;
        }
        out.write_all(b"\n")
    }

    fn text(self, out: &mut Vec<u8>, text: OwnBytes, pattern: &Pattern) -> io::Result<()> {
        let mut at = 0;
        let show = terminal::show(&io::stdout()).unwrap_or(Show::MODEL);
        let mark = self.style(AnsiColor::Red.on_default().bold());
        for found in pattern.find_from(text, 0) {
            write_safe(out, text.get(at..found.start).unwrap_or_default(), &show, false)?;
            write!(out, "{mark}")?;
            write_safe(out, text.get(found.clone()).unwrap_or_default(), &show, false)?;
            write!(out, "{mark:#}")?;
            at = found.end;
        }
        write_safe(out, text.get(at..).unwrap_or_default(), &show, false)
    }

    fn style(self, style: Style) -> Style {
        if self == GrepForm::Colour { style } else { Style::new() }
    }
}

fn record(of: &Heading, (hit, got): (&Hit, LineReceipt), text: &[u8]) -> Value {
    json!({
        "path": of.path.to_string_lossy(),
        "agent": of.agent,
        "id": of.id,
        "line": hit.number,
        "offset": hit.line.start,
        "text": String::from_utf8_lossy(text),
        "certainty": of.certainty.map(Certainty::as_str),
        "kept": got.is_kept(),
        "lost_by": got.lost_by(),
    })
}

/// Returns the part of a line to print, at most `most` bytes: its start, or what surrounds a first match beyond that.
fn part_of<'a>(hit: &Hit<'a>, most: usize, pattern: &Pattern) -> OwnBytes<'a> {
    let line = hit.text;
    if hit.line.len() <= most {
        return line;
    }
    let found = pattern.find_from(line, 0).next().unwrap_or(0..0);
    let start = if hit.text_at + found.end <= most { 0 } else { found.start.saturating_sub(BEFORE) };
    let end = start.saturating_add(most).min(line.len());
    let end = if end < line.len() { units::element_start(&line, end).max(start + 1) } else { end };
    line.part(units::element_start(&line, start)..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_printed_around_its_match() {
        let pattern = Pattern::new("needle").unwrap();
        let at = |before: usize| {
            let line = [vec![b'x'; before], b"needle".to_vec(), vec![b'y'; 10_000]].concat();
            let text = OwnBytes::from(&line);
            let hit = Hit { number: 1, line: 0..line.len(), text, text_at: 0, has_return: false };
            let part = part_of(&hit, 2048, &pattern);
            let start = part.as_ptr().addr() - line.as_ptr().addr();
            start..start + part.len()
        };
        assert_eq!(at(0), 0..2048);
        assert_eq!(at(2000), 0..2048);
        assert_eq!(at(5000), 4800..6848);
        assert_eq!(at(2045), 1845..3893);
    }
}
