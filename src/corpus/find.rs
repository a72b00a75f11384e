//! The lines of all stored outputs that match a pattern, for a list on the screen.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use jiff::Timestamp;

use crate::compare::over;
use crate::config::Config;
use crate::store::{self, Entry};
use crate::text::ansi;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::text::supply::OwnBytes;

use super::{
    Corpus, CorpusOutput, CorpusReader, CutPolicies, LineGot, Outlet, OutputGot, ReadFault, WantedLines,
    each_hit, in_order,
};

/// A list holds this many lines at most.
pub(crate) const MAX_FOUND: usize = 50_000;

/// Bytes of a line that a list shows.
const MAX_LINE: usize = 400;

/// Bytes before the match from which on a longer line is shown.
const BEFORE: usize = 40;

#[derive(Debug, Clone)]
pub struct FoundLine {
    /// The output that it is of.
    pub(crate) entry: Arc<Entry>,
    /// The command that printed the output; empty as long as none is known.
    pub(crate) command: SafeText,
    /// How many seconds ago the output was last changed, if that is known.
    pub(crate) age: Option<u64>,
    /// The number of the line, 1-based.
    pub(crate) number: u64,
    pub(crate) got: LineGot,
    /// The limit that cut the output, as in `over 50 KB`, if one did.
    pub(crate) over: Option<Arc<str>>,
    /// The line, or the part of it around the match.
    pub(crate) text: SafeText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FindEnd {
    pub(crate) outputs: u64,
    /// The outputs and directories that cannot be read.
    pub(crate) unread: u64,
}

/// Finds the matching lines of all stored outputs, youngest output first, until `goes_on` says no, `take` says no, or
/// `MAX_FOUND` lines are found.
pub fn find_in_stores(
    (config, now): (&Config, Timestamp),
    pattern: &Pattern,
    goes_on: &(dyn Fn() -> bool + Sync),
    take: &mut (dyn FnMut(Vec<FoundLine>) -> bool + Send),
) -> FindEnd {
    let listing = store::list(&config.stores.specs, &config.env, now);
    let unlisted =
        listing.reports.iter().flat_map(|(_, roots)| roots).flat_map(store::RootReport::unlisted).count();
    let corpus = Corpus::of_entries(listing.entries);
    let (policies, unread, found) =
        (CutPolicies::new(config), AtomicU64::new(unlisted as u64), AtomicUsize::new(0));
    let finder = Finder { policies, pattern, goes_on, now, unread: &unread, found: &found };
    let work = |reader: &mut CorpusReader, number: usize, outlet: &mut Outlet<FoundLine>| {
        corpus
            .outputs
            .get(number)
            .map_or(ControlFlow::Continue(()), |output| finder.find(reader, output, outlet))
    };
    in_order(corpus.outputs.len(), CorpusReader::default, work, |lines| {
        if take(std::mem::take(lines)) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    FindEnd { outputs: corpus.outputs.len() as u64, unread: unread.into_inner() }
}

struct Finder<'a> {
    policies: CutPolicies<'a>,
    pattern: &'a Pattern,
    goes_on: &'a (dyn Fn() -> bool + Sync),
    now: Timestamp,
    unread: &'a AtomicU64,
    found: &'a AtomicUsize,
}

impl Finder<'_> {
    fn find(
        &self,
        reader: &mut CorpusReader,
        output: &CorpusOutput,
        outlet: &mut Outlet<FoundLine>,
    ) -> ControlFlow<()> {
        if !(self.goes_on)() {
            return ControlFlow::Break(());
        }
        let CorpusOutput::Entry(entry) = output else { return ControlFlow::Continue(()) };
        let (outlet, found) = (RefCell::new(outlet), Cell::new(0));
        let mut again = || {
            self.found.fetch_sub(found.take(), Ordering::Relaxed);
            outlet.borrow_mut().take_back()
        };
        let looked = reader.look(output, &mut again, &mut |open| {
            let (mut got, mut flow) = (None, ControlFlow::Continue(()));
            each_hit(&mut open.supply(), WantedLines::Matching(self.pattern), self.goes_on, |hit| {
                let (got, place) = got.get_or_insert_with(|| self.place(entry, &open));
                let line = FoundLine {
                    number: hit.number,
                    got: got.line(&hit.line),
                    text: self.text(hit.text),
                    ..place.clone()
                };
                flow = outlet.borrow_mut().put(|lines| lines.push(line), || open.is_steady());
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
    fn place(&self, entry: &Entry, bytes: &[u8]) -> (OutputGot, FoundLine) {
        let policy = self.policies.of(&entry.path());
        let got = match &policy {
            Ok(resolved) => OutputGot::of(bytes, &entry.saved_as(), &resolved.policy),
            Err(why) => OutputGot::Unknown(why.clone()),
        };
        let over = policy.ok().zip(got.limit()).and_then(|(resolved, hit)| over(&resolved.policy, hit));
        let age = entry.known_age(self.now);
        let line = FoundLine {
            entry: Arc::new(entry.clone()),
            command: SafeText::default(),
            age: age.and_then(|age| u64::try_from(age.as_secs()).ok()),
            number: 0,
            got: LineGot::Unknown,
            over: over.map(Arc::from),
            text: SafeText::default(),
        };
        (got, line)
    }

    /// Returns the line as a terminal leaves it, without blanks at its start; of a long one what surrounds the match.
    fn text(&self, line: OwnBytes) -> SafeText {
        let line = line.part(line.len() - line.trim_ascii_start().len()..line.len());
        let start = match self.pattern.find_from(line, 0).next() {
            Some(found) if found.end > MAX_LINE => found.start.saturating_sub(BEFORE),
            _ => 0,
        };
        let end = start.saturating_add(MAX_LINE).min(line.len());
        SafeText::from_bytes(&ansi::printed(line.get(start..end).unwrap_or_default()))
    }
}
