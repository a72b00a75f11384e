//! One value of a record: what a reader asks of it, and how a member is found by its key without looking at all members.

use std::borrow::Cow;
use std::ops::Range;

use super::quote::start_of;
use super::string::JsonText;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Object,
    Array,
    String,
    /// A number, or any other bare word: it is checked only when it is read.
    Bare,
}

/// One value: its bytes, and the node that follows it and all that is inside of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub start: u32,
    pub end: u32,
    pub next: u32,
    pub kind: Kind,
    /// A key's own mark; [`KeyMark::ESCAPED`] for any other value.
    pub mark: KeyMark,
}

/// A value of which only the outline is certain: what is asked for and is of another kind, or not there, is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) nodes: &'a [Node],
    pub(super) keys: &'a RootKeys,
    pub(super) at: u32,
}

impl<'a> Json<'a> {
    fn node(&self) -> Node {
        let nothing = Node { start: 0, end: 0, next: u32::MAX, kind: Kind::Bare, mark: KeyMark::ESCAPED };
        self.nodes.get(self.at as usize).copied().unwrap_or(nothing)
    }

    pub fn kind(&self) -> Kind {
        self.node().kind
    }

    /// Returns the bytes of the value within the record, quotes and brackets included.
    pub fn range(&self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

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
    #[inline]
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        let mark = KeyMark::new(key.as_bytes());
        match if self.at == 0 { self.keys.find(mark) } else { SEVERAL } {
            FREE => None,
            SEVERAL => self.member(key, mark),
            at => self.is_key(at.into(), key, mark).then_some(Json { at: u32::from(at) + 1, ..*self }),
        }
    }

    /// Looks at all members. By their nodes alone: agents' readers ask for ten keys inside of each record.
    fn member(&self, key: &str, mark: KeyMark) -> Option<Json<'a>> {
        let object = Some(self.node()).filter(|node| node.kind == Kind::Object)?;
        let (mut at, mut found) = (self.at + 1, None);
        while at < object.next {
            if self.is_key(at, key, mark) {
                found = Some(at + 1);
            }
            at = self.nodes.get(at as usize + 1)?.next.max(at + 2);
        }
        found.map(|at| Json { at, ..*self })
    }

    /// Whether the node at `at` is this key, whose mark is `mark`.
    fn is_key(&self, at: u32, key: &str, mark: KeyMark) -> bool {
        let Some(node) = self.nodes.get(at as usize).filter(|node| node.mark.may_be(mark)) else {
            return false;
        };
        let inside = node.start as usize + 1..(node.end as usize).saturating_sub(1);
        self.bytes.get(inside).is_some_and(|written| match node.mark {
            KeyMark::ESCAPED => JsonText { encoded: written }.is(key),
            _ => written == key.as_bytes(),
        })
    }

    /// Returns the member of an object with this key; a value in which nothing is if there is none.
    pub fn object(&self, key: &str) -> Json<'a> {
        self.get(key).unwrap_or(Json { at: u32::MAX, ..*self })
    }

    pub fn path(&self, keys: &[&str]) -> Option<Json<'a>> {
        keys.iter().try_fold(*self, |value, key| value.get(key))
    }

    pub fn text(&self) -> Option<JsonText<'a>> {
        let inner = self.raw().get(1..)?.split_last()?.1;
        (self.kind() == Kind::String).then_some(JsonText { encoded: inner })
    }

    /// Returns a short string, decoded: at most `most` bytes; `None` for a longer one or another value.
    pub fn short(&self, most: usize) -> Option<String> {
        self.text().map(|text| text.to_text(most)).filter(|text| !text.is_cut).map(|text| text.text)
    }

    /// Returns a short string, decoded: as [`Json::short`], without a copy of one that stands there as it is.
    pub fn short_text(&self, most: usize) -> Option<Cow<'a, str>> {
        match self.text()?.plain().filter(|plain| plain.len() <= most) {
            Some(plain) => Some(Cow::Borrowed(plain)),
            None => self.short(most).map(Cow::Owned),
        }
    }

    pub fn is(&self, text: &str) -> bool {
        self.text().is_some_and(|value| value.is(text))
    }

    /// Returns a whole number; one with a fraction is cut down to whole.
    pub fn int(&self) -> Option<i64> {
        self.number_text()?.parse().ok().or_else(|| self.float().map(|value| value as i64))
    }

    pub fn float(&self) -> Option<f64> {
        self.number_text()?.parse().ok().filter(|value: &f64| value.is_finite())
    }

    fn number_text(&self) -> Option<&'a str> {
        let text = std::str::from_utf8(self.raw()).ok()?;
        let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        (self.kind() == Kind::Bare && is_number).then_some(text)
    }

    pub fn bool(&self) -> Option<bool> {
        match self.raw() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.raw() == b"null"
    }
}

/// The number of slots for keys. A power of two.
const SLOTS: usize = 128;

/// No key of a record falls into this slot.
const FREE: u16 = 0;

/// Several keys may be meant, or one that is too far from the start: all members have to be looked at.
const SEVERAL: u16 = u16::MAX;

/// A few bits of a key, which tell it from most others without a look at their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyMark(u16);

impl KeyMark {
    /// A key with an escape can be any key. No other has this mark.
    pub(super) const ESCAPED: Self = Self(0);

    /// Returns the mark of a key without escapes, which stands for itself.
    #[inline]
    pub(super) fn new(key: &[u8]) -> Self {
        Self::from_start(start_of(key), key.len())
    }

    /// Returns the mark of a key of `len` bytes that begins with these; more bytes may be after it.
    #[inline]
    pub(super) fn from_start(start: [u8; 8], len: usize) -> Self {
        let beyond = 8_usize.saturating_sub(len) as u32 * 8;
        let start = u64::from_le_bytes(start).checked_shl(beyond).unwrap_or_default();
        let mixed = (start ^ len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((mixed >> 48) as u16 | 1 << 15)
    }

    /// Whether the key can be one with another mark.
    pub(super) fn may_be(self, other: Self) -> bool {
        self == other || self == Self::ESCAPED
    }

    fn slot(self) -> usize {
        usize::from(self.0) % SLOTS
    }
}

/// Where the value of each key of a record is, by the key's mark.
#[derive(Clone, Debug)]
pub(super) struct RootKeys {
    slots: [u16; SLOTS],
    has_escape: bool,
}

impl Default for RootKeys {
    fn default() -> Self {
        Self { slots: [FREE; SLOTS], has_escape: false }
    }
}

impl RootKeys {
    /// Adds a key by its mark, and the number of its node, which is not 0.
    pub(super) fn add(&mut self, key: KeyMark, node: u32) {
        self.has_escape |= key == KeyMark::ESCAPED;
        let slot = &mut self.slots[key.slot()];
        *slot = match (*slot, u16::try_from(node)) {
            (FREE, Ok(node)) => node,
            _ => SEVERAL,
        };
    }

    /// Returns the only node that can be a key without escapes, counted from the first of the record; [`FREE`] if there is
    /// none.
    fn find(&self, key: KeyMark) -> u16 {
        if self.has_escape { SEVERAL } else { self.slots[key.slot()] }
    }
}
