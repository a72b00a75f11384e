//! Extracts graphemes from bytes: copies a window of drawable characters, and splits it by the rules of Unicode.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::scalar::{self, EMOJI_STYLE, KEYCAP, Scalar, ScalarClass, TEXT_STYLE, ZWJ};
use super::text::CellText;

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
    let mut emoji = Emoji::after(text);
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
    let drawn = match scalar::class(c) {
        ScalarClass::Plain => true,
        ScalarClass::Emoji => emoji.takes(c, valid_at(bytes, at + c.len_utf8())),
        ScalarClass::Named => false,
    };
    drawn.then_some(c)
}

fn valid_at(bytes: &[u8], at: usize) -> Option<char> {
    match scalar::decode(bytes.get(at..).filter(|rest| !rest.is_empty())?) {
        Scalar::Valid(c) => Some(c),
        Scalar::Invalid { .. } => None,
    }
}

/// Tracks where a joiner or a variation selector may occur.
#[derive(Debug, Default)]
struct Emoji {
    last: Option<char>,
    /// The last character other than a skin tone or emoji selector: what a joiner would join.
    base: Option<char>,
}

impl Emoji {
    fn after(text: &str) -> Self {
        let mut emoji = Self::default();
        text.chars().for_each(|c| emoji.push(c));
        emoji
    }

    fn push(&mut self, c: char) {
        self.base = match c {
            TEXT_STYLE => None,
            EMOJI_STYLE => self.base,
            _ if scalar::is_skin_tone(c) => self.base,
            _ => Some(c),
        };
        self.last = Some(c);
    }

    fn takes(&self, c: char, next: Option<char>) -> bool {
        let pictographic = |c: Option<char>| c.is_some_and(scalar::is_pictographic);
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
    if scalar::joins_a_letter(first) {
        text.push_within(DOTTED_CIRCLE, CellText::MAX);
    }
    for c in whole.chars().take(POINTS - text.as_str().chars().count()) {
        if !text.push_within(c, CellText::MAX) {
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
