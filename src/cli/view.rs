//! `overspill FILE`, and `overspill` alone: the screens; without a terminal, the file unchanged.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::config::Config;
use crate::source::{Source, View};
use crate::tui::{self, Start, Target};

use super::args::{ListArgs, Look};
use super::input::{self, Opened};
use super::{Failure, Outcome};

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Opens the screens, or copies the files where there is no terminal to show them on.
pub fn run(files: &[String], look: &Look) -> Outcome {
    let config = Config::builtin();
    let (policy, limits_from) = config.resolve(&look.wishes()).map_err(input::usage)?;
    let words = match files {
        [] if !io::stdin().is_terminal() => &["-".to_owned()][..],
        [] if !io::stdout().is_terminal() => return super::list::run(&ListArgs { json: false }),
        files => files,
    };
    let opened = words.iter().map(|word| input::open(word, look)).collect::<Result<Vec<_>, _>>()?;
    if !io::stdout().is_terminal() || is_dumb() {
        return opened.into_iter().try_for_each(|opened| copy(opened.source));
    }
    let targets = opened.into_iter().map(|opened| target(opened, &policy, &limits_from.to_string()));
    let opener = Box::new(move |path: &Path| open_path(&config, path));
    let start = Start { targets: targets.collect(), opener, colour: colour(), unicode: is_unicode() };
    tui::run(start).map_err(|error| Failure::Failed(format!("the terminal cannot be used: {error}")).into())
}

fn target(opened: Opened, policy: &crate::preview::Policy, limits_from: &str) -> Target {
    Target {
        subject: tui::Subject {
            name: opened.name,
            saved_as: opened.saved_as,
            policy: policy.clone(),
            limits_from: limits_from.to_owned(),
            exit_code: opened.exit_code,
            stderr: opened.stderr,
        },
        source: opened.source,
    }
}

/// Opens an entry of a store, with the policy of its agent.
fn open_path(config: &Config, path: &Path) -> Result<Target, String> {
    let look = Look::default();
    let (policy, limits_from) = config.resolve(&look.wishes()).map_err(|error| error.to_string())?;
    let opened = input::open_path(path, &look).map_err(|error| error.to_string())?;
    Ok(target(opened, &policy, &limits_from.to_string()))
}

/// Copies an output unchanged, as it comes, as `less` does without a terminal.
fn copy(mut source: Source) -> Outcome {
    let mut out = io::stdout().lock();
    let mut at = 0;
    loop {
        source.wait_for(at as u64 + 1);
        let view = source.view();
        copy_from(&view, at, &mut out)?;
        if at == view.len() && source.is_complete() {
            return source.error().map_or(Ok(()), |error| Err(Failure::Failed(error.to_string()).into()));
        }
        at = view.len();
    }
}

/// The map's pages may be lost at any time: each piece is copied before it is written.
fn copy_from(view: &View, from: usize, out: &mut impl Write) -> io::Result<()> {
    for piece in view.get(from..).unwrap_or_default().chunks(PIECE) {
        out.write_all(&piece.to_vec())?;
    }
    out.flush()
}

/// Whether styles may be used.
pub fn colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A terminal without cursor movement is no better than a pipe.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Whether the locale says UTF-8. Without any locale it is taken to be so.
fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
