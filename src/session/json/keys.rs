//! Finds a member of a record by its key without looking at all members: agents' readers ask for twenty keys of each record.

/// The number of slots for keys. A power of two.
const SLOTS: usize = 128;

/// No key of a record falls into this slot.
const FREE: u16 = 0;

/// Several keys fall into this slot, or one that is too far from the start: all members have to be looked at.
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

/// Returns the first bytes of a text, filled up with zero bytes if there are fewer.
#[inline]
pub(super) fn start_of(text: &[u8]) -> [u8; 8] {
    text.first_chunk().copied().unwrap_or_else(|| {
        let mut start = [0; 8];
        start[..text.len()].copy_from_slice(text);
        start
    })
}

/// Where the value of each key of a record is, by the key's mark.
#[derive(Clone, Debug)]
pub(super) struct RootKeys {
    slots: [u16; SLOTS],
    /// Whether some key has an escape in it.
    has_escape: bool,
}

/// What is known of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPlace {
    /// No member has it.
    Absent,
    /// If a member has it, its key is this node, counted from the first of the record; and no other member has it.
    At(u32),
    /// All members have to be looked at.
    Anywhere,
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

    /// Returns where a key without escapes can be.
    pub(super) fn find(&self, key: KeyMark) -> KeyPlace {
        match self.slots[key.slot()] {
            _ if self.has_escape => KeyPlace::Anywhere,
            FREE => KeyPlace::Absent,
            SEVERAL => KeyPlace::Anywhere,
            node => KeyPlace::At(node.into()),
        }
    }
}
