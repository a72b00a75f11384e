//! What a text keeps of an output, and where a filler may stand for the rest.

use std::ops::Range;

use crate::preview::policy::Policy;

use super::figures::{Notices, UNKNOWNS};

/// Maximum number of notices of one form that are tried: an output may quote them.
const MAX_NOTICES: usize = 4;

/// How many fillers each shape is tried with first.
pub(super) const STARTS: usize = 7;

/// Figures from which on are no sizes of outputs that a witness may have.
const MAX_FIGURE: f64 = 16e6;

/// The longest character, of which a cut inside of it keeps nothing.
const WIDE: &str = "😀";

/// A letter of three bytes.
const LETTER: &str = "€";

const LINE: &str = "x\n";

/// How much is left out of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filler {
    /// Lines of one letter.
    pub lines: u32,
    /// Letters besides, with no line feed between them.
    pub letters: u32,
    /// Letters of three bytes besides.
    pub wide: u32,
}

impl Filler {
    /// Returns how much there is, in the order of the fields.
    pub(super) fn amounts(self) -> [f64; UNKNOWNS] {
        [self.lines, self.letters, self.wide].map(f64::from)
    }

    /// Returns a filler that is so much longer, in the order of the fields; none at all instead of a negative one.
    pub(super) fn plus(self, [lines, letters, wide]: [f64; UNKNOWNS]) -> Self {
        // Casts of floats saturate.
        let add = |number: u32, more: f64| (f64::from(number) + more).round() as u32;
        Self {
            lines: add(self.lines, lines),
            letters: add(self.letters, letters),
            wide: add(self.wide, wide),
        }
    }

    /// Returns fillers that are longer in one of the fields each, and by how much.
    pub(super) fn probes(self) -> [(Self, f64); UNKNOWNS] {
        let of = |lines: u32, letters: u32, wide: u32| {
            let more = [lines, letters, wide].map(f64::from);
            (self.plus(more), more.iter().sum())
        };
        // Enough for a figure of KB with one decimal.
        [of(64, 0, 0), of(0, 4096, 0), of(0, 0, 4096)]
    }
}

#[derive(Debug)]
pub(super) struct OutputShape {
    before: String,
    after: String,
    /// What the filler begins and ends with.
    edges: [&'static str; 2],
    pub notices: Notices,
}

impl OutputShape {
    /// Takes away what stands before the output itself.
    pub(super) fn without(mut self, lead: &str) -> Self {
        if let Some(own) = self.before.strip_prefix(lead) {
            self.before = own.to_owned();
        }
        self
    }

    pub(super) fn size(&self, filler: Filler) -> Option<usize> {
        let lines = (filler.lines as usize).checked_mul(LINE.len())?;
        let wide = (filler.wide as usize).checked_mul(LETTER.len())?;
        let filler =
            lines.checked_add(wide)?.checked_add(filler.letters as usize)?.checked_add(2 * WIDE.len())?;
        filler.checked_add(self.before.len())?.checked_add(self.after.len())
    }

    /// Returns the output, and where in it the filler is. Letters stand next to what is kept, so that a cut by size falls
    /// among them; lines stand further away.
    pub(super) fn output(&self, filler: Filler) -> (Vec<u8>, Range<usize>) {
        let letters = "x".repeat(filler.letters as usize);
        let near_start = match (self.before.is_empty(), self.after.is_empty()) {
            (true, _) => 0,
            (_, true) => letters.len(),
            _ => letters.len() / 2,
        };
        let lines = LINE.repeat(filler.lines as usize);
        let filled = [
            self.edges[0],
            &letters[..near_start],
            &LETTER.repeat(filler.wide as usize),
            &lines,
            &letters[near_start..],
            self.edges[1],
        ]
        .concat();
        let range = self.before.len()..self.before.len() + filled.len();
        ([&self.before, &filled, &self.after].map(|part| part.as_bytes()).concat(), range)
    }

    /// Returns one of the [`STARTS`] fillers from which the right one is looked for: most figures are of lines, letters, or
    /// KB. `None` if it is the same as another, or too large.
    pub(super) fn start(&self, number: usize) -> Option<Filler> {
        let is_size = |figure: &&f64| **figure < MAX_FIGURE;
        let figures = self.notices.figures().iter().filter(is_size);
        let largest = figures.fold(0.0, |most: f64, figure| most.max(*figure)).ceil() as u32;
        let (lines, letters) = match number {
            0 => (0, largest),
            1 if largest == 0 => (1, 1),
            1 => (largest, 0),
            2 if largest > 0 => (largest, largest),
            3 if largest > 0 => (0, largest.checked_mul(2)?),
            4 => (4096, 1 << 18),
            5 if largest > 0 => (0, largest.checked_mul(1024)?),
            6 if largest > 0 => (0, largest.checked_mul(10)?),
            _ => return None,
        };
        Some(Filler { lines, letters, wide: 0 })
    }
}

pub(super) fn shapes(policy: &Policy, text: &str, path: &str) -> Vec<OutputShape> {
    let mut shapes: Vec<OutputShape> = policy.unclipped(text).into_iter().flat_map(clipped).collect();
    let whole = policy.notices_in(text);
    let mut tried: Vec<Vec<Range<usize>>> = Vec::new();
    let forms = policy.notice_patterns();
    let found: Vec<_> = forms.iter().flat_map(|form| form.whole_in(text).take(MAX_NOTICES)).collect();
    let mut together = found.clone();
    together.sort_by_key(|range| range.start);
    together.dedup_by(|next, last| next.start < last.end);
    let alone = found.into_iter().map(|range| vec![range]);
    for notices in whole.into_iter().chain([together]).chain(alone).filter(|notices| !notices.is_empty()) {
        if !tried.contains(&notices) {
            let added = Notices::new(notices.iter().filter_map(|range| text.get(range.clone())), path);
            let sides = kept_on_either_side(text, &notices);
            shapes.extend(sides.into_iter().flat_map(|sides| gap_shapes(&added, sides)));
            tried.push(notices);
        }
    }
    shapes
}

/// Returns the shapes of an output that goes on after what is kept, without a word.
fn clipped(kept: String) -> Vec<OutputShape> {
    ["\n", ""]
        .map(|edge| OutputShape {
            before: kept.clone(),
            after: String::new(),
            edges: [edge, ""],
            notices: Notices::default(),
        })
        .into()
}

/// Returns what is kept before and after each place where the rest of an output may have been: in place of one of the
/// notices, before all that is kept, and after it.
fn kept_on_either_side(text: &str, notices: &[Range<usize>]) -> Vec<[String; 2]> {
    let mut runs = Vec::new();
    let mut at = 0;
    for notice in notices {
        runs.push(text.get(at..notice.start).unwrap_or_default());
        at = notice.end;
    }
    runs.push(text.get(at..).unwrap_or_default());
    let mut all: Vec<[String; 2]> = Vec::new();
    // Most agents say in its place what was left out.
    let gaps = (1..runs.len()).chain([0, runs.len()]);
    for gap in gaps {
        let sides = [runs[..gap].concat(), runs[gap..].concat()];
        if !all.contains(&sides) {
            all.push(sides);
        }
    }
    all
}

/// Returns the shapes with a filler between the two sides.
fn gap_shapes(added: &Notices, [before, after]: [String; 2]) -> Vec<OutputShape> {
    let edges = |side: &str| match (side.is_empty(), side.is_ascii()) {
        (true, _) => &[""][..],
        (_, true) => &["\n", ""],
        _ => &["\n", "", WIDE],
    };
    let mut shapes = Vec::new();
    // Some agents take the last line feed away.
    for end in if after.is_empty() { &[""][..] } else { &["", "\n"] } {
        for first in edges(&before) {
            for last in edges(&after) {
                let (before, after, notices) = (before.clone(), format!("{after}{end}"), added.clone());
                shapes.push(OutputShape { before, after, edges: [first, last], notices });
            }
        }
    }
    shapes
}
