//! Turns a command-line argument into an open output with a name and a path to print.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::capture::NOT_SAVED;
use crate::config::{self, Config, Overrides};
use crate::human::size;
use crate::preview::{self, Input, InputContext, Totals};
use crate::source::{Hold, MapView, Source, StreamProgress};
use crate::store::{self, Entry, IdMatch};
use crate::text::label::label;

use super::Failure;
use super::args::PolicyArgs;

/// How many ids are listed if a prefix matches several.
const MOST_CANDIDATES: usize = 8;

/// An output that was named on the command line and opened.
#[derive(Debug)]
pub(crate) struct OpenInput {
    /// The content.
    pub source: Source,
    /// Its name for the screen; safe to print.
    pub name: String,
    /// What a plan needs to know besides the bytes.
    pub context: InputContext<MapView>,
    /// The file itself, unless it is standard input.
    pub path: Option<PathBuf>,
}

/// Opens a file, an id or standard input.
pub(crate) fn open(config: &Config, word: &OsStr, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    if word == "-" {
        if io::stdin().is_terminal() {
            super::say("waiting for standard input from the terminal; Ctrl-D ends it, Ctrl-C gives up");
        }
        let kind = rustix::fs::fstat(io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
        if kind.is_ok_and(FileType::is_dir) {
            let words = "standard input is a directory; name a file in it, or pipe an output in";
            return Err(Failure::Failed(words.to_owned()).into());
        }
        let named_error = |error| Failure::Failed(format!("standard input cannot be read: {error}"));
        return named(Source::stdin().map_err(named_error)?, None, look);
    }
    open_path(config, &located(config, word)?, look, Hold::Lock)
}

/// Opens piped input through the file that it is saved in, which still has its temporary name.
pub(crate) fn growing(temporary: &Path, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    named(Source::open(temporary)?, None, look)
}

/// Resolves an argument: with a slash, or if it exists, it is a path; otherwise an id, or a prefix of exactly one.
fn located(config: &Config, word: &OsStr) -> anyhow::Result<PathBuf> {
    if let Some(path) = path(word)? {
        return Ok(path);
    }
    match store::resolve(word, &config.stores.specs, &config.env, crate::env::now()) {
        IdMatch::One(entry) => Ok(entry.path()),
        IdMatch::None => Ok(word.into()),
        IdMatch::Several(entries) => Err(ambiguous(word, &entries.iter().collect::<Vec<_>>()).into()),
    }
}

/// Reports an id that means several entries. They may all have the same id; then only their paths differ.
pub(crate) fn ambiguous(word: &OsStr, entries: &[&Entry]) -> Failure {
    let mut ids: Vec<&[u8]> = entries.iter().map(|entry| entry.id_bytes()).collect();
    ids.sort_unstable();
    ids.dedup();
    let (what, names): (_, Vec<String>) = if ids.len() == 1 {
        let mut paths: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
        paths.sort();
        let paths = paths.iter().map(|path| label(path.as_os_str().as_bytes()));
        ("is the id of several outputs; name one by its path".to_owned(), paths.collect())
    } else {
        (format!("matches {} ids", ids.len()), ids.into_iter().map(label).collect())
    };
    let more = names.len().saturating_sub(MOST_CANDIDATES);
    let shown = names[..names.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more; give more of the id") } else { String::new() };
    Failure::Usage(format!("{} {what}: {shown}{more}", label(word.as_bytes())))
}

/// Refuses an empty argument. Every id has the empty prefix, but a variable that a script forgot to set chooses
/// nothing.
///
/// # Errors
/// The argument is empty.
pub(crate) fn refuse_empty(word: &OsStr) -> Result<(), Failure> {
    if word.is_empty() {
        Err(Failure::Usage("the empty string is neither a file nor an id; name one, or leave it out".into()))
    } else {
        Ok(())
    }
}

/// Returns the argument as a path if it has a slash or names an existing file; otherwise it is an id, or a prefix of one.
///
/// # Errors
/// The argument is empty.
pub(crate) fn path(word: &OsStr) -> Result<Option<PathBuf>, Failure> {
    refuse_empty(word)?;
    let path = PathBuf::from(word);
    let is_path = word.as_bytes().contains(&b'/') || path.symlink_metadata().is_ok();
    Ok(is_path.then_some(path))
}

/// Opens a file. If it is in a store, `hold` says whether it is locked, so that no cleaning deletes it meanwhile.
pub(crate) fn open_path(
    config: &Config,
    path: &Path,
    look: &PolicyArgs,
    hold: Hold,
) -> anyhow::Result<OpenInput> {
    let file = config.stored_file(&config.stores.specs, path);
    let source = match &file {
        Some(_) if hold == Hold::No => Source::glance_at_entry(path)?,
        Some(_) => Source::open_entry(path)?,
        None => Source::open(path)?,
    };
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let saved_as = file.map_or_else(absolute, |file| file.saved_as().to_owned());
    named(source, Some((path, saved_as.to_string_lossy().into_owned())), look)
}

/// `file` is its path, and the one that notices print.
fn named(source: Source, file: Option<(&Path, String)>, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    let stderr = look.stderr.as_deref().map(whole).transpose()?;
    let (path, printed) = file.unzip();
    let saved_as = look.saved_as.clone().or(printed).unwrap_or_else(|| NOT_SAVED.to_owned());
    Ok(OpenInput {
        source,
        name: name(path),
        context: InputContext {
            saved_as_stderr: look.saved_as_stderr.clone().unwrap_or_else(|| beside(&saved_as)),
            saved_as,
            stderr,
            exit_code: look.exit_code,
        },
        path: path.map(Path::to_owned),
    })
}

impl OpenInput {
    /// Returns the policy and limits for the output.
    pub(crate) fn resolve(
        &self,
        config: &Config,
        overrides: &Overrides,
    ) -> anyhow::Result<config::EffectivePolicy> {
        let mut resolved = config.resolve(overrides, self.path.as_deref()).map_err(usage)?;
        if let Some(failed) = resolved.policy.failed_with(self.context.exit_code) {
            resolved.warnings.push(format!("a failed command is cut by {failed}: see it with -p"));
        }
        Ok(resolved)
    }

    /// Returns what `read` makes of the output, all of one content: if that was cut or rewritten meanwhile, says so and
    /// starts over once. Waits for the end of a stream.
    ///
    /// # Errors
    /// That of `read`, that of the stream, or the output did not keep one content.
    pub(crate) fn read_steadily<T>(
        &mut self,
        read: &mut dyn FnMut(&InputContext<MapView>, &MapView) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let Self { source, name, context, .. } = self;
        let failed = |error: &dyn fmt::Display| Failure::Failed(format!("{name}: {error}"));
        source.wait();
        if let Some(error) = source.error() {
            return Err(failed(&error).into());
        }
        let mut again = || {
            super::say(&format!("{name}: cut or rewritten meanwhile; starting over"));
            true
        };
        let made = source.read_steadily(&mut again, &mut |source| read(context, &source.view()));
        made.map_err(|error| failed(&error))?
    }

    /// Returns the input for a plan.
    pub(crate) fn input<'a>(&'a self, view: &'a MapView, totals: &'a Totals) -> Input<'a> {
        self.context.input(preview::Output { bytes: view, totals })
    }

    /// Says so if an output goes on after what was read of it.
    pub(crate) fn warn_if_cut_short(&self) {
        if self.source.error().is_none() && self.source.progress() == StreamProgress::CutShort {
            let read = size(self.source.len());
            super::say(&format!("{}: only the first {read} were read; a device may never end", self.name));
        }
    }

    /// Explains a notice that says that nothing was saved, or that names what will be gone.
    pub(crate) fn warn_if_not_saved(&self) {
        let passing = |path: &&PathBuf| path.starts_with("/dev") || path.starts_with("/proc");
        if let Some(path) = self.path.as_ref().filter(passing)
            && Path::new(&self.context.saved_as) == std::path::absolute(path).unwrap_or_default()
        {
            let path = label(path.as_os_str().as_bytes());
            let words = "the notice names it, but it holds nothing to read later";
            return super::say(&format!("{path} does not last: {words}; --saved-as PATH names another"));
        }
        if self.path.is_none() && self.context.saved_as == NOT_SAVED {
            let words = "standard input is not saved, so the notice says";
            super::say(&format!("{words} {NOT_SAVED}; --saved-as PATH sets it"));
        }
    }
}

/// Reads a whole file and counts its totals.
fn whole(path: &Path) -> anyhow::Result<(MapView, Totals)> {
    let mut source = Source::open(path)?;
    source.wait();
    let view = source.view();
    let totals = Totals::count(&view);
    Ok((view, totals))
}

/// Returns the last component of a path, safe to print.
fn name(path: Option<&Path>) -> String {
    let name = path.and_then(Path::file_name).map(|name| label(name.as_bytes()));
    name.unwrap_or_else(|| "standard input".into())
}

/// Returns the path of the second file, for a policy that saves two.
fn beside(saved_as: &str) -> String {
    match saved_as.rfind("-stdout") {
        Some(at) => format!("{}-stderr{}", &saved_as[..at], &saved_as[at + "-stdout".len()..]),
        None if saved_as == NOT_SAVED => NOT_SAVED.to_owned(),
        None => format!("{saved_as}.stderr"),
    }
}

/// Turns an override that cannot be applied into a usage error.
pub(crate) fn usage(error: crate::config::OverrideError) -> anyhow::Error {
    Failure::Usage(error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_file_stands_beside_the_first() {
        assert_eq!(beside("/t/bash-17-stdout.txt"), "/t/bash-17-stderr.txt");
        assert_eq!(beside("/t/out.log"), "/t/out.log.stderr");
        assert_eq!(beside(NOT_SAVED), NOT_SAVED);
    }
}
