//! What is said of a command line that cannot be parsed: words given on it are never printed raw.

use crate::text::safe::label;
use clap::error::{ContextValue, Error};
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints what is wrong, or the help or the version that was asked for; the status to exit with.
pub(super) fn tell(error: Error) -> ExitCode {
    let status = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    match safe(&error) {
        None => {
            let _ = error.print();
        }
        Some(text) => {
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }
    status
}

/// The message with what is unsafe named; nothing where all of it is safe as it is.
fn safe(error: &Error) -> Option<String> {
    let given: Vec<String> = error.context().flat_map(|(_, value)| words(value)).collect();
    let mut text = error.render().to_string();
    for word in given.iter().filter(|word| word.contains('\n')) {
        text = text.replace(word.as_str(), &label(word.as_bytes()));
    }
    let safe: Vec<String> = text.split('\n').map(|line| label(line.as_bytes())).collect();
    let safe = safe.join("\n");
    (safe != error.render().to_string()).then_some(safe)
}

/// What was given on the command line; clap's own words (suggestions, usage) are not among these.
fn words(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(word) => vec![word.clone()],
        ContextValue::Strings(words) => words.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Args;
    use clap::Parser;

    fn said(words: &[&str]) -> Option<String> {
        safe(&Args::try_parse_from([&["overspill"], words].concat()).unwrap_err())
    }

    #[test]
    fn words_of_the_command_line_are_named_in_its_errors() {
        for (given, shown) in [
            ("--a\u{1b}]0;x\u{7}", "--a^[]0;x^G"),
            ("--\u{9b}31m\u{202e}", "--<9B>31m<202E>"),
            ("--a\nerror: all is well", "--a^Jerror: all is well"),
        ] {
            let text = said(&[given]).unwrap();
            assert!(text.contains(shown), "{text:?}");
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        }
        let text = said(&["--max-lines", "\u{1b}[31m\u{e0068}"]).unwrap();
        assert!(text.contains("^[[31m<E0068>"), "{text:?}");
        assert_eq!(said(&["--help"]), None);
        assert_eq!(said(&["--no-such-flag"]), None);
    }
}
