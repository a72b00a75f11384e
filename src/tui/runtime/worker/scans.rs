//! The workers that read a whole file: they count its lines and totals, find the nearest match and count all matches.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::source::{self, Buffer, MapView};
use crate::text::index::{BlockCounts, BlockIndex};
use crate::text::search::{self, Pattern, Stretches, Toward};
use crate::text::units::{Measure, Want};
use crate::tui::event::{Event, OutputEvent};
use crate::tui::pager::making::gaps;
use crate::tui::pager::output::Uncounted;
use crate::tui::pager::search::job::{CountJob, Found, Haystack, Round, SearchJob, SearchReply};

use super::ticket::{Reporter, Ticket};

/// A counting worker takes one part in this many of a file at a time.
const SHARE: usize = 64;

/// The smallest and largest part taken at a time, in bytes. They are limited because each report wakes the thread that
/// draws the screen.
const LEAST_TAKE: usize = 4 << 20;
const MOST_TAKE: usize = 32 << 20;

/// Files up to this many bytes are counted by one thread.
const NOT_WORTH_THREADS: usize = 32 << 20;

/// Matches are counted in at least this many chunks, so that the map can show where they are.
const MAP_ROWS: usize = 256;

/// The longest chunk whose matches are counted together, in bytes. It is limited because finding the number of one
/// match means searching its chunk.
const LONGEST_CHUNK: usize = 1 << 20;

/// A chunk with this many matches ends early, for the same reason.
const MOST_MATCHES: u64 = 4096;

/// A chunk never ends early before this many bytes, to keep the list of chunks small.
const SHORTEST_CHUNK: usize = 64 << 10;

/// Gives work that the user waits for precedence over work in the background.
#[derive(Debug, Default, Clone)]
pub(crate) struct Gate(Arc<(Mutex<usize>, Condvar)>);

/// Background work waits while this exists.
pub(crate) struct PauseGuard<'a>(&'a Gate);

impl Gate {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds background work back until the guard is dropped.
    pub(crate) fn pass(&self) -> PauseGuard<'_> {
        *self.lock() += 1;
        PauseGuard(self)
    }

    /// Waits until no guard is left.
    fn wait(&self) {
        let wait = self.0.1.wait_while(self.lock(), |passing| *passing > 0);
        drop(wait.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.0.1.notify_all();
    }
}

/// A background worker's ticket, the gate at which it waits, and where it reports.
pub(crate) struct Background {
    pub(crate) ticket: Ticket,
    pub(crate) gate: Gate,
    pub(crate) events: Reporter,
}

impl Background {
    /// Waits at the gate. Returns whether the work is still wanted.
    pub(crate) fn go_on(&self) -> bool {
        self.gate.wait();
        self.ticket.is_wanted()
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.ticket.is_wanted()
    }

    pub(crate) fn send(&self, event: impl Into<Event>) -> ControlFlow<()> {
        if self.events.send(event) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Counts the line feeds from a block on first, because the line numbers on the screen wait for them; then the other
/// totals.
pub(crate) fn count(view: &MapView, number: u64, from: Uncounted, background: &Background) {
    let index = BlockIndex::new(view.len() as u64);
    go_through(&index, from.lines..index.blocks(), background, |buffer, blocks| {
        let bytes = index.range(blocks.clone());
        let counts = source::line_feeds(view, bytes, index.block(), buffer);
        let counts = BlockCounts { first: blocks.start, counts };
        OutputEvent::Counted {
            generation: view.generation(),
            number,
            counts,
            measure: Measure::default(),
            measured: 0..0,
        }
    });
    go_through(&index, from.totals..index.blocks(), background, |buffer, blocks| {
        let range = index.range(blocks);
        let measured = range.start as u64..range.end as u64;
        let measure = source::measure(view, range, Want::ALL, buffer);
        let counts = BlockCounts { first: 0, counts: Vec::new() };
        OutputEvent::Counted { generation: view.generation(), number, counts, measure, measured }
    });
}

/// Reports on the blocks in order, from several threads if the file is large enough.
fn go_through(
    index: &BlockIndex,
    blocks: Range<usize>,
    background: &Background,
    report: impl Fn(&mut Buffer, Range<usize>) -> OutputEvent + Sync,
) {
    let take = (index.range(blocks.clone()).len() / SHARE).clamp(LEAST_TAKE, MOST_TAKE);
    let take = (take / index.block()).max(1);
    let work = |buffer: &mut Buffer, number: usize| {
        if !background.go_on() {
            return ControlFlow::Break(());
        }
        let start = blocks.start + number * take;
        background.send(report(buffer, start..(start + take).min(blocks.end)))
    };
    let takes = blocks.len().div_ceil(take);
    match index.range(blocks.clone()).len() {
        0..=NOT_WORTH_THREADS => {
            let mut buffer = Buffer::default();
            let _ = (0..takes).try_for_each(|number| work(&mut buffer, number));
        }
        _ => source::share_out(takes, Buffer::default, work),
    }
}

/// Searches for one match after the other until the one that the job asks for; whole laps are left out.
pub(crate) fn seek(job: &SearchJob, ticket: &Ticket) -> SearchReply {
    let (mut from, mut round, mut last, mut first) = (job.from, Round::Straight, None, None);
    let (mut left, mut passed) = (job.times, 0);
    while left > 0 {
        let Some((found, way)) = seek_once(job, from, ticket).filter(|_| ticket.is_wanted()) else { break };
        if way == Round::Wrapped {
            round = way;
        }
        from = match job.toward {
            Toward::End => found.end,
            Toward::Start => found.start,
        };
        left -= 1;
        if first.as_ref() == Some(&found) {
            left %= passed;
        }
        passed += 1;
        first.get_or_insert_with(|| found.clone());
        last = Some(found);
    }
    last.map_or(SearchReply::Nothing, |found| SearchReply::Match(found, round))
}

/// Searches from `from` to the end, then wraps around and searches the rest.
fn seek_once(job: &SearchJob, from: usize, ticket: &Ticket) -> Option<(Range<usize>, Round)> {
    let len = job.haystack.bytes().len();
    let from = from.min(len);
    let (ahead, behind) = match job.toward {
        Toward::End => (from..len, 0..from),
        Toward::Start => (0..from, from..len),
    };
    let straight = nearest_wanted(job, ahead, ticket).map(|found| (found, Round::Straight));
    straight.or_else(|| nearest_wanted(job, behind, ticket).map(|found| (found, Round::Wrapped)))
}

/// Returns the nearest match within a range that does not lie in what the job skips.
fn nearest_wanted(job: &SearchJob, within: Range<usize>, ticket: &Ticket) -> Option<Range<usize>> {
    if job.skip.is_empty() {
        return nearest(job, within, ticket);
    }
    let mut parts = unskipped(job.haystack.bytes(), &job.skip);
    if job.toward == Toward::Start {
        parts.reverse();
    }
    let parts = parts.into_iter().map(|part| part.start.max(within.start)..part.end.min(within.end));
    parts.filter(|part| !part.is_empty()).find_map(|part| nearest(job, part, ticket))
}

/// Returns the ranges in which the matches that are not skipped start, in order: what is not skipped, from the start of
/// its first line on. Close ones are joined.
fn unskipped(bytes: &[u8], skip: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for gap in gaps(skip, bytes.len()) {
        let far = gap.start.saturating_sub(search::OVERLAP);
        let start = far + memchr::memrchr(b'\n', &bytes[far..gap.start]).map_or(0, |feed| feed + 1);
        match parts.last_mut() {
            Some(last) if last.end + search::CHUNK >= start => last.end = gap.end,
            _ => parts.push(start..gap.end),
        }
    }
    parts
}

/// Returns the nearest match within a range. Stretches are handed out nearest first: once one has a match, only those
/// handed out before it, which are already being searched, can have a nearer one.
fn nearest(job: &SearchJob, within: Range<usize>, ticket: &Ticket) -> Option<Range<usize>> {
    let stretches = Stretches::new(within, job.toward);
    let best: Mutex<Option<(usize, Range<usize>)>> = Mutex::new(None);
    // Each thread gets its own pattern: threads that share one wait for each other.
    let state = || (Buffer::default(), job.pattern.clone());
    source::share_out(stretches.count(), state, |(buffer, pattern), number| {
        if !ticket.is_wanted() {
            return ControlFlow::Break(());
        }
        let bytes = match &job.haystack {
            Haystack::File(view) => {
                let mut seen = buffer.read(view, stretches.near_window(number, view.len()));
                if !stretches.is_enough(number, seen) {
                    seen = buffer.read(view, stretches.window(number, view.len()));
                }
                seen
            }
            Haystack::Text(text) => &text[stretches.window(number, text.len())],
        };
        let found = stretches.nearest(number, bytes, pattern, |found| job.is_wanted(found));
        let Some(found) = found else { return ControlFlow::Continue(()) };
        let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
        if best.as_ref().is_none_or(|(nearest, _)| number < *nearest) {
            *best = Some((number, found));
        }
        ControlFlow::Break(())
    });
    best.into_inner().unwrap_or_else(PoisonError::into_inner).map(|(_, found)| found)
}

/// Counts all matches from where the job starts, chunk by chunk.
pub(crate) fn tally(job: &CountJob, background: &Background) {
    let len = job.view.len();
    let most = (len / MAP_ROWS).clamp(16 << 10, LONGEST_CHUNK);
    let mut buffer = Buffer::default();
    let mut start = job.from;
    while start < len && background.go_on() {
        let stop = (start + most).min(len);
        let window = search::window(&(start..stop), len);
        let bytes = buffer.read(&job.view, window.clone());
        while start < stop {
            let inside = start - window.start..stop - window.start;
            let (end, count) = dense(bytes, &job.pattern, inside);
            start = window.start + end;
            let reply = SearchReply::Counted(job.what, start, count);
            if background.send(OutputEvent::Found(Found { number: job.number, reply })).is_break() {
                return;
            }
        }
    }
}

/// Counts the matches from the start of `within` until there are [`MOST_MATCHES`] or all of it is searched. Returns
/// where counting ended, and the count.
fn dense(bytes: &[u8], pattern: &Pattern, within: Range<usize>) -> (usize, u64) {
    let (mut end, mut count) = (within.start, 0);
    while end < within.end && count < MOST_MATCHES {
        let piece = end..(end + SHORTEST_CHUNK).min(within.end);
        end = piece.end;
        for found in search::starting_in(bytes, pattern, piece) {
            count += 1;
            end = end.max(found.end);
        }
    }
    (end, count)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::source::Source;
    use crate::tui::pager::search::job::Counting;
    use crate::tui::runtime::signal::Signal;

    const ALL: Uncounted = Uncounted { lines: 0, totals: 0 };

    /// Creates a file of this content. Its directory is removed with the temporary directory.
    fn view(content: &[u8]) -> MapView {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output");
        std::fs::write(&path, content).unwrap();
        Source::open(&path).unwrap().view()
    }

    fn ticket() -> Ticket {
        Ticket::next(&Arc::new(AtomicU64::new(0)))
    }

    fn events(work: impl FnOnce(&Background)) -> Vec<Event> {
        let (sender, receiver) = channel();
        work(&Background { ticket: ticket(), gate: Gate::default(), events: Reporter::new(sender) });
        let app = |signal| match signal {
            Signal::App(event) => Some(event),
            _ => None,
        };
        receiver.iter().filter_map(app).collect()
    }

    #[test]
    fn lines_come_before_totals_and_each_byte_once() {
        let content = "größer\n".repeat(3_000_000);
        let view = view(content.as_bytes());
        let mut index = BlockIndex::new(view.len() as u64);
        let (mut sum, mut seen) = (Measure::default(), 0);
        for event in events(|background| count(&view, 1, ALL, background)) {
            let Event::Output(OutputEvent::Counted { counts, measure, measured, .. }) = event else {
                continue;
            };
            let bytes = measured.end - measured.start;
            assert!(index.is_complete() || bytes == 0);
            index.insert(&counts);
            sum += measure;
            seen += bytes;
        }
        assert_eq!(index.line_feeds(), Some(3_000_000));
        assert_eq!((seen, sum.units), (content.len() as u64, 7 * 3_000_000));
    }

    #[test]
    fn the_nearest_match_wins_whichever_thread_finds_it() {
        let mut content = vec![b'x'; 9 * search::CHUNK];
        for at in [2, 5, 6, 8] {
            content[at * search::CHUNK + 10] = b'N';
        }
        let haystack = Haystack::File(view(&content));
        let job = |from, toward| SearchJob {
            number: 1,
            pattern: Pattern::new("N").unwrap(),
            haystack: haystack.clone(),
            skip: Arc::default(),
            from,
            toward,
            times: 1,
            within: None,
        };
        let at = |chunk: usize| chunk * search::CHUNK + 10;
        let found = |from, toward| match seek(&job(from, toward), &ticket()) {
            SearchReply::Match(found, round) => (found.start, round),
            _ => panic!("nothing found"),
        };
        assert_eq!(found(0, Toward::End), (at(2), Round::Straight));
        assert_eq!(found(at(5), Toward::Start), (at(2), Round::Straight));
        assert_eq!(found(at(8) + 1, Toward::End), (at(2), Round::Wrapped));
        assert_eq!(found(at(2), Toward::Start), (at(8), Round::Wrapped));
    }

    #[test]
    fn what_is_skipped_is_passed_over_and_the_nth_match_is_found() {
        let line = "needle in the hay\n";
        let content = line.repeat(200_000);
        let haystack = Haystack::File(view(content.as_bytes()));
        let (first, last) = (1000 * line.len(), content.len() - 1000 * line.len());
        let kept = [0..first + 3, last + 3..content.len()];
        let found = |skip: &[Range<usize>], from, toward, times| {
            let pattern = Pattern::new("needle").unwrap();
            let skip = skip.into();
            let haystack = haystack.clone();
            let job = SearchJob { number: 1, pattern, haystack, skip, from, toward, times, within: None };
            match seek(&job, &ticket()) {
                SearchReply::Match(found, round) => Some((found.start, round)),
                _ => None,
            }
        };
        // The match that begins in what is kept and ends in what is lost was not got.
        assert_eq!(found(&kept, 0, Toward::End, 1), Some((first, Round::Straight)));
        assert_eq!(found(&kept, 0, Toward::End, 3), Some((first + 2 * line.len(), Round::Straight)));
        assert_eq!(found(&kept, content.len(), Toward::Start, 1), Some((last, Round::Straight)));
        assert_eq!(found(&kept, last + 6, Toward::End, 1), Some((first, Round::Wrapped)));
        assert_eq!(found(&[0..content.len()], 0, Toward::End, 1), None);
        assert_eq!(found(&[], 1, Toward::End, 2), Some((2 * line.len(), Round::Straight)));
        let kept = [2 * line.len()..content.len() - line.len()];
        assert_eq!(found(&kept, 0, Toward::End, (3 << 40) + 2), Some((line.len(), Round::Wrapped)));
    }

    #[test]
    fn a_dense_chunk_ends_early_and_all_chunks_are_the_whole() {
        let view = view(&b"aaaaaaaaa\n".repeat(100_000));
        let job = CountJob {
            what: Counting::Matches,
            number: 1,
            pattern: Pattern::new("a").unwrap(),
            view,
            from: 0,
        };
        let mut ends = vec![0];
        let mut total = 0;
        for event in events(|background| tally(&job, background)) {
            let Event::Output(OutputEvent::Found(found)) = event else { continue };
            let SearchReply::Counted(_, end, count) = found.reply else { continue };
            ends.push(end);
            total += count;
        }
        assert_eq!((ends[ends.len() - 1], total), (1_000_000, 900_000));
        assert!(ends.windows(2).all(|pair| pair[1] > pair[0] && pair[1] - pair[0] <= SHORTEST_CHUNK));
    }

    #[test]
    fn matches_across_chunks_of_a_long_line_are_counted_once() {
        let view = view(&b"aab".repeat(100_000));
        for (pattern, expected) in [("aab", 100_000), ("ba", 99_999), ("aaba", 50_000), ("b$", 1)] {
            let job = CountJob {
                what: Counting::Matches,
                number: 1,
                pattern: Pattern::new(pattern).unwrap(),
                view: view.clone(),
                from: 0,
            };
            let counted = events(|background| tally(&job, background)).into_iter().map(|event| match event {
                Event::Output(OutputEvent::Found(Found {
                    reply: SearchReply::Counted(_, _, count), ..
                })) => count,
                _ => 0,
            });
            assert_eq!((pattern, counted.sum::<u64>()), (pattern, expected));
        }
    }

    #[test]
    fn a_search_reads_each_byte_about_once_and_pages_whole() {
        let line = "0123456789 abcdefghi\n";
        let content = line.repeat(400_000) + "needle\n" + &line.repeat(1000);
        let view = view(content.as_bytes());
        let pattern = Pattern::new("needle").unwrap();
        let haystack = Haystack::File(view.clone());
        for (from, toward) in [(0, Toward::End), (content.len(), Toward::Start), (4097, Toward::End)] {
            let before = view.reads().bytes;
            let job = SearchJob {
                number: 1,
                pattern: pattern.clone(),
                haystack: haystack.clone(),
                skip: Arc::default(),
                from,
                toward,
                times: 1,
                within: None,
            };
            let SearchReply::Match(found, Round::Straight) = seek(&job, &ticket()) else {
                panic!("nothing found")
            };
            assert_eq!(found, 400_000 * line.len()..400_000 * line.len() + 6);
            let read = (view.reads().bytes - before) as usize;
            // Each stretch may read three pages more.
            assert!(read <= content.len() + content.len() / 32, "{read} of {}", content.len());
        }
        let job = CountJob { what: Counting::Matches, number: 1, pattern, view: view.clone(), from: 0 };
        assert!(!events(|background| tally(&job, background)).is_empty());
        assert!(!events(|background| count(&view, 1, ALL, background)).is_empty());
        assert_eq!(view.reads().unaligned, 0);
    }

    #[test]
    fn a_match_far_into_the_line_that_ends_a_stretch_is_found() {
        for feed in [search::CHUNK + 9_000, search::CHUNK + 60_000, 0] {
            let mut content = vec![b'x'; 3 * search::CHUNK];
            content[feed] = b'\n';
            let at = search::CHUNK + 8_000;
            content[at..at + 6].copy_from_slice(b"needle");
            let view = view(&content);
            for toward in [Toward::End, Toward::Start] {
                let from = if toward == Toward::End { 0 } else { content.len() };
                let pattern = Pattern::new("x{9}needle").unwrap();
                let haystack = Haystack::File(view.clone());
                let skip = Arc::default();
                let job =
                    SearchJob { number: 1, pattern, haystack, skip, from, toward, times: 1, within: None };
                let reply = seek(&job, &ticket());
                let start = at - 9;
                assert!(matches!(reply, SearchReply::Match(range, _) if range == (start..at + 6)), "{feed}");
            }
        }
    }

    #[test]
    fn a_hole_has_no_lines_and_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(64 << 30).unwrap();
        let view = Source::open(&path).unwrap().view();
        let want = Want::LINE_FEEDS.with(Want::DECODED_BYTES);
        let measured = source::count(&view, want);
        assert_eq!((measured.line_feeds, measured.decoded_bytes), (0, 64 << 30));
    }
}
