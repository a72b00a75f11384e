//! The settings that are worth choosing between, and what a move to each of them buys.

use std::cmp::Reverse;

use crate::base::human::thousands;

use super::sums::SettingFigures;

/// Returns the numbers of the settings than which no other keeps more finds for as many tokens or fewer, nor as many
/// for fewer: fewest tokens first. Of settings that do the same in both, it is the present one (`current`), else the one
/// that loses fewer last lines, else the first.
pub(crate) fn frontier(figures: &[SettingFigures], current: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..figures.len()).collect();
    let figures_of = |number: &usize| figures.get(*number).copied().unwrap_or_default();
    order.sort_by_key(|number| {
        let of = figures_of(number);
        (of.tokens, Reverse(of.kept_finds), *number != current, of.lost_last_line, *number)
    });
    let mut frontier: Vec<usize> = Vec::new();
    for number in order {
        let is_better = match frontier.last() {
            Some(last) => figures_of(&number).kept_finds > figures_of(last).kept_finds,
            None => true,
        };
        if is_better {
            frontier.push(number);
        }
    }
    frontier
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TuneMove {
    /// The share of all finds that it keeps, in percent; `None` if there are none.
    pub keeps: Option<f64>,
    /// The share that the present one keeps, in percent.
    pub now: Option<f64>,
    /// How many more tokens it takes, in percent of the present ones; negative for fewer.
    pub tokens: f64,
}

impl TuneMove {
    pub(crate) fn new(to: &SettingFigures, now: &SettingFigures, finds: u64) -> Self {
        let share = |kept| share_of(kept, finds);
        let tokens = match now.tokens {
            0 => 0.0,
            now => 100.0 * (to.tokens as f64 - now as f64) / now as f64,
        };
        Self { keeps: share(to.kept_finds), now: share(now.kept_finds), tokens }
    }

    /// Describes it: `97% of errors (now 61%) for 12% fewer tokens`.
    pub(crate) fn describe(&self, finds: &str) -> String {
        let change = self.tokens.abs();
        let rounded = match change {
            change if change < 0.95 => format!("{change:.1}"),
            change => thousands(change.round() as u64),
        };
        let tokens = match rounded.as_str() {
            "0.0" => "as many tokens".to_owned(),
            share if self.tokens < 0.0 => format!("{share}% fewer tokens"),
            share => format!("{share}% more tokens"),
        };
        match (self.keeps, self.now) {
            (Some(keeps), Some(now)) => {
                let now = if keeps == now { "same".to_owned() } else { format!("now {}", percent(now)) };
                format!("{} of {finds} ({now}) for {tokens}", percent(keeps))
            }
            _ => tokens,
        }
    }
}

/// Returns how much of all finds `kept` is, in percent; `None` if there are none.
fn share_of(kept: u64, finds: u64) -> Option<f64> {
    (finds > 0).then(|| 100.0 * kept as f64 / finds as f64)
}

/// Returns how much of all finds `kept` is: `97%`; a dash if there are none.
pub(crate) fn describe_share(kept: u64, finds: u64) -> String {
    share_of(kept, finds).map_or_else(|| "–".to_owned(), percent)
}

/// Rounds a share so that neither a few nor nearly all read as none or all: `97%`, `0.3%`, `99.9%`.
fn percent(share: f64) -> String {
    let is_whole = share == 0.0 || share == 100.0 || (1.0..99.0).contains(&share);
    match share {
        share if is_whole => format!("{share:.0}%"),
        share if share < 0.1 => "under 0.1%".to_owned(),
        share if share > 99.9 => "over 99.9%".to_owned(),
        share => format!("{share:.1}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::tune::figures_of as figures;

    #[test]
    fn the_frontier_has_the_settings_that_no_other_beats() {
        let all = figures(&[(100, 5), (100, 6), (90, 6), (50, 1), (200, 6), (200, 9), (60, 1)]);
        assert_eq!(frontier(&all, 0), [3, 2, 5]);
        assert_eq!(frontier(&[], 0), [] as [usize; 0]);
    }

    #[test]
    fn of_equal_settings_the_present_one_stays() {
        let all = figures(&[(10, 1), (10, 1), (10, 1)]);
        assert_eq!(frontier(&all, 2), [2]);
        assert_eq!(frontier(&all, 9), [0]);
    }

    #[test]
    fn a_move_is_described() {
        let all =
            figures(&[(1000, 61), (880, 97), (1000, 100), (2500, 100), (1, 0), (96_560, 61), (1004, 61)]);
        let words = |to: usize| TuneMove::new(&all[to], &all[0], 100).describe("errors");
        assert_eq!(words(1), "97% of errors (now 61%) for 12% fewer tokens");
        assert_eq!(words(2), "100% of errors (now 61%) for as many tokens");
        assert_eq!(words(3), "100% of errors (now 61%) for 150% more tokens");
        assert_eq!(words(4), "0% of errors (now 61%) for 100% fewer tokens");
        assert_eq!(words(5), "61% of errors (same) for 9,556% more tokens");
        assert_eq!(words(6), "61% of errors (same) for 0.4% more tokens");
        assert_eq!(TuneMove::new(&all[1], &all[0], 0).describe("errors"), "12% fewer tokens");
    }
}
