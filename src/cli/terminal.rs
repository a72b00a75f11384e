//! What the terminal can do, and what to tell the user if that is not enough.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use rustix::io::Errno;

use crate::text::cells::Show;

use super::args::{ColorWhen, GlobalArgs};

/// Why a terminal cannot show the screens.
pub(crate) const DUMB: &str =
    "TERM is not set or dumb, so the screens cannot be shown (set TERM to your terminal's type)";

/// Whether there is a terminal that can show the screens.
pub(crate) fn has_screen() -> bool {
    io::stdout().is_terminal() && !is_dumb()
}

/// Explains why the terminal cannot be used, and what to do.
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

/// How the program was asked to write. Set once, before anything is written.
static ASKED: OnceLock<GlobalArgs> = OnceLock::new();

/// Sets how the program was asked to write.
pub(crate) fn ask(global: GlobalArgs) {
    let _ = ASKED.set(global);
}

fn asked() -> GlobalArgs {
    ASKED.get().copied().unwrap_or_default()
}

/// Whether notes and warnings are left out.
pub(crate) fn is_quiet() -> bool {
    asked().quiet
}

/// Whether tables begin with a heading where nobody but a program reads them.
pub(crate) fn is_headed() -> bool {
    asked().header
}

/// Whether to use colours on a terminal, and in what is written as for one.
pub(crate) fn colour() -> bool {
    match asked().color.unwrap_or_default() {
        ColorWhen::Auto => !is_set("NO_COLOR"),
        ColorWhen::Always => true,
        ColorWhen::Never => false,
    }
}

/// Whether to use colours in tables on standard output.
pub(crate) fn table_colour() -> bool {
    let is_auto = asked().color.unwrap_or_default() == ColorWhen::Auto;
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
    stream.is_terminal() || asked().color == Some(ColorWhen::Always)
}

/// How text on a stream is shown, if it is escaped there.
pub(crate) fn show(stream: &impl IsTerminal) -> Option<Show> {
    is_escaped(stream).then(|| Show { ascii: !is_unicode(), ..Show::MODEL })
}

/// Whether a stream gets nothing but ASCII.
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

/// Whether the terminal can be asked what its background is. Some print the question instead: GNU screen, which has no answer
/// of its own, older Linux consoles, and the terminals in Emacs.
pub(crate) fn tells_background() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    let is_screen = (term.starts_with("screen") || is_set("STY")) && !is_set("TMUX");
    !is_screen && term != "linux" && !term.starts_with("eterm")
}

/// Whether to draw with more than ASCII: unless asked otherwise, if the locale is UTF-8, or there is none.
pub(crate) fn is_unicode() -> bool {
    if asked().ascii {
        return false;
    }
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
