//! The whole output of a call: what a policy made the result of.

use crate::source::MapView;

use super::model::Call;
use super::text;
use super::transcript::Transcript;
use super::verdict::Against;
use super::window::{FileWindow, ReadFile};

/// The longest text that is compared, in bytes.
pub const LONGEST: usize = 16 << 20;

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
        let is_whole = copy.most.map_or(facts.bytes <= LONGEST as u64, |most| facts.bytes < u64::from(most));
        (is_whole && facts.replaced == 0).then_some(facts.bytes)
    })
}

/// Returns the display copy of a call that holds all of its output, if there is one.
pub fn whole_display(transcript: &Transcript, call: &Call) -> Option<WholeOutput> {
    call.display.iter().find_map(|copy| {
        let most = copy.most.map_or(LONGEST, |most| most as usize);
        let (text, facts) = text::to_text(transcript, std::slice::from_ref(&copy.text), most).ok()?;
        let is_whole = !facts.is_stopped && copy.most.is_none_or(|most| facts.bytes < u64::from(most));
        (is_whole && facts.replaced == 0).then(|| WholeOutput::Display(text.into_bytes()))
    })
}
