//! The values of one JSON record by place: one pass over the bytes, nothing decoded, nothing recursive.

use std::ops::Range;

use memchr::memchr;

use super::string::JsonText;

/// The most values that one record may hold: 16 bytes each while it is looked at.
pub(super) const MOST_VALUES: usize = 1 << 20;

/// The longest record, in bytes: places in a tape are 32 bits wide.
const LONGEST: usize = u32::MAX as usize;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number, or any other bare word: it is checked only when it is read.
    Bare,
}

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

/// One value: its bytes, and the node that follows it and all that is inside of it.
#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    end: u32,
    next: u32,
    kind: Kind,
}

/// The index of one record's values. Reused for many records, so that it allocates rarely.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    nodes: Vec<Node>,
    open: Vec<u32>,
}

impl Tape {
    /// Indexes `record`, which must hold a single JSON value, and returns that value. Its cost follows the length of the
    /// record, whatever the record holds.
    ///
    /// # Errors
    /// The bytes are not JSON in its outline (brackets, commas, quotes), or hold too many values.
    pub fn read<'a>(&'a mut self, record: &'a [u8]) -> Result<Json<'a>, TapeError> {
        self.nodes.clear();
        self.open.clear();
        if record.len() > LONGEST {
            return Err(TapeError::TooLong);
        }
        Outline { bytes: record, at: 0, tape: self }.read()?;
        Ok(Json { bytes: record, nodes: &self.nodes, at: 0 })
    }
}

struct Outline<'a> {
    bytes: &'a [u8],
    at: usize,
    tape: &'a mut Tape,
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
        self.tape.open.push(node);
        if kind == Kind::Object {
            self.key()?;
        }
        Ok(Opened::Yes)
    }

    /// Goes on after a value: to the next one, if there is one. Closes the containers that end here.
    fn after_value(&mut self) -> Result<bool, TapeError> {
        loop {
            let Some(&node) = self.tape.open.last() else { return Ok(false) };
            let kind = self.tape.nodes[node as usize].kind;
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
                    self.tape.open.pop();
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

    /// Looks only at quotes, which are rarer than escapes: one is escaped after an odd number of backslashes.
    fn string(&mut self) -> Result<(), TapeError> {
        let node = self.push(self.at, Kind::String)?;
        let start = self.at + 1;
        let mut from = start;
        loop {
            let Some(quote) = memchr(b'"', &self.bytes[from..]).map(|found| from + found) else {
                return self.broken();
            };
            let slashes = self.bytes[from..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
            from = quote + 1;
            if slashes % 2 == 0 {
                self.at = from;
                self.close(node);
                return Ok(());
            }
        }
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
        let node = self.tape.nodes.len();
        if node >= MOST_VALUES {
            return Err(TapeError::TooMany);
        }
        self.tape.nodes.push(Node { start: start as u32, end: 0, next: 0, kind });
        Ok(node as u32)
    }

    fn close(&mut self, node: u32) {
        let next = self.tape.nodes.len() as u32;
        if let Some(node) = self.tape.nodes.get_mut(node as usize) {
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

/// A value of a record. Nothing about it is certain but its outline: what a reader asks for and is not there, or is of
/// another kind, is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a> {
    bytes: &'a [u8],
    nodes: &'a [Node],
    at: u32,
}

impl<'a> Json<'a> {
    fn node(&self) -> Node {
        let nothing = Node { start: 0, end: 0, next: u32::MAX, kind: Kind::Bare };
        self.nodes.get(self.at as usize).copied().unwrap_or(nothing)
    }

    /// Returns what the value is.
    pub fn kind(&self) -> Kind {
        self.node().kind
    }

    /// Returns the bytes of the value within the record, quotes and brackets included.
    pub fn range(&self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// Returns the value as it is written.
    pub fn raw(&self) -> &'a [u8] {
        self.bytes.get(self.range()).unwrap_or_default()
    }

    /// Returns the members of an object, in order; nothing for another value.
    pub fn members(&self) -> impl Iterator<Item = (JsonText<'a>, Json<'a>)> + use<'a> {
        let mut inside = self.inside(Kind::Object);
        std::iter::from_fn(move || {
            let key = inside.next()?;
            Some((key.text()?, inside.next()?))
        })
    }

    /// Returns the elements of an array, in order; nothing for another value.
    pub fn items(&self) -> impl Iterator<Item = Json<'a>> + use<'a> {
        self.inside(Kind::Array)
    }

    fn inside(&self, kind: Kind) -> impl Iterator<Item = Json<'a>> + use<'a> {
        let (node, this) = (self.node(), *self);
        let (mut at, end) = if node.kind == kind { (this.at + 1, node.next) } else { (0, 0) };
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let value = Json { at, ..this };
            at = value.node().next.max(at + 1);
            Some(value)
        })
    }

    /// Returns the member of an object with this key. Of several the last, which is the one that the agents read.
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        self.members().filter(|(name, _)| name.is(key)).last().map(|(_, value)| value)
    }

    /// Follows keys from object to object.
    pub fn path(&self, keys: &[&str]) -> Option<Json<'a>> {
        keys.iter().try_fold(*self, |value, key| value.get(key))
    }

    /// Returns a string, still encoded.
    pub fn text(&self) -> Option<JsonText<'a>> {
        let inner = self.raw().get(1..)?.split_last()?.1;
        (self.kind() == Kind::String).then(|| JsonText::new(inner))
    }

    /// Returns a short string, decoded: at most `most` bytes; `None` for a longer one or another value.
    pub fn short(&self, most: usize) -> Option<String> {
        self.text().filter(|text| text.encoded_len() <= most * 6).map(|text| text.to_text(most).text)
    }

    /// Whether the value is this string.
    pub fn is(&self, text: &str) -> bool {
        self.text().is_some_and(|value| value.is(text))
    }

    /// Returns a whole number; one with a fraction is cut down to whole.
    pub fn int(&self) -> Option<i64> {
        self.number_text()?.parse().ok().or_else(|| self.float().map(|value| value as i64))
    }

    /// Returns a number.
    pub fn float(&self) -> Option<f64> {
        self.number_text()?.parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn number_text(&self) -> Option<&'a str> {
        let text = std::str::from_utf8(self.raw()).ok()?;
        let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        (self.kind() == Kind::Bare && is_number).then_some(text)
    }

    /// Returns `true` or `false`.
    pub fn bool(&self) -> Option<bool> {
        match self.raw() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.raw() == b"null"
    }
}
