//! What is told of an output while it is made, and how the screens were left.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use crate::capture::Control;
use crate::preview::Policy;
use crate::text::label::SafeText;

/// What makes the output that is looked at first.
pub struct Live {
    /// What kind of maker it is.
    pub maker: Maker,
    /// What it tells.
    pub news: Receiver<LiveNews>,
}

/// What makes an output.
#[derive(Debug, Clone)]
pub enum Maker {
    /// A command run by overspill; it stops when overspill does.
    Command(Control),
    /// Something else that writes to standard input.
    Stream,
}

/// What is told of an output while it is made.
#[derive(Debug)]
pub enum LiveNews {
    /// Something went wrong: in words.
    Fault(String),
    /// Notices print another path from now on.
    SavedAs(String),
    /// It is over.
    Over(Completed),
}

/// What has become of an output that is whole now.
#[derive(Debug)]
pub struct Completed {
    /// In words, if there is something to say.
    pub words: Option<String>,
    /// Where it is; nowhere if it is not kept.
    pub path: Option<PathBuf>,
    /// The path that notices print from now on.
    pub saved_as: String,
    /// The command's exit status, if it was one.
    pub exit_code: Option<i32>,
    /// The policy that cuts the output of a command that failed, where that is another.
    pub failed: Option<Policy>,
    /// Parameters that are yes because of how it ended, for policies that have them.
    pub told: Vec<&'static str>,
}

/// How the screens were left.
#[derive(Debug, Default)]
pub struct Parting {
    /// What is to be said of it once the terminal is as it was.
    pub words: Vec<SafeText>,
    /// The signal that asked overspill to end, where the output has still to be seen to its end.
    pub signal: Option<i32>,
}
