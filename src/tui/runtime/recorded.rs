//! Opens a call of a session: what was recorded, over the output that it was cut from.

use std::io;

use crate::config::EffectivePolicy;
use crate::known::Certainty;
use crate::preview::InputContext;
use crate::session::citing::CitingCall;
use crate::source::{Hold, MapView};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::recorded::{OutputPlace, ReadyCall, RecordedCall, RestOfOutput};
use crate::tui::screen::Effects;
use crate::tui::target::{Opened, OpenedFrom, Subject, Target};

use super::Session;
use super::viewed::{OpenAs, Viewed};

/// The name of what is in no file.
const NOT_SAVED: &str = "<not saved>";

impl Session {
    /// Opens a call of a session.
    pub(crate) fn open_call(&mut self, ready: ReadyCall) -> io::Result<()> {
        let Some(choice) = self.policy_of(&ready) else { return Ok(()) };
        let (name, exit_code) = (label(ready.name.as_bytes()), ready.exit_code);
        let CitingCall { file, call, command } = &ready.recorded.call;
        let (id, command) = (format!("{}:{call}", file.id), command.clone());
        let mut effects = Effects::default();
        match ready.place {
            OutputPlace::File(path) => match (self.services.open)(&path, Hold::Lock) {
                Ok(Target { subject, source }) => {
                    // As the agent named it, which in a copy of its directory is another path.
                    let saved_as = ready.saved_as.unwrap_or_else(|| subject.context.saved_as.clone());
                    let context = InputContext { exit_code, saved_as, ..subject.context };
                    // The cut is the recorded one; the store only tells where the spill is.
                    let store_warnings = subject.policy.store_warnings;
                    let certainty = Certainty::Reconstructed;
                    let policy = EffectivePolicy { certainty, store_warnings, ..choice };
                    let subject = Subject { name, id, command, context, policy, ..subject };
                    self.open(Target { subject, source }, OpenAs::Call(ready.recorded), &mut effects);
                }
                Err(fault) => self.tell(Message::error(fault)),
            },
            OutputPlace::Memory(view) => {
                let subject = in_memory(name, exit_code, choice, &ready.recorded.rest);
                let subject = Subject { id, command, ..subject };
                self.open_memory(subject, view, ready.recorded, &mut effects);
            }
        }
        self.carry_out(effects)
    }

    /// Returns the policy that cut the call, or else the first of its agent.
    fn policy_of(&self, ready: &ReadyCall) -> Option<EffectivePolicy> {
        let named = ready.policy.as_deref().and_then(|name| (self.services.load_policies)(Some(name)).pop());
        named.or_else(|| {
            let mut choices = (self.services.load_policies)(None);
            let of_agent =
                |choice: &EffectivePolicy| choice.policy.agent() == ready.agent && choice.is_current;
            let at = choices.iter().position(of_agent).unwrap_or(0);
            (!choices.is_empty()).then(|| choices.swap_remove(at))
        })
    }

    fn open_memory(
        &mut self,
        subject: Subject,
        view: MapView,
        recorded: Box<RecordedCall>,
        effects: &mut Effects,
    ) {
        let opened = Opened {
            subject,
            view,
            recorded: Some(recorded),
            streaming: false,
            running: false,
            file: self.file,
            files: self.files.len(),
            origin: OpenedFrom::Session,
            line: None,
            under: None,
            find: None,
        };
        self.show(opened, Viewed { source: None, named: None }, effects);
    }
}

/// Returns what is known of a recorded text. Of its rest, if that is missing, no policy makes what the model got.
fn in_memory(name: String, exit_code: Option<i32>, choice: EffectivePolicy, rest: &RestOfOutput) -> Subject {
    let certainty = match rest {
        RestOfOutput::Here | RestOfOutput::NotCut => Certainty::Reconstructed,
        RestOfOutput::Missing(_) => Certainty::WouldGet,
    };
    Subject {
        file: None,
        name,
        id: String::new(),
        is_kept: false,
        command: String::new(),
        context: InputContext {
            saved_as: NOT_SAVED.to_owned(),
            saved_as_stderr: NOT_SAVED.to_owned(),
            stderr: None,
            exit_code,
        },
        policy: EffectivePolicy { certainty, ..choice },
        candidates: Vec::new(),
    }
}
