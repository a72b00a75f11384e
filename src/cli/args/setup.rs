//! Arguments of `overspill setup`.

use clap::Args as Group;

use super::hook::HookAgent;

#[derive(Debug, Group)]
pub(crate) struct SetupArgs {
    /// The agent to set up
    #[arg(value_name = "AGENT")]
    pub agent: HookAgent,
    /// Set up the project in the current directory, not the user (claude-code, gemini-cli, opencode)
    #[arg(long)]
    pub project: bool,
    /// Print the file as it would be, and write nothing
    #[arg(long)]
    pub print: bool,
    /// Take away what setup added, and leave the file as it was
    #[arg(long, conflicts_with_all = ["replace", "capture"])]
    pub remove: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Let the hook put the start, the errors and the end of a long output in place of its preview (claude-code)
    #[arg(long)]
    pub replace: bool,
    /// Also save the outputs of which the agent keeps no copy (claude-code)
    #[arg(long)]
    pub capture: bool,
}
