//! What a word on the command line names: a file, a stored output, a session or a call; found, and opened or copied.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use rustix::fs::FileType;

use crate::base::human::{size, thousands};
use crate::base::provenance::Certainty;
use crate::capture::NOT_SAVED;
use crate::config::{Config, EffectivePolicy, Overrides, Resolution, StoredFile};
use crate::preview::{InputContext, Policy, Totals};
use crate::session::examine::{OutputPlace, RestOfOutput};
use crate::session::model::Call;
use crate::session::reader::SessionFile;
use crate::session::record::unpack;
use crate::source::{Change, FileLock, MapView, OpenError, Source, StreamProgress};
use crate::store::{self, Entry, RunRecord};
use crate::text::label::label;

use super::args::PolicyArgs;
use super::sessions::{self, SelectedSession};
use super::{CommandResult, safe, say, suggest, usage};

const SAMPLE: &[u8] = include_bytes!("../../assets/samples/build.log.zst");

const PIECE: usize = 1 << 20;

pub(crate) enum NamedItem {
    Stdin,
    /// It has a slash, or exists.
    File(PathBuf),
    Output(Box<Entry>),
    Recorded(Box<SelectedSession>),
}

/// Finds what a word names: `-` is standard input, what has a slash or exists a file, else it is an id, or a prefix of
/// just one. Calls come last, since only the records have their ids.
pub(crate) fn find(config: &Config, word: &OsStr) -> anyhow::Result<NamedItem> {
    find_where(config, word, &|_| true)
}

/// Same as [`find`], but takes a word like the name of a file, or a command that was mistyped, for no call's id: all
/// records are read for that.
pub(crate) fn find_to_open(config: &Config, word: &OsStr) -> anyhow::Result<NamedItem> {
    let is_name = |id: &str| id.contains(['.', ':']) || id.bytes().all(|byte| byte.is_ascii_alphabetic());
    find_where(config, word, &|id| !is_name(id))
}

fn find_where(
    config: &Config,
    word: &OsStr,
    may_be_call: &dyn Fn(&str) -> bool,
) -> anyhow::Result<NamedItem> {
    if word == "-" {
        return Ok(NamedItem::Stdin);
    }
    let (id, recorded) = (word.to_string_lossy(), |found| NamedItem::Recorded(Box::new(found)));
    let call = if Path::new(word).exists() { None } else { sessions::open_call(config, &id)? };
    let file = path(word)?.map(NamedItem::File);
    if let Some(named) = call.map(recorded).or(file) {
        return Ok(named);
    }
    let mut outputs = store::resolve(word, &config.stores.specs, &config.env, crate::base::env::now());
    let is_whole = outputs.iter().any(|entry| entry.id_bytes() == word.as_bytes());
    let mut sessions = if is_whole { Vec::new() } else { sessions::find_by_prefix(config, &id) };
    match (outputs.len(), sessions.len()) {
        (1, 0) => Ok(NamedItem::Output(Box::new(outputs.remove(0)))),
        (0, 1) => sessions::open(config, sessions.remove(0), id.split_once(':')).map(recorded),
        (0, 0) => {
            let call = if may_be_call(&id) { sessions::find_call(config, &id)? } else { None };
            call.map(recorded).ok_or(OpenError::Missing(word.into()).into())
        }
        _ => Err(ambiguous(word, &outputs, &sessions)),
    }
}

/// Finds what a word names; in place of an output in an agent's store its call, if that is recorded and `is_meant`.
pub(crate) fn find_call(
    config: &Config,
    word: &OsStr,
    is_meant: impl Fn(&Call) -> bool,
) -> anyhow::Result<NamedItem> {
    let named = find(config, word)?;
    let path = match &named {
        NamedItem::Output(entry) => &entry.path(),
        NamedItem::File(path) => path,
        NamedItem::Stdin | NamedItem::Recorded(_) => return Ok(named),
    };
    let file = config.stored_file(path).filter(StoredFile::is_of_agent);
    let found = file.and_then(|file| sessions::find_citing(config, file.recorded_file()));
    let found = found.filter(|found| found.call().is_some_and(is_meant));
    Ok(found.map_or(named, |found| NamedItem::Recorded(Box::new(found))))
}

/// Finds the session or the call that a word names, or the call that an output is of.
pub(crate) fn recorded(config: &Config, word: &OsStr) -> anyhow::Result<SelectedSession> {
    match find(config, word)? {
        NamedItem::Recorded(found) => Ok(*found),
        NamedItem::File(path) => sessions::open_file(config, &path),
        NamedItem::Stdin => sessions::open_file(config, Path::new("-")),
        NamedItem::Output(entry) => {
            let found = sessions::find_citing(config, entry.recorded_file());
            found.ok_or_else(|| anyhow!("{}: no session near it in time names this output", entry.id()))
        }
    }
}

/// Returns the word as a path if it has a slash or exists. An empty word is the prefix of every id, and so an error.
pub(crate) fn path(word: &OsStr) -> anyhow::Result<Option<PathBuf>> {
    if word.is_empty() {
        return Err(usage("the empty string is neither a file nor an id; name one, or leave it out"));
    }
    let path = PathBuf::from(word);
    let is_path = word.as_bytes().contains(&b'/') || path.symlink_metadata().is_ok();
    Ok(is_path.then_some(path))
}

/// Reports an id that means several outputs or sessions. Outputs may all have the same id; then only their paths differ.
fn ambiguous(word: &OsStr, outputs: &[Entry], sessions: &[SessionFile]) -> anyhow::Error {
    let mut ids: Vec<&[u8]> = outputs.iter().map(|entry| entry.id_bytes()).collect();
    let sessions: Vec<String> = sessions.iter().map(|session| safe(&session.id)).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() == 1 && sessions.is_empty() {
        let mut paths: Vec<PathBuf> = outputs.iter().map(|entry| entry.path()).collect();
        paths.sort();
        let paths = paths.iter().map(|path| label(path.as_os_str().as_bytes())).collect();
        return suggest::several(word, "is the id of several outputs; name one by its path", paths);
    }
    let names: Vec<String> = ids.into_iter().map(label).chain(sessions).collect();
    suggest::several(word, &format!("matches {} ids", names.len()), names)
}

#[derive(Debug)]
pub(crate) struct OpenInput {
    pub source: Source,
    /// Its name for the screen; safe to print.
    pub name: String,
    pub context: InputContext<MapView>,
    /// The file itself, unless it is standard input.
    pub path: Option<PathBuf>,
    /// The policy of the call that it is of, with its parameters.
    pub policy: Option<Policy>,
    /// Whether flags replace what the record of a run tells of its notices.
    is_supposed: bool,
}

pub(crate) fn open(config: &Config, word: &OsStr, args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    open_named(config, find(config, word)?, args)
}

pub(crate) fn open_named(config: &Config, named: NamedItem, args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    let path = match named {
        NamedItem::Stdin => {
            if io::stdin().is_terminal() {
                say("waiting for standard input from the terminal; Ctrl-D ends it, Ctrl-C gives up");
            }
            let kind = rustix::fs::fstat(io::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
            if kind.is_ok_and(FileType::is_dir) {
                bail!("standard input is a directory; name a file in it, or pipe an output in");
            }
            let failed = |error| anyhow!("standard input cannot be read: {error}");
            return input(Source::stdin().map_err(failed)?, None, args);
        }
        NamedItem::File(path) => path,
        NamedItem::Output(entry) => entry.path(),
        NamedItem::Recorded(found) => return Ok(open_call(config, &found, args)?.0),
    };
    open_path(config, &path, args, FileLock::Shared)
}

/// Opens what is at hand of the output of a call, with what its policy made the result of.
pub(crate) fn open_call(
    config: &Config,
    found: &SelectedSession,
    args: &PolicyArgs,
) -> anyhow::Result<(OpenInput, RestOfOutput)> {
    let (call, (place, rest)) = (found.require_call()?, found.output()?);
    let mut opened = match place {
        OutputPlace::File(path) => open_path(config, &path, args, FileLock::Shared)?,
        OutputPlace::Memory(view) => {
            say_text_only(found, &rest);
            open_text(view.to_vec(), &found.id(), args)?
        }
    };
    opened.policy = found.policy();
    // A recorded text already states the exit status.
    let exit_code = call.exit.filter(|code| *code != 0 && rest == RestOfOutput::Here);
    opened.context.exit_code = opened.context.exit_code.or(exit_code);
    if let (Some(cite), None, RestOfOutput::Here) = (call.cites.first(), &args.saved_as, &rest) {
        opened.context.saved_as = cite.path.to_string_lossy().into_owned();
    }
    Ok((opened, rest))
}

/// Says that what is at hand of a call's output is its recorded text, if it is.
pub(crate) fn say_text_only(found: &SelectedSession, rest: &RestOfOutput) {
    if let Some(why) = rest.why_text_only() {
        say(&format!("{}: {why}; this is its text as recorded", found.id()));
    }
}

pub(crate) fn open_sample(args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    open_text(unpack(SAMPLE, 1 << 20).0, "build.log (a sample)", args)
}

fn open_text(text: Vec<u8>, name: &str, args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    let opened = input(Source::stream(io::Cursor::new(text))?, None, args)?;
    Ok(OpenInput { name: label(name.as_bytes()), ..opened })
}

/// Opens piped input through the file that it is saved in, which still has its temporary name.
pub(crate) fn growing(temporary: &Path, args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    input(Source::open(temporary)?, None, args)
}

/// Opens a file. If it is in a store, `lock` says whether it is locked, so that no cleaning deletes it meanwhile.
pub(crate) fn open_path(
    config: &Config,
    path: &Path,
    args: &PolicyArgs,
    lock: FileLock,
) -> anyhow::Result<OpenInput> {
    let file = config.stored_file(path);
    let source = match &file {
        Some(_) if lock == FileLock::None => Source::open_entry_unlocked(path)?,
        Some(_) => Source::open_entry(path)?,
        None => Source::open_unpacked(path)?,
    };
    let told = file.as_ref().and_then(StoredFile::run).and_then(RunRecord::notice_exit_code);
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let saved_as = file.map_or_else(absolute, |file| file.saved_as().to_owned());
    let mut opened = input(source, Some((path, saved_as.to_string_lossy().into_owned())), args)?;
    opened.context.exit_code = args.exit_code.or(told);
    Ok(opened)
}

/// `file` is its path, and the one that notices print.
fn input(source: Source, file: Option<(&Path, String)>, args: &PolicyArgs) -> anyhow::Result<OpenInput> {
    let stderr = args.stderr.as_deref().map(whole).transpose()?;
    let (path, printed) = file.unzip();
    let name = path.and_then(Path::file_name).map(|name| label(name.as_bytes()));
    let saved_as = args.saved_as.clone().or(printed).unwrap_or_else(|| NOT_SAVED.to_owned());
    Ok(OpenInput {
        source,
        name: name.unwrap_or_else(|| "standard input".into()),
        context: InputContext {
            saved_as_stderr: args.saved_as_stderr.clone().unwrap_or_else(|| beside(&saved_as)),
            saved_as,
            stderr,
            exit_code: args.exit_code,
        },
        path: path.map(Path::to_owned),
        policy: None,
        is_supposed: args.change_context(),
    })
}

impl OpenInput {
    /// Returns the policy that is asked for; of a call, unless another is named, its own.
    pub(crate) fn policy_by(&self, config: &Config, overrides: &Overrides) -> Resolution {
        let Overrides { policy: named, tool, .. } = overrides;
        let is_own = |own: &&Policy| tool.is_none() && named.as_ref().is_none_or(|name| name == own.name());
        match self.policy.as_ref().filter(is_own) {
            Some(policy) => config.resolve_own(policy, overrides, self.path.as_deref()),
            None => {
                let mut resolved = config.resolve(overrides, self.path.as_deref())?;
                if self.policy.is_some() {
                    resolved.certainty = Certainty::WouldGet;
                }
                Ok(resolved)
            }
        }
    }

    pub(crate) fn resolve(&self, config: &Config, overrides: &Overrides) -> anyhow::Result<EffectivePolicy> {
        let mut resolved = self.policy_by(config, overrides).map_err(usage)?;
        if self.is_supposed && resolved.certainty == Certainty::Recorded {
            resolved.certainty = Certainty::WouldGet;
        }
        if let Some(failed) = resolved.policy.failed_with(self.context.exit_code) {
            resolved.warnings.push(format!("a failed command is cut by {failed}: see it with -p"));
        }
        Ok(resolved)
    }

    /// Waits for the end, and returns what `read` makes of one content; starts over once if that is rewritten meanwhile.
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

    pub(crate) fn cut_short(&self) -> Option<String> {
        let is_cut = self.source.error().is_none() && self.source.progress() == StreamProgress::CutShort;
        let read = size(self.source.len());
        is_cut.then(|| format!("{}: only the first {read} were read; a device may never end", self.name))
    }

    /// Warns if the notice says that nothing was saved, or names what cannot be read later.
    pub(crate) fn warn_if_not_saved(&self) {
        let passing = |path: &&PathBuf| path.starts_with("/dev") || path.starts_with("/proc");
        if let Some(path) = self.path.as_ref().filter(passing)
            && Path::new(&self.context.saved_as) == std::path::absolute(path).unwrap_or_default()
        {
            let path = label(path.as_os_str().as_bytes());
            let words = "cannot be read later, but the notice names it";
            return say(&format!("{path} {words}; --saved-as PATH sets another"));
        }
        if self.path.is_none() && self.context.saved_as == NOT_SAVED {
            let words = "is not saved, so the notice says";
            say(&format!("{} {words} {NOT_SAVED}; --saved-as PATH sets it", self.name));
        }
    }
}

fn whole(path: &Path) -> anyhow::Result<(MapView, Totals)> {
    let mut source = Source::open(path)?;
    source.wait();
    let view = source.view();
    let totals = Totals::count(&view);
    Ok((view, totals))
}

/// Returns the path of the second file, for a policy that saves two.
fn beside(saved_as: &str) -> String {
    match saved_as.rfind("-stdout") {
        Some(at) => format!("{}-stderr{}", &saved_as[..at], &saved_as[at + "-stdout".len()..]),
        None if saved_as == NOT_SAVED => NOT_SAVED.to_owned(),
        None => format!("{saved_as}.stderr"),
    }
}

pub(crate) fn copy(mut source: Source, out: &mut impl Write) -> CommandResult {
    let mut at = 0;
    loop {
        source.wait_for(at as u64 + 1);
        let view = source.view();
        copy_from(&mut source, &view, at, out)?;
        if at == view.len() && source.is_complete() {
            let failed = |error| Err(anyhow!("{}: {error}", source_name(&source)));
            return source.error().map_or(Ok(()), failed);
        }
        at = view.len();
    }
}

/// The map's pages may be lost at any time, so each piece is copied, and written only if the file has not changed.
fn copy_from(source: &mut Source, view: &MapView, from: usize, out: &mut impl Write) -> CommandResult {
    let mut copy = Vec::with_capacity(PIECE);
    let mut written = from;
    for piece in view.get(from..).unwrap_or_default().chunks(PIECE) {
        copy.clear();
        copy.extend_from_slice(piece);
        if matches!(source.refresh(), Change::Truncated | Change::Replaced) {
            out.flush()?;
            let (name, written) = (source_name(source), thousands(written as u64));
            bail!("{name}: cut or rewritten meanwhile; stopped after {written} bytes");
        }
        out.write_all(&copy)?;
        written += copy.len();
    }
    Ok(out.flush()?)
}

fn source_name(source: &Source) -> Cow<'_, str> {
    source.path().map_or_else(|| "standard input".into(), |path| path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_the_stderr_path_from_the_stdout_path() {
        assert_eq!(beside("/t/bash-17-stdout.txt"), "/t/bash-17-stderr.txt");
        assert_eq!(beside("/t/out.log"), "/t/out.log.stderr");
        assert_eq!(beside(NOT_SAVED), NOT_SAVED);
    }

    /// A writer that calls a function on every write.
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

    /// Creates a file of this many pieces, and returns its directory with it.
    fn pieces(count: usize) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, vec![b'x'; count * PIECE]).unwrap();
        (dir, path)
    }

    #[test]
    fn copying_stops_when_the_file_is_truncated() {
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
    fn growth_does_not_interrupt_copying() {
        let (_dir, path) = pieces(2);
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        let mut source = Source::open(&path).unwrap();
        let view = source.view();
        let mut out = Then(Vec::new(), || file.write_all(b"more").unwrap());
        copy_from(&mut source, &view, 0, &mut out).unwrap();
        assert_eq!(out.0.len(), 2 * PIECE);
    }
}
