//! Finds the end of a JSON string at the speed of memory, however many escaped quotes it holds.

use memchr::memchr;

/// How many bytes are looked at in one step, which the compiler does with a few wide instructions.
const STEP: usize = 64;

/// How many words of eight bytes are looked at one by one: as many as hold a UUID.
const WORDS: usize = 5;

/// Returns the place of the quote that ends the string whose inside begins at `start`; `None` if nothing ends it. The quotes
/// before `from` are known to be escaped. Costs one look at each byte of the rest, whatever it holds.
pub(crate) fn end_of_string(bytes: &[u8], start: usize, from: usize) -> Option<usize> {
    let mut at = first_quote(bytes, from)?;
    loop {
        if !is_escaped(bytes, start, at) {
            return Some(at);
        }
        // A string with one escaped quote mostly holds many, and looking at each takes longer than reading the bytes.
        at += 1;
        while let Some(step) = step_at(bytes, at) {
            looked_at(STEP);
            let (any, may_end) = step.quotes();
            if !any {
                break;
            }
            if may_end {
                looked_at(STEP);
                let ends = quotes(step.now, at).find(|quote| !is_escaped(bytes, start, *quote));
                if ends.is_some() {
                    return ends;
                }
            }
            at += STEP;
        }
        at += memchr(b'"', bytes.get(at..)?)?;
    }
}

#[cfg(test)]
thread_local! {
    /// How many bytes this thread has looked at in steps, each as often as it was looked at.
    pub(super) static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn looked_at(_bytes: usize) {
    #[cfg(test)]
    LOOKED_AT.set(LOOKED_AT.get() + _bytes);
}

/// Finds the first quote from `start` on. Most strings are keys, ids and times: a few words are looked at sooner than memchr
/// is called.
fn first_quote(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for _ in 0..WORDS {
        let Some(word) = bytes.get(at..)?.first_chunk() else { break };
        if let Some(found) = first_in(zeros(b'"', *word)) {
            return Some(at + found);
        }
        at += size_of::<u64>();
    }
    Some(at + memchr(b'"', bytes.get(at..)?)?)
}

/// Returns the quote that ends a short string whose inside begins at `start`; `None` if a backslash comes before.
pub(super) fn end_of_plain(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while let Some(word) = bytes.get(at..)?.first_chunk() {
        if let Some(found) = first_in(zeros(b'"', *word) | zeros(b'\\', *word)) {
            at += found;
            return (word[found] == b'"').then_some(at);
        }
        at += size_of::<u64>();
    }
    at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    (bytes.get(at) == Some(&b'"')).then_some(at)
}

/// Sets the high bit of each byte that equals `byte`, and perhaps of bytes after one: the XOR of equal bytes is 0, and
/// subtracting 1 from a zero byte borrows from the next, so only the lowest is certain.
fn zeros(byte: u8, word: [u8; 8]) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    let difference = u64::from_le_bytes(word) ^ (EACH * u64::from(byte));
    difference.wrapping_sub(EACH) & !difference & (EACH << 7)
}

/// Returns the place of the first byte whose highest bit is set.
fn first_in(zeros: u64) -> Option<usize> {
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

/// Whether a backslash is in a text that is mostly short: then a call of memchr takes longer than to look.
pub(super) fn has_backslash(text: &[u8]) -> bool {
    any_word(text, |word| zeros(b'\\', word) != 0)
}

/// Whether a text that is mostly short is ASCII without backslashes.
pub(super) fn is_plain_ascii(text: &[u8]) -> bool {
    const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);
    !any_word(text, |word| (zeros(b'\\', word) | u64::from_le_bytes(word)) & HIGHEST != 0)
}

/// Whether something is so of any eight bytes; the last may be looked at twice, zero bytes fill up a short text.
fn any_word(text: &[u8], is_so: impl Fn([u8; 8]) -> bool) -> bool {
    let Some(last) = text.last_chunk() else { return is_so(start_of(text)) };
    text.as_chunks().0.iter().fold(is_so(*last), |found, word| found | is_so(*word))
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

/// Some bytes, with those one and two places before each.
struct Step<'a> {
    now: &'a [u8; STEP],
    before: &'a [u8; STEP],
    second: &'a [u8; STEP],
}

impl Step<'_> {
    /// Whether there are quotes, and whether one has no or two backslashes before it: only such a one can end a string.
    fn quotes(&self) -> (bool, bool) {
        let (mut any, mut may_end) = (false, false);
        // By number, not zipped: parts of `zip` are not inlined in a release.
        (0..STEP).for_each(|at| {
            let quote = self.now[at] == b'"';
            any |= quote;
            may_end |= quote & ((self.before[at] != b'\\') | (self.second[at] == b'\\'));
        });
        (any, may_end)
    }
}

/// Returns the step that begins at `at`, which is 2 at least; `None` if there are fewer bytes.
fn step_at(bytes: &[u8], at: usize) -> Option<Step<'_>> {
    let from = |start: usize| bytes.get(start..)?.first_chunk();
    Some(Step { now: from(at)?, before: from(at.checked_sub(1)?)?, second: from(at.checked_sub(2)?)? })
}

/// Returns the places of the quotes in bytes that begin at `at`.
fn quotes(bytes: &[u8], at: usize) -> impl Iterator<Item = usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(move |(n, _)| at + n)
}

/// Whether an odd number of backslashes precedes a quote. Between two quotes every backslash is looked at once.
fn is_escaped(bytes: &[u8], start: usize, quote: usize) -> bool {
    let before = bytes.get(start..quote).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Reads escapes one by one.
    fn slowly(bytes: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        loop {
            match bytes.get(at)? {
                b'"' => return Some(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    #[test]
    fn an_escaped_backslash_escapes_nothing() {
        for text in [r#"""#, r#"\"""#, r#"\\""#, r#"a\\\"b\\""#, r#"\""#, r"\", ""] {
            assert_eq!(end_of_string(text.as_bytes(), 0, 0), slowly(text.as_bytes(), 0), "{text}");
        }
        let long = format!(r#"{}\\\"{}\\\\" ""#, r#"\""#.repeat(100), "x".repeat(100));
        assert_eq!(end_of_string(long.as_bytes(), 0, 0), slowly(long.as_bytes(), 0));
    }

    #[test]
    fn the_string_scan_looks_at_each_byte_at_most_twice() {
        let looks = |part: &str| {
            let text = format!("{}\"", part.repeat(10_000));
            LOOKED_AT.set(0);
            assert_eq!(end_of_string(text.as_bytes(), 0, 0), Some(text.len() - 1));
            LOOKED_AT.get() * 10 / text.len()
        };
        assert_eq!(looks("plain text, no quote"), 0, "memchr alone");
        assert_eq!(looks(r#"{\"name\":\"x\"}\n"#), 9, "once");
        assert_eq!(looks(r#"\\\""#), 19, "twice, where an escaped backslash precedes each");
    }

    proptest! {
        #[test]
        fn short_texts_are_checked_word_by_word(text in vec(prop_oneof![any::<u8>(), Just(b'\\'), Just(b'"')], 0..30)) {
            prop_assert_eq!(has_backslash(&text), text.contains(&b'\\'));
            prop_assert_eq!(is_plain_ascii(&text), text.is_ascii() && !text.contains(&b'\\'));
            let first = text.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            prop_assert_eq!(end_of_plain(&text, 0), first.filter(|at| text[*at] == b'"'));
        }

        #[test]
        fn finds_the_first_unescaped_quote(
            text in r#"(x|\\|"|\\"|\\\\"|[ab]{20}){0,80}"#,
            start in 0usize..4,
        ) {
            prop_assert_eq!(end_of_string(text.as_bytes(), start, start), slowly(text.as_bytes(), start));
        }
    }
}
