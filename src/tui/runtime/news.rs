//! News of an output while it is being made, and how the screens were left.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use crate::capture::Control;
use crate::text::label::SafeText;
use crate::tui::target::Ending;

/// The output that is still being made and is shown first.
pub struct Live {
    /// What makes it.
    pub maker: Maker,
    pub news: Receiver<LiveNews>,
}

/// What makes an output.
#[derive(Debug, Clone)]
pub enum Maker {
    /// A command run by overspill; it stops when overspill does.
    Command(Control),
    /// Another program that writes to overspill's standard input.
    Stream,
}

/// News of an output while it is being made.
#[derive(Debug)]
pub enum LiveNews {
    /// An error message.
    Fault(String),
    /// The notices print this path from now on.
    SavedAs(String),
    /// The output is complete.
    Over(Completed),
}

/// How an output was completed.
#[derive(Debug)]
pub struct Completed {
    /// A message for the user, if there is one.
    pub words: Option<String>,
    /// The path of the saved output; `None` if it is not kept.
    pub path: Option<PathBuf>,
    /// The path that the notices print from now on.
    pub saved_as: String,
    /// How it ended.
    pub ending: Ending,
}

/// How the screens were left.
#[derive(Debug, Default)]
pub struct Parting {
    /// Messages to print once the terminal is restored.
    pub words: Vec<SafeText>,
    /// The signal that asked overspill to end, if the output still has to be completed.
    pub signal: Option<i32>,
}
