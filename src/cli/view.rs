//! `overspill FILE`, and `overspill` alone: the screens; without a terminal, the file unchanged.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use crate::config::{ChosenBy, Config, EffectivePolicy, Overrides};
use crate::human::thousands;
use crate::source::{Change, MapView, Source};
use crate::tui::{self, Choice, Live, Start, Target};

use super::args::{ListArgs, PolicyArgs, SaveArgs};
use super::input::{self, OpenInput};
use super::{CommandResult, Failure, say};

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Opens the screens, or copies the files where there is no terminal to show them on.
pub(crate) fn run(config: Config, files: &[OsString], look: &PolicyArgs, saving: &SaveArgs) -> CommandResult {
    let words = match files {
        [] if !io::stdin().is_terminal() => &["-".into()][..],
        [] if !has_screen() => {
            if io::stdout().is_terminal() {
                say(&format!("{DUMB}; here is `overspill list`"));
            }
            return super::stores::list::run(&config, &ListArgs::default());
        }
        files => files,
    };
    let is_piped = words == ["-"] && !io::stdin().is_terminal();
    if is_piped && has_screen() {
        return super::run::live::stdin(config, look, saving);
    }
    saving.refuse()?;
    let opened = words.iter().map(|word| input::open(&config, word, look)).collect::<Result<Vec<_>, _>>()?;
    if !has_screen() {
        return opened.into_iter().try_for_each(|opened| copy(opened.source));
    }
    let overrides = look.overrides();
    let targets =
        opened.into_iter().map(|opened| target(&config, opened, &overrides)).collect::<Result<_, _>>()?;
    show(config, targets, None)
}

/// Whether there is a terminal that can show the screens.
pub(crate) fn has_screen() -> bool {
    io::stdout().is_terminal() && !is_dumb()
}

/// The screens, over these outputs or else the stores; `live` makes the first of them. Where a signal ended them the
/// error is [`Failure::Ended`], and the output that `live` makes has still to be kept.
pub(crate) fn show(config: Config, targets: Vec<Target>, live: Option<Live>) -> CommandResult {
    let (stores, env) = (config.stores.clone(), config.env.clone());
    let config = Arc::new(config);
    let for_choices = Arc::clone(&config);
    let opener = Arc::new(move |path: &Path| open_path(&config, path));
    let chooser = Box::new(move || choices(&for_choices));
    let start =
        Start { targets, opener, chooser, stores, env, live, colour: colour(), unicode: is_unicode() };
    let parting = tui::run(start).map_err(|error| Failure::Failed(unusable(&error)))?;
    parting.words.iter().for_each(|words| say(words));
    match parting.signal {
        Some(signal) => Err(Failure::Ended((128 + signal) as u8).into()),
        None => Ok(()),
    }
}

/// Why there are no screens on a terminal.
const DUMB: &str =
    "TERM is not set or dumb, so the screens cannot be shown (set TERM to your terminal's type)";

/// Why the terminal cannot be used, and what to do.
fn unusable(error: &io::Error) -> String {
    let remedy = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NXIO | Errno::NOENT) => "; no controlling terminal; use `overspill preview` or `list`",
        Some(Errno::MFILE | Errno::NFILE) => "; raise `ulimit -n`",
        Some(_) => "",
        // Whoever reads the keys does not say what the system said.
        None => "; if descriptors are few, raise `ulimit -n`",
    };
    format!("the terminal cannot be used: {error}{remedy}")
}

/// An opened output with the policy that it was cut by.
pub(crate) fn target(config: &Config, opened: OpenInput, overrides: &Overrides) -> anyhow::Result<Target> {
    let EffectivePolicy { policy, limits_from, chosen_by, warnings, store_warnings } =
        opened.resolve(config, overrides)?;
    let candidates = match chosen_by {
        ChosenBy::Person => Vec::new(),
        ChosenBy::Store(names) => names.iter().filter_map(|name| config.catalog.get(name).ok()).collect(),
    };
    let subject = tui::Subject {
        name: opened.name,
        saved_as: opened.saved_as,
        saved_as_stderr: opened.saved_as_stderr,
        policy,
        limits_from: limits_from.to_string(),
        candidates,
        exit_code: opened.exit_code,
        stderr: opened.stderr,
        warnings,
        store_warnings,
    };
    Ok(Target { subject, source: opened.source })
}

/// Opens an entry of a store, with the policy of its agent.
fn open_path(config: &Config, path: &Path) -> Result<Target, String> {
    let opened = input::open_path(config, path, &PolicyArgs::default());
    let target = opened.and_then(|opened| target(config, opened, &Overrides::default()));
    target.map_err(|error| error.to_string())
}

/// All policies that can be read, each with the limits that hold for it.
fn choices(config: &Config) -> Vec<Choice> {
    let resolve = |name: &str| {
        config.resolve(&Overrides { policy: Some(name.to_owned()), ..Overrides::default() }, None).ok()
    };
    let resolved = config.catalog.names().filter_map(resolve);
    let choice = |resolved: EffectivePolicy| Choice {
        is_current: config.catalog.is_current(&resolved.policy),
        limits_from: resolved.limits_from.to_string(),
        policy: resolved.policy,
    };
    resolved.map(choice).collect()
}

/// Copies an output unchanged, as it comes, as `less` does without a terminal.
fn copy(mut source: Source) -> CommandResult {
    let mut out = crate::fs::patient::stdout();
    let mut at = 0;
    loop {
        source.wait_for(at as u64 + 1);
        let view = source.view();
        copy_from(&mut source, &view, at, &mut out)?;
        if at == view.len() && source.is_complete() {
            let failed = |error| Err(Failure::Failed(format!("{}: {error}", name(&source))).into());
            return source.error().map_or(Ok(()), failed);
        }
        at = view.len();
    }
}

/// The map's pages may be lost at any time: each piece is copied, and is written only if the file is still the same.
fn copy_from(source: &mut Source, view: &MapView, from: usize, out: &mut impl Write) -> CommandResult {
    let mut copy = Vec::with_capacity(PIECE);
    let mut written = from;
    for piece in view.get(from..).unwrap_or_default().chunks(PIECE) {
        copy.clear();
        copy.extend_from_slice(piece);
        if matches!(source.refresh(), Change::Truncated | Change::Replaced) {
            out.flush()?;
            return Err(changed(source, written));
        }
        out.write_all(&copy)?;
        written += copy.len();
    }
    Ok(out.flush()?)
}

fn name(source: &Source) -> Cow<'_, str> {
    source.path().map_or_else(|| "standard input".into(), |path| path.to_string_lossy())
}

fn changed(source: &Source, written: usize) -> anyhow::Error {
    let name = name(source);
    let written = thousands(written as u64);
    Failure::Failed(format!("{name}: cut or rewritten meanwhile; stopped after {written} bytes")).into()
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
fn is_unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does something whenever something is written.
    struct Then<F: FnMut()>(Vec<u8>, F);

    impl<F: FnMut()> Write for Then<F> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            (self.1)();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A file of so many pieces, and the directory that holds it.
    fn pieces(count: usize) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, vec![b'x'; count * PIECE]).unwrap();
        (dir, path)
    }

    #[test]
    fn a_file_that_is_cut_meanwhile_is_copied_no_further() {
        let (_dir, path) = pieces(3);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let mut source = Source::open(&path).unwrap();
        let view = source.view();
        let mut out = Then(Vec::new(), || file.set_len(5).unwrap());
        let error = copy_from(&mut source, &view, 0, &mut out).unwrap_err().to_string();
        assert!(error.contains("log: cut or rewritten meanwhile; stopped after 1,048,576 bytes"), "{error}");
        assert!(out.0 == vec![b'x'; PIECE], "nothing that the file did not hold");
    }

    #[test]
    fn a_file_that_grows_is_copied_on() {
        let (_dir, path) = pieces(2);
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        let mut source = Source::open(&path).unwrap();
        let view = source.view();
        let mut out = Then(Vec::new(), || file.write_all(b"more").unwrap());
        copy_from(&mut source, &view, 0, &mut out).unwrap();
        assert_eq!(out.0.len(), 2 * PIECE);
    }
}
