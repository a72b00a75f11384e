//! How hits are printed: as rg prints them, with whether the model got each line.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::base::human::{size, span};
use crate::base::provenance::Certainty;
use crate::cli::terminal;
use crate::corpus::{Hit, LineReceipt};
use crate::text::cells::Show;
use crate::text::label::{label, write_safe};
use crate::text::search::Pattern;
use crate::text::supply::OwnBytes;
use crate::text::units;

/// A longer line is printed in part, in bytes: in a pipe, and on a terminal.
const MAX_IN_PIPE: usize = 64 << 10;
const MAX_ON_TERMINAL: usize = 2 << 10;

/// Bytes before the match that a part of a line begins with.
const BEFORE: usize = 200;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrepForm {
    /// One JSON object per line.
    Json,
    /// `path:line:fate:text`, byte for byte.
    Pipe,
    /// Headings and escaped text.
    Terminal,
    /// The same with colours.
    Colour,
}

/// What is printed of an output besides its hits.
#[derive(Debug)]
pub(super) struct Heading<'a> {
    pub path: &'a Path,
    pub agent: Option<String>,
    pub id: Option<String>,
    /// Seconds since the last change.
    pub age: Option<u64>,
    /// The name of the policy, or why there is none.
    pub policy: String,
    /// How certain it is that a model got what that policy makes; `None` if there is none.
    pub certainty: Option<Certainty>,
}

#[derive(Serialize)]
struct HitJson<'a> {
    path: &'a str,
    agent: Option<&'a str>,
    id: Option<&'a str>,
    line: u64,
    offset: usize,
    text: &'a str,
    certainty: Option<&'static str>,
    kept: Option<bool>,
    lost_by: Option<&'static str>,
}

impl GrepForm {
    pub(super) fn has_headings(self) -> bool {
        matches!(self, GrepForm::Terminal | GrepForm::Colour)
    }

    /// Writes what precedes the hits of an output. It begins with the line feed that separates it from the output before.
    pub(super) fn heading(self, out: &mut Vec<u8>, heading: &Heading) -> io::Result<()> {
        if !self.has_headings() {
            return Ok(());
        }
        let path = label(heading.path.as_os_str().as_bytes());
        let agent = heading.agent.as_deref().map(|agent| label(agent.as_bytes()));
        let facts = [agent, heading.age.map(span), Some(label(heading.policy.as_bytes()))];
        let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let (name, dim) = (self.style(AnsiColor::Magenta), self.dim());
        writeln!(out, "\n{name}{path}{name:#}  {dim}{facts}{dim:#}")
    }

    /// Writes the name of an output with hits, and how many there are where they are counted.
    pub(super) fn total(self, out: &mut Vec<u8>, path: &Path, count: Option<u64>) -> io::Result<()> {
        let bytes = path.as_os_str().as_bytes();
        let name = self.style(AnsiColor::Magenta);
        match self.has_headings() {
            true => write!(out, "{name}{}{name:#}", label(bytes))?,
            false => out.write_all(bytes)?,
        }
        writeln!(out, "{}", count.map_or_else(String::new, |count| format!(":{count}")))
    }

    pub(super) fn hit(
        self,
        out: &mut Vec<u8>,
        heading: &Heading,
        (hit, got): (&Hit, LineReceipt),
        pattern: &Pattern,
    ) -> io::Result<()> {
        let most = if self.has_headings() { MAX_ON_TERMINAL } else { MAX_IN_PIPE };
        let text = part_of(hit, most, pattern);
        match self {
            GrepForm::Json => return json(out, heading, (hit, got), &text),
            GrepForm::Pipe => {
                out.write_all(heading.path.as_os_str().as_bytes())?;
                write!(out, ":{}:{}:", hit.number, got.describe())?;
                out.write_all(&text)?;
                if text.len() == hit.line.len() && hit.has_return {
                    out.write_all(b"\r")?;
                }
            }
            GrepForm::Terminal | GrepForm::Colour => {
                let number = self.style(AnsiColor::Green);
                let fate = if got == LineReceipt::Kept { self.dim() } else { self.style(AnsiColor::Yellow) };
                let words = got.describe();
                write!(out, "{number}{}{number:#}:{fate}{words}{fate:#}:", hit.number)?;
                self.text(out, text, pattern)?;
            }
        }
        if text.len() < hit.line.len() {
            write!(out, " [{} of a line of {}]", size(text.len() as u64), size(hit.line.len() as u64))?;
        }
        out.write_all(b"\n")
    }

    /// Writes text for a terminal, with the matches in colour.
    fn text(self, out: &mut Vec<u8>, text: OwnBytes, pattern: &Pattern) -> io::Result<()> {
        let mut at = 0;
        let show = terminal::show(&io::stdout()).unwrap_or(Show::MODEL);
        let mark = if self == GrepForm::Colour { AnsiColor::Red.on_default().bold() } else { Style::new() };
        for found in pattern.find_from(text, 0) {
            write_safe(out, text.get(at..found.start).unwrap_or_default(), &show, false)?;
            write!(out, "{mark}")?;
            write_safe(out, text.get(found.clone()).unwrap_or_default(), &show, false)?;
            write!(out, "{mark:#}")?;
            at = found.end;
        }
        write_safe(out, text.get(at..).unwrap_or_default(), &show, false)
    }

    fn style(self, colour: AnsiColor) -> Style {
        if self == GrepForm::Colour { colour.on_default() } else { Style::new() }
    }

    fn dim(self) -> Style {
        if self == GrepForm::Colour { Style::new().dimmed() } else { Style::new() }
    }
}

fn json(out: &mut Vec<u8>, of: &Heading, (hit, got): (&Hit, LineReceipt), text: &[u8]) -> io::Result<()> {
    let record = HitJson {
        path: &of.path.to_string_lossy(),
        agent: of.agent.as_deref(),
        id: of.id.as_deref(),
        line: hit.number,
        offset: hit.line.start,
        text: &String::from_utf8_lossy(text),
        certainty: of.certainty.map(Certainty::as_str),
        kept: got.is_kept(),
        lost_by: got.lost_by(),
    };
    crate::cli::json(out, &record)
}

/// Returns the part of a line to print, at most `most` bytes: its start, or what surrounds the first match if that lies
/// further on.
fn part_of<'a>(hit: &Hit<'a>, most: usize, pattern: &Pattern) -> OwnBytes<'a> {
    let line = hit.text;
    if hit.line.len() <= most {
        return line;
    }
    let found = pattern.find_from(line, 0).next().unwrap_or(0..0);
    let start = if hit.text_at + found.end <= most { 0 } else { found.start.saturating_sub(BEFORE) };
    let end = start.saturating_add(most).min(line.len());
    let end = if end < line.len() { units::element_start(&line, end).max(start + 1) } else { end };
    line.part(units::element_start(&line, start)..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_printed_around_its_match() {
        let pattern = Pattern::new("needle").unwrap();
        let at = |before: usize| {
            let line = [vec![b'x'; before], b"needle".to_vec(), vec![b'y'; 10_000]].concat();
            let text = OwnBytes::from(&line);
            let hit = Hit { number: 1, line: 0..line.len(), text, text_at: 0, has_return: false };
            let part = part_of(&hit, 2048, &pattern);
            let start = part.as_ptr().addr() - line.as_ptr().addr();
            start..start + part.len()
        };
        assert_eq!(at(0), 0..2048);
        assert_eq!(at(2000), 0..2048);
        assert_eq!(at(5000), 4800..6848);
        assert_eq!(at(2045), 1845..3893);
    }
}
