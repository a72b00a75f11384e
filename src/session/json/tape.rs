//! The values of one JSON record by place: one pass over the bytes, nothing decoded, nothing recursive.

use std::ops::{ControlFlow, Range};

use super::keys::RootKeys;
use super::quote::end_of_string;
use super::value::{Json, Kind, Node};

/// The most values that one record may hold: 16 bytes each while it is looked at.
pub(super) const MOST_VALUES: usize = 1 << 20;

/// The most values and the most records of a block that are indexed at once.
const MOST_IN_BLOCK: usize = 1 << 18;
const MOST_KEYS: usize = 1 << 13;

/// The longest record, in bytes: places in a tape are 32 bits wide.
const LONGEST: usize = u32::MAX as usize;

/// Why a record cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    /// It is not JSON, from this byte of the record on (0-based).
    #[error("not JSON from byte {0} of the record on")]
    Broken(usize),
    /// It holds more values than are indexed.
    #[error("the record holds more than 1,048,576 values")]
    TooMany,
    /// It is too long.
    #[error("the record is longer than 4 GiB")]
    TooLong,
}

/// The index of one record's values. Reused for many records, so that it allocates rarely.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    nodes: Vec<Node>,
    open: Vec<u32>,
    keys: RootKeys,
}

impl Tape {
    /// Indexes `record`, which must hold a single JSON value, and returns that value. Its cost follows the length of the
    /// record, whatever the record holds.
    ///
    /// # Errors
    /// The bytes are not JSON in its outline (brackets, commas, quotes), or hold too many values.
    pub fn read<'a>(&'a mut self, record: &'a [u8]) -> Result<Json<'a>, TapeError> {
        self.nodes.clear();
        self.keys = outline(record, &mut self.nodes, &mut self.open, MOST_VALUES)?;
        Ok(Json { bytes: record, nodes: &self.nodes, keys: &self.keys, at: 0 })
    }
}

/// The indexes of many records in one block of bytes. Memory is bounded: from some number of records or values on, a record
/// is indexed only when it is looked at.
#[derive(Clone, Debug, Default)]
pub struct Tapes {
    nodes: Vec<Node>,
    open: Vec<u32>,
    keys: Vec<RootKeys>,
    records: Vec<Indexed>,
}

/// A record of [`Tapes`].
#[derive(Clone, Debug)]
struct Indexed {
    bytes: Range<u32>,
    state: IndexState,
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
    /// Forgets all records.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.open.clear();
        self.open.shrink_to(MOST_IN_BLOCK);
        self.keys.clear();
        self.records.clear();
    }

    /// Indexes the record at `range` of a block, which is shorter than 4 GiB.
    pub fn add(&mut self, block: &[u8], range: Range<usize>) {
        let before = self.nodes.len();
        let record = block.get(range.clone()).unwrap_or_default();
        let most = MOST_IN_BLOCK.saturating_sub(before);
        let indexed = match self.keys.len() < MOST_KEYS {
            true => outline(record, &mut self.nodes, &mut self.open, most),
            false => Err(TapeError::TooMany),
        };
        let state = match indexed {
            Ok(keys) => {
                self.keys.push(keys);
                IndexState::Ready(before as u32..self.nodes.len() as u32, (self.keys.len() - 1) as u32)
            }
            Err(error) => {
                self.nodes.truncate(before);
                if error == TapeError::TooMany { IndexState::Later } else { IndexState::Broken(error) }
            }
        };
        self.records.push(Indexed { bytes: range.start as u32..range.end as u32, state });
    }

    /// Hands out the records of the block in order: where each begins in it, and its value or why it has none.
    pub fn each(&self, block: &[u8], take: &mut TakeRecord<'_>) -> ControlFlow<()> {
        let mut tape = Tape::default();
        self.records.iter().try_for_each(|record| {
            let range = record.bytes.start as usize..record.bytes.end as usize;
            let (start, bytes) = (range.start, block.get(range).unwrap_or_default());
            let found = match &record.state {
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

/// Indexes a record; its nodes, `most` at the most, are added to those that are there.
fn outline(
    record: &[u8],
    nodes: &mut Vec<Node>,
    open: &mut Vec<u32>,
    most: usize,
) -> Result<RootKeys, TapeError> {
    if record.len() > LONGEST {
        return Err(TapeError::TooLong);
    }
    open.clear();
    let first = nodes.len();
    Outline { bytes: record, at: 0, first, most, nodes, open }.read()?;
    Ok(root_keys(record, &nodes[first..]))
}

fn root_keys(bytes: &[u8], nodes: &[Node]) -> RootKeys {
    let mut keys = RootKeys::default();
    let end = nodes.first().filter(|root| root.kind == Kind::Object).map_or(0, |root| root.next);
    let mut at = 1;
    while at < end {
        let (Some(key), Some(value)) = (nodes.get(at as usize), nodes.get(at as usize + 1)) else { break };
        keys.add(bytes.get(key.start as usize + 1..key.end as usize - 1).unwrap_or_default(), at);
        at = value.next.max(at + 2);
    }
    keys
}

struct Outline<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The number of the record's first node.
    first: usize,
    most: usize,
    nodes: &'a mut Vec<Node>,
    open: &'a mut Vec<u32>,
}

impl Outline<'_> {
    fn read(&mut self) -> Result<(), TapeError> {
        self.space();
        loop {
            if self.value()? == Opened::Yes {
                continue;
            }
            if !self.after_value()? {
                break;
            }
        }
        self.space();
        if self.at == self.bytes.len() { Ok(()) } else { self.broken() }
    }

    fn broken<T>(&self) -> Result<T, TapeError> {
        Err(TapeError::Broken(self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a value, or the opening of a container up to the first value in it.
    fn value(&mut self) -> Result<Opened, TapeError> {
        match self.peek() {
            Some(b'{') => self.container(Kind::Object, b'}'),
            Some(b'[') => self.container(Kind::Array, b']'),
            Some(b'"') => self.string().map(|()| Opened::No),
            _ => self.bare().map(|()| Opened::No),
        }
    }

    fn container(&mut self, kind: Kind, close: u8) -> Result<Opened, TapeError> {
        let node = self.push(self.at, kind)?;
        self.at += 1;
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            self.close(node);
            return Ok(Opened::No);
        }
        self.open.push(node);
        if kind == Kind::Object {
            self.key()?;
        }
        Ok(Opened::Yes)
    }

    /// Goes on after a value: to the next one, if there is one. Closes the containers that end here.
    fn after_value(&mut self) -> Result<bool, TapeError> {
        loop {
            let Some(&node) = self.open.last() else { return Ok(false) };
            let kind = self.nodes[self.first + node as usize].kind;
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
        self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return self.broken();
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn string(&mut self) -> Result<(), TapeError> {
        let node = self.push(self.at, Kind::String)?;
        let Some(quote) = end_of_string(self.bytes, self.at + 1) else { return self.broken() };
        self.at = quote + 1;
        self.close(node);
        Ok(())
    }

    fn bare(&mut self) -> Result<(), TapeError> {
        let rest = &self.bytes[self.at..];
        let len = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
            .count();
        if len == 0 {
            return self.broken();
        }
        let node = self.push(self.at, Kind::Bare)?;
        self.at += len;
        self.close(node);
        Ok(())
    }

    fn push(&mut self, start: usize, kind: Kind) -> Result<u32, TapeError> {
        let node = self.nodes.len() - self.first;
        if node >= self.most {
            return Err(TapeError::TooMany);
        }
        self.nodes.push(Node { start: start as u32, end: 0, next: 0, kind });
        Ok(node as u32)
    }

    fn close(&mut self, node: u32) {
        let next = (self.nodes.len() - self.first) as u32;
        if let Some(node) = self.nodes.get_mut(self.first + node as usize) {
            node.end = self.at as u32;
            node.next = next;
        }
    }
}

/// Whether a container was opened that is not yet closed.
#[derive(PartialEq, Eq)]
enum Opened {
    Yes,
    No,
}
