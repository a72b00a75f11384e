//! The values of one JSON record by place: one pass over the bytes, nothing decoded, nothing recursive.

use std::ops::{ControlFlow, Range};

use super::quote::{end_of_plain, end_of_string, start_of};
use super::value::{Json, KeyMark, Kind, Node, RootKeys};

/// The most values that one record may hold: 16 bytes each while it is looked at.
pub(super) const MAX_VALUES: usize = 1 << 20;

/// The most values and the most records of a block that are indexed at once.
const MAX_IN_BLOCK: usize = 1 << 18;
const MAX_KEYS: usize = 1 << 13;

/// Strings of at least this many bytes may be repeated.
const LONG: usize = 256;

/// The longest record, in bytes: places in a tape are 32 bits wide.
const MAX_LEN: usize = u32::MAX as usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapeError {
    /// It is not JSON, from this byte of the record on (0-based).
    Broken(usize),
    /// It holds more values than are indexed, or is too long.
    TooLarge,
}

/// The index of one record's values. Reused for many records, so that it allocates rarely.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    nodes: Vec<Node>,
    open: Vec<OpenContainer>,
    keys: RootKeys,
}

impl Tape {
    /// Indexes `record`, which must hold a single JSON value, and returns that value. Its cost follows the length of the
    /// record, whatever the record holds.
    ///
    /// # Errors
    /// The bytes are not JSON in its outline (brackets, commas, quotes), or hold too many values.
    pub fn read<'a>(&'a mut self, record: &'a [u8]) -> Result<Json<'a>, TapeError> {
        self.outline(record)?;
        Ok(Json { bytes: record, nodes: &self.nodes, keys: &self.keys, at: 0 })
    }

    /// Indexes the beginning of a longer record. If it ends in a string, the last byte counts as the closing quote;
    /// any other value in which it ends is empty.
    pub fn read_beginning<'a>(&'a mut self, record: &'a [u8]) -> Result<Json<'a>, TapeError> {
        match self.outline(record) {
            Err(TapeError::Broken(at)) => self.close_all(record, at)?,
            ended => ended?,
        }
        Ok(Json { bytes: record, nodes: &self.nodes, keys: &self.keys, at: 0 })
    }

    fn outline(&mut self, record: &[u8]) -> Result<(), TapeError> {
        self.nodes.clear();
        self.keys = RootKeys::default();
        outline(record, (&mut self.nodes, &mut self.keys), &mut self.open, MAX_VALUES)
    }

    /// Closes what is open where a record ends: `at` is the string that nothing closes, or the end.
    fn close_all(&mut self, record: &[u8], at: usize) -> Result<(), TapeError> {
        let end = record.len();
        let is_string = record.get(at) == Some(&b'"') && end_of_string(record, at + 1, at + 1).is_none();
        let Some(&(last, kind)) = self.open.last().filter(|_| is_string || at == end) else {
            return Err(TapeError::Broken(at));
        };
        if let Some(node) = self.nodes.last_mut().filter(|node| node.kind == Kind::Bare) {
            // More digits may follow.
            node.start = if node.end as usize == end { end as u32 } else { node.start };
        }
        if (kind == Kind::Array && is_string) || (kind == Kind::Object && self.ends_in_key(last)) {
            let (start, kind) =
                if is_string && end - at > 1 { (at, Kind::String) } else { (end, Kind::Bare) };
            let next = self.nodes.len() as u32 + 1;
            let mark = KeyMark::ESCAPED;
            self.nodes.push(Node { start: start as u32, end: end as u32, next, kind, mark });
        }
        let next = self.nodes.len() as u32;
        for (node, _) in self.open.drain(..) {
            if let Some(node) = self.nodes.get_mut(node as usize) {
                (node.end, node.next) = (end as u32, next);
            }
        }
        Ok(())
    }

    /// Whether the last member of an object that is open has a key and no value yet.
    fn ends_in_key(&self, object: u32) -> bool {
        let (mut at, mut count) = (object + 1, 0);
        while let Some(node) = self.nodes.get(at as usize) {
            (at, count) = (node.next.max(at + 1), count + 1);
        }
        count % 2 == 1
    }
}

/// The indexes of many records in one block of bytes. Memory is bounded: from some number of records or values on, a record
/// is indexed only when it is looked at.
#[derive(Clone, Debug, Default)]
pub struct Tapes {
    nodes: Vec<Node>,
    open: Vec<OpenContainer>,
    keys: Vec<RootKeys>,
    /// Where each record is in the block.
    records: Vec<(Range<u32>, IndexState)>,
}

#[derive(Clone, Debug)]
enum IndexState {
    /// Where its nodes are, and which keys are its own.
    Ready(Range<u32>, u32),
    Broken(TapeError),
    Later,
}

/// Takes a record of a block: where it begins in the block, and its value or why it has none.
pub(super) type TakeRecord<'a> = dyn FnMut(usize, Result<Json<'_>, TapeError>) -> ControlFlow<()> + 'a;

impl Tapes {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.open.clear();
        self.open.shrink_to(MAX_IN_BLOCK);
        self.keys.clear();
        self.records.clear();
    }

    /// Indexes the record at `range` of a block, which is shorter than 4 GiB.
    pub fn add(&mut self, block: &[u8], range: Range<usize>) {
        let (before, number) = (self.nodes.len(), self.keys.len());
        let record = block.get(range.clone()).unwrap_or_default();
        let most = if number < MAX_KEYS { MAX_IN_BLOCK.saturating_sub(before) } else { 0 };
        // Made where it stays: it is large beside what is done for a short record.
        self.keys.push(RootKeys::default());
        let indexed = match self.keys.last_mut() {
            Some(keys) => outline(record, (&mut self.nodes, keys), &mut self.open, most),
            None => Err(TapeError::TooLarge),
        };
        let state = match indexed {
            Ok(()) => IndexState::Ready(before as u32..self.nodes.len() as u32, number as u32),
            Err(error) => {
                self.nodes.truncate(before);
                self.keys.truncate(number);
                if error == TapeError::TooLarge { IndexState::Later } else { IndexState::Broken(error) }
            }
        };
        self.records.push((range.start as u32..range.end as u32, state));
    }

    /// Hands out the records of the block in order: where each begins in it, and its value or why it has none.
    pub fn each(&self, block: &[u8], take: &mut TakeRecord<'_>) -> ControlFlow<()> {
        let mut tape = Tape::default();
        self.records.iter().try_for_each(|(range, state)| {
            let range = range.start as usize..range.end as usize;
            let (start, bytes) = (range.start, block.get(range).unwrap_or_default());
            let found = match state {
                IndexState::Broken(error) => Err(*error),
                IndexState::Later => tape.read(bytes),
                IndexState::Ready(nodes, keys) => {
                    let nodes = &self.nodes[nodes.start as usize..nodes.end as usize];
                    Ok(Json { bytes, nodes, keys: &self.keys[*keys as usize], at: 0 })
                }
            };
            take(start, found)
        })
    }
}

/// Indexes a record; its nodes, `most` at the most, are added to those that are there. `keys` is empty before.
fn outline(
    record: &[u8],
    (nodes, keys): (&mut Vec<Node>, &mut RootKeys),
    open: &mut Vec<OpenContainer>,
    most: usize,
) -> Result<(), TapeError> {
    if record.len() > MAX_LEN {
        return Err(TapeError::TooLarge);
    }
    open.clear();
    let first = nodes.len();
    Outline { bytes: record, at: 0, first, most, nodes, open, keys, long: 0..0 }.read()
}

/// A container that is not closed yet: its node, and what it is.
type OpenContainer = (u32, Kind);

struct Outline<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The number of the record's first node.
    first: usize,
    most: usize,
    nodes: &'a mut Vec<Node>,
    open: &'a mut Vec<OpenContainer>,
    keys: &'a mut RootKeys,
    /// The inside of the last long string: agents write many a result twice.
    long: Range<usize>,
}

impl Outline<'_> {
    fn read(&mut self) -> Result<(), TapeError> {
        self.space();
        while self.value()? || self.after_value()? {}
        self.space();
        if self.at == self.bytes.len() { Ok(()) } else { self.broken() }
    }

    #[cold]
    fn broken<T>(&self) -> Result<T, TapeError> {
        Err(TapeError::Broken(self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte <= b' ' && matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a value, or the opening of a container up to the first value in it. Returns whether that container is open.
    fn value(&mut self) -> Result<bool, TapeError> {
        match self.peek() {
            Some(b'"') => self.string().map(|()| false),
            Some(b'{') => self.container(Kind::Object, b'}'),
            Some(b'[') => self.container(Kind::Array, b']'),
            _ => self.bare().map(|()| false),
        }
    }

    fn container(&mut self, kind: Kind, close: u8) -> Result<bool, TapeError> {
        let node = self.begin(kind)?;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            self.close(node);
            return Ok(false);
        }
        self.open.push((node, kind));
        if kind == Kind::Object {
            self.key()?;
        }
        Ok(true)
    }

    /// Goes on after a value: to the next one, if there is one. Closes the containers that end here.
    fn after_value(&mut self) -> Result<bool, TapeError> {
        loop {
            let Some(&(node, kind)) = self.open.last() else { return Ok(false) };
            self.space();
            match (self.peek(), kind) {
                (Some(b','), _) => {
                    self.at += 1;
                    self.space();
                    if kind == Kind::Object {
                        self.key()?;
                    }
                    return Ok(true);
                }
                (Some(b'}'), Kind::Object) | (Some(b']'), Kind::Array) => {
                    self.at += 1;
                    self.open.pop();
                    self.close(node);
                }
                _ => return self.broken(),
            }
        }
    }

    fn key(&mut self) -> Result<(), TapeError> {
        if self.peek() != Some(b'"') {
            return self.broken();
        }
        let start = self.at + 1;
        let mark = match end_of_plain(self.bytes, start) {
            Some(quote) => {
                let key = start_of(self.bytes.get(start..).unwrap_or_default());
                let mark = KeyMark::from_start(key, quote - start);
                self.leaf(quote + 1, Kind::String, mark)?;
                mark
            }
            None => {
                self.string()?;
                KeyMark::ESCAPED
            }
        };
        if self.open.len() == 1 {
            self.keys.add(mark, (self.nodes.len() - self.first - 1) as u32);
        }
        self.space();
        if self.peek() != Some(b':') {
            return self.broken();
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn string(&mut self) -> Result<(), TapeError> {
        let start = self.at + 1;
        let from = start + self.repeated(start);
        let Some(quote) = end_of_string(self.bytes, start, from) else { return self.broken() };
        if quote - start >= LONG {
            self.long = start..quote;
        }
        self.leaf(quote + 1, Kind::String, KeyMark::ESCAPED)
    }

    /// Returns how many bytes from `start` on are as in the last long string, which has no end before its own.
    fn repeated(&self, start: usize) -> usize {
        let before = self.bytes.get(self.long.clone()).unwrap_or_default();
        let after = self.bytes.get(start..).unwrap_or_default();
        if before.first_chunk::<8>().is_none_or(|first| after.first_chunk() != Some(first)) {
            return 0;
        }
        if after.get(..before.len()) == Some(before) {
            return before.len();
        }
        let (before, after) = (before.as_chunks::<LONG>().0, after.as_chunks::<LONG>().0);
        let most = before.len().min(after.len());
        (0..most).take_while(|at| before[*at] == after[*at]).count() * LONG
    }

    fn bare(&mut self) -> Result<(), TapeError> {
        let rest = &self.bytes[self.at..];
        let is_bare = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        match rest.iter().take_while(is_bare).count() {
            0 => self.broken(),
            len => self.leaf(self.at + len, Kind::Bare, KeyMark::ESCAPED),
        }
    }

    /// Adds a value without others in it, which ends before `end`.
    fn leaf(&mut self, end: usize, kind: Kind, mark: KeyMark) -> Result<(), TapeError> {
        let node = self.room()?;
        self.nodes.push(Node { start: self.at as u32, end: end as u32, next: node + 1, kind, mark });
        self.at = end;
        Ok(())
    }

    /// Adds a container, whose end is not known yet; returns its number.
    fn begin(&mut self, kind: Kind) -> Result<u32, TapeError> {
        let node = self.room()?;
        self.nodes.push(Node { start: self.at as u32, end: 0, next: 0, kind, mark: KeyMark::ESCAPED });
        self.at += 1;
        Ok(node)
    }

    fn room(&self) -> Result<u32, TapeError> {
        let node = self.nodes.len() - self.first;
        if node < self.most { Ok(node as u32) } else { Err(TapeError::TooLarge) }
    }

    fn close(&mut self, node: u32) {
        let next = (self.nodes.len() - self.first) as u32;
        if let Some(node) = self.nodes.get_mut(self.first + node as usize) {
            (node.end, node.next) = (self.at as u32, next);
        }
    }
}
