//! The records of a log in order, a JSON value a line: read in blocks of whole lines, indexed by several threads.
//!
//! Memory follows neither the length of the log nor that of its lines: there are a few blocks, which go round, and a very
//! long line is looked at through a map.

use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::session::json::{Json, Kind, Tape, TapeError};
use crate::source::{MapView, Source};

use super::LONGEST_RECORD;
use super::blocks::{Block, BlockContent, Cursor, More};
use super::log::LogFile;

/// Below so many bytes one thread does it all.
const FEW: u64 = 4 << 20;

/// The most threads that index, this one included, and the blocks that go round for each.
const MOST_THREADS: usize = 4;
const BLOCKS_EACH: usize = 2;

/// What [`records`] reports.
#[derive(Debug)]
pub enum LogStep<'a> {
    /// A whole line that is not blank: where its record begins in the log, and its value or why it has none.
    Record(u64, Result<Json<'a>, TapeError>),
    /// The bytes from this place on, which are no whole record yet.
    Unfinished(u64),
}

/// Hands the records of a log from byte `from` on to `take`, until that breaks. Returns the place after the last whole
/// record, from which to go on when the log grows. A last line that no line feed ends is handed out if it is a whole
/// object: nothing of it can follow.
///
/// # Errors
/// The log cannot be read.
pub fn records(
    log: &LogFile,
    from: u64,
    take: &mut dyn FnMut(LogStep) -> ControlFlow<()>,
) -> io::Result<ControlFlow<(), u64>> {
    if from >= log.len() {
        return Ok(ControlFlow::Continue(from));
    }
    let cursor = Cursor::new(log.reopen()?, from, log.len());
    let mut out = Taking { log, take, next: from };
    let ended = if log.len() - from < FEW { alone(cursor, &mut out) } else { together(cursor, &mut out) }?;
    Ok(ended.map_continue(|()| out.next))
}

/// Reads, indexes and hands out one block after the other.
fn alone(mut cursor: Cursor, out: &mut Taking) -> io::Result<ControlFlow<()>> {
    let mut block = Block::default();
    while cursor.read(&mut block)? == More::Yes {
        block.index();
        if out.block(&block)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Has threads read and index blocks, and hands them out in their order. While there is none to hand out, this thread does as
/// they do.
fn together(cursor: Cursor, out: &mut Taking) -> io::Result<ControlFlow<()>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let (give_back, free) = channel();
    let (hand_over, done) = channel();
    for _ in 0..threads * BLOCKS_EACH {
        let _ = give_back.send(Block::default());
    }
    let supply = Supply { cursor: Mutex::new(cursor), free: Mutex::new(free) };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let (supply, hand_over) = (&supply, hand_over.clone());
            let work = move || index_blocks(supply, &hand_over);
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        drop(hand_over);
        let ended = in_order(&supply, &done, &give_back, out);
        // Once nobody gives back blocks, the threads end.
        drop(give_back);
        ended
    })
}

/// Where a thread gets an empty block, and what it fills that with.
struct Supply {
    cursor: Mutex<Cursor>,
    free: Mutex<Receiver<Block>>,
}

impl Supply {
    /// Waits for an empty block; `None` once there will be no more.
    fn wait(&self) -> Option<Block> {
        lock(&self.free).recv().ok()
    }

    /// Returns an empty block if there is one. Whoever waits for one holds the lock, and then there is none.
    fn try_take(&self) -> Option<Block> {
        self.free.try_lock().ok()?.try_recv().ok()
    }

    /// Reads the next block, and indexes it; `None` after the last.
    fn next(&self, mut block: Block) -> io::Result<Option<Block>> {
        if lock(&self.cursor).read(&mut block)? == More::No {
            return Ok(None);
        }
        block.index();
        Ok(Some(block))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread hands over: a block, or why there is none.
type IndexedBlock = io::Result<Block>;

/// Says that a thread failed, lest the others wait for its block.
struct Alarm<'a>(&'a Sender<IndexedBlock>);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.send(Err(io::Error::other("a thread failed")));
        }
    }
}

fn index_blocks(supply: &Supply, hand_over: &Sender<IndexedBlock>) {
    let _alarm = Alarm(hand_over);
    while let Some(block) = supply.wait() {
        let Some(message) = supply.next(block).transpose() else { return };
        if hand_over.send(message).is_err() {
            return;
        }
    }
}

fn in_order(
    supply: &Supply,
    done: &Receiver<IndexedBlock>,
    give_back: &Sender<Block>,
    out: &mut Taking,
) -> io::Result<ControlFlow<()>> {
    let (mut next, mut early) = (0, Vec::new());
    loop {
        for block in done.try_iter() {
            early.push(block?);
        }
        if let Some(at) = early.iter().position(|block: &Block| block.number == next) {
            let block = early.swap_remove(at);
            let went_on = out.block(&block)?;
            if went_on.is_break() || block.is_last {
                return Ok(went_on);
            }
            next += 1;
            let _ = give_back.send(block);
        } else if let Some(block) = supply.try_take() {
            early.extend(supply.next(block)?);
        } else {
            // Some thread is at the next block, unless all have ended.
            match done.recv() {
                Ok(block) => early.push(block?),
                Err(_) => return Ok(ControlFlow::Continue(())),
            }
        }
    }
}

/// Hands out blocks, and knows how far they go.
struct Taking<'a> {
    log: &'a LogFile,
    take: &'a mut dyn FnMut(LogStep) -> ControlFlow<()>,
    next: u64,
}

impl Taking<'_> {
    fn block(&mut self, block: &Block) -> io::Result<ControlFlow<()>> {
        match block.what {
            BlockContent::Whole => Ok(self.lines(block)),
            BlockContent::Unfinished => Ok(self.unfinished(block)),
            BlockContent::Long(len) => self.long(block, len),
            BlockContent::LongUnfinished(len) => self.long_unfinished(block, len),
        }
    }

    fn lines(&mut self, block: &Block) -> ControlFlow<()> {
        let Self { take, next, .. } = self;
        block
            .tapes
            .each(block.text(), &mut |at, record| take(LogStep::Record(block.start + at as u64, record)))?;
        *next = block.start + block.lines.len() as u64;
        ControlFlow::Continue(())
    }

    fn unfinished(&mut self, block: &Block) -> ControlFlow<()> {
        let Self { take, next, .. } = self;
        let text = block.text();
        block.tapes.each(text, &mut |at, record| match record {
            Ok(record) if record.kind() == Kind::Object => {
                *next = block.start + text.len() as u64;
                take(LogStep::Record(block.start + at as u64, Ok(record)))
            }
            _ => take(LogStep::Unfinished(block.start)),
        })
    }

    fn long(&mut self, block: &Block, len: u64) -> io::Result<ControlFlow<()>> {
        let (view, mut tape) = (self.map()?, Tape::default());
        let (start, line) = part(&view, block.start, len);
        self.next = block.start + len + 1;
        Ok((self.take)(LogStep::Record(start, read_long(&mut tape, line))))
    }

    fn long_unfinished(&mut self, block: &Block, len: u64) -> io::Result<ControlFlow<()>> {
        let (view, mut tape) = (self.map()?, Tape::default());
        let (start, line) = part(&view, block.start, len);
        match read_long(&mut tape, line).ok().filter(|_| line.ends_with(b"}")) {
            None => Ok((self.take)(LogStep::Unfinished(block.start))),
            Some(record) => {
                self.next = block.start + len;
                Ok((self.take)(LogStep::Record(start, Ok(record))))
            }
        }
    }

    /// Maps the log for one look, so that its pages do not stay.
    fn map(&self) -> io::Result<MapView> {
        let source = Source::open(self.log.path()).map_err(io::Error::other)?;
        if source.identity().is_some_and(|now| self.log.is_same(&now)) {
            Ok(source.view())
        } else {
            Err(io::Error::other("the file was replaced while it was read"))
        }
    }
}

/// Returns the record in a line of `len` bytes from `start`, without blanks around it, and where it begins.
fn part(view: &MapView, start: u64, len: u64) -> (u64, &[u8]) {
    let from = usize::try_from(start).unwrap_or(usize::MAX);
    let to = from.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)).min(view.len());
    let line = view.get(from..to).unwrap_or_default();
    let blank = line.len() - line.trim_ascii_start().len();
    (start + blank as u64, line.trim_ascii())
}

fn read_long<'a>(tape: &'a mut Tape, line: &'a [u8]) -> Result<Json<'a>, TapeError> {
    if line.len() > LONGEST_RECORD { Err(TapeError::TooLong) } else { tape.read(line) }
}
