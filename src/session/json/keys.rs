//! Finds a member of a record by its key without looking at all members: agents' readers ask for twenty keys of each record.

/// How many keys are told apart. A power of two.
const SLOTS: usize = 128;

/// No key of a record falls into this slot.
const FREE: u16 = 0;

/// Several keys fall into this slot, or one that is too far from the start: all members have to be looked at.
const SEVERAL: u16 = u16::MAX;

/// Where the value of each key of a record is, by a hash of the key.
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
    /// Adds a key as it is written, without its quotes, and the number of its node, which is not 0.
    pub(super) fn add(&mut self, key: &[u8], node: u32) {
        self.has_escape |= key.contains(&b'\\');
        let slot = &mut self.slots[slot_of(key)];
        *slot = match (*slot, u16::try_from(node)) {
            (FREE, Ok(node)) => node,
            _ => SEVERAL,
        };
    }

    /// Returns where a key without escapes can be.
    pub(super) fn find(&self, key: &str) -> KeyPlace {
        match self.slots[slot_of(key.as_bytes())] {
            _ if self.has_escape => KeyPlace::Anywhere,
            FREE => KeyPlace::Absent,
            SEVERAL => KeyPlace::Anywhere,
            node => KeyPlace::At(node.into()),
        }
    }
}

fn slot_of(key: &[u8]) -> usize {
    let byte = |byte: Option<&u8>| byte.copied().unwrap_or_default() as usize;
    (byte(key.first()) ^ (byte(key.last()) * 5) ^ (byte(key.get(key.len() / 2)) * 3) ^ (key.len() * 11))
        % SLOTS
}
