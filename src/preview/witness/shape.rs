//! Outputs of which a text keeps a part, with a filler for the rest that makes the figures of the notices those of the text.

use std::ops::Range;

use crate::preview::policy::Policy;

/// Maximum number of notices of one form that are tried: an output may quote them.
const MAX_NOTICES: usize = 4;

/// How many fillers each shape is tried with first.
pub(super) const STARTS: usize = 7;

/// Figures from which on are no sizes of outputs that a witness may have.
const MAX_FIGURE: f64 = 16e6;

/// The longest character; a cut inside it keeps nothing of it.
const WIDE: &str = "😀";

/// A letter of three bytes.
const LETTER: &str = "€";

const LINE: &str = "x\n";

/// How much is left out of an output: lines of one letter, letters without a line feed, and letters of three bytes.
pub(super) type Filler = [u32; UNKNOWNS];

/// Returns a filler that is so much longer; none at all instead of a negative one.
pub(super) fn longer(filler: Filler, more: [f64; UNKNOWNS]) -> Filler {
    // Casts of floats saturate.
    std::array::from_fn(|kind| (f64::from(filler[kind]) + more[kind]).round() as u32)
}

/// Fillers of one kind each that are enough for a figure of KB with one decimal.
pub(super) const PROBES: [[f64; UNKNOWNS]; UNKNOWNS] =
    [[64.0, 0.0, 0.0], [0.0, 4096.0, 0.0], [0.0, 0.0, 4096.0]];

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

    /// Returns the most bytes that the output can have.
    pub(super) fn size(&self, filler: Filler) -> Option<usize> {
        let [lines, letters, wide] = filler.map(u64::from);
        let filled = lines * LINE.len() as u64 + letters + wide * LETTER.len() as u64;
        (2 * WIDE.len() + self.before.len() + self.after.len()).checked_add(filled.try_into().ok()?)
    }

    /// Returns the output, and where its filler is. Letters stand next to what is kept, as a cut by size falls among them.
    pub(super) fn output(&self, filler: Filler) -> (Vec<u8>, Range<usize>) {
        let [lines, letters, wide] = filler.map(|count| count as usize);
        let letters = "x".repeat(letters);
        let near_start = match (self.before.is_empty(), self.after.is_empty()) {
            (true, _) => 0,
            (_, true) => letters.len(),
            _ => letters.len() / 2,
        };
        let filled = [
            self.edges[0],
            &letters[..near_start],
            &LETTER.repeat(wide),
            &LINE.repeat(lines),
            &letters[near_start..],
            self.edges[1],
        ]
        .concat();
        let range = self.before.len()..self.before.len() + filled.len();
        ([&self.before, &filled, &self.after].map(|part| part.as_bytes()).concat(), range)
    }

    /// Returns one of the [`STARTS`] fillers to begin with: most figures are of lines, letters, or KB. `None` if there is none.
    pub(super) fn start(&self, number: usize) -> Option<Filler> {
        let is_size = |figure: &&f64| **figure < MAX_FIGURE;
        let figures = self.notices.figures.iter().filter(is_size);
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
        Some([lines, letters, 0])
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

/// Returns what is kept before and after each place where the rest of an output may have been: at a notice, or at an end.
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

/// How many kinds of letters a filler has.
pub(super) const UNKNOWNS: usize = 3;

/// By how much a figure may be off that is made of a filler, for those that are rounded.
const SLACK: f64 = 1.0;

/// Makes a system of equations solvable that leaves unknowns open.
const RIDGE: f64 = 1e-9;

/// What an agent added to an output: its words, and the figures in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Notices {
    /// The text, with `0` for each figure.
    words: String,
    pub figures: Vec<f64>,
}

impl Notices {
    /// Reads the notices of a text, in order. What stands in `path` is no figure.
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>, path: &str) -> Self {
        let text: String = texts.collect();
        let text = if path.is_empty() { text } else { text.replace(path, "") };
        let mut notices = Self::default();
        let mut rest = text.as_str();
        while let Some(start) = rest.find(|char: char| char.is_ascii_digit()) {
            let (words, from) = rest.split_at(start);
            let figure = &from[..figure_len(from)];
            notices.words.push_str(words);
            notices.words.push('0');
            notices.figures.push(figure.replace(',', "").parse().unwrap_or(f64::NAN));
            rest = &from[figure.len()..];
        }
        notices.words.push_str(rest);
        notices
    }

    /// Returns by how much each figure is larger than in `other`; `None` if the words are others.
    pub(super) fn minus(&self, other: &Self) -> Option<Vec<f64>> {
        let is_alike = self.words == other.words && self.figures.len() == other.figures.len();
        is_alike.then(|| self.figures.iter().zip(&other.figures).map(|(this, that)| this - that).collect())
    }
}

/// Returns the length of the figure at the start of a text: `12,345.6`.
fn figure_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_in = |at: &usize| digit(*at) || matches!(bytes.get(*at), Some(b',' | b'.')) && digit(at + 1);
    (0..bytes.len()).take_while(is_in).count()
}

/// Which unknowns may change, the simplest first: letters, lines, both, wide letters too.
const CHOICES: [[bool; UNKNOWNS]; 5] = [
    [false, true, false],
    [true, false, false],
    [true, true, false],
    [false, true, true],
    [true, true, true],
];

/// Returns the change of the unknowns, of which there are `at`, that changes each figure by so much. `slopes` has, for each
/// unknown, by how much each figure grows with it. If no change explains all figures (one with more digits moves the cut
/// itself), the nearest is a step on the way.
pub(super) fn solve(missing: &[f64], slopes: &[Vec<f64>; UNKNOWNS], at: [f64; UNKNOWNS]) -> [f64; UNKNOWNS] {
    let errors = |change: &[f64; UNKNOWNS]| -> Vec<f64> {
        let made = |figure: usize| -> f64 {
            slopes.iter().zip(change).filter_map(|(slope, change)| Some(slope.get(figure)? * change)).sum()
        };
        missing.iter().enumerate().map(|(figure, missing)| (made(figure) - missing).abs()).collect()
    };
    let explains = |change: &[f64; UNKNOWNS]| errors(change).iter().all(|error| *error <= SLACK);
    let is_possible = |change: &[f64; UNKNOWNS]| at.iter().zip(change).all(|(at, more)| at + more > -0.5);
    let sum = |change: &[f64; UNKNOWNS]| errors(change).iter().sum::<f64>();
    let changes = CHOICES.map(|choice| least_squares(missing, slopes, choice));
    let possible = changes.iter().filter(|change| is_possible(change));
    let simplest = possible.clone().find(|change| explains(change));
    *simplest
        .or_else(|| possible.clone().min_by(|a, b| sum(a).total_cmp(&sum(b))))
        .unwrap_or(&changes[CHOICES.len() - 1])
}

/// Returns the change of the chosen unknowns that explains the figures best.
fn least_squares(
    missing: &[f64],
    slopes: &[Vec<f64>; UNKNOWNS],
    choice: [bool; UNKNOWNS],
) -> [f64; UNKNOWNS] {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let chosen = |unknown: usize| f64::from(u8::from(choice[unknown]));
    let mut rows: [[f64; UNKNOWNS + 1]; UNKNOWNS] = std::array::from_fn(|row| {
        std::array::from_fn(|column| match column {
            UNKNOWNS => dot(&slopes[row], missing) * chosen(row),
            _ if column == row => dot(&slopes[row], &slopes[row]) * chosen(row) + RIDGE,
            _ => dot(&slopes[row], &slopes[column]) * chosen(row) * chosen(column),
        })
    });
    // Gauss and Jordan: the matrix is positive definite, so no pivot is 0.
    for pivot in 0..UNKNOWNS {
        let by = rows[pivot][pivot];
        rows[pivot] = rows[pivot].map(|value| value / by);
        let of_pivot = rows[pivot];
        for (_, row) in rows.iter_mut().enumerate().filter(|(row, _)| *row != pivot) {
            let times = row[pivot];
            row.iter_mut().zip(of_pivot).for_each(|(value, of_pivot)| *value -= times * of_pivot);
        }
    }
    rows.map(|row| row[UNKNOWNS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_figures_are_told_apart() {
        let read = Notices::new(["[1,234 of 59.5KB, 7", ".]/x/9"].into_iter(), "/x/9");
        assert_eq!((read.words.as_str(), &read.figures[..]), ("[0 of 0KB, 0.]", &[1234.0, 59.5, 7.0][..]));
        let other = Notices::new(["[1,230 of 60KB, 7.]"].into_iter(), "");
        assert_eq!(read.minus(&other), Some(vec![4.0, -0.5, 0.0]));
        assert_eq!(read.minus(&Notices::new(["[1 of 2 KB, 7.]"].into_iter(), "")), None);
    }

    #[test]
    fn a_change_is_found_that_explains_all_figures() {
        let solved = |missing: &[f64], slopes: [&[f64]; UNKNOWNS]| {
            solve(missing, &slopes.map(<[f64]>::to_vec), [0.0; UNKNOWNS])
                .map(|change| (change * 100.0).round() / 100.0)
        };
        // A line takes two letters, a wide letter three.
        assert_eq!(solved(&[5.0, 110.0], [&[1.0, 2.0], &[0.0, 1.0], &[0.0, 3.0]]), [5.0, 100.0, 0.0]);
        assert_eq!(solved(&[300.0, 120.0], [&[2.0, 2.0], &[1.0, 1.0], &[3.0, 1.0]]), [0.0, 30.0, 90.0]);
        assert_eq!(solved(&[7.0], [&[2.0], &[1.0], &[3.0]]), [0.0, 7.0, 0.0]);
        assert_eq!(solved(&[7.0], [&[1.0], &[0.0], &[0.0]]), [7.0, 0.0, 0.0]);
        assert_eq!(solved(&[7.0], [&[0.0], &[0.0], &[0.0]]), [0.0; UNKNOWNS]);
    }

    #[test]
    fn an_unsolvable_change_is_approximated_without_negatives() {
        // Of 1,172 letters 841 shall be left, of which one fewer is counted in the second figure.
        let slopes = [&[2.0, 2.0][..], &[1.0, 1.0], &[1.0, 1.0]].map(<[f64]>::to_vec);
        let change = solve(&[-331.0, -329.0], &slopes, [0.0, 1172.0, 0.0]);
        assert!((change[1] + 330.0).abs() < 1.0 && change[0] == 0.0 && change[2] == 0.0, "{change:?}");
    }
}
