//! Outputs made up for measuring: the same bytes every time, of any length.

use std::io::{self, Write};

/// What is sought near the end; it stands there once.
pub const NEEDLE: &str = "the Needle is in line 7f3a91";

/// How far before the end the needle's line stands, in bytes.
const NEEDLE_FROM_END: u64 = 64 << 10;

/// Words of build logs and test runs; some are not ASCII.
const WORDS: &[&str] = &[
    "compiling",
    "warning:",
    "unused",
    "variable",
    "test",
    "result:",
    "ok",
    "failed",
    "in",
    "0.42s",
    "src/main.rs:17:5",
    "error[E0382]:",
    "borrow",
    "of",
    "moved",
    "value",
    "GET",
    "/api/v1/users",
    "200",
    "took",
    "connection",
    "reset",
    "by",
    "peer",
    "node_modules/left-pad/index.js",
    "DEBUG",
    "INFO",
    "WARN",
    "trace",
    "span",
    "user",
    "id",
    "=",
    "null",
    "assertion",
    "left",
    "right",
    "expected",
    "found",
    "at",
    "Object.<anonymous>",
    "retrying",
    "after",
];

/// Words that take more than a byte a character.
const WIDE: &[&str] = &["größer", "naïve", "проверка", "テスト", "完了", "✓", "→", "😀", "année", "λ"];

/// Colours that begin a word.
const COLOURS: &[&str] = &["\x1b[31m", "\x1b[1;32m", "\x1b[33m", "\x1b[38;5;208m", "\x1b[2m"];

/// The numbers of a 64-bit xorshift, from a seed other than 0.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (((self.roll() >> 32) * n as u64) >> 32) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Bytes of a line: mostly of a log's length, some empty, some far longer; 102 on the average.
    fn length(&mut self) -> usize {
        match self.below(100) {
            0..4 => 0,
            4..30 => 10 + self.below(50),
            30..85 => 40 + self.below(110),
            85..99 => 120 + self.below(140),
            _ => 300 + self.below(1300),
        }
    }
}

/// Appends one line of about `length` bytes, without a line feed.
fn line(dice: &mut Dice, length: usize, to: &mut Vec<u8>) {
    let end = to.len() + length;
    let is_wide = dice.below(12) == 0;
    let is_coloured = dice.below(8) == 0;
    while to.len() < end {
        let word = if is_wide && dice.below(4) == 0 { dice.pick(WIDE) } else { dice.pick(WORDS) };
        if is_coloured && dice.below(4) == 0 {
            to.extend_from_slice(dice.pick(COLOURS).as_bytes());
            to.extend_from_slice(word.as_bytes());
            to.extend_from_slice(b"\x1b[0m ");
        } else {
            to.extend_from_slice(word.as_bytes());
            to.push(b' ');
        }
    }
    if length > 0 {
        to.pop();
    }
}

/// Lines from which the rest is put together: making each anew would take longer than writing it.
fn pool() -> Vec<Vec<u8>> {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let made = (0..1 << 14).map(|_| {
        let mut made = Vec::new();
        let length = dice.length();
        line(&mut dice, length, &mut made);
        made
    });
    made.collect()
}

/// Whether lines end.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not every benchmark needs every shape")]
pub enum Shape {
    /// Lines of mixed lengths.
    Lines,
    /// All on one line, without a line feed at its end.
    OneLine,
}

/// Writes an output of exactly `len` bytes, its needle near the end.
pub fn write(out: &mut impl Write, len: u64, shape: Shape) -> io::Result<()> {
    let pool = pool();
    let mut dice = Dice(0xD1B5_4A32_D192_ED03);
    let stop = if shape == Shape::Lines { b'\n' } else { b' ' };
    let mut piece = Vec::with_capacity(2 << 20);
    let mut written = 0;
    let mut has_needle = false;
    while written < len {
        piece.clear();
        while piece.len() < 1 << 20 {
            if !has_needle && written + piece.len() as u64 + NEEDLE_FROM_END >= len {
                piece.extend_from_slice(NEEDLE.as_bytes());
                piece.push(stop);
                has_needle = true;
            }
            piece.extend_from_slice(&pool[dice.below(pool.len())]);
            piece.push(stop);
        }
        let rest = (len - written).min(piece.len() as u64) as usize;
        if rest < piece.len() && shape == Shape::Lines && rest > 0 {
            piece[rest - 1] = b'\n';
        }
        out.write_all(&piece[..rest])?;
        written += rest as u64;
    }
    out.flush()
}
