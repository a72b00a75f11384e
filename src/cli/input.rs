//! Turns a command-line argument into an open output with a name and a path to print.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use rustix::fs::FileType;

use crate::base::human::size;
use crate::capture::NOT_SAVED;
use crate::config::{self, Config, Overrides};
use crate::preview::{self, Input, InputContext, Totals};
use crate::session::record::unpack;
use crate::source::{FileLock, MapView, Source, StreamProgress};
use crate::text::label::label;

use super::args::PolicyArgs;
use super::named::{self, Named};
use super::sessions::select::CallOutput;
use super::{say, usage};

/// The output of a build, compressed.
const SAMPLE: &[u8] = include_bytes!("../../assets/samples/build.log.zst");

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
pub(crate) fn open(config: &Config, word: &OsStr, policy_args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    open_named(config, named::find(config, word)?, policy_args)
}

/// Opens what a word names; of a call its spill, else its text as recorded.
pub(crate) fn open_named(
    config: &Config,
    named: Named,
    policy_args: &PolicyArgs,
) -> anyhow::Result<OpenInput> {
    match named {
        Named::Stdin => {
            if io::stdin().is_terminal() {
                say("waiting for standard input from the terminal; Ctrl-D ends it, Ctrl-C gives up");
            }
            let kind = rustix::fs::fstat(io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
            if kind.is_ok_and(FileType::is_dir) {
                bail!("standard input is a directory; name a file in it, or pipe an output in");
            }
            let failed = |error| anyhow!("standard input cannot be read: {error}");
            input(Source::stdin().map_err(failed)?, None, policy_args)
        }
        Named::File(path) => open_path(config, &path, policy_args, FileLock::Shared),
        Named::Output(entry) => open_path(config, &entry.path(), policy_args, FileLock::Shared),
        Named::Recorded(found) => match found.output(config)? {
            CallOutput::Spill(path) => open_path(config, &path, policy_args, FileLock::Shared),
            CallOutput::Text(text) => {
                say(&format!("{}: its spill is not at hand; this is its text as recorded", found.id()));
                open_text(text.into(), &found.id(), policy_args)
            }
        },
    }
}

/// Opens the sample.
pub(crate) fn open_sample(policy_args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    open_text(unpack(SAMPLE, 1 << 20).0, "build.log (a sample)", policy_args)
}

/// Opens a text that is in no file.
fn open_text(text: Vec<u8>, name: &str, policy_args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    let opened = input(Source::stream(io::Cursor::new(text))?, None, policy_args)?;
    Ok(OpenInput { name: label(name.as_bytes()), ..opened })
}

/// Opens piped input through the file that it is saved in, which still has its temporary name.
pub(crate) fn growing(temporary: &Path, policy_args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    input(Source::open(temporary)?, None, policy_args)
}

/// Opens a file. If it is in a store, `lock` says whether it is locked, so that no cleaning deletes it meanwhile.
pub(crate) fn open_path(
    config: &Config,
    path: &Path,
    policy_args: &PolicyArgs,
    lock: FileLock,
) -> anyhow::Result<OpenInput> {
    let around = config.stores_around(Some(path));
    let file = config.stored_file(&around, path);
    let source = match &file {
        Some(_) if lock == FileLock::None => Source::glance_at_entry(path)?,
        Some(_) => Source::open_entry(path)?,
        None => Source::open_unpacked(path)?,
    };
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let saved_as = file.map_or_else(absolute, |file| file.saved_as().to_owned());
    input(source, Some((path, saved_as.to_string_lossy().into_owned())), policy_args)
}

/// `file` is its path, and the one that notices print.
fn input(
    source: Source,
    file: Option<(&Path, String)>,
    policy_args: &PolicyArgs,
) -> anyhow::Result<OpenInput> {
    let stderr = policy_args.stderr.as_deref().map(whole).transpose()?;
    let (path, printed) = file.unzip();
    let saved_as = policy_args.saved_as.clone().or(printed).unwrap_or_else(|| NOT_SAVED.to_owned());
    Ok(OpenInput {
        source,
        name: name(path),
        context: InputContext {
            saved_as_stderr: policy_args.saved_as_stderr.clone().unwrap_or_else(|| beside(&saved_as)),
            saved_as,
            stderr,
            exit_code: policy_args.exit_code,
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
        let failed = |error: &dyn fmt::Display| anyhow!("{name}: {error}");
        source.wait();
        if let Some(error) = source.error() {
            return Err(failed(&error));
        }
        let mut again = || {
            say(&format!("{name}: cut or rewritten meanwhile; starting over"));
            true
        };
        let made = source.read_steadily(&mut again, &mut |source| read(context, &source.view()));
        made.map_err(|error| failed(&error))?
    }

    pub(crate) fn input<'a>(&'a self, view: &'a MapView, totals: &'a Totals) -> Input<'a> {
        self.context.input(preview::Output { bytes: view, totals })
    }

    /// Returns a warning if an output goes on after what was read of it.
    pub(crate) fn cut_short(&self) -> Option<String> {
        let is_cut = self.source.error().is_none() && self.source.progress() == StreamProgress::CutShort;
        let read = size(self.source.len());
        is_cut.then(|| format!("{}: only the first {read} were read; a device may never end", self.name))
    }

    /// Explains a notice that says that nothing was saved, or that names what will be gone.
    pub(crate) fn warn_if_not_saved(&self) {
        let passing = |path: &&PathBuf| path.starts_with("/dev") || path.starts_with("/proc");
        if let Some(path) = self.path.as_ref().filter(passing)
            && Path::new(&self.context.saved_as) == std::path::absolute(path).unwrap_or_default()
        {
            let path = label(path.as_os_str().as_bytes());
            let words = "the notice names it, but it holds nothing to read later";
            return say(&format!("{path} does not last: {words}; --saved-as PATH names another"));
        }
        if self.path.is_none() && self.context.saved_as == NOT_SAVED {
            let words = "is not saved, so the notice says";
            say(&format!("{} {words} {NOT_SAVED}; --saved-as PATH sets it", self.name));
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
