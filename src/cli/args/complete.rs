//! Arguments by which the completion scripts ask what fits.

use std::ffi::OsString;

use clap::{Args as Group, ValueEnum};

#[derive(Debug, Group)]
pub(crate) struct CompleteArgs {
    /// Shell that asks
    pub shell: CompletedBy,
    /// bash: the characters at which it breaks words
    pub breaks: String,
    /// bash: the line up to the cursor; other shells: the words after the program's name, the last at the cursor
    #[arg(last = true)]
    pub words: Vec<OsString>,
}

/// A shell whose script asks what fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletedBy {
    /// bash, which gives its line
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}
