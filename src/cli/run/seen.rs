//! What is printed of an output that the screens have shown: the notices and where it is, not the whole preview again.

use std::borrow::Cow;
use std::io::Write;

use crate::base::human::{count, lines, size};
use crate::capture::FinishedCapture;
use crate::cli::safe::SafeWriter;
use crate::cli::{CommandResult, Failure, fail, say};
use crate::preview::{Part, Status};

/// Maximum number of notices that are printed at either end: some policies add one to every long line.
const MAX_NOTICES: usize = 5;

/// Prints the notices of the preview, then the remarks about it.
pub(super) fn print(finished: &FinishedCapture) -> CommandResult {
    finished.warnings.iter().for_each(|warning| say(warning));
    let mut out = SafeWriter::stdout();
    for notice in brief(notices(&finished.preview.parts)) {
        writeln!(out, "{notice}")?;
    }
    out.end()?;
    match &finished.preview.status {
        Status::Crashed(words) => fail(&Failure::Crashed(words.clone()).to_string()),
        Status::Ok if !finished.preview.truncated => say(&not_cut(finished)),
        Status::Ok => {}
    }
    super::say_where(finished);
    Ok(())
}

/// Returns the notices, without the empty lines around them.
fn notices(parts: &[Part]) -> Vec<Cow<'_, str>> {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Notice { text } => Some(text.trim_matches('\n')),
        _ => None,
    });
    texts.filter(|text| !text.is_empty()).map(Cow::from).collect()
}

/// Returns the notices with the middle ones left out, if there are many.
fn brief(mut notices: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    let more = notices.len().saturating_sub(2 * MAX_NOTICES);
    if more > 0 {
        let words = format!("({} left out; --print prints the whole preview)", count(more as u64, "notice"));
        notices.splice(MAX_NOTICES..MAX_NOTICES + more, [words.into()]);
    }
    notices
}

/// Says that the model got everything: without a cut there may be no notice.
fn not_cut(finished: &FinishedCapture) -> String {
    let seen = &finished.captured.stdout.seen;
    format!("nothing was cut: {}, {}", lines(seen.lines), size(seen.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(texts: &[&str]) -> Vec<Part> {
        texts.iter().map(|text| Part::Notice { text: (*text).to_owned() }).collect()
    }

    #[test]
    fn empty_lines_around_a_notice_are_left_out() {
        assert_eq!(notices(&parts(&["\n\na\n\nb\n", "\n"])), ["a\n\nb"]);
    }

    #[test]
    fn only_the_first_and_last_of_many_notices_are_printed() {
        let texts: Vec<String> = (0..1400).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = parts(&texts);
        let words = "(1,390 notices left out; --print prints the whole preview)";
        let ends = ["0", "1", "2", "3", "4", words, "1395", "1396", "1397", "1398", "1399"];
        assert_eq!(brief(notices(&all)), ends);
        assert_eq!(brief(notices(&all[..10])).len(), 10);
    }
}
