//! Extracts graphemes from bytes: decodes and classifies copied characters, and splits them by the rules of Unicode.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::text::cells::text::CellText;

/// Bytes decoded at once; a longer grapheme is cut in any case.
const WINDOW: usize = 512;
/// Maximum number of code points of a grapheme that are drawn.
const POINTS: usize = 8;
const DOTTED_CIRCLE: char = '\u{25cc}';

#[derive(Debug)]
pub(super) struct Grapheme {
    pub text: CellText,
    /// Width in columns; 0 if it cannot be drawn on its own.
    pub width: usize,
    /// Number of input bytes that `text` represents.
    pub len: usize,
    /// Number of further bytes of the same grapheme, which are not drawn.
    pub surplus: usize,
}

/// Drawable characters copied from the input, from byte `start`.
#[derive(Debug, Clone, Default)]
pub(super) struct Decoded {
    text: String,
    start: usize,
    /// Whether the text ends where a grapheme does (and not merely at the window's limit).
    closed: bool,
}

impl Decoded {
    /// Returns the grapheme at byte `at`, which starts with `first`, a plain character.
    pub(crate) fn grapheme(&mut self, bytes: &[u8], at: usize, first: char) -> Grapheme {
        let len = match self.cached(at, first) {
            Some(len) => len,
            None => self.fill(bytes, at, first),
        };
        let from = at - self.start;
        let whole = &self.text[from..from + len];
        let (text, kept) = clip(whole, first);
        let width = text.as_str().width();
        let open = width > 0 && from + len == self.text.len() && !self.closed;
        let beyond = if open { tail(bytes, at + len, whole) } else { 0 };
        Grapheme { text, width, len: kept, surplus: len - kept + beyond }
    }

    /// Returns the length of the grapheme at `at` if the window contains all of it.
    fn cached(&self, at: usize, first: char) -> Option<usize> {
        let rest = self.text.get(at.checked_sub(self.start)?..)?;
        let len = rest.graphemes(true).next().filter(|grapheme| grapheme.starts_with(first))?.len();
        (len < rest.len() || self.closed).then_some(len)
    }

    /// Refills the window from `at`. Returns the length of the first grapheme, as far as the window goes.
    fn fill(&mut self, bytes: &[u8], at: usize, first: char) -> usize {
        self.text.clear();
        self.text.push(first);
        self.start = at;
        self.closed = read_plain(bytes, at + first.len_utf8(), &mut self.text);
        self.text.graphemes(true).next().map_or(0, str::len)
    }
}

#[cfg(test)]
thread_local! {
    /// Bytes that this thread has copied into windows: the cost of graphemes, which tests bound.
    pub(super) static COPIED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Appends the drawable characters at `at` to `text`, up to the window's limit. Returns whether they ended before it.
fn read_plain(bytes: &[u8], mut at: usize, text: &mut String) -> bool {
    let mut emoji = Emoji::default();
    text.chars().for_each(|c| emoji.push(c));
    while text.len() < WINDOW {
        let Some(c) = plain_at(bytes, at, &emoji) else { return true };
        emoji.push(c);
        text.push(c);
        at += c.len_utf8();
        #[cfg(test)]
        COPIED.set(COPIED.get() + c.len_utf8());
    }
    false
}

fn plain_at(bytes: &[u8], at: usize, emoji: &Emoji) -> Option<char> {
    let c = valid_at(bytes, at)?;
    let drawn = match class(c) {
        ScalarClass::Plain => true,
        ScalarClass::Emoji => emoji.takes(c, valid_at(bytes, at + c.len_utf8())),
        ScalarClass::Named => false,
    };
    drawn.then_some(c)
}

fn valid_at(bytes: &[u8], at: usize) -> Option<char> {
    decode(bytes.get(at..).filter(|rest| !rest.is_empty())?).ok()
}

/// Tracks where a joiner or a variation selector may occur.
#[derive(Debug, Default)]
struct Emoji {
    last: Option<char>,
    /// The last character other than a skin tone or emoji selector: what a joiner would join.
    base: Option<char>,
}

impl Emoji {
    fn push(&mut self, c: char) {
        self.base = match c {
            TEXT_STYLE => None,
            EMOJI_STYLE => self.base,
            _ if is_skin_tone(c) => self.base,
            _ => Some(c),
        };
        self.last = Some(c);
    }

    fn takes(&self, c: char, next: Option<char>) -> bool {
        let pictographic = |c: Option<char>| c.is_some_and(is_pictographic);
        match (c, self.last) {
            (ZWJ, _) => pictographic(self.base) && pictographic(next),
            (EMOJI_STYLE, Some('0'..='9' | '#' | '*')) => next == Some(KEYCAP),
            (_, last) => pictographic(last),
        }
    }
}

/// Returns the part of the grapheme that is drawn, and its length in bytes.
fn clip(whole: &str, first: char) -> (CellText, usize) {
    let mut text = CellText::default();
    let mut kept = 0;
    if joins_a_letter(first) {
        text.push(DOTTED_CIRCLE);
    }
    for c in whole.chars().take(POINTS - text.as_str().chars().count()) {
        if !text.push(c) {
            break;
        }
        kept += c.len_utf8();
    }
    if kept < whole.len() {
        kept -= unfinished(&mut text);
    }
    (text, kept)
}

/// Removes what must not end a cell: a joiner or a selector whose other half was cut off. Returns its bytes.
fn unfinished(text: &mut CellText) -> usize {
    let before = text.len();
    while text.as_str().ends_with([ZWJ, EMOJI_STYLE, TEXT_STYLE]) {
        text.pop();
    }
    before - text.len()
}

/// Returns the number of bytes from `at` that still belong to the overlong grapheme `whole`, found window by window.
/// Only the last few characters are context: a chain of emoji may seem to end early, which costs one more cell.
fn tail(bytes: &[u8], at: usize, whole: &str) -> usize {
    let mut context: String = last_chars(whole, 4);
    let mut found = 0;
    loop {
        let known = context.len();
        let closed = read_plain(bytes, at + found, &mut context);
        let end = context.graphemes(true).next().map_or(0, str::len);
        found += end.saturating_sub(known);
        if closed || end < context.len() {
            return found;
        }
        context = last_chars(&context, 4);
    }
}

fn last_chars(text: &str, count: usize) -> String {
    let start = text.char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at);
    text[start..].to_owned()
}

/// Decodes the start of `bytes` (not empty), from a copy of at most 4 bytes.
///
/// # Errors
/// It is no character: the length in bytes (1 to 3) of the maximal subpart of an invalid sequence.
pub(super) fn decode(bytes: &[u8]) -> Result<char, usize> {
    let mut copy = [0; 4];
    let len = bytes.len().min(4);
    copy[..len].copy_from_slice(&bytes[..len]);
    let copy = &copy[..len];
    let valid = match std::str::from_utf8(copy) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&copy[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) => return Err(error.error_len().unwrap_or(len)),
    };
    valid.chars().next().ok_or(1)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarClass {
    Plain,
    /// As itself inside emoji: U+200D, U+FE0E, U+FE0F. Elsewhere by its code point.
    Emoji,
    /// By its code point: controls, bidi, invisible, private, unassigned.
    Named,
}

pub(super) const ZWJ: char = '\u{200d}';
pub(super) const TEXT_STYLE: char = '\u{fe0e}';
pub(super) const EMOJI_STYLE: char = '\u{fe0f}';
pub(super) const KEYCAP: char = '\u{20e3}';

pub(super) fn class(c: char) -> ScalarClass {
    match c {
        ZWJ | TEXT_STYLE | EMOJI_STYLE => ScalarClass::Emoji,
        _ if is_common(c) => ScalarClass::Plain,
        _ if is_blank_or_ignorable(c) => ScalarClass::Named,
        _ if is_space(c) || is_assigned(c) => ScalarClass::Plain,
        _ => ScalarClass::Named,
    }
}

/// Whether `c` is invisible or reorders text, although its general category says that it is printable or a mark.
fn is_blank_or_ignorable(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether `c` is in a block of assigned, visible characters that never share a grapheme, which most text has: no tables.
pub(super) fn is_common(c: char) -> bool {
    matches!(c,
        ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{3a3}'..='\u{482}' | '\u{48a}'..='\u{52f}'
        | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}' | '\u{904}'..='\u{939}' | '\u{e01}'..='\u{e30}'
        | '\u{1e00}'..='\u{1eff}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{20a0}'..='\u{20c0}'
        | '\u{2100}'..='\u{218b}' | '\u{2190}'..='\u{2429}' | '\u{2460}'..='\u{2b73}' | '\u{3001}'..='\u{3029}'
        | '\u{3041}'..='\u{3096}' | '\u{309b}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff9d}' | '\u{fffd}' | '\u{1f300}'..='\u{1f3fa}'
        | '\u{1f400}'..='\u{1f6c5}' | '\u{1f900}'..='\u{1f9ff}')
}

/// Whether a grapheme certainly ends before these bytes, if a common character precedes them.
pub(super) fn starts_anew(bytes: &[u8]) -> bool {
    bytes.first().is_none_or(u8::is_ascii) || decode(bytes).is_ok_and(is_common)
}

/// Whether `c` is a separator (Zs) with a width. The standard library calls these unprintable.
fn is_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// Whether `c` is neither control, format, surrogate, private use, unassigned nor a separator. `escape_debug` leaves
/// just these unescaped, except for marks, which are recognized by their joining a letter.
fn is_assigned(c: char) -> bool {
    c.escape_debug().len() == 1 || joins_a_letter(c)
}

/// Whether `c` belongs to the grapheme of the preceding letter: combining marks and the like.
pub(super) fn joins_a_letter(c: char) -> bool {
    c >= '\u{300}' && !is_common(c) && is_one_grapheme(&['a', c])
}

/// Whether U+200D may join `c` to another such character (Extended_Pictographic, without reserved code points).
pub(super) fn is_pictographic(c: char) -> bool {
    c >= '\u{a9}' && class(c) == ScalarClass::Plain && !joins_a_letter(c) && is_one_grapheme(&[c, ZWJ, c])
}

/// Whether `c` is U+1F3FB to U+1F3FF, which a terminal might join to the cell before: none starts a drawn grapheme.
pub(super) fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

fn is_one_grapheme(chars: &[char]) -> bool {
    let mut bytes = [0; 16];
    let mut len = 0;
    for c in chars {
        len += c.encode_utf8(&mut bytes[len..]).len();
    }
    let text = std::str::from_utf8(&bytes[..len]).unwrap_or_default();
    text.graphemes(true).nth(1).is_none()
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    /// Returns every scalar value, with only the edges of the two private planes and the empty ones.
    fn scalars() -> impl Iterator<Item = char> {
        let edges = [0x3fffd, 0x4fffe, 0xdffff, 0xf0000, 0xffffd, 0x100000, 0x10fffd, 0x10ffff];
        (0..0x33500).chain(0xdfff0..0xe1010).chain(edges).filter_map(char::from_u32)
    }

    #[test]
    fn nothing_invisible_unprintable_or_private_is_plain() {
        let never = Regex::new(r"[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]").unwrap();
        let mut buffer = [0; 4];
        for c in scalars().filter(|&c| never.is_match(c.encode_utf8(&mut buffer))) {
            let emoji = matches!(c, ZWJ | TEXT_STYLE | EMOJI_STYLE);
            assert_eq!(
                class(c),
                if emoji { ScalarClass::Emoji } else { ScalarClass::Named },
                "U+{:04X}",
                c as u32
            );
        }
    }

    #[test]
    fn everything_else_that_unicode_16_assigns_is_plain() {
        let named =
            Regex::new(r"[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]").unwrap();
        let mut buffer = [0; 4];
        for c in scalars().filter(|&c| !named.is_match(c.encode_utf8(&mut buffer))) {
            assert_eq!(class(c), ScalarClass::Plain, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn noncharacters_are_named() {
        let nonchar = |c: u32| matches!(c, 0xfdd0..=0xfdef) || c & 0xfffe == 0xfffe;
        for c in scalars().filter(|&c| nonchar(c as u32)) {
            assert_eq!(class(c), ScalarClass::Named, "U+{:04X}", c as u32);
        }
        for c in ['\u{378}', '\u{530}', '\u{2fe0}', '\u{1fbff}', '\u{e0fff}'] {
            assert_eq!(class(c), ScalarClass::Named, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn the_fast_path_agrees_with_the_slow_one() {
        for c in scalars().filter(|&c| is_common(c)) {
            assert!(c.is_ascii() || c.escape_debug().len() == 1, "U+{:04X}", c as u32);
            assert!(!is_blank_or_ignorable(c), "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn no_two_common_characters_share_a_grapheme() {
        for c in scalars().filter(|&c| is_common(c)) {
            for other in ['a', 'é', 'ع', 'क', 'ก', '日', '가', '각', '❤', '👨', c] {
                let apart = !is_one_grapheme(&[c, other]) && !is_one_grapheme(&[other, c]);
                assert!(apart, "U+{:04X} {other}", c as u32);
            }
        }
    }

    #[test]
    fn pictographs_are_distinguished_from_letters_digits_and_marks() {
        for c in ['👨', '❤', '©', '🏳', '🌈', '♂', '🫱'] {
            assert!(is_pictographic(c), "{c}");
        }
        for c in [
            'a',
            '1',
            '#',
            'é',
            '中',
            'क',
            '\u{301}',
            '🇦',
            '🏽',
            ZWJ,
            EMOJI_STYLE,
            '\u{1100}',
            '\u{1ff12}',
            '\u{600}',
        ] {
            assert!(!is_pictographic(c), "{c:?}");
        }
    }

    #[test]
    fn decoding_takes_maximal_subparts() {
        let table: &[(&[u8], Result<char, usize>)] = &[
            (b"a\xff", Ok('a')),
            ("é".as_bytes(), Ok('é')),
            ("😀x".as_bytes(), Ok('😀')),
            (b"\xff", Err(1)),
            (b"\x80a", Err(1)),
            (b"\xc0\x80", Err(1)),
            (b"\xed\xa0\x80", Err(1)),
            (b"\xf4\x90\x80\x80", Err(1)),
            (b"\xe2\x82", Err(2)),
            (b"\xe2\x82a", Err(2)),
            (b"\xf0\x9f\x98", Err(3)),
            (b"\xf0\x9f\x98\xff", Err(3)),
        ];
        for (bytes, expected) in table {
            assert_eq!(decode(bytes), *expected, "{bytes:x?}");
        }
    }
}
