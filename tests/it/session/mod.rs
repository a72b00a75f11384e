//! Agents' own records: what the readers find, against what a plain JSON parser finds in the same records.

mod claude;
mod claude_context;
mod compacted;
mod cuts;
pub mod documents;
mod following;
mod histories;
mod hostile;
mod hostile_laws;
mod kimi;
mod kimi_code;
mod listing;
mod logs;
mod long;
mod openclaw;
mod qwen;
mod samples;
pub mod sent;
mod stored;
mod tables;
mod verify;

use std::path::{Path, PathBuf};

use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::format::SessionFormat;
use overspill::internals::session::model::{Call, CallResult, TextPiece};
use overspill::internals::session::reader::{OpenedSession, SessionFile};
use overspill::internals::session::transcript::Transcript;
use overspill::internals::session::{FORMATS, text};

/// Opens a file as the form that recognises it.
pub fn open(path: &Path) -> Box<dyn OpenedSession> {
    let (format, file) = recognised(path);
    format.open(&file, &()).unwrap()
}

/// Returns the form that recognises a file.
pub fn recognised(path: &Path) -> (&'static SessionFormat, SessionFile) {
    let (head, _) = overspill::internals::session::find::ends(path).unwrap();
    FORMATS.iter().find_map(|format| format.recognise(path, &head).map(|file| (*format, file))).unwrap()
}

/// Returns the whole text of a result.
pub fn text_of(transcript: &Transcript, result: &CallResult) -> String {
    pieces(transcript, &result.pieces)
}

/// Returns the whole text of pieces.
pub fn pieces(transcript: &Transcript, pieces: &[TextPiece]) -> String {
    text::to_text(transcript, pieces, usize::MAX >> 1).unwrap().0
}

/// Returns the call with this id, in any thread.
pub fn call<'a>(transcript: &'a Transcript, id: &str) -> &'a Call {
    transcript.calls.iter().find(|call| &*call.id == id).unwrap()
}

/// Returns what became of the result that the model first saw.
pub fn fate_of(call: &Call) -> ContextChange {
    call.first().map_or(ContextChange::Restore, |first| first.context.change)
}

/// Returns the text of a call as the model first saw it.
pub fn first(transcript: &Transcript, id: &str) -> String {
    text_of(transcript, call(transcript, id).first().unwrap())
}

/// Writes a log of JSON records below a directory, and returns its path.
pub fn write_log(dir: &Path, name: &str, records: &[serde_json::Value]) -> PathBuf {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&path, lines.concat()).unwrap();
    path
}

/// The environment of a home directory.
pub fn sessions_in(home: &Path, agent: &str) -> Vec<SessionFile> {
    let env = overspill::internals::store::Env::hermetic(home);
    let mut found = Vec::new();
    let mut faults = Vec::new();
    let of_agent = FORMATS.iter().filter(|format| format.info.agent == agent);
    of_agent.for_each(|format| {
        format.find(&env, &(), &mut |file| found.push(file), &mut |fault| {
            faults.extend(fault);
            true
        })
    });
    assert!(faults.is_empty(), "{faults:?}");
    found
}

/// Whether all records were understood.
pub fn is_read_whole(transcript: &Transcript) -> bool {
    let unread = &transcript.unread;
    unread.known == unread.records && unread.broken == 0 && unread.unfinished == 0 && unread.kinds.is_empty()
}
