//! Says what a change of limits did: to the line under examination, to the matches, and to what the model gets.

use crate::human::thousands;
use crate::preview::Policy;

use super::Pager;
use super::fates::Share;
use super::hold::LineFate;
use super::limits::{difference, size_in_words};

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

    /// Describes what the model gains or loses compared with the limits at the start.
    fn gained(&self) -> String {
        let output = &self.output;
        if output.limits_are_first() {
            return "limits as at the start".to_owned();
        }
        difference(output).unwrap_or_else(|| output.limits())
    }

    /// Describes how many of the matches the model gets, if there is a search.
    fn got(&self) -> Option<String> {
        self.find.pattern.as_ref()?;
        let (output, tally) = (&self.output, &self.find.tally);
        let got = tally.got(&output.kept, output.view.len())?;
        let more = if tally.is_whole(output.view.len()) { "" } else { "+" };
        let verb = output.certainty().verb();
        Some(format!("model {verb} {} of {}{more}", thousands(got), thousands(tally.counts.total())))
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

#[cfg(test)]
mod tests {
    use super::*;

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
