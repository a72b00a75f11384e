//! The lines of outputs that match a pattern, or that do not: of one output, and of all stored ones.

use std::cell::{Cell, RefCell};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use jiff::Timestamp;

use crate::compare::line_end;
use crate::config::Config;
use crate::session::command::one_line;
use crate::session::examine::{CallInspector, OutputPlace, Paths};
use crate::session::model::Call;
use crate::session::spill::{CitingCall, SessionsCache};
use crate::session::text::{MAX_RESULT, to_text};
use crate::source::{MapView, ViewSupply};
use crate::store::{self, Entry, Env, Record, record};
use crate::text::ansi;
use crate::text::label::SafeText;
use crate::text::search::{OVERLAP, Pattern, SearchPiece, certain_in_line};
use crate::text::supply::{OwnBytes, Supply};

use super::{
    Corpus, CorpusOutput, CorpusReader, FoundReceipt, LineReceipt, OrderedSender, ReadFault, Receipt,
    Receipts, in_order,
};

/// A list holds this many lines at most.
pub(crate) const MAX_FOUND: usize = 50_000;
/// Bytes of a line that are shown, where only a part of a line is.
pub(crate) const MAX_LINE: usize = 400;

/// A line is shown from its start if its first match ends within so many bytes, which a narrow list shows.
const MAX_LEAD: usize = 60;
/// Else it is shown from so many bytes before the match.
const BEFORE: usize = 12;

#[derive(Debug, Clone)]
pub struct FoundLine {
    pub(crate) of: Arc<LineSource>,
    /// The number of the line, 1-based.
    pub(crate) number: u64,
    pub(crate) got: LineReceipt,
    /// The line, or the part of it around the match.
    pub(crate) text: SafeText,
}

/// The output in which lines were found.
#[derive(Debug)]
pub(crate) struct LineSource {
    pub(crate) agent: String,
    /// The id by which commands take the output; of a call `SESSION:CALL`.
    pub(crate) id: String,
    /// The file that holds the lines: the output, or the records.
    pub(crate) path: PathBuf,
    /// What lists call the output.
    pub(crate) name: SafeText,
    /// The command that printed it, as it was written; empty if none is known.
    pub(crate) written: String,
    /// When the output was last changed, or the call made; and how many seconds ago, if that is known.
    pub(crate) time: Option<Timestamp>,
    pub(crate) age: Option<u64>,
    /// The call, if its output is only in the records.
    pub(crate) call: Option<CitingCall>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FindEnd {
    pub(crate) outputs: u64,
    pub(crate) sessions: u64,
    /// The outputs, sessions and directories that cannot be read.
    pub(crate) unread: u64,
}

/// Finds at most `MAX_FOUND` matching lines of all stored outputs, newest first, until either function says no.
pub fn find_in_stores(
    (config, sessions, now): (&Config, &Arc<SessionsCache>, Timestamp),
    pattern: &Pattern,
    is_wanted: &(dyn Fn() -> bool + Sync),
    take: &mut (dyn FnMut(Vec<FoundLine>) -> bool + Send),
) -> FindEnd {
    let listing = store::list(&config.stores.specs, &config.env, now);
    let unlisted = listing.unlisted().count();
    let corpus = Corpus::from_entries(listing.entries);
    let receipts = Receipts::new(config, sessions.clone(), &corpus.outputs, is_wanted);
    let (unread, found) = (AtomicU64::new(unlisted as u64), AtomicUsize::new(0));
    let finder = Finder { receipts, env: &config.env, pattern, is_wanted, now, unread, found };
    let pass_on = |lines: &mut Vec<FoundLine>| match take(std::mem::take(lines)) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    in_order(&corpus.outputs, |reader, output, sender| finder.find(reader, output, sender), pass_on);
    FindEnd { outputs: corpus.outputs.len() as u64, sessions: 0, unread: finder.unread.into_inner() }
}

/// Finds at most `max` matching lines of recorded results of a session, in the order of its calls. Leaves out results
/// whose whole output is in a file of its own.
pub(crate) fn find_in_results(
    of: &CallInspector,
    pattern: &Pattern,
    (now, max): (Timestamp, usize),
    is_wanted: &dyn Fn() -> bool,
) -> Vec<FoundLine> {
    let mut lines = Vec::new();
    for call in &of.transcript.calls {
        if !is_wanted() || lines.len() >= max {
            break;
        }
        let Some((text, view)) = recorded_output(of, call) else { continue };
        let mut place = None;
        each_hit(&mut ViewSupply::from(&view), WantedLines::Matching(pattern), is_wanted, |hit| {
            let receipt = || Receipt::from_text(&text, &view, of.verify(call).cut_by());
            let (got, source) =
                place.get_or_insert_with(|| (receipt(), LineSource::from_result(of, call, now)));
            lines.push(source.line(hit, got, pattern));
            if lines.len() < max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    lines
}

/// Returns what the model got for a call, and its output, if that is in the records only.
fn recorded_output(of: &CallInspector, call: &Call) -> Option<(String, MapView)> {
    let best = of.best(call);
    let (text, _) = to_text(of.transcript, &best.first.as_ref()?.pieces, MAX_RESULT).ok()?;
    let (OutputPlace::Memory(view), _) = of.output(call, &text, Paths::Known).ok()? else { return None };
    Some((text, view))
}

impl LineSource {
    fn from_result(of: &CallInspector, call: &Call, now: Timestamp) -> Arc<Self> {
        let citing = CitingCall::new(of.file, of.transcript, call);
        Arc::new(Self {
            agent: of.transcript.agent.to_owned(),
            id: format!("{}:{}", of.file.id, call.id),
            path: of.file.path.clone(),
            name: format!("{}: {}", of.transcript.tool(call), one_line(&citing.command)).into(),
            written: citing.command.clone(),
            time: call.at,
            age: call.at.and_then(|at| u64::try_from(now.duration_since(at).as_secs()).ok()),
            call: Some(citing),
        })
    }

    fn line(self: &Arc<Self>, hit: Hit, got: &Receipt, pattern: &Pattern) -> FoundLine {
        let (got, text) = (got.line(&hit.line), text_around(pattern, hit.text));
        FoundLine { of: Arc::clone(self), number: hit.number, got, text }
    }
}

struct Finder<'a> {
    receipts: Receipts<'a>,
    env: &'a Env,
    pattern: &'a Pattern,
    is_wanted: &'a (dyn Fn() -> bool + Sync),
    now: Timestamp,
    unread: AtomicU64,
    found: AtomicUsize,
}

impl Finder<'_> {
    fn find(
        &self,
        reader: &mut CorpusReader,
        output: &CorpusOutput,
        sender: &mut OrderedSender<FoundLine>,
    ) -> ControlFlow<()> {
        if !(self.is_wanted)() {
            return ControlFlow::Break(());
        }
        let CorpusOutput::Entry(entry) = output else { return ControlFlow::Continue(()) };
        let (sender, found) = (RefCell::new(sender), Cell::new(0));
        let mut again = || {
            self.found.fetch_sub(found.take(), Ordering::Relaxed);
            sender.borrow_mut().take_back()
        };
        let looked = reader.look(output, &mut again, &mut |open| {
            let (mut got, mut flow) = (None, ControlFlow::Continue(()));
            each_hit(&mut open.supply(), WantedLines::Matching(self.pattern), self.is_wanted, |hit| {
                let (got, source) = got.get_or_insert_with(|| self.place(output, entry, &open));
                let line = source.line(hit, got, self.pattern);
                flow = sender.borrow_mut().put(|lines| lines.push(line), || open.is_steady());
                found.set(found.get() + 1);
                if self.found.fetch_add(1, Ordering::Relaxed) >= MAX_FOUND {
                    flow = ControlFlow::Break(());
                }
                flow
            });
            flow
        });
        looked.unwrap_or_else(|why| {
            if why != ReadFault::Gone {
                again();
                self.unread.fetch_add(1, Ordering::Relaxed);
            }
            ControlFlow::Continue(())
        })
    }

    /// Returns what became of an output, and what all of its lines have in common.
    fn place(&self, output: &CorpusOutput, entry: &Entry, bytes: &[u8]) -> (Receipt, Arc<LineSource>) {
        let FoundReceipt { receipt, command, .. } = self.receipts.find(output, bytes);
        let [shown, written] = match command.is_empty() {
            true => {
                let run = Record::find_run(self.env, &entry.path());
                record::commands(entry, run.as_ref())
            }
            false => [command.lines().next().unwrap_or_default().to_owned(), command.to_string()],
        };
        let source = LineSource {
            agent: entry.agent().to_owned(),
            id: entry.id().into_owned(),
            path: entry.path(),
            name: entry.called([shown.into(), store::first_line(entry).unwrap_or_default()]),
            written,
            time: Some(entry.modified()),
            age: entry.known_age(self.now).and_then(|age| u64::try_from(age.as_secs()).ok()),
            call: None,
        };
        (receipt, Arc::new(source))
    }
}

/// Returns the line as a terminal leaves it, without blanks at its start; of a long one what surrounds the match.
fn text_around(pattern: &Pattern, line: OwnBytes) -> SafeText {
    let line = line.part(line.len() - line.trim_ascii_start().len()..line.len());
    let found = pattern.find_from(line, 0).next().map_or(0, |found| found.end);
    let printed = ansi::printed(line.get(..found.saturating_add(MAX_LINE)).unwrap_or(&line));
    let is_inner = |at: &usize| printed.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let start = match pattern.find_from(&printed, 0).next() {
        Some(found) if found.end > MAX_LEAD => {
            let start = found.start.saturating_sub(BEFORE);
            start + (start..found.start).take_while(is_inner).count()
        }
        _ => 0,
    };
    let end = start.saturating_add(MAX_LINE).min(printed.len());
    let text = SafeText::from_bytes(printed.get(start..end).unwrap_or_default());
    if start > 0 { format!("…{text}").into() } else { text }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum WantedLines<'a> {
    Matching(&'a Pattern),
    Others(&'a Pattern),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit<'a> {
    /// The number of the line, 1-based.
    pub number: u64,
    /// The line in bytes of the output, without its line feed or CR LF.
    pub line: Range<usize>,
    /// A copy of the line; of one of many megabytes, of what surrounds the first match, or of its start.
    pub text: OwnBytes<'a>,
    /// Where the copy begins in the line, in bytes.
    pub text_at: usize,
    /// Whether the line ends with CR LF.
    pub has_return: bool,
}

/// Passes on the wanted lines in order until `take` breaks off or `is_wanted`, which is asked for each piece, says no.
pub(crate) fn each_hit(
    supply: &mut impl Supply,
    wanted: WantedLines,
    is_wanted: &dyn Fn() -> bool,
    mut take: impl FnMut(Hit) -> ControlFlow<()>,
) {
    let (mut at, mut before) = (0, 0);
    while let Some(piece) = SearchPiece::at(supply, at).filter(|_| is_wanted()) {
        at = piece.range().end;
        let flow = match piece {
            SearchPiece::Lines(lines) => {
                hits_in_lines(supply.read(lines.clone()), lines.start, wanted, &mut before, &mut take)
            }
            SearchPiece::LongLine(line) => {
                before += 1;
                hit_in_long_line(supply, line, wanted, before, &mut take)
            }
        };
        if flow.is_break() {
            return;
        }
    }
}

/// Passes on the hits in whole lines from `base` on. `before` is the number of lines before them, then after.
fn hits_in_lines(
    lines: OwnBytes,
    base: usize,
    wanted: WantedLines,
    before: &mut u64,
    take: &mut impl FnMut(Hit) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let feeds = |range: Range<usize>| bytecount::count(lines.get(range).unwrap_or_default(), b'\n') as u64;
    let mut counted = 0;
    let mut pass = |whole: Range<usize>| {
        *before += feeds(counted..whole.start);
        counted = whole.start;
        let text = lines.part(whole.clone());
        let end = line_end(&text);
        let line = base + whole.start..base + whole.end - end;
        let text = text.part(0..text.len() - end);
        take(Hit { number: *before + 1, line, text, text_at: 0, has_return: end == 2 })
    };
    match wanted {
        WantedLines::Matching(pattern) => pattern.lines_in(lines, 0..lines.len()).try_for_each(pass)?,
        WantedLines::Others(pattern) => {
            let mut after = 0;
            for found in
                pattern.lines_in(lines, 0..lines.len()).chain(std::iter::once(lines.len()..lines.len()))
            {
                while after < found.start {
                    let feed = memchr::memchr(b'\n', lines.get(after..found.start).unwrap_or_default());
                    let end = feed.map_or(found.start, |feed| after + feed + 1);
                    pass(after..end)?;
                    after = end;
                }
                after = found.end;
            }
        }
    }
    *before += feeds(counted..lines.len());
    ControlFlow::Continue(())
}

/// Passes on a line, with its line feed, if it is wanted.
fn hit_in_long_line(
    supply: &mut impl Supply,
    line: Range<usize>,
    wanted: WantedLines,
    number: u64,
    take: &mut impl FnMut(Hit) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (WantedLines::Matching(pattern) | WantedLines::Others(pattern)) = wanted;
    let found = certain_in_line(pattern, supply, line.clone(), &mut || true)?;
    let at = match (wanted, found) {
        (WantedLines::Matching(_), Some(at)) => at,
        (WantedLines::Others(_), None) => line.start,
        _ => return ControlFlow::Continue(()),
    };
    let end = line_end(&supply.read(line.end - 2..line.end));
    let line = line.start..line.end - end;
    let around = at.saturating_sub(OVERLAP).max(line.start)..(at + OVERLAP).min(line.end);
    let text_at = around.start - line.start;
    take(Hit { number, line, text: supply.read(around), text_at, has_return: end == 2 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::preview::Catalog;
    use crate::session::examine::Examiner;
    use crate::session::reader::SessionFile;
    use crate::session::verify::Verifier;

    use super::*;

    type Way = fn(&Pattern) -> WantedLines;
    const MATCHING: Way = |pattern| WantedLines::Matching(pattern);
    const OTHERS: Way = |pattern| WantedLines::Others(pattern);

    fn hits<'a>(bytes: impl Into<OwnBytes<'a>>, wanted: Way, pattern: &str) -> Vec<(u64, Range<usize>)> {
        let mut hits = Vec::new();
        each_hit(&mut bytes.into(), wanted(&Pattern::new(pattern).unwrap()), &|| true, |hit| {
            hits.push((hit.number, hit.line));
            ControlFlow::Continue(())
        });
        hits
    }

    #[test]
    fn a_match_far_in_a_line_is_near_the_start_of_what_is_shown() {
        let pattern = Pattern::new("needle").unwrap();
        let shown = |before: &str| text_around(&pattern, format!("  {before}needle end").as_str().into());
        assert_eq!(&*shown(&"a".repeat(54)), format!("{}needle end", "a".repeat(54)));
        assert_eq!(&*shown(&"a".repeat(55)), "…aaaaaaaaaaaaneedle end");
        let red = "\x1b[1m\x1b[38;2;255;100;100m";
        assert_eq!(&*shown(&format!("{}{red}", "a".repeat(50))), format!("{}needle end", "a".repeat(50)));
        assert_eq!(&*shown(&format!("{}{red}", "a".repeat(60))), "…aaaaaaaaaaaaneedle end");
        assert_eq!(&*shown(&format!("{}é{}", "a".repeat(80), "a".repeat(11))), "…aaaaaaaaaaaneedle end");
    }

    #[test]
    fn lines_are_numbered_and_have_no_line_end() {
        assert_eq!(hits(b"ab\r\ncd\nxab", MATCHING, "ab"), [(1, 0..2), (3, 7..10)]);
        assert_eq!(hits(b"a\n\nb\n", MATCHING, "^$"), [(2, 2..2)]);
        assert_eq!(hits(b"", MATCHING, "^$"), []);
        assert_eq!(hits(b"cd\r\nab\n\nx", OTHERS, "ab"), [(1, 0..2), (3, 7..7), (4, 8..9)]);
        assert_eq!(hits(b"ab\nx\n", OTHERS, "ab"), [(2, 3..4)]);
    }

    #[test]
    fn only_the_surroundings_of_a_match_in_a_huge_line_are_copied() {
        let len = 9 << 20;
        let text = format!("first\n{}needle{}\r\nlast needle\n", "x".repeat(len), "y".repeat(len));
        let mut found = Vec::new();
        each_hit(
            &mut OwnBytes::from(&*text),
            WantedLines::Matching(&Pattern::new("needle").unwrap()),
            &|| true,
            |hit| {
                found.push((hit.number, hit.line.clone(), hit.has_return));
                assert!(hit.text.windows(6).any(|word| word == b"needle") && hit.text.len() <= 2 * OVERLAP);
                assert_eq!(
                    hit.text.as_slice(),
                    &text.as_bytes()[hit.line.start + hit.text_at..][..hit.text.len()]
                );
                ControlFlow::Continue(())
            },
        );
        let end = 6 + 2 * len + 6;
        assert_eq!(found, [(2, 6..end, true), (3, end + 2..end + 13, false)]);
        assert_eq!(hits(&*text, OTHERS, "needle"), [(1, 0..5)]);
        assert_eq!(hits(&*text, OTHERS, "first|last"), [(2, 6..end)]);
    }

    #[test]
    fn a_session_search_stops_at_the_list_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let call = |id: &str| {
            let (used, got) = (
                serde_json::json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "x"}}),
                serde_json::json!({"type": "tool_result", "tool_use_id": id, "content": "ab\nc\nabc"}),
            );
            let record = |kind: &str, block| serde_json::json!({"type": kind, "message": {"id": id, "content": [block]}});
            format!("{}\n{}\n", record("assistant", used), record("user", got))
        };
        std::fs::write(&path, ["1", "2"].map(call).concat()).unwrap();
        let facts = Default::default();
        let file =
            SessionFile { format: "claude-code", path, id: "s".into(), size: 0, modified: None, facts };
        let opened = crate::session::list::open(&file, &()).unwrap();
        let verifier = Verifier::new(&Catalog::builtin(), "claude-code");
        let examiner = Examiner { verifier, in_store: Arc::new(|_| false), uid: 0, paths: Paths::Known };
        let of =
            CallInspector { examiner: &examiner, file: &file, transcript: opened.transcript(), copy: None };
        let numbers = |max| {
            let found =
                find_in_results(&of, &Pattern::new("ab").unwrap(), (Timestamp::UNIX_EPOCH, max), &|| true);
            found.iter().map(|line| line.number).collect::<Vec<_>>()
        };
        assert_eq!([0, 1, 3].map(numbers), [vec![], vec![1], vec![1, 3, 1]]);
        assert_eq!(numbers(MAX_FOUND), [1, 3, 1, 3]);
    }

    proptest! {
        #[test]
        fn matching_and_other_lines_together_cover_each_line_once(lines in proptest::collection::vec("[ab\r\u{e9}]{0,6}", 0..40)) {
            let text = lines.join("\n");
            let (matching, others): (Vec<_>, Vec<_>) =
                text.split_inclusive('\n').zip(1..).partition(|(line, _)| line.contains("ab"));
            for (wanted, expected) in [(MATCHING, matching), (OTHERS, others)] {
                let found = hits(&*text, wanted, "ab").into_iter().map(|(number, _)| number);
                prop_assert!(found.eq(expected.into_iter().map(|(_, number)| number)));
            }
        }
    }
}
