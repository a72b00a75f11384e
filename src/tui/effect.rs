//! Effects: what the screens request from the event loop.

use std::any::Any;
use std::path::PathBuf;

use crate::store::Marked;

use super::event::Event;
use super::job::{Job, JobContext, JobRequest, Pace, Slot};
use super::recorded::ReadyCall;
use super::target::Choice;

/// Something that the event loop does for the screens.
#[derive(Debug)]
pub enum Effect {
    /// Has a worker do a job; an earlier one in its slot is abandoned.
    Run(Job),
    /// Abandons the job in a slot.
    Stop(Slot),
    /// Passes a request to the job in a slot.
    Ask(Slot, JobRequest),
    /// Leaves the screens, then deletes these entries. Nothing else that is marked is deleted.
    Quit(Vec<Marked>),
    /// Stops the command whose output is shown first, as Ctrl-C does.
    StopCommand,
    /// Puts text on the clipboard of the terminal.
    Copy(String),
    /// Opens the file in an editor, at this line.
    Edit(u64),
    Open(PathBuf),
    /// Opens the file being viewed again.
    Reopen,
    /// Switches to the next or previous of the outputs named on the command line.
    OtherFile {
        /// True for the next, false for the previous.
        next: bool,
    },
    /// Loads policies.
    LoadPolicies(PoliciesRequest),
    /// Deletes these entries.
    Delete(Vec<Marked>),
    /// Opens a call of the session.
    OpenCall(Box<ReadyCall>),
    /// Suspends overspill, as Ctrl-Z does in other programs.
    Suspend,
}

/// A request to load policies.
pub struct PoliciesRequest {
    /// The first of these names that exists; all policies if there are none.
    pub names: Vec<String>,
    /// Makes an event of the policies that were found.
    pub answer: Box<dyn FnOnce(Vec<Choice>) -> Event + Send>,
}

impl std::fmt::Debug for PoliciesRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PoliciesRequest({:?})", self.names)
    }
}

/// A queue of effects, in the order in which they are carried out.
#[derive(Debug, Default)]
pub struct Effects(Vec<Effect>);

impl Effects {
    pub fn push(&mut self, effect: Effect) {
        self.0.push(effect);
    }

    /// Has a worker do a job; an earlier one in the slot is abandoned.
    pub(crate) fn run(&mut self, slot: Slot, work: impl FnOnce(&JobContext) + Send + 'static) {
        self.run_at(Pace::Background, slot, work);
    }

    /// Has a job done that the user waits for.
    pub(crate) fn run_at(&mut self, pace: Pace, slot: Slot, work: impl FnOnce(&JobContext) + Send + 'static) {
        self.push(Effect::Run(Job::new(slot, pace, work)));
    }

    /// Abandons the jobs in these slots.
    pub(crate) fn stop(&mut self, slots: impl IntoIterator<Item = Slot>) {
        self.0.extend(slots.into_iter().map(Effect::Stop));
    }

    /// Passes a request to the job in a slot.
    pub(crate) fn ask(&mut self, slot: Slot, request: impl Any + Send) {
        self.push(Effect::Ask(slot, Box::new(request)));
    }

    /// Iterates over the effects requested so far.
    pub fn iter(&self) -> std::slice::Iter<'_, Effect> {
        self.0.iter()
    }
}

impl IntoIterator for Effects {
    type Item = Effect;
    type IntoIter = std::vec::IntoIter<Effect>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
