//! Ids of records and calls, as numbers of this process; and lists by number.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::LazyLock;

/// An id of a record, as a number of this process: of a million ids two are taken for one once in 37 million times.
pub type RecordId = u64;

/// The longest text, in words of eight bytes, for which keys are kept.
const WORDS: usize = 32;

/// Returns the number of an id. Nobody can write ids that have the same, since the numbers are others in each process.
pub fn record_id(text: &str) -> RecordId {
    id_of_bytes(text.as_bytes())
}

/// Returns the number of an id that consists of these bytes.
///
/// It is the upper half of a sum of words, each times a random number of twice its width: the multiply-shift scheme of
/// Dietzfelbinger, by which two texts have one number with a probability of 2^-64. A record names five ids, and a hash
/// that takes the bytes one after the other takes a tenth of the time of opening a session.
pub fn id_of_bytes(text: &[u8]) -> RecordId {
    static KEYS: LazyLock<Keys> = LazyLock::new(Keys::new);
    let (words, rest) = text.as_chunks::<8>();
    if words.len() >= WORDS {
        return KEYS.long.hash_one(text);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let start = KEYS.first.wrapping_add(times(KEYS.of_len, text.len() as u64));
    let words = words.iter().chain([&last]).zip(&KEYS.of_word);
    let sum = words.fold(start, |sum, (word, key)| sum.wrapping_add(times(*key, u64::from_le_bytes(*word))));
    (sum >> 64) as u64
}

fn times(key: u128, word: u64) -> u128 {
    key.wrapping_mul(u128::from(word))
}

struct Keys {
    first: u128,
    of_len: u128,
    of_word: [u128; WORDS],
    long: RandomState,
}

impl Keys {
    fn new() -> Self {
        let long = RandomState::new();
        let key = |n: usize| u128::from(long.hash_one((n, 0))) << 64 | u128::from(long.hash_one((n, 1)));
        Self { first: key(WORDS), of_len: key(WORDS + 1), of_word: std::array::from_fn(key), long }
    }
}

/// A map from numbers that [`record_id`] made: they need no hash of their own.
pub type IdMap<V> = HashMap<RecordId, V, BuildHasherDefault<IdHasher>>;

/// Takes a number as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= id_of_bytes(bytes);
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the item of a list with a number; the list grows as far as that, by empty items.
pub fn get_or_grow<T: Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let number = number as usize;
    if list.len() <= number {
        list.resize_with(number + 1, T::default);
    }
    &mut list[number]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn any_text_is_an_id() {
        assert_eq!(record_id("7f"), record_id("7f"));
        assert_ne!(record_id("a"), record_id("b"));
        assert_ne!(record_id(""), record_id("a"));
    }

    #[test]
    fn texts_that_differ_in_length_or_one_bit_have_different_numbers() {
        let zeros = (0..600).map(|len| vec![0; len]);
        let bits = (0..300 * 8).map(|bit| {
            let mut text = vec![0; 300 - bit / 64];
            if let Some(byte) = text.get_mut(bit / 8) {
                *byte = 1 << (bit % 8);
            }
            text
        });
        let texts: HashSet<Vec<u8>> = zeros.chain(bits).collect();
        let numbers: HashSet<RecordId> = texts.iter().map(|text| id_of_bytes(text)).collect();
        assert_eq!(numbers.len(), texts.len());
    }
}
