//! Outputs and limits that matter: short hostile fragments, and values around every limit.
use super::text::*;
use super::{Case, case};
use proptest::prelude::*;

/// What the outputs are made of.
pub const FRAGMENTS: &[&[u8]] = &[
    b"a",
    b"bcd",
    b"\n",
    b"\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xef\xbb\xbf",
    "é".as_bytes(),
    "漢".as_bytes(),
    "😀".as_bytes(),
    "👩\u{200d}👩\u{200d}👧".as_bytes(),
    b"\xff",
    b"\xf0\x9f\x98",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xe0\x80\x80",
    b"\xf4\x90\x80\x80",
    b"\x1b[31m",
    b"\x1b]0;t\x07",
    b"\x1b",
    b"error",
    b"FAILED",
    b"\n\n",
    b" \t",
    "\u{2028}".as_bytes(),
    "\u{a0}".as_bytes(),
    "\u{85}".as_bytes(),
    " \n \t\n".as_bytes(),
    "</persisted-output>".as_bytes(),
    b"\x1b[1m",
    b"\x1b]8;;",
    b"\x1b\\",
    "\u{9b}".as_bytes(),
    b"m",
    b"src/a-b.c:12: ",
    b"x-1- ",
];

/// How large the outputs must be for a policy's fixed figures to matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Small,
    Large,
}

/// The range of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Lines,
    /// UTF-8 bytes of the decoded text, plus this.
    Bytes(usize),
    RawBytes(usize),
    Units(usize),
    Points(usize),
    Tokens,
    Bool,
    Word(&'static [&'static str]),
    /// A line number, from this base.
    Offset(usize),
    /// A count of lines, mostly given.
    Limit,
    /// Mostly a small number, whatever the output.
    Few,
    Chunk,
}

/// How to ask one policy.
pub struct Spec {
    pub policy: &'static str,
    pub scale: Scale,
    pub knobs: &'static [(&'static str, Kind)],
    /// Whether it uses `--stderr` and `--exit-code`.
    pub streams: Streams,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    None,
    Stderr,
    ExitCode,
    Both,
}

/// Bytes of a few repeated fragments.
pub fn output(scale: Scale) -> BoxedStrategy<Vec<u8>> {
    let fragment = prop::sample::select(FRAGMENTS.to_vec());
    let times = match scale {
        Scale::Small => prop_oneof![30 => Just(1usize), 3 => 2..6usize, 1 => 6..40usize].boxed(),
        Scale::Large => prop_oneof![6 => Just(1usize), 3 => 2..80usize, 4 => 300..2600usize].boxed(),
    };
    let lined = (fragment, times, any::<bool>()).prop_map(|(f, n, lines)| {
        let mut one = f.to_vec();
        if lines && n > 1 {
            one.push(b'\n');
        }
        one.repeat(n)
    });
    prop::collection::vec(lined, 0..16).prop_map(|parts| parts.concat()).boxed()
}

fn around(n: usize, knob: u32, shift: usize) -> usize {
    let small = (knob / 16) as usize;
    let value = match knob % 16 {
        0..=3 => (knob % 16) as usize,
        4 => n.saturating_sub(1),
        5 => n,
        6 => n + 1,
        7 => n / 2,
        8 => n.saturating_sub(2),
        _ => small % (n + 3),
    };
    value + if knob.is_multiple_of(5) { 0 } else { shift }
}

/// Returns the parameter's value for this output; none leaves the default.
fn value(kind: Kind, knob: u32, input: &[u8]) -> Option<String> {
    let text = lossy(input);
    let lines = pieces(&text).len();
    if knob % 11 == 10 {
        return None;
    }
    Some(match kind {
        Kind::Lines => around(lines, knob, 0).to_string(),
        Kind::Bytes(shift) => around(text.len(), knob, shift).to_string(),
        Kind::RawBytes(shift) => around(input.len(), knob, shift).to_string(),
        Kind::Units(shift) => around(unit_len(&text), knob, shift).to_string(),
        Kind::Points(shift) => around(point_len(&text), knob, shift).to_string(),
        Kind::Tokens => around(text.len() / 4, knob, 0).to_string(),
        Kind::Bool => knob.is_multiple_of(2).to_string(),
        Kind::Word(words) => words[knob as usize % words.len()].to_string(),
        Kind::Offset(base) => (base + around(lines, knob, 0)).to_string(),
        Kind::Limit if knob.is_multiple_of(3) => return None,
        Kind::Limit => around(lines, knob, 0).to_string(),
        Kind::Few => (knob / 16 % 40).to_string(),
        Kind::Chunk => (1 + around(input.len(), knob, 0)).to_string(),
    })
}

/// Returns a case for this policy with parameters around this output's own measures.
pub fn tuned(spec: &Spec, input: Vec<u8>, stderr: Vec<u8>, knobs: &[u32]) -> Case {
    let mut c = case(spec.policy, &input, &[]);
    for (i, (key, kind)) in spec.knobs.iter().enumerate() {
        if let Some(v) = value(*kind, knobs[i], &input) {
            c.sets.push((key, v));
        }
    }
    let knob = knobs[spec.knobs.len()];
    if matches!(spec.streams, Streams::Stderr | Streams::Both) && !knob.is_multiple_of(4) {
        c.stderr = Some(stderr);
    }
    if matches!(spec.streams, Streams::ExitCode | Streams::Both) && !knob.is_multiple_of(3) {
        c.exit_code = Some((knob / 4 % 3) as i32);
    }
    c
}

pub fn tuned_case(spec: &'static Spec) -> BoxedStrategy<Case> {
    let knobs = prop::collection::vec(any::<u32>(), spec.knobs.len() + 1);
    (output(spec.scale), output(Scale::Small), knobs)
        .prop_map(move |(input, stderr, knobs)| tuned(spec, input, stderr, &knobs))
        .boxed()
}
