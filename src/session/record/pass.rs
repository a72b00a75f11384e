//! The records of a log in order, a JSON value a line: read in blocks of whole lines, indexed by several threads.
//!
//! Memory follows neither the length of the log nor that of its lines: each thread has one block, and of a very
//! long line only the beginning is read.

use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::base::lock;
use crate::session::json::{Json, Kind, Tape, TapeError};

use super::blocks::{Block, BlockContent, Cursor};
use super::file::LogFile;

/// Below this many bytes one thread does it all.
const MIN_PARALLEL: u64 = 4 << 20;
/// The most threads that index, this one included.
const MAX_THREADS: usize = 4;

/// The most blocks that wait for their turn without a thread.
const MAX_EARLY: usize = 2;

/// What takes the records, from one thread at a time.
type TakeStep<'a> = dyn FnMut(LogStep) -> ControlFlow<()> + Send + 'a;

#[derive(Debug)]
pub enum LogStep<'a> {
    /// A whole line that is not blank: where its record begins in the log, and its value or why it has none.
    Record(u64, Result<Json<'a>, TapeError>),
    /// The same of a line of more than [`MAX_RECORD`](super::MAX_RECORD) bytes, of which only the first are read.
    Beginning(u64, Result<Json<'a>, TapeError>),
    /// The bytes at the end that are no whole record yet.
    Unfinished(Range<u64>),
}

/// Hands the records of a log from byte `from` on to `take`, until that breaks. Returns the place after the last whole
/// record, from which to go on when the log grows. A last line that no line feed ends is handed out if it is a whole
/// object: nothing of it can follow.
pub fn records(log: &LogFile, from: u64, take: &mut TakeStep<'_>) -> io::Result<ControlFlow<(), u64>> {
    if from >= log.size() {
        return Ok(ControlFlow::Continue(from));
    }
    let cursor = Cursor::new(log.reopen()?, from, log.size());
    let mut out = StepSink { take, next: from };
    let ended =
        if log.size() - from < MIN_PARALLEL { alone(cursor, &mut out) } else { together(cursor, &mut out) }?;
    Ok(ended.map_continue(|()| out.next))
}

fn alone(mut cursor: Cursor, out: &mut StepSink) -> io::Result<ControlFlow<()>> {
    let mut block = Block::default();
    while cursor.read(&mut block)? {
        block.index();
        if out.block(&block).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Has threads read, index and hand out blocks, each mostly blocks of its own, in the order of the blocks: what a thread
/// indexed is still in its processor's cache when it hands it out.
fn together(cursor: Cursor, out: &mut StepSink) -> io::Result<ControlFlow<()>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let turns = BlockTurns {
        cursor: Mutex::new(cursor),
        out: Mutex::new(out),
        turn: Mutex::new(Turn::default()),
        passed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let _ = std::thread::Builder::new().spawn_scoped(scope, || turns.work());
        }
        turns.work();
    });
    let turn = turns.turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    turn.ended.unwrap_or(Ok(ControlFlow::Continue(())))
}

struct BlockTurns<'a, 'b> {
    cursor: Mutex<Cursor>,
    /// Held by the thread that hands out.
    out: Mutex<&'a mut StepSink<'b>>,
    turn: Mutex<Turn>,
    passed: Condvar,
}

#[derive(Default)]
struct Turn {
    /// The number of the block that is handed out next, or at this moment.
    next: u64,
    is_taken: bool,
    /// Blocks that were indexed before their turn, and left to the thread that hands out.
    early: Vec<Block>,
    /// Blocks that were handed out, to be used again.
    done: Vec<Block>,
    /// How it ended, before the last block or with it.
    ended: Option<io::Result<ControlFlow<()>>>,
}

impl BlockTurns<'_, '_> {
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
            let Some(next) = self.pass_on(block) else { return };
            block = next;
        }
    }

    /// Hands out a block and the next that are there, or leaves it. Returns a block for the next bytes, if needed.
    fn pass_on(&self, mut block: Block) -> Option<Block> {
        let mut turn = lock(&self.turn);
        while turn.is_taken || turn.next != block.number {
            if turn.ended.is_some() {
                return None;
            }
            if turn.early.len() < MAX_EARLY {
                turn.early.push(block);
                return Some(turn.done.pop().unwrap_or_default());
            }
            turn = self.passed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        turn.is_taken = true;
        while turn.ended.is_none() {
            drop(turn);
            let went_on = lock(&self.out).block(&block);
            let is_over = block.is_last || went_on.is_break();
            turn = lock(&self.turn);
            turn.next += 1;
            if is_over {
                turn.ended.get_or_insert(Ok(went_on));
            }
            let next = turn.early.iter().position(|early| early.number == turn.next);
            let Some(next) = next.map(|at| turn.early.swap_remove(at)) else { break };
            turn.done.push(std::mem::replace(&mut block, next));
            self.passed.notify_all();
        }
        turn.is_taken = false;
        self.passed.notify_all();
        turn.ended.is_none().then_some(block)
    }

    fn end(&self, error: io::Error) {
        lock(&self.turn).ended.get_or_insert(Err(error));
        self.passed.notify_all();
    }
}

/// Reports that a thread failed, so that the others do not wait for its block.
struct Alarm<'a, 'b, 'c>(&'c BlockTurns<'a, 'b>);

impl Drop for Alarm<'_, '_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(io::Error::other("a thread failed"));
        }
    }
}

struct StepSink<'a> {
    take: &'a mut TakeStep<'a>,
    next: u64,
}

impl StepSink<'_> {
    fn block(&mut self, block: &Block) -> ControlFlow<()> {
        let Self { take, next } = self;
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
            BlockContent::Long(len) => {
                let (blank, mut tape) = (text.len() - text.trim_ascii_start().len(), Tape::default());
                *next = start + len + 1;
                take(LogStep::Beginning(start + blank as u64, tape.read_beginning(&text[blank..])))
            }
            BlockContent::LongUnfinished(len) => take(LogStep::Unfinished(start..start + len)),
        }
    }
}
