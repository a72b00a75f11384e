//! What a result is compared with: a call's whole output, its copy for the screen, or the file that it read.

use std::path::Path;

use crate::source::MapView;

use super::agents::info_of;
use super::body::FileWindow;
use super::command::arguments;
use super::json::{Kind, Tape};
use super::model::{Call, CutState};
use super::text::{self, MAX_RESULT};
use super::transcript::Transcript;
use super::verdict::Counterpart;

/// What a result is compared with: a spill, a file, or a copy for the agent's own screen that is known to be whole.
#[derive(Clone, Debug)]
pub struct WholeOutput {
    pub view: MapView,
    pub counterpart: Counterpart,
    /// The path that the agent's notices print; empty if there is none.
    pub saved_as: String,
    /// What the call asked for, if it read a file.
    pub window: Option<FileWindow>,
    /// Whether the file was changed after the call, or that is not known.
    pub is_changed: bool,
}

impl WholeOutput {
    pub fn new(view: MapView, counterpart: Counterpart, saved_as: String) -> Self {
        Self { view, counterpart, saved_as, window: None, is_changed: false }
    }
}

/// Returns the display copy of a call that holds all of its output, if there is one.
pub fn whole_display(transcript: &Transcript, call: &Call) -> Option<WholeOutput> {
    call.display.iter().find_map(|copy| {
        let most = copy.most.map_or(MAX_RESULT, |most| most as usize);
        let (text, facts) = text::to_text(transcript, std::slice::from_ref(&copy.text), most).ok()?;
        // Before a character that takes up to four bytes, up to three are left free.
        let is_short = copy.most.is_none_or(|most| facts.bytes + 4 <= most.into());
        let is_larger = call.cites.iter().any(|cite| cite.bytes > Some(facts.bytes));
        let is_cut = || (info_of(transcript.agent).is_cut_copy)(&text, most);
        let is_whole = !facts.is_stopped && is_short && !is_larger && !is_cut();
        let view = MapView::from_bytes(text.as_bytes()).ok().filter(|_| is_whole && facts.replaced == 0);
        Some(WholeOutput::new(view?, Counterpart::Display, String::new()))
    })
}

/// Whether the rest of an output that was cut is nowhere: in no spill, and in no copy that is whole.
pub fn is_never_saved(transcript: &Transcript, call: &Call) -> bool {
    call.cut == CutState::NoSpill && whole_display(transcript, call).is_none()
}

/// Returns the file that a call asked for; `None` if its arguments do not say.
pub fn requested_window(transcript: &Transcript, call: &Call) -> Option<FileWindow> {
    let input = arguments(transcript, call)?;
    let mut tape = Tape::default();
    let arguments = tape.read(&input).ok()?;
    let keys = ["path", "filePath", "file_path", "absolute_path"];
    let given = keys.iter().find_map(|key| arguments.name(key))?;
    let number = |key: &str| arguments.get(key).filter(|value| value.kind() == Kind::Bare)?.int();
    let cwd = transcript.facts.cwd.as_deref().unwrap_or_default();
    let path = Path::new(cwd).join(&given);
    let prints_given = info_of(transcript.agent).prints_given_path;
    let named = if prints_given { given } else { path.to_string_lossy().into_owned() };
    Some(FileWindow { named, path, offset: number("offset"), limit: number("limit") })
}
