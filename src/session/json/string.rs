//! Decodes the strings of a record: escapes, halves of surrogate pairs, and bytes that are not UTF-8.

use memchr::memchr;

use super::quote::{has_backslash, is_plain_ascii};

/// A string of a record, still encoded, without its quotes.
#[derive(Clone, Copy, Debug)]
pub struct JsonText<'a> {
    pub(crate) encoded: &'a [u8],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedText {
    pub text: String,
    /// Whether it goes on beyond what was asked for.
    pub is_cut: bool,
    /// How often U+FFFD stands for half of a surrogate pair, an unknown escape, or a byte that is not UTF-8.
    pub replaced: u64,
}

impl<'a> JsonText<'a> {
    pub fn is(&self, text: &str) -> bool {
        if self.encoded == text.as_bytes() {
            return !has_backslash(self.encoded) || self.decodes_to(text);
        }
        // Most others differ in the first byte.
        let first = self.encoded.first().copied().filter(|first| first.is_ascii() && *first != b'\\');
        if first.is_some_and(|first| text.as_bytes().first() != Some(&first)) {
            return false;
        }
        // No escape is longer than six bytes.
        let is_near = self.encoded.len() <= text.len().saturating_mul(6);
        is_near && has_backslash(self.encoded) && self.decodes_to(text)
    }

    fn decodes_to(&self, text: &str) -> bool {
        let decoded = self.to_text(text.len());
        !decoded.is_cut && decoded.text == text
    }

    /// Decodes at most `most` bytes of text. It ends at a character.
    pub fn to_text(&self, most: usize) -> DecodedText {
        if let Some(plain) = self.plain().filter(|plain| plain.len() <= most) {
            return DecodedText { text: plain.to_owned(), ..DecodedText::default() };
        }
        let mut decoded = DecodedText::default();
        // No character takes more than twelve bytes, so that much is enough to see whether there is more.
        let enough = most.saturating_add(1).saturating_mul(MAX_ESCAPE).min(self.encoded.len());
        decoded.replaced = JsonText { encoded: &self.encoded[..enough] }.decode(&mut |piece| {
            let room = most - decoded.text.len();
            let fitting = (0..=room.min(piece.len())).rev().find(|at| piece.is_char_boundary(*at));
            decoded.text.push_str(&piece[..fitting.unwrap_or(0)]);
            decoded.is_cut = fitting != Some(piece.len());
            !decoded.is_cut
        });
        decoded
    }

    /// Returns the text if it stands there as it is: a short one without escapes.
    pub fn plain(&self) -> Option<&'a str> {
        let is_plain = self.encoded.len() <= SHORT && !has_backslash(self.encoded);
        is_plain.then(|| std::str::from_utf8(self.encoded).ok())?
    }

    /// Returns the bytes of a short text if they stand there as they are, and are ASCII, which is seen sooner than UTF-8.
    pub fn ascii(&self) -> Option<&'a [u8]> {
        (self.encoded.len() <= SHORT && is_plain_ascii(self.encoded)).then_some(self.encoded)
    }

    /// Decodes about the last `most` bytes. Its first characters may be parts of an escape.
    pub fn ending(&self, most: usize) -> String {
        let start = self.encoded.len().saturating_sub(most);
        JsonText { encoded: &self.encoded[start..] }.to_text(usize::MAX).text
    }

    /// Hands the text to `take`, while that returns true. Returns how many pieces are U+FFFD for invalid text.
    pub fn decode(&self, take: &mut dyn FnMut(&str) -> bool) -> u64 {
        let mut decoder = Decoder::default();
        decoder.push(self.encoded, take);
        decoder.finish(take)
    }

    /// Sums up what `count` returns of the pieces of the decoded text.
    pub fn sum(&self, count: impl Fn(&str) -> usize) -> usize {
        let mut sum = 0;
        self.decode(&mut |piece| {
            sum += count(piece);
            true
        });
        sum
    }

    /// Hands out the string, without quotes, as JavaScript's `JSON.stringify` writes it: nothing is escaped but quotes,
    /// backslashes, control characters below 0x20 and halves of surrogate pairs.
    pub fn stringified(&self, take: &mut dyn FnMut(&[u8])) {
        let mut rest = self.encoded;
        while let Some(at) = memchr(b'\\', rest) {
            take(&rest[..at]);
            let (found, len) = escape(&rest[at..]);
            let end = at.saturating_add(len).min(rest.len());
            match found {
                Some(found) => stringify(found, take),
                None => take(&rest[at..end].to_ascii_lowercase()),
            }
            rest = &rest[end..];
        }
        take(rest);
    }
}

/// Hands out a character of a string as JavaScript's `JSON.stringify` writes it.
fn stringify(found: char, take: &mut dyn FnMut(&[u8])) {
    match found {
        '"' => take(b"\\\""),
        '\\' => take(b"\\\\"),
        '\n' => take(b"\\n"),
        '\t' => take(b"\\t"),
        '\r' => take(b"\\r"),
        '\u{8}' => take(b"\\b"),
        '\u{c}' => take(b"\\f"),
        control if control < ' ' => take(format!("\\u{:04x}", u32::from(control)).as_bytes()),
        other => take(other.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// The longest string that is looked at for being plain, in bytes.
const SHORT: usize = 256;

/// The longest escape, in bytes: two halves of a surrogate pair.
const MAX_ESCAPE: usize = 12;

/// Decodes a string that comes in chunks of any size, such as one of 100 MB. It holds at most a few bytes.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    held: Vec<u8>,
    replaced: u64,
    is_stopped: bool,
    /// Whether backslashes stand for themselves.
    is_plain: bool,
}

impl Decoder {
    pub fn plain_text() -> Self {
        Self { is_plain: true, ..Self::default() }
    }

    /// Decodes another chunk of the string's inside, as far as that is certain without the next.
    pub fn push(&mut self, chunk: &[u8], take: &mut dyn FnMut(&str) -> bool) {
        if self.held.is_empty() {
            let used = self.decode(chunk, true, take);
            self.held.extend_from_slice(&chunk[used..]);
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(chunk);
        let used = self.decode(&held, true, take);
        held.drain(..used);
        self.held = held;
    }

    /// Decodes what is left. Returns how many characters of the whole are U+FFFD in place of something that is none.
    pub fn finish(mut self, take: &mut dyn FnMut(&str) -> bool) -> u64 {
        let held = std::mem::take(&mut self.held);
        self.decode(&held, false, take);
        self.replaced
    }

    /// Decodes bytes after which more may come. Returns how many were used. Once `take` has refused a piece, all are.
    fn decode(&mut self, bytes: &[u8], may_go_on: bool, take: &mut dyn FnMut(&str) -> bool) -> usize {
        let mut at = 0;
        while at < bytes.len() && !self.is_stopped {
            let escape_at = if self.is_plain { None } else { memchr(b'\\', &bytes[at..]) };
            let end = escape_at.map_or(bytes.len(), |found| at + found);
            let used = self.plain(&bytes[at..end], may_go_on && end == bytes.len(), take);
            at += used;
            if at < end {
                return at;
            }
            let rest = &bytes[end..];
            if may_go_on && rest.len() < MAX_ESCAPE {
                return at;
            }
            if !rest.is_empty() && !self.is_stopped {
                let (found, len) = escape(rest);
                self.replaced += u64::from(found.is_none());
                self.is_stopped = !take(found.unwrap_or('\u{fffd}').encode_utf8(&mut [0; 4]));
                at += len;
            }
        }
        if self.is_stopped { bytes.len() } else { at }
    }

    /// Takes text without escapes. If more `may_go_on`, the start of a character at the end is left.
    fn plain(&mut self, bytes: &[u8], may_go_on: bool, take: &mut dyn FnMut(&str) -> bool) -> usize {
        // Several times as fast as looking for chunks.
        if let Ok(text) = std::str::from_utf8(bytes)
            && !text.is_empty()
        {
            self.is_stopped = !take(text);
            return bytes.len();
        }
        let mut used = 0;
        for chunk in bytes.utf8_chunks() {
            if !chunk.valid().is_empty() {
                self.is_stopped = !take(chunk.valid());
                used += chunk.valid().len();
            }
            let bad = chunk.invalid();
            // The start of a character, of which the rest may follow.
            let is_start = || std::str::from_utf8(bad).is_err_and(|error| error.error_len().is_none());
            if self.is_stopped || may_go_on && used + bad.len() == bytes.len() && is_start() {
                break;
            }
            if !bad.is_empty() {
                self.replaced += 1;
                self.is_stopped = !take("\u{fffd}");
                used += bad.len();
            }
        }
        used
    }
}

/// Returns the bytes and the UTF-16 units of the character or escape at the start of a string.
pub(in crate::session) fn char_len(encoded: &[u8]) -> (usize, usize) {
    let (len, units) = match (encoded.first(), encoded.get(1)) {
        (Some(b'\\'), Some(b'u')) => (6, 1),
        (Some(b'\\'), _) => (2, 1),
        (Some(0xf0..), _) => (4, 2),
        (Some(0xe0..), _) => (3, 1),
        (Some(0xc0..), _) => (2, 1),
        _ => (1, 1),
    };
    (len.min(encoded.len()), units)
}

/// Reads the escape at the start of `bytes`: the character, and the number of bytes. A pair of surrogates is one.
fn escape(bytes: &[u8]) -> (Option<char>, usize) {
    let simple = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
        Some(b'u') => return unicode(bytes),
        Some(_) => return (None, 2),
        None => return (None, 1),
    };
    (Some(simple), 2)
}

fn unicode(bytes: &[u8]) -> (Option<char>, usize) {
    let Some(first) = unit(bytes) else { return (None, 2) };
    if !(0xd800..0xdc00).contains(&first) {
        return (char::from_u32(first), 6);
    }
    match bytes.get(6..).and_then(unit) {
        Some(second @ 0xdc00..0xe000) => {
            (char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)), 12)
        }
        _ => (None, 6),
    }
}

fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(encoded: &str) -> (String, u64) {
        let decoded = JsonText { encoded: encoded.as_bytes() }.to_text(1000);
        (decoded.text, decoded.replaced)
    }

    #[test]
    fn escapes_stand_for_characters() {
        assert_eq!(decoded(r#"a\n\t\"\\\/\u00e9\ud83d\ude00z"#), ("a\n\t\"\\/é😀z".into(), 0));
    }

    #[test]
    fn invalid_characters_are_replaced_and_counted() {
        assert_eq!(decoded(r"\ud83d"), ("\u{fffd}".into(), 1));
        assert_eq!(decoded(r"\ud83dx\ude00"), ("\u{fffd}x\u{fffd}".into(), 2));
        assert_eq!(decoded(r"\ud83d\n"), ("\u{fffd}\n".into(), 1));
        assert_eq!(decoded(r"\q\u12"), ("\u{fffd}\u{fffd}12".into(), 2));
        assert_eq!(decoded("\\"), ("\u{fffd}".into(), 1));
        assert_eq!(JsonText { encoded: b"a\xff\xfeb" }.to_text(9).text, "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let text = JsonText { encoded: "aéz".as_bytes() };
        let cut = |most| (text.to_text(most).text, text.to_text(most).is_cut);
        assert_eq!(cut(2), ("a".into(), true));
        assert_eq!(cut(3), ("aé".into(), true));
        assert_eq!(cut(4), ("aéz".into(), false));
    }

    #[test]
    fn texts_are_compared_without_decoding_long_ones() {
        assert!(JsonText { encoded: br"a\u0062" }.is("ab") && !JsonText { encoded: br"a\u0062" }.is("a"));
        assert!(!JsonText { encoded: br"a\u0062c" }.is("ab"));
    }

    #[test]
    fn strings_are_written_as_javascript_writes_them() {
        let stringified = |encoded: &str| {
            let mut written = Vec::new();
            JsonText { encoded: encoded.as_bytes() }
                .stringified(&mut |piece| written.extend_from_slice(piece));
            String::from_utf8(written).unwrap()
        };
        assert_eq!(stringified(r"a\/\u00E9\ud83d\ude00\u001B\u007f"), "a/é😀\\u001b\u{7f}");
        assert_eq!(stringified(r#"\u000a\u0022\u005c\b\f\t\r\n"#), r#"\n\"\\\b\f\t\r\n"#);
        assert_eq!(stringified(r"\uD83Dx\uDE00"), r"\ud83dx\ude00", "halves of pairs stay escaped");
    }

    proptest! {
        #[test]
        fn reads_what_serde_writes(text in "\\PC{0,20}[\\x00-\\x1f]{0,3}") {
            let json = serde_json::to_string(&text).unwrap();
            let encoded = JsonText { encoded: &json.as_bytes()[1..json.len() - 1] };
            prop_assert_eq!(encoded.to_text(1000).text, text.clone());
            prop_assert!(encoded.is(&text));
        }

        #[test]
        fn decoding_in_chunks_gives_the_same_text(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("\\\\".to_owned()), Just("\\u00e9".to_owned()), Just("\\ud83d\\ude00".to_owned()),
                    Just("\\ud83d".to_owned()), "\\PC{0,3}", Just("é".to_owned()), Just("\\".to_owned()),
                ],
                0..12,
            ),
            bad in 0usize..40,
            size in 1usize..9,
        ) {
            let mut bytes = parts.concat().into_bytes();
            if let Some(byte) = bytes.get_mut(bad) {
                *byte = 0xff;
            }
            let whole = JsonText { encoded: &bytes }.to_text(1000);
            let (mut decoder, mut text) = (Decoder::default(), String::new());
            let mut take = |piece: &str| { text.push_str(piece); true };
            bytes.chunks(size).for_each(|chunk| decoder.push(chunk, &mut take));
            let replaced = decoder.finish(&mut take);
            prop_assert_eq!((text, replaced), (whole.text, whole.replaced));
        }

        #[test]
        fn any_bytes_are_decoded(bytes in proptest::collection::vec(any::<u8>(), 0..60), most in 0usize..80) {
            let text = JsonText { encoded: &bytes };
            prop_assert!(text.to_text(most).text.len() <= most);
        }
    }
}
