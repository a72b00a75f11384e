//! The whole output of a call: what a policy made the result of, or the file of which the result is a window.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::source::{MapView, Source};

use super::content::MAX_TEXT;
use super::json::{Json, Kind, Tape};
use super::model::{Call, Citation};
use super::spill::{SpillState, look_for};
use super::text;
use super::transcript::Transcript;
use super::verdict::{Against, Unchecked};

/// The longest text that is compared, in bytes.
pub const MAX_COMPARED: usize = 16 << 20;

/// How many bytes of the arguments are looked at.
const MAX_ARGUMENTS: u64 = 64 << 10;

/// The names that agents give to the argument with the path.
const PATH_KEYS: &[&str] = &["path", "filePath", "file_path", "absolute_path"];

/// The whole output of a call.
#[derive(Clone, Debug)]
pub enum WholeOutput {
    /// The spill, with its path as the agent named it.
    Spill(MapView, String),
    /// A copy for the agent's own screen that is known to be whole.
    Display(Vec<u8>),
    /// The file of which the result is a window.
    File(Box<ReadFile>),
}

impl WholeOutput {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Spill(view, _) => view,
            Self::Display(bytes) => bytes,
            Self::File(file) => &file.view,
        }
    }

    /// Returns the path that the agent's notices print; empty if there is none.
    pub fn saved_as(&self) -> &str {
        match self {
            Self::Spill(_, path) => path,
            Self::Display(_) => "",
            Self::File(file) => &file.window.named,
        }
    }

    /// Returns what a policy is compared against that is applied to it.
    pub fn against(&self) -> Against {
        match self {
            Self::Spill(..) => Against::Spill,
            Self::Display(_) => Against::Display,
            Self::File(_) => Against::File,
        }
    }

    /// Returns what the call asked for, if it read a file.
    pub fn window(&self) -> Option<&FileWindow> {
        match self {
            Self::File(file) => Some(&file.window),
            _ => None,
        }
    }
}

/// Returns the length in bytes of the display copy that holds all of a call's output; see [`whole_display`].
pub fn whole_display_len(transcript: &Transcript, call: &Call) -> Option<u64> {
    call.display.iter().find_map(|copy| {
        let facts = text::decode(transcript, std::slice::from_ref(&copy.text), &mut |_| true).ok()?;
        let is_whole =
            copy.most.map_or(facts.bytes <= MAX_COMPARED as u64, |most| facts.bytes < u64::from(most));
        (is_whole && facts.replaced == 0).then_some(facts.bytes)
    })
}

/// Returns the display copy of a call that holds all of its output, if there is one.
pub fn whole_display(transcript: &Transcript, call: &Call) -> Option<WholeOutput> {
    call.display.iter().find_map(|copy| {
        let most = copy.most.map_or(MAX_COMPARED, |most| most as usize);
        let (text, facts) = text::to_text(transcript, std::slice::from_ref(&copy.text), most).ok()?;
        let is_whole = !facts.is_stopped && copy.most.is_none_or(|most| facts.bytes < u64::from(most));
        (is_whole && facts.replaced == 0).then(|| WholeOutput::Display(text.into_bytes()))
    })
}

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

/// Returns the file that a call asked for; `None` if its arguments do not say.
pub fn requested_window(transcript: &Transcript, call: &Call) -> Option<FileWindow> {
    let bytes = transcript.read(call.input?, MAX_ARGUMENTS).ok()?;
    let mut tape = Tape::default();
    let input = tape.read(&bytes).ok()?;
    // Some agents write the arguments as JSON in a string.
    let inner = input.text().map(|text| text.to_text(MAX_ARGUMENTS as usize).text);
    let mut inner_tape = Tape::default();
    let arguments = match &inner {
        Some(inner) => inner_tape.read(inner.as_bytes()).ok()?,
        None => input,
    };
    window_from(transcript, arguments)
}

fn window_from(transcript: &Transcript, arguments: Json) -> Option<FileWindow> {
    let given = PATH_KEYS.iter().find_map(|key| arguments.get(key)?.short(MAX_TEXT))?;
    let number = |key: &str| arguments.get(key).filter(|value| value.kind() == Kind::Bare)?.int();
    let cwd = transcript.facts.cwd.as_deref().unwrap_or_default();
    let path = Path::new(cwd).join(&given);
    // The others print the absolute path.
    let named = if transcript.agent == "pi" { given } else { path.to_string_lossy().into_owned() };
    Some(FileWindow { named, path, offset: number("offset"), limit: number("limit") })
}

/// Opens the file of which a call gave a window. `records` is the file with the call, `uid` owns the files that count, and
/// `may_open` returns whether a path may be opened.
///
/// # Errors
/// The file is not there, or may not be opened.
pub fn read_file(
    transcript: &Transcript,
    call: &Call,
    records: &Path,
    uid: u32,
    may_open: &dyn Fn(&Path) -> bool,
) -> Result<(Source, ReadFile), Unchecked> {
    let window = requested_window(transcript, call).ok_or(Unchecked::NoFile)?;
    let claim = Citation::new(window.path.clone());
    let SpillState::Here(path) = look_for(&claim, records, uid) else { return Err(Unchecked::NoFile) };
    if !may_open(&path) {
        return Err(Unchecked::Outside);
    }
    let source = Source::glance_at_entry(&path).map_err(|_| Unchecked::NoFile)?;
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    let read_at = call.first().and_then(|first| first.at).or(call.at).map(SystemTime::from);
    let is_changed = modified.zip(read_at).is_none_or(|(modified, read_at)| modified > read_at);
    let view = source.view();
    Ok((source, ReadFile { window, view, is_changed }))
}
