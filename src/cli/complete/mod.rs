//! `overspill __complete`: says what fits where the cursor is, for the completion scripts in `assets/completions`.
//!
//! The first line names what the shell has to add itself: `words` nothing, `parts` nothing and no space, `files`, `dirs`,
//! `command N` the completions of the command that begins at word N. Each further line is a word that fits, for zsh and
//! fish with a tab and what it is.

mod cursor;
mod line;
mod values;

use std::ffi::OsString;
use std::io::Write as _;

use crate::cli::CommandResult;
use crate::cli::args::{CompleteArgs, CompletedBy, help};

use cursor::{TypedWord, WordPlace};
use values::Completions;

/// Prints what fits. Whatever goes wrong, nothing is written to standard error, and nothing fits then.
pub(crate) fn run(args: &CompleteArgs) -> CommandResult {
    let mut root = help::command();
    root.build();
    let words: Vec<String> = match args.shell {
        CompletedBy::Bash => line::split(&args.words.first().map(text).unwrap_or_default()),
        CompletedBy::Zsh | CompletedBy::Fish => args.words.iter().map(text).collect(),
    };
    let cursor = TypedWord::parse(&root, &words);
    let completions = complete(&root, &cursor);
    let mut text = format!("{}\n", completions.kind);
    for (value, what) in completions.safe(&cursor.prefix, &cursor.typed) {
        match args.shell {
            CompletedBy::Bash => text.push_str(line::tail(&value, &cursor.whole(), &args.breaks)),
            CompletedBy::Zsh | CompletedBy::Fish => text.push_str(&format!("{value}\t{what}")),
        }
        text.push('\n');
    }
    Ok(crate::cli::safe::stdout().write_all(text.as_bytes())?)
}

fn text(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

fn complete(root: &clap::Command, cursor: &TypedWord) -> Completions {
    match cursor.place {
        WordPlace::Flag => values::flags(cursor.command),
        WordPlace::Value(arg) => values::complete(root, cursor, arg),
        WordPlace::Positional(arg) => {
            let mut completions =
                arg.map_or_else(Completions::none, |arg| values::complete(root, cursor, arg));
            if cursor.positionals == 0 {
                completions.words.extend(values::subcommands(cursor.command));
            }
            completions
        }
        WordPlace::Command(at) => Completions::command(at),
    }
}
