//! What ends a line in Python's `splitlines`, found in UTF-8 without a regular expression, so that bytes that change
//! meanwhile do no harm.

use std::ops::Range;

use crate::preview::measure::Text;

/// Length of the longest break in bytes.
pub(crate) const MAX_BREAK: usize = 3;

/// How many bytes are looked at together.
const STEP: usize = 128;

/// Returns the first break at or after `at`; a CR and the LF after it are one.
fn next_break(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let mut from = at;
    loop {
        let rest = bytes.get(from..)?;
        let near = rest.iter().position(|byte| matches!(byte, 0x0a..=0x0d | 0x1c..=0x1e | 0xc2 | 0xe2))?;
        if let Some(len) = break_len(&rest[near..]) {
            return Some(from + near..from + near + len);
        }
        from += near + 1;
    }
}

/// Returns where the line that begins at `at` ends, without its break and with it. Gives up on a line whose end is too far
/// to search for.
pub(crate) fn line_ends(text: &Text, at: usize) -> (usize, usize) {
    let bound = text.patient_end(at, text.body.end);
    let found = next_break(&text.bytes[..bound], at);
    if found.is_none() && bound < text.body.end {
        text.give_up();
    }
    let (stop, mut end) = found.map_or((bound, bound), |found| (found.start, found.end));
    if end < text.body.end && text.bytes[end - 1] == b'\r' && text.bytes[end] == b'\n' {
        end += 1;
    }
    text.touch(at..end);
    (stop, end)
}

/// Counts the breaks that hold neither LF nor CR.
pub(crate) fn count_rare(bytes: &[u8]) -> u64 {
    let may_begin = |byte: &u8| matches!(byte, 0x0b | 0x0c | 0x1c..=0x1e | 0xc2 | 0xe2);
    let mut count = 0;
    for start in (0..bytes.len()).step_by(STEP) {
        let step = &bytes[start..bytes.len().min(start + STEP)];
        // Compiled to look at many bytes at a time; few steps have a byte that may begin one.
        if step.iter().fold(false, |any, byte| any | may_begin(byte)) {
            let begins = |at: &usize| may_begin(&bytes[*at]) && break_len(&bytes[*at..]).is_some();
            count += (start..start + step.len()).filter(begins).count() as u64;
        }
    }
    count
}
pub(crate) fn breaks(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let found = next_break(bytes, at)?;
        at = found.end;
        Some(found)
    })
}

fn break_len(bytes: &[u8]) -> Option<usize> {
    match *bytes {
        [b'\r', b'\n', ..] | [0xc2, 0x85, ..] => Some(2),
        [0x0a..=0x0d | 0x1c..=0x1e, ..] => Some(1),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::Regex;

    use super::*;

    proptest! {
        #[test]
        fn breaks_are_those_of_python(bytes in proptest::collection::vec(
            prop_oneof![9 => proptest::sample::select(&b"a\n\r\x0b\x0c\x1c\x1e\x1f\xc2\x85\xe2\x80\xa8\xa9"[..]), 1 => any::<u8>()],
            0..300,
        )) {
            let regex = Regex::new(r"(?-u)\r\n|[\n\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]").unwrap();
            let expected: Vec<_> = regex.find_iter(&bytes).map(|found| found.range()).collect();
            let rare = expected.iter().filter(|found| !matches!(bytes[found.start], b'\n' | b'\r')).count();
            prop_assert_eq!(breaks(&bytes).collect::<Vec<_>>(), expected);
            prop_assert_eq!(count_rare(&bytes), rare as u64);
        }
    }
}
