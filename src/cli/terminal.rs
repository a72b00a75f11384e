//! What the terminal can do, and what to tell a person if that is too little.

use std::io::{self, IsTerminal};

use rustix::io::Errno;

/// Why there are no screens on a terminal.
pub(crate) const DUMB: &str =
    "TERM is not set or dumb, so the screens cannot be shown (set TERM to your terminal's type)";

/// Whether there is a terminal that can show the screens.
pub(crate) fn has_screen() -> bool {
    io::stdout().is_terminal() && !is_dumb()
}

/// Why the terminal cannot be used, and what to do.
pub(crate) fn unusable(error: &io::Error) -> String {
    let remedy = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NXIO | Errno::NOENT) => "; no controlling terminal; use `overspill preview` or `list`",
        Some(Errno::MFILE | Errno::NFILE) => "; raise `ulimit -n`",
        Some(_) => "",
        // Whoever reads the keys does not say what the system said.
        None => "; if descriptors are few, raise `ulimit -n`",
    };
    format!("the terminal cannot be used: {error}{remedy}")
}

/// Whether styles may be used.
pub(crate) fn colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A terminal without cursor movement is no better than a pipe.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Whether the locale says UTF-8. Without any locale it is taken to be so.
pub(crate) fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
