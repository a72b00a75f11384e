//! Arguments of `overspill run`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args as Group, ValueEnum};

use crate::human;

use super::{FormArgs, PolicyArgs, SaveArgs};

/// The words of `overspill run`.
#[derive(Debug, Group)]
pub(crate) struct RunArgs {
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub command: Vec<OsString>,
    /// Watch preview and spill on the screen while the command runs (its standard input is empty)
    #[arg(short, long, conflicts_with_all = ["split", "json"])]
    pub interactive: bool,
    /// With -i, print the whole preview on leaving the screen, not only its notice
    #[arg(long, requires = "interactive")]
    pub print: bool,
    /// Capture standard error separately, with its own file and preview
    #[arg(long)]
    pub split: bool,
    /// Give the command its own terminal, for colours and for programs that need one
    #[arg(long, conflicts_with = "split")]
    pub pty: bool,
    /// Stop the command after this time: 90, 1.5s, 2m, 1h
    #[arg(long, value_name = "TIME", value_parser = human::parse_duration)]
    pub timeout: Option<Duration>,
    /// What to do if the reader of overspill's output exits
    #[arg(long, value_name = "WHAT", default_value = "spill")]
    pub sigpipe: Unread,
    /// Where to put spills, and how to name them
    #[arg(long, value_name = "WHOSE", default_value = "own")]
    pub layout: LayoutOf,
    /// Session name, for --layout agent with agents that group spills by session
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    #[command(flatten)]
    pub saving: SaveArgs,
    #[command(flatten)]
    pub look: PolicyArgs,
    #[command(flatten)]
    pub form: FormArgs,
}

/// What to do with a command if the reader of its preview exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unread {
    /// Let the command go on, and save its output
    Spill,
    /// Stop the command: TERM, then KILL two seconds later
    Kill,
}

/// Whose layout a spill is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutOf {
    /// In overspill's own store
    Own,
    /// Where the policy's agent puts it, under the agent's names
    Agent,
}
