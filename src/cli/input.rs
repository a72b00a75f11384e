//! Turns a command-line argument into an open output with a name and a path to print.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::config::{self, Config, Overrides};
use crate::preview::{self, Input, Totals};
use crate::source::{MapView, Source};
use crate::store::{self, IdMatch};

use super::Failure;
use super::args::PolicyArgs;

/// How many ids are listed if a prefix matches several.
const MOST_CANDIDATES: usize = 8;

/// The path that notices print for standard input that is not saved.
pub(crate) const NOT_SAVED: &str = "<not saved>";

/// An output that was named on the command line and opened.
#[derive(Debug)]
pub(crate) struct OpenInput {
    /// The content.
    pub source: Source,
    /// Its name for the screen; safe to print.
    pub name: String,
    /// The path that notices print.
    pub saved_as: String,
    /// The same for standard error.
    pub saved_as_stderr: String,
    /// Standard error with its totals, if it is separate.
    pub stderr: Option<(MapView, Totals)>,
    /// The command's exit status, if given.
    pub exit_code: Option<i32>,
    /// The file itself, unless it is standard input.
    pub path: Option<PathBuf>,
}

/// Opens a file, an id or standard input.
pub(crate) fn open(config: &Config, word: &OsStr, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    if word == "-" {
        let named_error = |error| Failure::Failed(format!("standard input cannot be read: {error}"));
        return named(Source::stdin().map_err(named_error)?, None, look);
    }
    open_path(config, &located(config, word)?, look)
}

/// Opens piped input through the file that it is saved in, which still has its temporary name.
pub(crate) fn growing(temporary: &Path, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    named(Source::open(temporary)?, None, look)
}

/// Resolves an argument: with a slash, or if it exists, it is a path; otherwise an id, or a prefix of exactly one.
fn located(config: &Config, word: &OsStr) -> anyhow::Result<PathBuf> {
    refuse_empty(word)?;
    let path = PathBuf::from(word);
    if word.as_bytes().contains(&b'/') || path.symlink_metadata().is_ok() {
        return Ok(path);
    }
    match store::resolve(word, &config.stores.specs, &config.env, jiff::Timestamp::now()) {
        IdMatch::One(entry) => Ok(entry.path()),
        IdMatch::None => Ok(path),
        IdMatch::Several(entries) => {
            let ids: Vec<_> = entries.iter().take(MOST_CANDIDATES).map(|entry| entry.id()).collect();
            let more = entries.len() - ids.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let word = word.display();
            let words =
                format!("'{word}' matches {} ids: {}{more}; type more of it", entries.len(), ids.join(", "));
            Err(Failure::Usage(words).into())
        }
    }
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

/// Opens a file. If it is in a store, it is locked so that no cleaning deletes it meanwhile.
pub(crate) fn open_path(config: &Config, path: &Path, look: &PolicyArgs) -> anyhow::Result<OpenInput> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let source = match config.stores.store_of(&absolute, &config.env) {
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
        saved_as_stderr: look.saved_as_stderr.clone().unwrap_or_else(|| beside(&saved_as)),
        saved_as,
        stderr,
        exit_code: look.exit_code,
        path,
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
        if let Some(failed) = resolved.policy.failed_with(self.exit_code) {
            resolved.warnings.push(format!("a failed command is cut by {failed}: see it with -p"));
        }
        Ok(resolved)
    }

    /// Returns the input for a plan.
    pub(crate) fn input<'a>(&'a self, view: &'a MapView, totals: &'a Totals) -> Input<'a> {
        let stderr = self.stderr.as_ref().map(|(view, totals)| preview::Output { bytes: view, totals });
        let output = preview::Output { bytes: view, totals };
        Input {
            stderr,
            exit_code: self.exit_code,
            saved_as_stderr: &self.saved_as_stderr,
            ..Input::new(output, &self.saved_as)
        }
    }

    /// Explains a notice that says that nothing was saved.
    pub(crate) fn warn_if_not_saved(&self) {
        if self.path.is_none() && self.saved_as == NOT_SAVED {
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
    let name = path.and_then(Path::file_name).map(|name| crate::text::label::label(name.as_bytes()));
    name.unwrap_or_else(|| "standard input".into())
}

/// Returns the absolute path, without resolving links.
fn printed(path: Option<&Path>) -> String {
    let Some(path) = path else { return NOT_SAVED.to_owned() };
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
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
