//! The terminal: what it can do, the writers that escape what goes there, and the question before a change.

use std::io::{self, BufRead, IsTerminal, Stderr, Stdout, StdoutLock, Write};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use rustix::io::Errno;

use crate::base::fs::blocking::{self, BlockingIo};
use crate::text::cells::{Escapes, Show};
use crate::text::{label, units};

use super::args::{ColorWhen, GlobalArgs, TextForm};
use super::usage;

pub(crate) const DUMB: &str =
    "TERM is not set or dumb, so the screens cannot be shown (set TERM to your terminal's type)";

pub(crate) fn has_screen() -> bool {
    io::stdout().is_terminal() && !is_dumb()
}

pub(crate) fn unusable(error: &io::Error) -> String {
    let remedy = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NXIO | Errno::NOENT) => "; no controlling terminal; use `overspill preview` or `list`",
        Some(Errno::MFILE | Errno::NFILE) => "; raise `ulimit -n`",
        Some(_) => "",
        // The library that reads the keys does not pass on the system's error.
        None => "; if file descriptors have run out, raise `ulimit -n`",
    };
    format!("the terminal cannot be used: {error}{remedy}")
}

/// Set once, before anything is written.
static OPTIONS: OnceLock<GlobalArgs> = OnceLock::new();

pub(crate) fn set_options(options: GlobalArgs) {
    let _ = OPTIONS.set(options);
}

pub(crate) fn options() -> GlobalArgs {
    OPTIONS.get().copied().unwrap_or_default()
}

/// Whether to use colours on a terminal, and in what is written as for one.
pub(crate) fn colour() -> bool {
    match options().color.unwrap_or_default() {
        ColorWhen::Auto => !is_set("NO_COLOR"),
        ColorWhen::Always => true,
        ColorWhen::Never => false,
    }
}

pub(crate) fn table_colour() -> bool {
    let is_auto = options().color.unwrap_or_default() == ColorWhen::Auto;
    colour() && (!is_auto || io::stdout().is_terminal() && !is_dumb() || is_forced())
}

/// Whether to use colours in help or errors on a stream, as far as the environment says.
pub(crate) fn help_colour(stream: &impl IsTerminal) -> bool {
    !is_set("NO_COLOR") && (is_forced() || stream.is_terminal() && !is_dumb())
}

fn is_forced() -> bool {
    is_set("CLICOLOR_FORCE") && std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0")
}

/// Whether texts on a stream are escaped as for a terminal: on one, or if colours are wanted everywhere.
pub(crate) fn is_escaped(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() || options().color == Some(ColorWhen::Always)
}

/// How text on a stream is shown, if it is escaped there.
pub(crate) fn show(stream: &impl IsTerminal) -> Option<Show> {
    is_escaped(stream).then(|| Show { ascii: !is_unicode(), ..Show::MODEL })
}

pub(crate) fn is_ascii(stream: &impl IsTerminal) -> bool {
    show(stream).is_some_and(|show| show.ascii)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Whether the terminal cannot move the cursor, which makes it no better than a pipe.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Whether the terminal can be asked for its background: GNU screen, older Linux consoles and Emacs print the question.
pub(crate) fn tells_background() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    let is_screen = (term.starts_with("screen") || is_set("STY")) && !is_set("TMUX");
    !is_screen && term != "linux" && !term.starts_with("eterm")
}

/// Whether to draw with more than ASCII: unless asked otherwise, if the locale is UTF-8, or there is none.
pub(crate) fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let locale = locale.map(|locale| locale.to_ascii_lowercase());
    let is_utf8 = |locale: String| locale.contains("utf-8") || locale.contains("utf8");
    !options().ascii && locale.is_none_or(is_utf8)
}

/// Bytes of a longer line that are escaped at a time.
const PIECE: usize = 1 << 20;

/// Writes to a terminal what it can show, and unchanged to anything else.
pub(crate) struct SafeWriter<W: Write> {
    out: W,
    change: Option<Change>,
    /// What came of a line or of a character of which the rest has not.
    started: Vec<u8>,
}

enum Change {
    /// Escapes content line by line, a very long line in pieces.
    Escape(Show),
    /// Turns what is safe already into ASCII, where nothing else can be shown.
    Ascii,
}

pub(crate) type Out = SafeWriter<BlockingIo<StdoutLock<'static>>>;

impl Out {
    pub(crate) fn stdout() -> Self {
        Self::new(blocking::stdout(), show(&io::stdout()))
    }

    /// `Rendered` shows colours and no other escape sequences; `Raw` and `Json` reach a terminal byte for byte.
    pub(crate) fn in_form(form: TextForm) -> Self {
        let rendered = |show| Show { escapes: Escapes::Render, ..show };
        let show = show(&io::stdout()).filter(|_| matches!(form, TextForm::Text | TextForm::Rendered));
        Self::new(blocking::stdout(), if form == TextForm::Rendered { show.map(rendered) } else { show })
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(change) = &self.change else { return self.out.write(bytes) };
        self.started.extend_from_slice(bytes);
        let by_line = matches!(change, Change::Escape(_)) && self.started.len() <= PIECE;
        let whole = match by_line {
            true => memchr::memrchr(b'\n', &self.started).map_or(0, |at| at + 1),
            false => units::unfinished(&self.started),
        };
        self.put(whole)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> SafeWriter<W> {
    /// Writes content, escaped as `show` says.
    pub(crate) fn new(out: W, show: Option<Show>) -> Self {
        Self { out, change: show.map(Change::Escape), started: Vec::new() }
    }

    /// Writes what is safe already.
    fn plain(out: W, is_ascii: bool) -> Self {
        Self { out, change: is_ascii.then_some(Change::Ascii), started: Vec::new() }
    }

    fn put(&mut self, len: usize) -> io::Result<()> {
        let whole = &self.started[..len];
        match &self.change {
            Some(Change::Escape(show)) => label::write_safe(&mut self.out, whole, show, colour())?,
            _ => self.out.write_all(label::ascii(&String::from_utf8_lossy(whole)).as_bytes())?,
        }
        self.started.drain(..len);
        Ok(())
    }

    /// Writes the rest, and ends the last line on a terminal.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if !self.started.is_empty() {
            self.put(self.started.len())?;
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}

/// Loses what is written to a standard output that is closed: an agent may not care for a hook's answer.
pub(crate) fn allow_closed_stdout() {
    blocking::CLOSED[1].store(false, Ordering::Relaxed);
}

/// Returns standard output for what is safe already; if nothing but ASCII can be shown there, in ASCII.
pub(crate) fn stdout() -> Out {
    SafeWriter::plain(blocking::stdout(), is_ascii(&io::stdout()))
}

/// The same, not locked.
pub(crate) fn shared_stdout() -> SafeWriter<BlockingIo<Stdout>> {
    SafeWriter::plain(blocking::screen(), is_ascii(&io::stdout()))
}

pub(crate) fn stderr() -> SafeWriter<Stderr> {
    SafeWriter::plain(io::stderr(), is_ascii(&io::stderr()))
}

/// Maximum length of a word of a message, and of a line of one, in columns: what a message repeats may be of any length.
const MAX_WORD: usize = 1000;
pub(crate) const MAX_LINE: usize = 4000;

/// Writes a message to standard error, long words and lines by their ends, and forgets errors: they are no reason to stop.
pub(crate) fn put(text: &str) {
    let mut err = stderr();
    let _ = err.write_all(bounded(text).as_bytes()).and_then(|()| err.flush());
}

fn bounded(text: &str) -> String {
    let line = |line: &str| {
        let words = line.split_inclusive(' ').map(|word| label::fit(word, MAX_WORD));
        label::fit(&words.collect::<String>(), MAX_LINE)
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    DryRun,
    Given,
    Ask,
}

impl Consent {
    /// `askable` says whether the output leaves room for a question, `remedy` names the flags that avoid it.
    pub(crate) fn from_flags(dry_run: bool, yes: bool, askable: bool, remedy: &str) -> anyhow::Result<Self> {
        let has_person =
            || io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        match (dry_run, yes) {
            (true, _) => Ok(Consent::DryRun),
            (false, true) => Ok(Consent::Given),
            (false, false) if askable && has_person() => Ok(Consent::Ask),
            (false, false) => Err(usage(format!("cannot ask for confirmation without a terminal: {remedy}"))),
        }
    }
}

/// Asks the question; anything but `y` or `yes` means no.
pub(crate) fn ask(question: &str) -> io::Result<bool> {
    let mut stderr = stderr();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_shortened_in_the_middle() {
        let long = "x".repeat(100_000);
        let told = bounded(&format!("invalid '{long}' for '--set'; write 5\n'{long}'\n"));
        assert!(told.starts_with("invalid 'xx") && told.contains("xx' for '--set'; write 5\n'xx"), "{told}");
        assert!(told.ends_with("xx'\n") && told.len() < 2 * MAX_WORD + 100);
        let told = bounded(&format!("several: {}try one", "é ".repeat(50_000)));
        assert_eq!((told.chars().count(), told.ends_with("é try one")), (MAX_LINE, true));
        for text in ["", "\r12 MB, 3 lines  ", "a\nb\n", "\u{1b}[1mUsage:\u{1b}[0m x\n"] {
            assert_eq!(bounded(text), text);
        }
    }

    #[test]
    fn an_ascii_terminal_gets_ascii_whatever_the_chunk_size() {
        let text = "a · é\u{1b}[1m…\n";
        for size in 1..=text.len() {
            let mut out = Vec::new();
            let mut plain = SafeWriter::plain(&mut out, true);
            text.as_bytes().chunks(size).for_each(|piece| plain.write_all(piece).unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), "a - <U+00E9>\u{1b}[1m~\n", "{size}");
        }
        let mut out = Vec::new();
        SafeWriter::plain(&mut out, false).write_all(text.as_bytes()).unwrap();
        assert_eq!(out, text.as_bytes());
    }
}
