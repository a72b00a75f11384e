//! From the words of the command line to an open output with a name and a path to print.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::config::{self, Config, Overrides};
use crate::preview::{self, Input, InputContext, Totals};
use crate::source::{Hold, MapView, Source};
use crate::store::{self, Entry, IdMatch};
use crate::text::label::label;

use super::Failure;
use super::args::PolicyArgs;

/// So many are named where a typed id fits several.
const MOST_CANDIDATES: usize = 8;

/// What the notices print for standard input that is not saved.
pub(crate) const NOT_SAVED: &str = "<not saved>";

/// An output that has been named and opened.
#[derive(Debug)]
pub(crate) struct OpenInput {
    /// The bytes.
    pub source: Source,
    /// What to call it on the screen; safe to print.
    pub name: String,
    /// What a plan needs to know besides the bytes.
    pub context: InputContext<MapView>,
    /// The file itself, unless it is standard input.
    pub path: Option<PathBuf>,
}

/// Opens a file, an id or standard input.
pub(crate) fn open(config: &Config, word: &OsStr, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    if word == "-" {
        let named_error = |error| Failure::Failed(format!("standard input cannot be read: {error}"));
        return named(Source::stdin().map_err(named_error)?, None, look);
    }
    open_path(config, &located(config, word)?, look, Hold::Lock)
}

/// Opens what is piped in by the file that it grows in, which has no name for good yet.
pub(crate) fn growing(temporary: &Path, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    named(Source::open(temporary)?, None, look)
}

/// What has a slash in it, or exists, is a path; else an id, or the beginning of just one.
fn located(config: &Config, word: &OsStr) -> anyhow::Result<PathBuf> {
    refuse_empty(word)?;
    let path = PathBuf::from(word);
    if word.as_bytes().contains(&b'/') || path.symlink_metadata().is_ok() {
        return Ok(path);
    }
    match store::resolve(word, &config.stores.specs, &config.env, jiff::Timestamp::now()) {
        IdMatch::One(entry) => Ok(entry.path()),
        IdMatch::None => Ok(path),
        IdMatch::Several(entries) => Err(ambiguous(word, &entries.iter().collect::<Vec<_>>()).into()),
    }
}

/// What to say of a typed id that means several entries. They may all have the same id: then only paths tell them apart.
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
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Failure::Usage(format!("{} {what}: {shown}{more}", label(word.as_bytes())))
}

/// Every id begins with the empty one, and a variable that a script forgot to set is no choice.
///
/// # Errors
/// The word is empty.
pub(crate) fn refuse_empty(word: &OsStr) -> Result<(), Failure> {
    if word.is_empty() {
        Err(Failure::Usage("an empty word names no file and no id; leave it out, or name one".into()))
    } else {
        Ok(())
    }
}

/// Opens a file. One that lies in a store is held, unless it is only glanced at, so that no cleaning deletes it
/// meanwhile.
pub(crate) fn open_path(
    config: &Config,
    path: &Path,
    look: &PolicyArgs,
    hold: Hold,
) -> anyhow::Result<OpenInput> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let source = match config.stores.store_of(&absolute, &config.env) {
        Some(_) if hold == Hold::No => Source::glance_at_entry(path)?,
        Some(_) => Source::open_entry(path)?,
        None => Source::open(path)?,
    };
    named(source, Some(path.to_owned()), look)
}

fn named(source: Source, path: Option<PathBuf>, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    let stderr = look.stderr.as_deref().map(whole).transpose()?;
    let saved_as = look.saved_as.clone().unwrap_or_else(|| printed(path.as_deref()));
    Ok(OpenInput {
        source,
        name: name(path.as_deref()),
        context: InputContext {
            saved_as_stderr: look.saved_as_stderr.clone().unwrap_or_else(|| beside(&saved_as)),
            saved_as,
            stderr,
            exit_code: look.exit_code,
        },
        path,
    })
}

impl OpenInput {
    /// The policy and limits for it.
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

    /// What a plan is made from.
    pub(crate) fn input<'a>(&'a self, view: &'a MapView, totals: &'a Totals) -> Input<'a> {
        self.context.input(preview::Output { bytes: view, totals })
    }

    /// Nothing was saved, and a notice says so: the person should know why.
    pub(crate) fn warn_if_not_saved(&self) {
        if self.path.is_none() && self.context.saved_as == NOT_SAVED {
            let words = "standard input is not saved, so the notice says";
            super::say(&format!("{words} {NOT_SAVED}; --saved-as PATH sets it"));
        }
    }
}

/// A whole file, read to its end, and what it adds up to.
fn whole(path: &Path) -> anyhow::Result<(MapView, Totals)> {
    let mut source = Source::open(path)?;
    source.wait();
    let view = source.view();
    let totals = Totals::count(&view);
    Ok((view, totals))
}

/// The last part of a path, safe to print.
fn name(path: Option<&Path>) -> String {
    let name = path.and_then(Path::file_name).map(|name| label(name.as_bytes()));
    name.unwrap_or_else(|| "standard input".into())
}

/// The absolute path, its links not resolved.
fn printed(path: Option<&Path>) -> String {
    let Some(path) = path else { return NOT_SAVED.to_owned() };
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// Where a policy that saves two files saves the second.
fn beside(saved_as: &str) -> String {
    match saved_as.rfind("-stdout") {
        Some(at) => format!("{}-stderr{}", &saved_as[..at], &saved_as[at + "-stdout".len()..]),
        None if saved_as == NOT_SAVED => NOT_SAVED.to_owned(),
        None => format!("{saved_as}.stderr"),
    }
}

/// A request that cannot be met is a usage error.
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
