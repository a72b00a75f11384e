//! Changes limits in round steps, writes them as text to copy, and says what a change did: to the line under examination,
//! to the matches, and to what the model gets.

use crate::config;
use crate::human::thousands;
use crate::output::words::size_in_words;
use crate::preview::{Direction, Policy};
use crate::text::filter::Share;
use crate::text::label::shell::word;
use crate::tui::popup::copying::{CopyWhat, Copyable};

use super::Pager;
use super::hold::LineFate;

/// The round numbers in each power of ten, times 10. Sizes count in units of 1024.
const STEPS: [u64; 7] = [10, 15, 20, 30, 40, 50, 75];

/// Returns the next round number above or below `value`. Below 1 that is 0. If there is no larger one in 64 bits,
/// `value` stays as it is.
fn step(value: u64, up: bool, unit: u64) -> u64 {
    let mut figures = figures(unit);
    match up {
        true => figures.find(|figure| *figure > value).unwrap_or(value),
        false => figures.take_while(|figure| *figure < value).last().unwrap_or(0),
    }
}

/// Iterates over all round multiples of `unit` that fit into 64 bits, in ascending order.
fn figures(unit: u64) -> impl Iterator<Item = u64> {
    let scales = std::iter::successors(Some(unit), |scale| scale.checked_mul(10));
    scales.flat_map(|scale| {
        STEPS.iter().filter_map(move |step| u64::try_from(u128::from(*step) * u128::from(scale) / 10).ok())
    })
}

pub(crate) fn other_end(direction: Direction) -> Direction {
    match direction {
        Direction::Head => Direction::Tail,
        Direction::Tail => Direction::Head,
    }
}

/// Returns the next round number above or below `value`; a round multiple of 1024 if `value` is a multiple of 1024.
pub(crate) fn step_of(value: u64, up: bool) -> u64 {
    let unit = if value >= 1024 && value.is_multiple_of(1024) { 1024 } else { 1 };
    step(value, up, unit)
}

impl Pager {
    /// Returns the longest description of the last change that fits on the screen.
    pub(crate) fn outcome(&self) -> String {
        let change = self.policy_before().and_then(|before| change(before, self.output.policy()));
        let line = self.line_fate().map(|fate| line_in_words(&fate));
        let (gained, got) = (Some(self.gained()), self.got());
        let versions = [
            join(&[&change, &line, &gained, &got]),
            join(&[&line, &gained, &got]),
            join(&[&line, &got]),
            join(&[&line]),
        ];
        let room = usize::from(self.canvas.size.0).saturating_sub(2);
        let fitting = versions.into_iter().find(|words| !words.is_empty() && words.chars().count() <= room);
        fitting.unwrap_or_else(|| join(&[&gained]))
    }

    fn gained(&self) -> String {
        let output = &self.output;
        if output.limits_are_first() {
            return "limits as at the start".to_owned();
        }
        output.difference().unwrap_or_else(|| output.limits())
    }

    fn got(&self) -> Option<String> {
        self.find.pattern.as_ref()?;
        let (output, tally) = (&self.output, &self.find.tally);
        let got = tally.got(output)?;
        let (verb, total) = (output.certainty().verb(), tally.in_words(output));
        Some(format!("model {verb} {} of {total}", thousands(got)))
    }
}

fn join(parts: &[&Option<String>]) -> String {
    let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
    parts.join(" · ")
}

/// Describes what became of a line: `line 6,330 is now kept`.
fn line_in_words(fate: &LineFate) -> String {
    let line = fate.number.map_or("this line".to_owned(), |number| format!("line {}", thousands(number)));
    let since = match fate.was {
        None => "",
        Some(was) if was == fate.is => "still ",
        Some(_) => "now ",
    };
    let what = match fate.is {
        Share::Whole => "kept",
        Share::Some => "kept in part",
        Share::None => "lost",
    };
    format!("{line} is {since}{what}")
}

/// Describes in what two policies differ: the name of the new one, or its limits that changed.
pub(crate) fn change(from: &Policy, to: &Policy) -> Option<String> {
    if from.name() != to.name() {
        return Some(to.name().to_owned());
    }
    let changed = to.params().iter().filter(|param| from.get(&param.name) != to.get(&param.name));
    let words: Vec<String> = changed
        .filter_map(|param| {
            let value = to.get(&param.name)?.to_string();
            let value = match value.parse::<u64>() {
                Ok(size) if to.size_key() == Some(param.name.as_str()) => size_in_words(to, size),
                Ok(number) => thousands(number),
                Err(_) => value,
            };
            Some(format!("{} {value}", param.name.replace('_', " ")))
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns the forms in which there are the limits of a policy.
pub(crate) fn copyable(policy: &Policy) -> Vec<Copyable> {
    let flags = Copyable::new(CopyWhat::Flags, flags(policy));
    let file = policy.written().map(|text| {
        Copyable::described(CopyWhat::PolicyFile, text, "for policies/ in the configuration".to_owned())
    });
    let agent = config::settings(policy)
        .map(|(file, text)| Copyable::described(CopyWhat::AgentConfig, text, format!("for {file}")));
    std::iter::once(flags).chain(file).chain(agent).collect()
}

/// Returns the limits as flags for the command line.
fn flags(policy: &Policy) -> String {
    let set = policy.params().iter().filter(|param| policy.is_set(&param.name));
    let set = set.filter_map(|param| {
        let set = format!("{}={}", param.name, policy.get(&param.name)?);
        Some(format!(" --set {}", word(set.as_bytes())))
    });
    format!("--policy {}{}", word(policy.name().as_bytes()), set.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_figures() {
        assert_eq!(step(2000, true, 1), 3000);
        assert_eq!(step(2000, false, 1), 1500);
        assert_eq!(step(0, true, 1), 1);
        assert_eq!(step(1, false, 1), 0);
        assert_eq!(step(51_200, true, 1024), 75 * 1024);
        assert_eq!(step(51_200, false, 1024), 40 * 1024);
    }

    #[test]
    fn stepping_up_and_down_ends_where_it_began() {
        let up = (0..12).fold(1, |value, _| step(value, true, 1));
        assert_eq!((0..12).fold(up, |value, _| step(value, false, 1)), 1);
    }

    #[test]
    fn the_largest_figures_end_the_steps() {
        assert_eq!(step(u64::MAX, true, 1), u64::MAX);
        assert_eq!(step(u64::MAX, false, 1), 15 * 10_u64.pow(18));
        assert_eq!(step(u64::MAX - 1023, true, 1024), u64::MAX - 1023);
        let held = (0..1000).fold(1, |value, _| step(value, true, 1));
        assert_eq!(held, 15 * 10_u64.pow(18));
        assert_eq!((0..1000).fold(held, |value, _| step(value, false, 1)), 0);
    }

    fn words(was: Option<Share>, is: Share) -> String {
        line_in_words(&LineFate { number: Some(6330), was, is })
    }

    #[test]
    fn a_line_is_said_to_change_only_if_it_did() {
        assert_eq!(words(Some(Share::None), Share::Whole), "line 6,330 is now kept");
        assert_eq!(words(Some(Share::None), Share::None), "line 6,330 is still lost");
        assert_eq!(words(Some(Share::Whole), Share::Some), "line 6,330 is now kept in part");
        assert_eq!(words(None, Share::Whole), "line 6,330 is kept");
    }

    #[test]
    fn a_change_names_the_limits_that_changed() {
        let from = crate::preview::Catalog::builtin().get("opencode/output").expect("a policy");
        let mut to = from.clone();
        assert_eq!(change(&from, &to), None);
        to.set_max_lines(3000).expect("a limit");
        to.set_max_size(75 << 10).expect("a limit");
        assert_eq!(change(&from, &to).as_deref(), Some("max lines 3,000, max bytes 75 KB"));
        let other = crate::preview::Catalog::builtin().get("pi/bash").expect("a policy");
        assert_eq!(change(&from, &other).as_deref(), Some("pi/bash"));
    }
}
