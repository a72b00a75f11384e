//! Finds bytes that every match of a pattern contains before trying the pattern itself, by testing for the two rarest.

use memchr::arch::all::packedpair::Pair;
use regex_syntax::hir::{Class, ClassBytesRange, Hir, HirKind};

/// Minimum length in bytes: shorter needles occur too often to save anything.
const SHORTEST: usize = 3;

/// A pattern that begins with this many bytes of known case is found just as fast through them.
const LONG_START: usize = 4;

/// Bytes compared at a time, without a branch.
const LANES: usize = 128;

type Block = [u8; LANES];

/// The bit that makes a letter lower case; other bytes are compared as they are.
const LOWER: u8 = 0x20;

/// At most one in this many blocks of `LANES` bytes may contain the rare bytes; otherwise they are not rare.
const SELDOM: usize = 16;

/// The patience of a search: how many more blocks with the rare bytes it tolerates, counted as `SELDOM` each.
pub(crate) const PATIENCE: usize = 8 * SELDOM;

/// Consecutive bytes in every match, with letters possibly in either case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needle {
    /// Each byte, in lower case if the case does not matter, and the bits to set in a byte before comparing it.
    bytes: Vec<(u8, u8)>,
    /// The positions of its two rarest bytes.
    rare: [usize; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sighting {
    At(usize),
    Nowhere,
    /// It does not start before this position; searching on for its rare bytes would save nothing.
    TooOften(usize),
}

impl Needle {
    /// Returns the longest such bytes of a pattern, if searching for them first is worthwhile.
    pub(crate) fn longest(hir: &Hir) -> Option<Self> {
        if is_literal_enough(hir) {
            return None;
        }
        let mut runs = vec![Vec::new()];
        collect(hir, &mut runs);
        let bytes = runs.into_iter().max_by_key(Vec::len).filter(|run| run.len() >= SHORTEST)?;
        let plain: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
        let rare = Pair::new(&plain)?;
        Some(Self { bytes, rare: [rare.index1().into(), rare.index2().into()] })
    }

    /// Finds its first occurrence in `hay` at or after `from`.
    pub(crate) fn find(&self, hay: &[u8], from: usize, patience: &mut usize) -> Sighting {
        let mut at = from;
        while let Some(passed) = self.next_block(&hay[at..]) {
            at += passed * LANES;
            let Some(left) = (*patience + passed).checked_sub(SELDOM) else { return Sighting::TooOften(at) };
            *patience = left;
            if let Some(found) = self.first_in(hay, at..at + LANES) {
                return Sighting::At(found);
            }
            at += LANES;
        }
        at += self.blocks(&hay[at..]).count() * LANES;
        self.first_in(hay, at..hay.len()).map_or(Sighting::Nowhere, Sighting::At)
    }

    /// Returns how many blocks precede the first one with a start that has both rare bytes in place.
    fn next_block(&self, hay: &[u8]) -> Option<usize> {
        let [(a, a_case), (b, b_case)] = self.rare.map(|index| self.bytes[index]);
        self.blocks(hay).position(|(first, second)| {
            // Without optimisation the loop below would add minutes to the tests.
            if cfg!(debug_assertions) && memchr::memchr2(a, a & !a_case, first).is_none() {
                return false;
            }
            let both = |at: usize| u8::from(first[at] | a_case == a) & u8::from(second[at] | b_case == b);
            (0..LANES).fold(0, |any, at| any | both(at)) != 0
        })
    }

    /// Returns the bytes at the places of the two rare ones for each block of possible starts; the last few make none.
    /// By number, not zipped: parts of `zip` are not inlined in a release.
    fn blocks<'a>(&self, hay: &'a [u8]) -> impl Iterator<Item = (&'a Block, &'a Block)> + use<'a> {
        let [first, second] = self.rare.map(|index| hay.get(index..).unwrap_or_default().as_chunks().0);
        (0..first.len().min(second.len())).map(|at| (&first[at], &second[at]))
    }

    fn first_in(&self, hay: &[u8], mut starts: std::ops::Range<usize>) -> Option<usize> {
        let [rare, _] = self.rare;
        let (byte, case) = self.bytes[rare];
        starts.find(|start| {
            hay.get(start + rare).is_some_and(|x| x | case == byte) && self.stands_at(&hay[*start..])
        })
    }

    fn stands_at(&self, hay: &[u8]) -> bool {
        hay.len() >= self.bytes.len() && self.bytes.iter().zip(hay).all(|((byte, case), x)| x | case == *byte)
    }
}

/// Returns the rarest byte that every match of a pattern contains: a letter in its two cases, another byte twice.
pub(crate) fn rare_byte(hir: &Hir) -> Option<[u8; 2]> {
    let mut runs = vec![Vec::new()];
    collect(hir, &mut runs);
    let bytes = runs.concat();
    let plain: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
    let rarest = Pair::new(&plain).map_or(0, |pair| pair.index1().into());
    bytes.get(rarest).map(|(byte, case)| [*byte, byte & !case])
}

/// Whether the pattern is a literal, or begins with a long one: for these there are faster ways.
fn is_literal_enough(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(_) => true,
        HirKind::Concat(subs) => {
            matches!(subs[0].kind(), HirKind::Literal(literal) if literal.0.len() >= LONG_START)
        }
        _ => false,
    }
}

/// Appends the bytes that every match contains to the last of `runs`, or to a new one after anything else.
fn collect(hir: &Hir, runs: &mut Vec<Vec<(u8, u8)>>) {
    let Some(last) = runs.last_mut() else { return };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => last.extend(literal.0.iter().map(|byte| (*byte, 0))),
        HirKind::Class(class) => match letter(class) {
            Some(letter) => last.push((letter, LOWER)),
            None => runs.push(Vec::new()),
        },
        HirKind::Capture(capture) => collect(&capture.sub, runs),
        HirKind::Concat(subs) => subs.iter().for_each(|sub| collect(sub, runs)),
        HirKind::Repetition(repetition) => {
            runs.push(Vec::new());
            if repetition.min > 0 {
                collect(&repetition.sub, runs);
                runs.push(Vec::new());
            }
        }
        HirKind::Alternation(_) => runs.push(Vec::new()),
    }
}

/// Returns the letter, in lower case, if a class consists of exactly its two cases.
fn letter(class: &Class) -> Option<u8> {
    let class = match class {
        Class::Unicode(class) => class.to_byte_class()?,
        Class::Bytes(class) => class.clone(),
    };
    let letter = class.ranges().last()?.start();
    let cases = [letter.to_ascii_uppercase(), letter].map(|case| ClassBytesRange::new(case, case));
    (letter.is_ascii_lowercase() && class.ranges() == cases).then_some(letter)
}
