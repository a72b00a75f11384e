//! Arguments of the commands that set overspill up, of `policies` and of completion.

use std::ffi::OsString;

use clap::Args as Group;

use crate::hook::HookAgent;

#[derive(Debug, Group)]
pub(crate) struct PoliciesArgs {
    /// List this agent's policies, or print this policy's file
    #[arg(value_name = "AGENT|NAME")]
    pub name: Option<String>,
    /// Include policies of earlier versions
    #[arg(long)]
    pub all: bool,
    /// Print a JSON array
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct ConfigArgs {
    /// Show the settings as they are with this policy
    #[arg(short, long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Show the settings as they are for this tool
    #[arg(short, long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    /// Write a configuration file with every setting as a comment, and print its path
    #[arg(long, conflicts_with_all = ["policy", "tool", "json"])]
    pub init: bool,
}

#[derive(Debug, Group)]
pub(crate) struct HookArgs {
    /// The agent that runs the hook
    #[arg(value_name = "AGENT")]
    pub agent: HookAgent,
    /// Put the start, the errors and the end of a long output in place of its preview (claude-code)
    #[arg(long)]
    pub replace: bool,
}

#[derive(Debug, Group)]
pub(crate) struct SetupArgs {
    /// The agent to set up
    #[arg(value_name = "AGENT")]
    pub agent: HookAgent,
    /// Set up only the project in the current directory (not codex)
    #[arg(long)]
    pub project: bool,
    /// Print the file as it would be, and write nothing
    #[arg(long)]
    pub print: bool,
    /// Remove what setup added
    #[arg(long, conflicts_with_all = ["replace", "capture"])]
    pub remove: bool,
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
    /// Let the hook put the start, the errors and the end of a long output in place of its preview (claude-code)
    #[arg(long)]
    pub replace: bool,
    /// Also save outputs that the agent does not (claude-code)
    #[arg(long)]
    pub capture: bool,
}

#[derive(Debug, Group)]
pub(crate) struct CompleteArgs {
    /// Shell that asks
    pub shell: clap_complete::Shell,
    /// bash: the characters at which it breaks words
    pub breaks: String,
    /// bash: the line up to the cursor; other shells: the words after the program's name, the last at the cursor
    #[arg(last = true)]
    pub words: Vec<OsString>,
}
