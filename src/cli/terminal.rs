//! What the terminal can do, and what to tell the user if that is not enough.

use std::io::{self, IsTerminal};

use rustix::io::Errno;

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

/// Whether to use colours.
pub(crate) fn colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether the terminal cannot move the cursor, which makes it no better than a pipe.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Whether the locale is UTF-8; assumed so without any locale.
pub(crate) fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
