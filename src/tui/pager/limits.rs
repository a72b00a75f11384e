//! What a change of limits did: to the line under examination, to the matches, and to what the model gets; and limits as
//! text to copy.

use crate::base::human::thousands;
use crate::config;
use crate::corpus::tune::{describe_change, flags};
use crate::preview::Policy;
use crate::text::filter::Share;
use crate::tui::popup::copying::{CopyWhat, Copyable};

use super::Pager;
use super::hold::LineFate;

impl Pager {
    /// Returns the longest description of the last change that fits on the screen.
    pub(crate) fn outcome(&self) -> String {
        let change = self.policy_before().and_then(|before| describe_change(before, self.output.policy()));
        let line = self.line_fate().map(|fate| describe_line(&fate));
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
        let (verb, total) = (output.certainty().verb(), tally.describe(output));
        Some(format!("model {verb} {} of {total}", thousands(got)))
    }
}

fn join(parts: &[&Option<String>]) -> String {
    let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
    parts.join(" · ")
}

/// Describes what became of a line: `line 6,330 is now kept`.
fn describe_line(fate: &LineFate) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_change(was: Option<Share>, is: Share) -> String {
        describe_line(&LineFate { number: Some(6330), was, is })
    }

    #[test]
    fn a_line_is_said_to_change_only_if_it_did() {
        assert_eq!(describe_change(Some(Share::None), Share::Whole), "line 6,330 is now kept");
        assert_eq!(describe_change(Some(Share::None), Share::None), "line 6,330 is still lost");
        assert_eq!(describe_change(Some(Share::Whole), Share::Some), "line 6,330 is now kept in part");
        assert_eq!(describe_change(None, Share::Whole), "line 6,330 is kept");
    }
}
