//! Terminal sequences as agents recognise them, found without a regular expression, so that bytes that change meanwhile do
//! no harm.

use std::ops::Range;

use memchr::memchr2_iter;

/// Begins a sequence.
pub(super) const ESC: u8 = 0x1b;
/// Begins U+009B in UTF-8, which stands for ESC and `[`.
pub(super) const CSI: [u8; 2] = [0xc2, 0x9b];

/// Returns all sequences in order. `end_of` is given the bytes and where an ESC or the first byte of U+009B is, and
/// returns where the sequence ends that begins there.
pub(super) fn sequences(
    bytes: &[u8],
    end_of: fn(&[u8], usize) -> Option<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let mut past = 0;
    memchr2_iter(ESC, CSI[0], bytes).filter_map(move |at| {
        let end = if at < past { None } else { end_of(bytes, at) }?;
        past = end;
        Some(at..end)
    })
}

/// Returns the end of a control sequence (ECMA-48) whose parameters begin at `at`.
pub(super) fn control_end(bytes: &[u8], at: usize) -> Option<usize> {
    let at = skip(bytes, at, |byte| matches!(byte, b'0'..=b'?'));
    final_end(bytes, at, b'@')
}

/// Returns the end of what may have intermediate bytes at `at`, and then a final byte from `first` to `~`.
pub(super) fn final_end(bytes: &[u8], at: usize, first: u8) -> Option<usize> {
    let at = skip(bytes, at, |byte| matches!(byte, b' '..=b'/'));
    (first..=b'~').contains(bytes.get(at)?).then_some(at + 1)
}

/// Returns the end of a string that begins at `at`: after ESC `\`, or after a bell if that ends it as well.
pub(super) fn string_end(bytes: &[u8], at: usize, has_bell: bool) -> Option<usize> {
    let at = skip(bytes, at, |byte| byte != ESC && !(has_bell && byte == 0x07));
    match bytes.get(at..)? {
        [ESC, b'\\', ..] => Some(at + 2),
        [0x07, ..] => Some(at + 1),
        _ => None,
    }
}

/// Returns the first position from `at` at which a byte is not as asked for.
fn skip(bytes: &[u8], at: usize, is_so: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_so(*byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::Regex;

    use super::super::{filtered, stripped};
    use super::*;

    /// The expressions of the agents, whose first matching alternative counts.
    const STRIPPED: &str = concat!(
        r"(?s-u)\x1b\[[0-?]*[ -/]*[@-~]",
        r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)",
        r"|\x1b[PX^_][^\x1b]*\x1b\\",
        r"|\x1b[ -/]*[0-~]"
    );
    const FILTERED: &str = concat!(
        r"(?s-u)\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|[@-Z\x5c-_])",
        r"|\xc2\x9b[0-?]*[ -/]*[@-~]"
    );

    fn hostile() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            19 => proptest::sample::select(&b"\x1b\x1b\x1b[]P_^X\\\x07a0;m~ /@Z`\xc2\x9b\n"[..]),
            1 => any::<u8>(),
        ];
        proptest::collection::vec(byte, 0..60)
    }

    proptest! {
        #[test]
        fn sequences_are_those_of_the_agents_expressions(bytes in hostile()) {
            for (source, end_of) in [
                (STRIPPED, stripped::sequence_end as fn(&[u8], usize) -> Option<usize>),
                (FILTERED, filtered::sequence_end),
            ] {
                let regex = Regex::new(source).unwrap();
                let expected: Vec<_> = regex.find_iter(&bytes).map(|found| found.range()).collect();
                prop_assert_eq!(sequences(&bytes, end_of).collect::<Vec<_>>(), expected, "{}", source);
            }
        }
    }
}
