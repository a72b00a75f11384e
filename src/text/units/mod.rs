//! Decodes arbitrary bytes and measures them: line feeds, UTF-8 bytes, UTF-16 units and code points.

use std::ops::{Add, AddAssign, BitOr, BitOrAssign, Range};

#[cfg(test)]
mod tests;

/// Window size in bytes: each figure is measured in turn while the window is in the nearest cache.
const WINDOW: usize = 16 * 1024;

/// Bytes tested for ASCII at a time.
const STRIDE: usize = 64;

/// Bytes of other text that are copied and tested together: as many as a byte can count.
const LANES: usize = 128;

/// Text of fewer bytes is measured element by element.
const SHORT: usize = 32;

/// Bytes of a piece before its end is rounded up to a whole character.
const PIECE: usize = LANES - 3;

/// One step of decoding: a whole character, or one maximal subpart of an invalid sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Length in bytes, 1 to 4.
    pub len: usize,
    /// Whether it is a valid character; otherwise it decodes to a single U+FFFD.
    pub valid: bool,
}

impl Element {
    /// Returns the UTF-8 length of its decoding in bytes: its own length, or 3 for U+FFFD.
    pub fn decoded_bytes(self) -> u64 {
        if self.valid { self.len as u64 } else { 3 }
    }

    /// Returns the UTF-16 units of its decoding: 2 for a character of four bytes, otherwise 1.
    pub fn units(self) -> u64 {
        if self.valid && self.len == 4 { 2 } else { 1 }
    }
}

/// Returns the valid second bytes after a lead byte, and how many bytes follow it; `None` for any other byte.
fn continuation(lead: u8) -> Option<(u8, u8, usize)> {
    Some(match lead {
        0xC2..=0xDF => (0x80, 0xBF, 1),
        0xE0 => (0xA0, 0xBF, 2),
        0xED => (0x80, 0x9F, 2),
        0xE1..=0xEF => (0x80, 0xBF, 2),
        0xF0 => (0x90, 0xBF, 3),
        0xF1..=0xF3 => (0x80, 0xBF, 3),
        0xF4 => (0x80, 0x8F, 3),
        _ => return None,
    })
}

#[inline(always)]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Returns the element that starts at byte `at`, which must be the start of an element and below `bytes.len()`.
///
/// Source of the rule: WHATWG's decoder and Rust's `from_utf8_lossy` (maximal subparts).
pub fn element(bytes: &[u8], at: usize) -> Element {
    let lead = bytes[at];
    if lead < 0x80 {
        return Element { len: 1, valid: true };
    }
    let Some((low, high, following)) = continuation(lead) else {
        return Element { len: 1, valid: false };
    };
    let mut len = 1;
    for &byte in bytes[at + 1..].iter().take(following) {
        let fits = if len == 1 { (low..=high).contains(&byte) } else { is_continuation(byte) };
        if !fits {
            return Element { len, valid: false };
        }
        len += 1;
    }
    Element { len, valid: len == following + 1 }
}

/// Returns the element that ends at byte `at`, the end of one, above `floor`, the start of one.
pub fn element_before(bytes: &[u8], floor: usize, at: usize) -> Element {
    let lowest = at.saturating_sub(4).max(floor);
    for start in (lowest..at).rev() {
        if !is_continuation(bytes[start]) {
            let found = element(bytes, start);
            return if start + found.len == at { found } else { Element { len: 1, valid: false } };
        }
    }
    Element { len: 1, valid: false }
}

/// Returns the start of the element that contains byte `at`; `at` itself at the ends of `bytes`.
pub fn element_start(bytes: &[u8], at: usize) -> usize {
    if at == 0 || at >= bytes.len() || !is_continuation(bytes[at]) {
        return at.min(bytes.len());
    }
    for start in (at.saturating_sub(3)..at).rev() {
        if !is_continuation(bytes[start]) {
            return if start + element(bytes, start).len > at { start } else { at };
        }
    }
    at
}

/// Returns the first element boundary at or after byte `at`.
pub fn element_end(bytes: &[u8], at: usize) -> usize {
    let start = element_start(bytes, at);
    if start == at { at } else { start + element(bytes, start).len }
}

/// Returns the start of a character that the end of `bytes` cuts off, which a decoder holds back; else `bytes.len()`.
pub fn unfinished(bytes: &[u8]) -> usize {
    let end = bytes.len();
    for start in (end.saturating_sub(3)..end).rev() {
        if is_continuation(bytes[start]) {
            continue;
        }
        let found = element(bytes, start);
        let wanted = continuation(bytes[start]).map_or(1, |(_, _, following)| following + 1);
        let short = !found.valid && start + found.len == end && found.len < wanted;
        return if short { start } else { end };
    }
    end
}

/// How an agent turns bytes into text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Decoding {
    /// One U+FFFD for each maximal subpart of an invalid sequence (JavaScript, Rust, Python).
    #[default]
    Lossy,
    /// One U+FFFD for each bad byte (Go).
    Go,
}

impl Decoding {
    /// Decodes `bytes`. Copies first, so that they may be a map that changes.
    pub fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Lossy => match String::from_utf8(bytes.to_vec()) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            },
            Self::Go => {
                let copy = bytes.to_vec();
                let mut text = String::with_capacity(copy.len());
                for chunk in copy.utf8_chunks() {
                    text.push_str(chunk.valid());
                    text.extend(std::iter::repeat_n('\u{FFFD}', chunk.invalid().len()));
                }
                text
            }
        }
    }

    /// Returns the UTF-8 length of the decoded text.
    pub(crate) fn len_of(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Lossy => measure_all(bytes, TotalsMask::DECODED_BYTES).decoded_bytes,
            Self::Go => bytes.len() as u64 + 2 * measure_all(bytes, TotalsMask::BAD_BYTES).bad_bytes,
        }
    }
}

/// The set of figures to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct TotalsMask(u8);

impl TotalsMask {
    /// Nothing.
    pub const NOTHING: Self = Self(0);
    /// LF bytes.
    pub const LINE_FEEDS: Self = Self(1);
    /// UTF-8 bytes of the lossy decoding.
    pub const DECODED_BYTES: Self = Self(2);
    /// UTF-16 units of the lossy decoding.
    pub const UNITS: Self = Self(4);
    /// Code points of the lossy decoding.
    pub const POINTS: Self = Self(8);
    /// Bytes that are not part of a character (Go's rule gives each its own U+FFFD).
    pub const BAD_BYTES: Self = Self(16);
    /// CR bytes not followed by LF.
    pub const LONE_RETURNS: Self = Self(32);
    /// All.
    pub const ALL: Self = Self(63);

    /// Returns the union with `other`, like `|` but usable in constants.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this set contains every figure of `other`.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether this set contains any figure of `other`.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns this set without the figures of `other`.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for TotalsMask {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for TotalsMask {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A value for each figure of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures<T> {
    /// LF bytes.
    pub line_feeds: T,
    /// UTF-8 bytes of the lossy decoding.
    pub decoded_bytes: T,
    /// UTF-16 units of the lossy decoding.
    pub units: T,
    /// Code points of the lossy decoding.
    pub points: T,
    /// Bytes that are not part of a character.
    pub bad_bytes: T,
    /// CR bytes not followed by LF.
    pub lone_returns: T,
}

/// The figures of a range of bytes. Those that were not wanted are 0. The sum of two is the measure of both.
pub type Measure = Figures<u64>;

impl Figures<TotalsMask> {
    pub(crate) const MASKS: Self = Self {
        line_feeds: TotalsMask::LINE_FEEDS,
        decoded_bytes: TotalsMask::DECODED_BYTES,
        units: TotalsMask::UNITS,
        points: TotalsMask::POINTS,
        bad_bytes: TotalsMask::BAD_BYTES,
        lone_returns: TotalsMask::LONE_RETURNS,
    };
}

impl<T> Figures<T> {
    pub(crate) fn zip<U, V>(self, other: Figures<U>, with: impl Fn(T, U) -> V) -> Figures<V> {
        Figures {
            line_feeds: with(self.line_feeds, other.line_feeds),
            decoded_bytes: with(self.decoded_bytes, other.decoded_bytes),
            units: with(self.units, other.units),
            points: with(self.points, other.points),
            bad_bytes: with(self.bad_bytes, other.bad_bytes),
            lone_returns: with(self.lone_returns, other.lone_returns),
        }
    }
}

impl Add for Measure {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.zip(other, |one, other| one + other)
    }
}

impl AddAssign for Measure {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Measures `bytes[range]` so that sums over any partition of `bytes` are exact: an element that straddles the end of
/// the range is counted entirely here, and one that straddles its start is not counted at all. Reads at most 3 bytes
/// around the range.
pub fn measure(bytes: &[u8], range: Range<usize>, want: TotalsMask) -> Measure {
    let mut sum = Measure::default();
    let mut at = range.start;
    while at < range.end {
        let stop = (at + WINDOW).min(range.end);
        measure_window(bytes, at..stop, want, &mut sum);
        at = stop;
    }
    sum
}

pub fn measure_all(bytes: &[u8], want: TotalsMask) -> Measure {
    measure(bytes, 0..bytes.len(), want)
}

fn lone_returns(bytes: &[u8], range: Range<usize>) -> u64 {
    let start = range.start;
    memchr::memchr_iter(b'\r', &bytes[range]).filter(|at| bytes.get(start + at + 1) != Some(&b'\n')).count()
        as u64
}

/// Measures a window that stays in the processor's nearest cache from one figure to the next, adding to `sum`.
fn measure_window(bytes: &[u8], window: Range<usize>, want: TotalsMask, sum: &mut Measure) {
    if want.meets(TotalsMask::LINE_FEEDS) {
        sum.line_feeds += bytecount::count(&bytes[window.clone()], b'\n') as u64;
    }
    if want.meets(TotalsMask::LONE_RETURNS) {
        sum.lone_returns += lone_returns(bytes, window.clone());
    }
    if !want.without(TotalsMask::LINE_FEEDS | TotalsMask::LONE_RETURNS).is_empty() {
        measure_text(&bytes[element_end(bytes, window.start)..element_end(bytes, window.end)], sum);
    }
}

/// Measures whole elements of decoded text, adding to `sum`: ASCII in long strides, the rest piece by piece.
fn measure_text(text: &[u8], sum: &mut Measure) {
    // Most lines are short and plain.
    if text.len() < STRIDE && text.is_ascii() {
        *sum += Measure::zeros(text.len() as u64);
        return;
    }
    let mut at = 0;
    while at < text.len() {
        let strides = text[at..].chunks_exact(STRIDE).take_while(|stride| stride.is_ascii()).count();
        *sum += Measure::zeros((strides * STRIDE) as u64);
        at += strides * STRIDE;
        let rest = &text[at..];
        if rest.len() < STRIDE && rest.is_ascii() {
            *sum += Measure::zeros(rest.len() as u64);
            return;
        }
        if rest.len() < SHORT {
            return measure_short(rest, sum);
        }
        let stop = element_end(text, (at + PIECE).min(text.len()));
        measure_piece(&text[at..stop], sum);
        at = stop;
    }
}

fn measure_short(text: &[u8], sum: &mut Measure) {
    let mut at = 0;
    while at < text.len() {
        let found = element(text, at);
        at += found.len;
        sum.points += 1;
        sum.units += found.units();
        sum.decoded_bytes += found.decoded_bytes();
        sum.bad_bytes += if found.valid { 0 } else { found.len as u64 };
    }
}

/// Measures a piece of whole elements, at most 3 bytes longer than `PIECE`. Whether a byte starts an element depends
/// only on the three before it, so no branches are needed and many bytes are counted at a time. The loops are plain, since
/// tests count much text unoptimised.
fn measure_piece(piece: &[u8], sum: &mut Measure) {
    let mut copy = [0; LANES + 3];
    copy[3..3 + piece.len()].copy_from_slice(piece);
    let mut seconds = [0; LANES + 2];
    let mut lane = 0;
    while lane < LANES + 2 {
        seconds[lane] = is_second(copy[lane], copy[lane + 1]);
        lane += 1;
    }
    let (mut ascii, mut inside, mut of_two, mut of_three, mut of_four) = (0u8, 0u8, 0u8, 0u8, 0u8);
    lane = 0;
    while lane < LANES {
        let [a, b, c, d] = [copy[lane], copy[lane + 1], copy[lane + 2], copy[lane + 3]];
        let second = seconds[lane + 2];
        let third = seconds[lane + 1] & (b >= 0xE0) as u8 & is_continuation(d) as u8;
        let fourth = seconds[lane] & (a >= 0xF0) as u8 & (is_continuation(c) & is_continuation(d)) as u8;
        ascii += (d < 0x80) as u8;
        inside += second | third | fourth;
        of_two += second & (c < 0xE0) as u8;
        of_three += third & (b < 0xF0) as u8;
        of_four += fourth;
        lane += 1;
    }
    ascii -= (LANES - piece.len()) as u8;
    let [len, ascii, inside] = [piece.len() as u64, u64::from(ascii), u64::from(inside)];
    let [of_two, of_three, of_four] = [of_two, of_three, of_four].map(u64::from);
    let points = len - inside;
    let valid_bytes = ascii + 2 * of_two + 3 * of_three + 4 * of_four;
    sum.points += points;
    sum.units += points + of_four;
    sum.decoded_bytes += valid_bytes + 3 * (points - ascii - of_two - of_three - of_four);
    sum.bad_bytes += len - valid_bytes;
}

/// Returns 1 if `byte` may be the second byte of a character that `lead` begins, otherwise 0.
#[inline(always)]
fn is_second(lead: u8, byte: u8) -> u8 {
    let leads = matches!(lead, 0xC2..=0xF4);
    let too_low = (lead == 0xE0) & (byte < 0xA0) | (lead == 0xF0) & (byte < 0x90);
    let too_high = (lead == 0xED) & (byte >= 0xA0) | (lead == 0xF4) & (byte >= 0x90);
    (leads & is_continuation(byte) & !too_low & !too_high) as u8
}

impl Measure {
    /// Returns the measure of `len` NUL bytes, or of other ASCII without line ends.
    pub fn zeros(len: u64) -> Self {
        Self { decoded_bytes: len, units: len, points: len, ..Self::default() }
    }
}
