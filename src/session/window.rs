//! Windows of files: the file that a read tool was called for, and whether it can still be compared.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::source::{MapView, Source};

use super::json::{Json, Kind, Tape};
use super::model::{Call, Citation};
use super::spill::{SpillState, look_for};
use super::transcript::Transcript;

/// How many bytes of the arguments are looked at.
const MOST_ARGUMENTS: u64 = 64 << 10;

/// The longest path, in bytes.
const LONGEST_PATH: usize = 4096;

/// The names that agents give to the argument with the path.
const PATH_KEYS: &[&str] = &["path", "filePath", "file_path", "absolute_path"];

/// A file of which a call asked for a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWindow {
    /// The path as the agent's notices print it.
    pub named: String,
    /// The path of the file: a claim of the records.
    pub path: PathBuf,
    pub offset: Option<i64>,
    pub limit: Option<i64>,
}

/// A file of which the model got a window, as it is now.
#[derive(Clone, Debug)]
pub struct ReadFile {
    pub window: FileWindow,
    pub view: MapView,
    /// Whether the file was changed after the call, or that is not known.
    pub is_changed: bool,
}

/// Why the file that a call read cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReadFile {
    /// It is not there any more, or is no regular file of one's own; or the arguments do not tell which it was.
    Gone,
    /// It may not be opened unasked.
    Outside,
}

/// Returns the file that a call asked for; `None` if its arguments do not tell.
pub fn asked_for(transcript: &Transcript, call: &Call) -> Option<FileWindow> {
    let bytes = transcript.read(call.input?, MOST_ARGUMENTS).ok()?;
    let mut tape = Tape::default();
    let input = tape.read(&bytes).ok()?;
    // Some agents write the arguments as JSON in a string.
    let inner = input.text().map(|text| text.to_text(MOST_ARGUMENTS as usize).text);
    let mut inner_tape = Tape::default();
    let arguments = match &inner {
        Some(inner) => inner_tape.read(inner.as_bytes()).ok()?,
        None => input,
    };
    of_arguments(transcript, arguments)
}

fn of_arguments(transcript: &Transcript, arguments: Json) -> Option<FileWindow> {
    let given = PATH_KEYS.iter().find_map(|key| arguments.get(key)?.short(LONGEST_PATH))?;
    let number = |key: &str| arguments.get(key).filter(|value| value.kind() == Kind::Bare)?.int();
    let cwd = transcript.facts.cwd.as_deref().unwrap_or_default();
    let path = Path::new(cwd).join(&given);
    // The others print the absolute path.
    let named = if transcript.agent == "pi" { given } else { path.to_string_lossy().into_owned() };
    Some(FileWindow { named, path, offset: number("offset"), limit: number("limit") })
}

/// Opens the file of which a call gave a window. `records` is the file with the call, `uid` owns the files that count, and
/// `may_open` tells whether a path may be opened.
///
/// # Errors
/// The file is not there, or may not be opened.
pub fn read_file(
    transcript: &Transcript,
    call: &Call,
    records: &Path,
    uid: u32,
    may_open: &dyn Fn(&Path) -> bool,
) -> Result<(Source, ReadFile), NoReadFile> {
    let window = asked_for(transcript, call).ok_or(NoReadFile::Gone)?;
    let claim = Citation::new(window.path.clone());
    let SpillState::Here(path) = look_for(&claim, records, uid) else { return Err(NoReadFile::Gone) };
    if !may_open(&path) {
        return Err(NoReadFile::Outside);
    }
    let source = Source::glance_at_entry(&path).map_err(|_| NoReadFile::Gone)?;
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    let read_at = call.first().and_then(|first| first.at).or(call.at).map(SystemTime::from);
    let is_changed = modified.zip(read_at).is_none_or(|(modified, read_at)| modified > read_at);
    let view = source.view();
    Ok((source, ReadFile { window, view, is_changed }))
}
