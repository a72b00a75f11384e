//! All command-line arguments.

pub mod help;
pub(crate) mod parse;
mod see;
mod setup;
mod shared;
mod stored;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as Group, Parser, Subcommand, ValueEnum};

use parse::Deferred;

pub(crate) use see::{
    CallerLimits, CompareArgs, ExplainArgs, PreviewArgs, ReadArgs, RunArgs, SpillLayout, UnreadAction,
};
pub(crate) use setup::{CompleteArgs, ConfigArgs, HookArgs, PoliciesArgs, SetupArgs};
pub(crate) use shared::{FormArgs, LimitArgs, PolicyArgs, SaveArgs, TextForm, first};
pub(crate) use stored::{
    CallSort, CallText, CallsArgs, CleanArgs, GrepArgs, ListArgs, RmArgs, SessionsArgs, ShowArgs, StoresArgs,
    TuneArgs, VerifyArgs,
};

/// See exactly what the model saw of a tool's output, and page through the rest
///
/// With a file, an id or standard input, shows that output: the preview that the model got, and the whole
/// spill. Without arguments, browses all stored outputs.
///
/// A file named like a command is written ./NAME. Sizes: 50k, 50KB and 50KiB are 51200 bytes. `overspill completions
/// SHELL` prints a completion script, `overspill man [COMMAND]` a man page.
#[derive(Debug, Parser)]
#[command(
    bin_name = "overspill",
    version,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    max_term_width = 80,
    override_usage = "overspill [OPTIONS] [FILE|ID|-|--demo]...\n       overspill COMMAND [OPTIONS]"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Files or ids to show; - is standard input
    ///
    /// On a terminal, +N, +G or +/PATTERN before a file opens it at line N, at its end or at the first match, and FILE:N
    /// at line N.
    #[arg(value_name = "FILE|ID|-", hide_short_help = true)]
    pub files: Vec<OsString>,
    /// Print FILE and exit if it fits on one screen, as less does
    #[arg(short = 'F', long = "quit-if-one-screen", hide_short_help = true)]
    pub one_screen: bool,
    /// Show a sample: a build's output whose error the model did not get
    #[arg(long, conflicts_with = "files", hide_short_help = true)]
    pub demo: bool,
    #[command(flatten)]
    pub policy_args: PolicyArgs,
    #[command(flatten)]
    pub saving: SaveArgs,
    /// Read FILE instead of ~/.config/overspill/config.toml
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    // Last: its heading would apply to the arguments after it.
    #[command(flatten)]
    pub global: GlobalArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print exactly what the model would get, and nothing else
    Preview(Deferred<PreviewArgs>),
    /// Print one window of a file as the agent's read tool would
    Read(Deferred<ReadArgs>),
    /// Run a command, save its output, and print what the model gets
    #[command(override_usage = "overspill run [OPTIONS] -- CMD [ARG]...")]
    Run(Deferred<RunArgs>),
    /// List stored outputs: size, age, and when the agent deletes them
    #[command(alias = "ls")]
    List(Deferred<ListArgs>),
    /// Show what in overspill's own store has expired, and delete it
    Clean(Deferred<CleanArgs>),
    /// Show what is known of an output, a session or a call
    ///
    /// For a call, --text prints what the model got, byte for byte: the text as it was sent if the records hold the request,
    /// else as the agent recorded it.
    Show(Deferred<ShowArgs>),
    /// Delete the given stored outputs
    Rm(Deferred<RmArgs>),
    /// List where agents keep outputs and for how long
    ///
    /// With a name, prints that agent's store file, to save and edit.
    Stores(Deferred<StoresArgs>),
    /// Compare what the model would get under each policy
    ///
    /// Prints one row per policy.
    Compare(Deferred<CompareArgs>),
    /// Search all stored outputs, and see which hits the model got
    ///
    /// Prints hits as rg does, each with `kept` or why the model did not get the line.
    #[command(
        after_help = "An output that is rewritten meanwhile is searched once more; hits of two contents are never mixed."
    )]
    Grep(Deferred<GrepArgs>),
    /// Find better limits for a policy, judged on all stored outputs
    ///
    /// Tries settings around the policy's limits on every output. Prints the settings that no other beats on both
    /// errors and tokens. Nothing is changed.
    Tune(Deferred<TuneArgs>),
    /// List the sessions that agents recorded, or the calls of one
    ///
    /// With a session, lists its tool calls and what the model got for each. With several of --cut, --never-saved,
    /// --deleted and --failed, a call is listed if one of them applies.
    Sessions(Deferred<SessionsArgs>),
    /// Check the policies against what the agents recorded
    ///
    /// Cuts each spill again by its policy, and compares the result with the recorded one.
    Verify(Deferred<VerifyArgs>),
    /// Explain a notice: which policy wrote it, and where the output is
    ///
    /// Takes any text: a pasted notice, a tool's result, a whole transcript. For each notice: which policy wrote it, how much
    /// was lost, and whether the cited file exists and matches.
    Explain(Deferred<ExplainArgs>),
    /// List how each agent cuts outputs
    ///
    /// With a name, prints that policy's file, to save and edit.
    Policies(Deferred<PoliciesArgs>),
    /// Set an agent up so that its model is told what was cut
    ///
    /// Adds `overspill hook` to the agent's own file. Shows the change as a diff, asks, backs up the file beside it,
    /// and tests the hook. Comments and all other settings stay.
    Setup(Deferred<SetupArgs>),
    /// Answer an agent's hook: tell the model what was cut
    ///
    /// Reads what the agent passes to a hook. After a command whose output was cut, prints a note for the model on what it
    /// did not get; otherwise nothing. docs/agents.md has the settings to add.
    #[command(hide = true)]
    Hook(Deferred<HookArgs>),
    /// List the settings in effect, and where each comes from
    ///
    /// With --init, writes a configuration file with comments.
    Config(Deferred<ConfigArgs>),
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions {
        /// Name of the shell
        shell: clap_complete::Shell,
    },
    /// Print a man page
    ///
    /// Each subcommand has its own.
    #[command(hide = true)]
    Man {
        /// Name of a subcommand [default: the main page]
        subcommand: Option<String>,
    },
    /// List completions at the cursor, for the scripts
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArgs),
}

/// How the program writes.
#[derive(Debug, Default, Clone, Copy, Group)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// When to use colours [default: auto, on terminals]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<ColorWhen>,
    /// Print only errors to standard error
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print the headings of tables in pipes and files, too
    #[arg(long, global = true)]
    pub header: bool,
    /// Write nothing but ASCII to terminals [default: only where the locale is not UTF-8]
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// When to use colours.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On terminals, unless NO_COLOR is set; in tables and help everywhere if CLICOLOR_FORCE is set and not 0
    #[default]
    Auto,
    /// Everywhere; texts are escaped as on a terminal
    Always,
    /// Nowhere
    Never,
}

fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| match text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        true => format!("it is too large; the largest is {}", u64::MAX),
        false => format!("'{text}' is not a whole number from 0 on; write 500"),
    })
}
