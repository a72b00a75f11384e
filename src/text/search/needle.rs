//! Bytes that every match of a pattern holds, sought before the pattern itself: two rare ones of them at a time.

use memchr::arch::all::packedpair::Pair;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Fewer bytes than this occur too often to save anything.
const SHORTEST: usize = 3;

/// A pattern that begins with so many bytes of known case is found by them as fast.
const LONG_START: usize = 4;

/// Bytes that are compared at a time, without a branch.
const LANES: usize = 128;

/// What sets a letter to lower case; other bytes are compared as they are.
const LOWER: u8 = 0x20;

/// Of the blocks of `LANES` bytes, one in so many may hold the rare bytes; more, and they are not rare.
const SELDOM: usize = 16;

/// Bytes that stand in every match one after the other, letters perhaps in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Needle {
    /// Each byte, in lower case where the case does not matter, and what is set in a byte before it is compared.
    bytes: Vec<(u8, u8)>,
    /// Where in it the two rarest bytes are.
    rare: [usize; 2],
}

/// What a search for a needle came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sighting {
    /// It stands here.
    At(usize),
    /// It stands nowhere.
    Nowhere,
    /// It does not stand before this place; to look further for its rare bytes saves nothing.
    TooOften(usize),
}

/// How many blocks with the rare bytes a search still puts up with, `SELDOM` for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience(usize);

impl Default for Patience {
    fn default() -> Self {
        Self(8 * SELDOM)
    }
}

impl Needle {
    /// The longest such bytes of a pattern, if seeking them first is worth it.
    pub(crate) fn of(hir: &Hir) -> Option<Self> {
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

    /// Where it first stands in `hay` at `from` or later.
    pub(crate) fn find(&self, hay: &[u8], from: usize, patience: &mut Patience) -> Sighting {
        let mut at = from;
        while let Some(passed) = self.next_block(&hay[at..]) {
            at += passed * LANES;
            let Some(left) = (patience.0 + passed).checked_sub(SELDOM) else { return Sighting::TooOften(at) };
            patience.0 = left;
            if let Some(found) = self.first_in(hay, at..at + LANES) {
                return Sighting::At(found);
            }
            at += LANES;
        }
        at += self.blocks(&hay[at..]).count() * LANES;
        self.first_in(hay, at..hay.len()).map_or(Sighting::Nowhere, Sighting::At)
    }

    /// How many blocks come before one in which the rare bytes stand in their places for a start in it.
    fn next_block(&self, hay: &[u8]) -> Option<usize> {
        let [(a, a_case), (b, b_case)] = self.rare.map(|index| self.bytes[index]);
        self.blocks(hay).position(|(first, second)| {
            let both =
                first.iter().zip(second).map(|(x, y)| u8::from(x | a_case == a) & u8::from(y | b_case == b));
            both.fold(0, |any, one| any | one) != 0
        })
    }

    /// The bytes in the places of the two rare ones for each block of starts; the last starts make no whole block.
    fn blocks<'a>(&self, hay: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let [first, second] = self.rare.map(|index| hay.get(index..).unwrap_or_default());
        first.chunks_exact(LANES).zip(second.chunks_exact(LANES))
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

/// Whether the pattern is one literal, or begins with a long one: for these there are faster ways.
fn is_literal_enough(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(_) => true,
        HirKind::Concat(subs) => match subs[0].kind() {
            HirKind::Literal(literal) => literal.0.len() >= LONG_START,
            _ => false,
        },
        _ => false,
    }
}

/// Adds the bytes that every match holds to the last of `runs`, or to a new one after anything else.
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

/// The letter, in lower case, that a class holds in both cases and alone.
fn letter(class: &Class) -> Option<u8> {
    let singles: Vec<u32> = match class {
        Class::Unicode(class) => {
            let ranges = class.iter().map(|range| (range.start().into(), range.end().into()));
            singles(ranges)?
        }
        Class::Bytes(class) => singles(class.iter().map(|range| (range.start().into(), range.end().into())))?,
    };
    let [upper, lower] = singles[..] else { return None };
    let letter = u8::try_from(lower).ok().filter(u8::is_ascii_lowercase)?;
    (upper == u32::from(letter.to_ascii_uppercase())).then_some(letter)
}

/// The members of ranges of one each.
fn singles(ranges: impl Iterator<Item = (u32, u32)>) -> Option<Vec<u32>> {
    ranges.map(|(start, end)| (start == end).then_some(start)).collect()
}
