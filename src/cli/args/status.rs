//! The exit statuses of each command, for help and man pages.

/// A term, and what it means.
pub(crate) type Item = (&'static str, &'static str);

const SUCCESS: Item = ("0", "Success, or nothing to do.");
const FAILURE: Item = ("1", "What was named does not exist or cannot be read.");
const INCOMPLETE: Item = ("1", "Something named cannot be read; the figures lack it.");
const STAYED: Item = ("1", "What was named does not exist, or something was not deleted.");
const USAGE: Item = ("2", "Usage error, or a mistake in the configuration.");
const CRASH: Item = ("3", "The agent itself would crash on this output.");

/// Returns the exit statuses of a subcommand; the empty name is the program without one.
pub(crate) fn exit_statuses(command: &str) -> &'static [Item] {
    match command {
        "run" => RUN,
        "preview" | "read" => &[SUCCESS, FAILURE, USAGE, CRASH],
        "compare" | "tune" => &[SUCCESS, INCOMPLETE, USAGE],
        "rm" | "clean" => &[("0", "Deleted, nothing to delete, or answered with no."), STAYED, USAGE],
        "explain" => &[
            ("0", "A notice was recognised."),
            ("1", "None was recognised, or the text cannot be read."),
            USAGE,
        ],
        "grep" => &[
            ("0", "There are hits."),
            ("1", "There are none."),
            ("2", "Something could not be searched; usage error; faulty configuration."),
        ],
        "verify" => {
            &[SUCCESS, ("1", "A policy makes another text than was recorded, or a record is missing."), USAGE]
        }
        "hook" => &[
            ("0", "Answered, or there is nothing to say."),
            ("1", "Any failure. Never 2, by which agents stop what they do."),
        ],
        _ => &[SUCCESS, FAILURE, USAGE],
    }
}

const RUN: &[Item] = &[
    ("n", "The command ended with status n."),
    ("128+n", "Signal n ended the command, or reached overspill."),
    ("141", "The reader of standard output exited."),
    ("127, 126", "The command was not found, or is not executable."),
    ("125", "overspill itself failed."),
    ("124", "The command timed out."),
    ("2", "Usage error, or a mistake in the configuration; nothing was run."),
];
