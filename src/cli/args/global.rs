//! Options that every command takes.

use clap::{Args as Group, ColorChoice, ValueEnum};

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

impl ColorWhen {
    /// Reads `--color` off the words before `--`, for what is reported before they are understood.
    pub(super) fn from_words(words: &[std::ffi::OsString]) -> ColorChoice {
        let words: Vec<&str> =
            words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
        let apart = words.windows(2).filter(|pair| pair[0] == "--color").map(|pair| pair[1]);
        let joined = words.iter().filter_map(|word| word.strip_prefix("--color="));
        match apart.chain(joined).last() {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            _ => ColorChoice::Auto,
        }
    }
}
