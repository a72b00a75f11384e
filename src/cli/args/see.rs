//! Arguments of the commands that show what a model gets of an output.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args as Group, ValueEnum};

use crate::base::human::{self, TypedSize};
use crate::capture::Headroom;
use crate::preview::Catalog;

use super::{FormArgs, LimitArgs, PolicyArgs, SaveArgs, whole_number};

#[derive(Debug, Group)]
pub(crate) struct PreviewArgs {
    /// File or id; - (the default) is standard input
    #[arg(value_name = "FILE|ID|-", default_value = "-")]
    pub file: OsString,
    /// Save all of standard input if the policy cuts it, and print the path
    #[arg(long)]
    pub save: bool,
    #[command(flatten)]
    pub saving: SaveArgs,
    #[command(flatten)]
    pub policy_args: PolicyArgs,
    #[command(flatten)]
    pub form: FormArgs,
}

#[derive(Debug, Group)]
pub(crate) struct ReadArgs {
    /// File or id
    #[arg(value_name = "FILE|ID")]
    pub file: OsString,
    /// First line, numbered as the agent's read tool does
    #[arg(long, value_name = "N", value_parser = whole_number)]
    pub offset: Option<u64>,
    /// Maximum number of lines
    #[arg(long, value_name = "M", value_parser = whole_number)]
    pub limit: Option<u64>,
    #[command(flatten)]
    pub policy_args: PolicyArgs,
    #[command(flatten)]
    pub form: FormArgs,
}

#[derive(Debug, Group)]
pub(crate) struct ExplainArgs {
    /// File with a notice, a tool's result or a whole transcript; - (the default) is standard input
    #[arg(value_name = "FILE|-", default_value = "-", conflicts_with = "clipboard")]
    pub file: OsString,
    /// Explain the text in the clipboard
    #[arg(long)]
    pub clipboard: bool,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CompareArgs {
    /// Files, directories or ids; - is standard input
    #[arg(value_name = "FILE|ID|-")]
    pub files: Vec<OsString>,
    /// Compare on all stored outputs
    #[arg(long, conflicts_with = "files")]
    pub stores: bool,
    /// Compare only this policy, or all of an agent; may be repeated
    #[arg(short, long = "policy", value_name = "NAME|AGENT")]
    pub policies: Vec<String>,
    /// Count how many matches of REGEX the model still gets (ignores case unless REGEX has a capital letter) [default: errors]
    #[arg(long, value_name = "REGEX")]
    pub find: Option<String>,
    /// Include policies of earlier versions
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// The words of `overspill run`.
#[derive(Debug, Group)]
// What the command itself will determine.
#[command(mut_arg("stderr", |arg| arg.hide(true)), mut_arg("exit_code", |arg| arg.hide(true)))]
pub(crate) struct RunArgs {
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub command: Vec<OsString>,
    /// Watch preview and spill on the screen while the command runs (its standard input is empty)
    #[arg(short, long, conflicts_with_all = ["split", "json"])]
    pub interactive: bool,
    /// With -i, print the whole preview on leaving the screen, not only its notice
    #[arg(long, hide_short_help = true)]
    pub print: bool,
    /// Capture standard error separately, with its own file and preview
    #[arg(long)]
    pub split: bool,
    /// Give the command its own terminal, for colours and for programs that need one
    #[arg(long)]
    pub pty: bool,
    /// Stop the command after this time: 90, 1.5s, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    pub timeout: Option<Duration>,
    /// What to do if the reader of overspill's output exits
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "spill",
        conflicts_with = "interactive",
        hide_short_help = true
    )]
    pub sigpipe: UnreadAction,
    /// Where to put spills, and how to name them
    #[arg(long, value_name = "WHOSE", default_value = "own", hide_short_help = true)]
    pub layout: SpillLayout,
    /// Session name, for --layout agent with agents that group spills by session
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub session: Option<String>,
    /// Shrink the preview so that the calling agent does not cut it again: 30k (bytes), 200lines, both
    /// (30k,200lines), or that agent's policy (claude-code/bash)
    #[arg(long, value_name = "SIZE|LINES|POLICY", value_parser = caller_limits, conflicts_with_all = ["interactive", "split"])]
    pub headroom: Option<CallerLimits>,
    #[command(flatten)]
    pub saving: SaveArgs,
    #[command(flatten)]
    pub policy_args: PolicyArgs,
    #[command(flatten)]
    pub form: FormArgs,
}

/// What the calling agent passes on to its model without cutting it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallerLimits {
    Given(Headroom),
    /// Those of the policy of this name.
    Policy(String),
}

/// Parses `30k`, `200lines`, both separated by a comma, or the name of a policy.
fn caller_limits(text: &str) -> Result<CallerLimits, String> {
    if text.contains('/') || Catalog::builtin().names_of(text).next().is_some() {
        return Ok(CallerLimits::Policy(text.to_owned()));
    }
    let mut room = Headroom::default();
    for limit in text.split(',').map(str::trim) {
        let lines = ["lines", "line", "l"].iter().find_map(|word| limit.strip_suffix(word));
        let (number, place) = match lines {
            Some(number) => (number.trim().parse().ok(), &mut room.lines),
            None => (limit.parse::<TypedSize>().ok().map(|size| size.number), &mut room.bytes),
        };
        let number = number.filter(|number| *number > 0 && place.is_none());
        let wrong =
            || format!("'{text}' is not a limit; write 30k, 200lines, 30k,200lines, or a policy's name");
        *place = Some(number.ok_or_else(wrong)?);
    }
    Ok(CallerLimits::Given(room))
}

/// What to do with a command if the reader of its preview exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnreadAction {
    /// Let the command go on, and save its output
    Spill,
    /// Stop the command: TERM, then KILL two seconds later
    Kill,
}

/// Whose layout a spill is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpillLayout {
    /// In overspill's own store
    Own,
    /// Where the policy's agent puts it, under the agent's names
    Agent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_caller_limits_as_a_size_lines_or_a_policy() {
        let given = |bytes, lines| Ok(CallerLimits::Given(Headroom { bytes, lines }));
        assert_eq!(caller_limits("30k"), given(Some(30 << 10), None));
        assert_eq!(caller_limits("200lines"), given(None, Some(200)));
        assert_eq!(caller_limits("10 lines, 4000"), given(Some(4000), Some(10)));
        assert_eq!(caller_limits("pi/bash"), Ok(CallerLimits::Policy("pi/bash".into())));
        assert_eq!(caller_limits("pi"), Ok(CallerLimits::Policy("pi".into())));
        for wrong in ["", "0", "0lines", "5,6", "lines", "1l,2l", "many"] {
            assert!(caller_limits(wrong).unwrap_err().contains("is not a limit; write 30k"), "{wrong}");
        }
    }
}
