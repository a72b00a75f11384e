//! Makes a pattern match text that escape sequences interrupt, as if they were not there.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

/// An escape sequence: of colours and the like, of links and titles, or a short one.
const SEQUENCE: &str =
    r"(?-u)\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x00-\x1f\x7f]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-@A-OQ-WYZ\\`-~])";

/// Returns a pattern that matches what `hir` does, and also where escape sequences stand between its characters.
pub(super) fn pass_through(hir: &Hir) -> Hir {
    let Ok(sequence) = ParserBuilder::new().utf8(false).build().parse(SEQUENCE) else { return hir.clone() };
    let repeated = |min| Repetition { min, max: None, greedy: true, sub: Box::new(sequence.clone()) };
    Gaps { any: Hir::repetition(repeated(0)), some: Hir::repetition(repeated(1)) }.within(hir)
}

/// What may stand between two characters.
struct Gaps {
    any: Hir,
    /// At least one sequence.
    some: Hir,
}

impl Gaps {
    fn within(&self, hir: &Hir) -> Hir {
        match hir.kind() {
            HirKind::Literal(literal) => {
                let characters = literal.0.chunk_by(|_, next| next & 0xc0 == 0x80);
                let gaps = characters.flat_map(|bytes| [self.any.clone(), Hir::literal(bytes)]);
                Hir::concat(gaps.skip(1).collect())
            }
            HirKind::Concat(subs) => {
                let is_edge = |sub: &Hir| matches!(sub.kind(), HirKind::Look(look) if edges(*look).is_some());
                let gap = |n: usize| n > 0 && !is_edge(&subs[n - 1]) && !is_edge(&subs[n]);
                let gaps = (0..subs.len())
                    .flat_map(|n| [gap(n).then(|| self.any.clone()), Some(self.within(&subs[n]))]);
                Hir::concat(gaps.flatten().collect())
            }
            HirKind::Alternation(subs) => Hir::alternation(subs.iter().map(|sub| self.within(sub)).collect()),
            HirKind::Repetition(repetition) => {
                let sub = Box::new(Hir::concat(vec![self.within(&repetition.sub), self.any.clone()]));
                Hir::repetition(Repetition { sub, ..repetition.clone() })
            }
            HirKind::Look(look) => self.around(*look),
            HirKind::Empty | HirKind::Class(_) | HirKind::Capture(_) => hir.clone(),
        }
    }

    /// A sequence ends with a letter, so that what follows it seems to continue a word: whether a word begins or ends there
    /// depends on what precedes the sequence, too.
    fn around(&self, look: Look) -> Hir {
        let Some((edge, inside)) = edges(look) else { return Hir::look(look) };
        let opposite = if look == edge { inside } else { edge };
        let gap = |before, after| Hir::concat(vec![Hir::look(before), self.some.clone(), Hir::look(after)]);
        Hir::alternation(vec![Hir::look(look), gap(edge, look), gap(inside, opposite)])
    }
}

/// Returns what holds at the start and the end of a word, and what elsewhere, if `look` is one of the two.
fn edges(look: Look) -> Option<(Look, Look)> {
    match look {
        Look::WordUnicode | Look::WordUnicodeNegate => Some((Look::WordUnicode, Look::WordUnicodeNegate)),
        Look::WordAscii | Look::WordAsciiNegate => Some((Look::WordAscii, Look::WordAsciiNegate)),
        _ => None,
    }
}
