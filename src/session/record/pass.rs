//! The records of a log in order, a JSON value a line: read in blocks of whole lines, indexed by several threads.
//!
//! Memory follows neither the length of the log nor that of its lines: each thread has one block, and of a very
//! long line the middles of long strings are left out, or all but the beginning.

use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::base::lock;
use crate::session::json::{Json, Kind, Tape, TapeError};

use super::blocks::{Block, BlockContent, Cursor};
use super::file::LogFile;
use super::long::Gap;

/// Below this many bytes one thread does it all.
const MIN_PARALLEL: u64 = 4 << 20;
/// The most threads that index, this one included.
const MAX_THREADS: usize = 4;

/// What takes the records, from one thread at a time.
type TakeStep<'a> = dyn FnMut(LogStep) -> ControlFlow<()> + Send + 'a;

#[derive(Debug)]
pub enum LogStep<'a> {
    /// A whole line that is not blank: where its record begins in the log, and its value or why it has none.
    Record(u64, Result<Json<'a>, TapeError>),
    /// The same of a line of more than [`MAX_RECORD`](super::MAX_RECORD) bytes, without the middles of long strings.
    Shortened(u64, Result<Json<'a>, TapeError>, &'a [Gap]),
    /// The same of a record that is still too long: only its first bytes are read.
    Beginning(u64, Result<Json<'a>, TapeError>),
    /// The bytes at the end that are no whole record yet.
    Unfinished(Range<u64>),
}

/// Hands the records of a log from byte `from` on to `take`, until that breaks. Returns the place after the last whole
/// record, from which to go on when the log grows. A last line without a line feed is handed out if it is a whole
/// object: nothing of it can follow.
pub fn records(log: &LogFile, from: u64, take: &mut TakeStep<'_>) -> io::Result<ControlFlow<(), u64>> {
    if from >= log.size() {
        return Ok(ControlFlow::Continue(from));
    }
    let threads = match log.size() - from {
        ..MIN_PARALLEL => 1,
        _ => std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS),
    };
    let turns = BlockTurns {
        cursor: Mutex::new(Cursor::new(log.reopen()?, from, log.size())),
        turn: Mutex::new(Turn { number: 0, take, next: from, ended: None }),
        passed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let _ = std::thread::Builder::new().spawn_scoped(scope, || turns.work());
        }
        turns.work();
    });
    let turn = turns.turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_broken_off = turn.ended.transpose()?.is_some();
    Ok(if is_broken_off { ControlFlow::Break(()) } else { ControlFlow::Continue(turn.next) })
}

/// Has threads read, index and hand out blocks, each blocks of its own, in the order of the blocks: what a thread indexed
/// is still in its processor's cache when it hands it out.
struct BlockTurns<'a> {
    cursor: Mutex<Cursor>,
    /// Held by the thread that hands out.
    turn: Mutex<Turn<'a>>,
    passed: Condvar,
}

struct Turn<'a> {
    /// The number of the block that is handed out next.
    number: u64,
    take: &'a mut TakeStep<'a>,
    /// The place after the last whole record.
    next: u64,
    /// How it ended, if before the last block: it was broken off, or failed.
    ended: Option<io::Result<()>>,
}

impl BlockTurns<'_> {
    /// Reads, indexes and hands out one block after the other, as long as there are more.
    fn work(&self) {
        let _alarm = Alarm(self);
        let mut block = Block::default();
        loop {
            let read = lock(&self.cursor).read(&mut block);
            match read {
                Ok(true) => block.index(),
                Ok(false) => return,
                Err(error) => return self.end(error),
            }
            if !self.hand_out(&block) {
                return;
            }
        }
    }

    /// Hands out a block when it is its turn. Returns whether to go on.
    fn hand_out(&self, block: &Block) -> bool {
        let must_wait = |turn: &mut Turn| turn.ended.is_none() && turn.number != block.number;
        let turn = self.passed.wait_while(lock(&self.turn), must_wait);
        let mut turn = turn.unwrap_or_else(PoisonError::into_inner);
        if turn.ended.is_none() {
            turn.ended = turn.hand_out(block).is_break().then_some(Ok(()));
            turn.number += 1;
            self.passed.notify_all();
        }
        turn.ended.is_none()
    }

    fn end(&self, error: io::Error) {
        lock(&self.turn).ended.get_or_insert(Err(error));
        self.passed.notify_all();
    }
}

/// Reports that a thread failed, so that the others do not wait for its block.
struct Alarm<'a, 'b>(&'b BlockTurns<'a>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(io::Error::other("a thread failed"));
        }
    }
}

impl Turn<'_> {
    fn hand_out(&mut self, block: &Block) -> ControlFlow<()> {
        let Self { take, next, .. } = self;
        let (text, start) = (block.text(), block.start);
        let end = start + text.len() as u64;
        match block.what {
            BlockContent::Whole => {
                block.tapes.each(text, &mut |at, record| take(LogStep::Record(start + at as u64, record)))?;
                *next = end;
                ControlFlow::Continue(())
            }
            BlockContent::Unfinished => block.tapes.each(text, &mut |at, record| match record {
                Ok(record) if record.kind() == Kind::Object => {
                    *next = end;
                    take(LogStep::Record(start + at as u64, Ok(record)))
                }
                _ => take(LogStep::Unfinished(start..end)),
            }),
            BlockContent::Shortened(len) => {
                *next = start + len + 1;
                take(LogStep::Shortened(start, Tape::default().read(text), &block.gaps))
            }
            BlockContent::Long(len) => {
                *next = start + len + 1;
                take(LogStep::Beginning(start, Tape::default().read_beginning(text)))
            }
            BlockContent::LongUnfinished(len) => take(LogStep::Unfinished(start..start + len)),
        }
    }
}
