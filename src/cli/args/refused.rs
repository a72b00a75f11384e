//! Reports command lines that cannot be parsed, without ever printing an argument raw.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::ColorChoice;
use clap::error::{ContextValue, Error};

use crate::cli::safe::{MAX_LINE, put, stdout};
use crate::cli::terminal::help_colour;
use crate::text::label::label;

use super::ColorWhen;

/// What clap begins its errors with, and what overspill begins all its errors with.
const PREFIXES: [&str; 2] = ["error:", "overspill:"];

/// Prints the error, or the requested help or version. Returns the exit status.
pub(crate) fn report(mut error: Error) -> u8 {
    let status = u8::try_from(error.exit_code()).unwrap_or(2);
    if !error.use_stderr() {
        let (text, mut out) = (coloured(&error, &io::stdout()), stdout());
        return match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                put(&format!("{} {error}\n", PREFIXES[1]));
                1
            }
            _ => status,
        };
    }
    let text = safe(&mut error).unwrap_or_else(|| coloured(&error, &io::stderr()));
    put(&with_own_prefix(&text));
    status
}

/// Returns the message in clap's colours, if the stream is to be coloured.
fn coloured(error: &Error, stream: &impl IsTerminal) -> String {
    let words: Vec<OsString> = std::env::args_os().collect();
    let is_coloured = match ColorWhen::from_words(&words) {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => help_colour(stream),
    };
    let text = error.render();
    if is_coloured { text.ansi().to_string() } else { text.to_string() }
}

/// Begins the message as all others begin.
fn with_own_prefix(text: &str) -> String {
    text.replacen(PREFIXES[0], PREFIXES[1], 1)
}

/// Returns the message with unsafe characters escaped, without colour; `None` if it is safe as it is.
fn safe(error: &mut Error) -> Option<String> {
    let named: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, escape(value)?))).collect();
    // A text that had its escape sequences removed would silently lose those in the arguments.
    let reason = std::error::Error::source(&*error).map(ToString::to_string);
    let is_raw = !named.is_empty() || reason.is_some_and(|text| label(text.as_bytes()) != text);
    for (kind, value) in named {
        error.insert(kind, value);
    }
    let text = error.render().to_string();
    let lines: Vec<String> = text.split('\n').map(|line| label(line.as_bytes())).collect();
    let is_long = lines.iter().any(|line| line.len() > MAX_LINE);
    let lines = lines.join("\n");
    // Of a long one the middle is left out, where styles may begin or end.
    (is_raw || lines != text || is_long).then_some(lines)
}

/// Returns an argument with unsafe characters escaped; `None` if that changes nothing. (Usage and suggestions are
/// clap's own text, in its own colours.)
fn escape(value: &ContextValue) -> Option<ContextValue> {
    let safe = |word: &String| label(word.as_bytes());
    let named = match value {
        ContextValue::String(word) => ContextValue::String(safe(word)),
        ContextValue::Strings(words) => ContextValue::Strings(words.iter().map(safe).collect()),
        _ => return None,
    };
    (named != *value).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Args;
    use clap::Parser;

    fn said(words: &[&str]) -> Option<String> {
        safe(&mut Args::try_parse_from([&["overspill"], words].concat()).unwrap_err())
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
