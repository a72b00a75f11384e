//! The figures in notices, and which filler makes them others.

/// How many kinds of letters a filler has.
pub(super) const UNKNOWNS: usize = 3;

/// By how much a figure may be off that is made of a filler, for those that are rounded.
const SLACK: f64 = 1.0;

/// What makes a system of equations solvable that does not determine all unknowns.
const RIDGE: f64 = 1e-9;

/// What an agent added to an output: its words, and the figures in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Notices {
    /// The text, with `0` for each figure.
    words: String,
    figures: Vec<f64>,
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

    pub(super) fn figures(&self) -> &[f64] {
        &self.figures
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

/// Returns the change of the unknowns that changes each figure by so much. `slopes` has, for each unknown, by how much each
/// figure grows with it; `at` is what there is of each, so that none becomes negative. Where no change explains all figures
/// (a figure with another number of digits moves the cut itself), the nearest is a step on the way.
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
        assert_eq!((read.words.as_str(), read.figures()), ("[0 of 0KB, 0.]", &[1234.0, 59.5, 7.0][..]));
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
    fn what_no_change_explains_is_approached_without_less_than_nothing() {
        // Of 1,172 letters 841 shall be left, of which one fewer is counted in the second figure.
        let slopes = [&[2.0, 2.0][..], &[1.0, 1.0], &[1.0, 1.0]].map(<[f64]>::to_vec);
        let change = solve(&[-331.0, -329.0], &slopes, [0.0, 1172.0, 0.0]);
        assert!((change[1] + 330.0).abs() < 1.0 && change[0] == 0.0 && change[2] == 0.0, "{change:?}");
    }
}
