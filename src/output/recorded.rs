//! A result that an agent recorded: the text that the model got, what is known about it, and in what it differs from what the
//! policy makes.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::human::{NamedFact, count};
use crate::base::provenance::Certainty;
use crate::capture::NOT_SAVED;
use crate::config::{ChosenBy, EffectivePolicy};
use crate::document::reader::ReadWindow;
use crate::preview::{Input, ParamRole, Part, Policy, Preview, Value};
use crate::session::call_details::TitledText;
use crate::session::command::{command, one_line};
use crate::session::examine::{CallInspector, OutputPlace, Paths, RestOfOutput};
use crate::session::model::{Call, CutState};
use crate::session::spill::{CitingCall, SpillState};
use crate::session::text::{MAX_RESULT, to_text};
use crate::session::verdict::{Verdict, describe_check, describe_place};
use crate::session::verify::part_at;
use crate::text::{align, label::label};

use super::{OpenOutput, Subject};

/// Outputs up to this many bytes are compared before a call of the open session is shown; others while it is shown.
const COMPARED_FIRST: u64 = 4 << 20;

impl RestOfOutput {
    /// Returns why the recorded text is all there is; `None` if the output is at hand.
    pub(crate) fn why_text_only(&self) -> Option<&'static str> {
        match self {
            Self::Here => None,
            Self::NotCut => Some("the agent did not cut it"),
            Self::Missing(why) => Some(why),
            Self::Unknown => Some("not recorded whether the agent cut it"),
        }
    }

    /// Returns why the rest of the output is missing, as far as that is known.
    pub(crate) fn why_missing(&self) -> Option<&'static str> {
        self.why_text_only().filter(|_| *self != Self::NotCut)
    }
}

/// A call's result as the model got it, from the agent's own records.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// Its index in the session that is held open; `None` if it was found by its output.
    pub index: Option<usize>,
    pub call: CitingCall,
    pub text: Arc<str>,
    /// The byte ranges of the text that are the agent's notice, if nothing is left of the output to show it beside: as
    /// far as the text fits what the agent's policies make.
    pub notices: Arc<[Range<usize>]>,
    /// The policy that cut it, or that comes closest, if that is known.
    pub policy: Option<Policy>,
    /// Who recorded it: `claude-code 2.1.330`.
    pub by: String,
    pub rest: RestOfOutput,
    /// Where the records claim the spill to be, outside of the known stores.
    pub claim: Option<PathBuf>,
    /// Whether a policy makes the same of the output; `None` while that is being checked.
    pub check: Option<Verdict>,
    /// What else is known about the call, by name, for Facts.
    pub facts: Vec<NamedFact>,
    /// What else the records hold of the call, for Facts; `None` until it was asked for and has come.
    pub texts: Option<Vec<TitledText>>,
}

impl RecordedCall {
    /// Returns what was found if its policy makes the same text; what the agent puts around any output is not compared.
    pub(crate) fn equal(&self) -> Option<&Verdict> {
        self.check.as_ref().filter(|check| self.policy.is_some() && check.counterpart().is_some())
    }
}

/// The call that a stored output is of, which its file does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CallSearch {
    #[default]
    NotStarted,
    Running,
    NoneFound,
    Found(Box<CitingCall>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFacts {
    pub facts: Vec<NamedFact>,
    /// The record, the arguments, the request and the display copies, as far as there are any.
    pub texts: Vec<TitledText>,
}

/// A request to the worker that holds the open session. Calls are meant by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallRequest {
    /// These rows are on the screen: what they lack comes first.
    Rows(Vec<usize>),
    /// Prepare this call to be shown, with its spill if that lies in one of these places.
    Show(usize, Paths),
    /// Read what the records hold of this call besides its result.
    Facts(usize),
}

#[derive(Debug)]
pub struct ReadyCall {
    /// Its name on the screen: tool and command.
    pub name: String,
    pub agent: &'static str,
    pub exit_code: Option<i32>,
    /// The path of the spill as the records have it, if they name one.
    pub saved_as: Option<String>,
    pub place: OutputPlace,
    pub recorded: Box<RecordedCall>,
}

impl ReadyCall {
    /// Reads a call's result, and finds what is left of its output. `check` is the verdict on it, if that is known.
    ///
    /// # Errors
    /// There is no result, or it cannot be shown: why, in words.
    pub(crate) fn read(
        of: &CallInspector,
        call: &Call,
        paths: Paths,
        check: Option<Verdict>,
    ) -> Result<Self, String> {
        let best = of.best(call);
        let first = best.first.as_ref().ok_or("no result of this call was recorded")?;
        let (text, facts) = to_text(of.transcript, &first.pieces, MAX_RESULT)
            .map_err(|error| format!("the records cannot be read: {error}"))?;
        if facts.is_stopped {
            return Err(format!("the result is over {} MB, too long to be shown", MAX_RESULT >> 20));
        }
        let (place, rest) =
            of.output(call, &text, paths).map_err(|error| format!("no memory for the text: {error}"))?;
        let claim = match of.spill(call) {
            Some(SpillState::Here(path)) if call.cut == CutState::Spill && rest != RestOfOutput::Here => {
                Some(path)
            }
            _ => None,
        };
        let is_quick = of.whole_bytes(call).is_none_or(|bytes| bytes <= COMPARED_FIRST);
        let check = check.or_else(|| is_quick.then(|| of.verify(call)));
        let CallInspector { examiner, file, transcript, .. } = *of;
        let policy = examiner.verifier.policy_of(transcript, call, check.as_ref());
        Ok(Self {
            name: format!("{}: {}", transcript.tool(call), one_line(&command(transcript, call))),
            agent: transcript.agent,
            exit_code: call.exit.filter(|code| *code != 0),
            saved_as: call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned()),
            place,
            recorded: Box::new(RecordedCall {
                index: None,
                call: CitingCall::new(file, transcript, call),
                notices: match rest {
                    RestOfOutput::Missing(_) => {
                        examiner.verifier.added_in(transcript, (call, first), &text).into()
                    }
                    _ => Arc::default(),
                },
                text: text.into(),
                policy,
                by: of.recorder(call),
                rest,
                claim,
                check,
                facts: of.facts(call, Some(first)),
                texts: None,
            }),
        })
    }

    /// Describes the output of the call as a policy cuts it; `spill` is what its store tells, if it has a spill.
    pub(crate) fn subject(&self, policy: EffectivePolicy, spill: Option<Subject>) -> Subject {
        // No policy can make the result if the rest of its output is missing.
        let is_missing = self.recorded.rest.why_missing().is_some();
        let certainty = if is_missing { Certainty::WouldGet } else { Certainty::Reconstructed };
        let policy = EffectivePolicy { certainty, ..policy };
        let mut subject = match spill {
            // The cut is the recorded one; the store only tells where the spill is.
            Some(spill) => {
                let store_warnings = spill.policy.store_warnings;
                let mut context = spill.context;
                // The path that the agent named, which is another in a copied directory.
                context.saved_as = self.saved_as.clone().unwrap_or(context.saved_as);
                Subject { context, policy: EffectivePolicy { store_warnings, ..policy }, ..spill }
            }
            None => Subject::new(String::new(), NOT_SAVED.to_owned(), policy),
        };
        let CitingCall { file, call, command } = &self.recorded.call;
        subject.name = label(self.name.as_bytes());
        subject.context.exit_code = self.exit_code;
        (subject.id, subject.command) = (format!("{}:{call}", file.id), command.clone());
        subject
    }
}

/// What Preview shows of an output whose result is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PreviewFrom {
    #[default]
    Records,
    Policy,
}

impl OpenOutput {
    /// Takes in what was recorded of the call that the output is of: that is the preview from now on, unless limits were
    /// changed.
    pub(crate) fn attach(&mut self, ready: ReadyCall) {
        let policy = ready.recorded.policy.clone();
        let policy =
            policy.map_or_else(|| self.first.clone(), |policy| EffectivePolicy::chosen(policy, true));
        let Subject { context, policy, .. } = ready.subject(policy, Some(self.subject.clone()));
        self.first_preview = None;
        if self.limits_are_first() {
            self.subject.policy = policy.clone();
        } else {
            self.preview_from = PreviewFrom::Policy;
        }
        (self.subject.context, self.first) = (context, policy);
        self.recorded = Some(*ready.recorded);
    }

    pub fn shown_record(&self) -> Option<&RecordedCall> {
        self.recorded.as_ref().filter(|_| self.preview_from == PreviewFrom::Records)
    }

    /// Whether the recorded text is all there is to show: it was not cut, or the rest is missing.
    pub(crate) fn is_text_only(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.rest != RestOfOutput::Here)
    }

    pub(crate) fn missing_rest(&self) -> Option<&'static str> {
        self.recorded.as_ref()?.rest.why_missing()
    }

    pub(crate) fn is_rest_missing(&self) -> bool {
        self.missing_rest().is_some()
    }

    pub(crate) fn is_stored(&self) -> bool {
        let is_spill = self.recorded.as_ref().is_some_and(|recorded| recorded.rest == RestOfOutput::Here);
        self.subject.file.is_some() && (is_spill || matches!(self.first.chosen_by, ChosenBy::Store(_)))
    }

    /// Returns how certain it is that the model got the preview that is shown.
    pub(crate) fn certainty(&self) -> Certainty {
        match self.shown_from() {
            (PreviewFrom::Records, _) if self.recorded.is_some() => Certainty::Recorded,
            (_, policy) if policy.is_same(&self.first.policy) => self.first.certainty,
            (_, policy)
                if self.recorded.is_none()
                    && self.subject.candidates.iter().any(|candidate| policy.is_same(&candidate.policy)) =>
            {
                Certainty::Reconstructed
            }
            _ => Certainty::WouldGet,
        }
    }

    /// Returns the policy that made the preview, if it or its limits are others than at the start, and the model is not
    /// known to have got it.
    pub(crate) fn what_if(&self) -> Option<&Policy> {
        let (_, policy) = self.shown_from();
        (self.certainty() == Certainty::WouldGet && !policy.is_same(&self.first.policy)).then_some(policy)
    }

    /// Returns the policy that is shown, if the output's store may have cut by it, but another is likelier.
    pub(crate) fn other_candidate(&self) -> Option<&Policy> {
        let (from, policy) = self.shown_from();
        let is_other = from == PreviewFrom::Policy && policy.name() != self.first.policy.name();
        (is_other && self.certainty() == Certainty::Reconstructed).then_some(policy)
    }

    /// Whether the preview is a window of lines as the agent's read tool returns it.
    pub(crate) fn is_read_view(&self) -> bool {
        let (from, policy) = self.shown_from();
        policy.has_window() && (from == PreviewFrom::Policy || self.recorded.is_none())
    }

    /// Returns the window that is shown so, and how many lines the tool gave of it, at least 1, to go on from.
    pub(crate) fn read_window(&self) -> Option<(ReadWindow, u64)> {
        let (_, policy) = self.shown_from();
        let given = self.made.preview.as_ref().ok().filter(|_| self.is_read_view())?.kept.lines?.max(1);
        let offset = policy.integer(ParamRole::Offset)? + 1 - first_offset(policy);
        Some((ReadWindow { offset, limit: policy.integer(ParamRole::Limit).unwrap_or(given) }, given))
    }

    /// Describes what Preview now shows of a recorded result, and how it differs from the other text.
    pub(crate) fn evidence(&self) -> String {
        let Some(recorded) = &self.recorded else { return String::new() };
        let shown = match self.preview_from {
            PreviewFrom::Records => format!("recorded by {}", recorded.by),
            PreviewFrom::Policy => format!("reconstructed by {}", self.policy().name()),
        };
        let found = self.made.differences.as_ref();
        let checked = || describe_check(recorded.check.as_ref());
        let found = found.map_or_else(checked, |found| found.describe(Some(recorded)));
        format!("{shown} · {found}")
    }
}

/// Returns the offset of line 1 as a read tool counts, by its default: some that count from 1 take 0 too.
pub(crate) fn first_offset(tool: &Policy) -> u64 {
    u64::from(tool.with_role(ParamRole::Offset).is_none_or(|param| param.default != Value::Integer(0)))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Differences {
    /// The stretches of the document that is shown which the other text does not have, in bytes, in order. One is empty
    /// where only the other has something.
    places: Vec<Range<u64>>,
    /// The first byte of the recorded text that differs, 0-based.
    first: u64,
    /// The part of what the policy makes in which that is.
    part: &'static str,
}

impl Differences {
    /// Compares the recorded text, which is shown or not, with what the policy makes. `None` if that is no longer
    /// wanted, one is too long, or what the policy makes is not known byte for byte.
    pub(crate) fn find(recorded: &str, made: &Preview, input: &Input, is_recorded: bool) -> Option<Self> {
        let is_short = recorded.len() <= MAX_RESULT && made.byte_len(input) <= MAX_RESULT as u64;
        let text = (is_short && is_exact(made, input)).then(|| made.text(input))?;
        let found = align::differences(recorded, &text, &|| input.is_wanted())?;
        let first = recorded.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count() as u64;
        let last = if is_recorded { recorded.len() } else { text.len() }.saturating_sub(1);
        let shown = found.into_iter().map(|[old, new]| if is_recorded { old } else { new });
        // Extra text at the end of the other is marked at the last byte.
        let place = |place: Range<usize>| match place.is_empty() {
            true => [place.start.min(last); 2],
            false => [place.start, place.end],
        };
        let places = shown.map(place).map(|[start, end]| start as u64..end as u64).collect();
        Some(Self { places, first, part: part_at(made, input, first) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a stretch of the document differs, or lacks something that the other text has.
    pub(crate) fn touch(&self, range: &Range<u64>) -> bool {
        let next = self.places.partition_point(|place| place.end < range.start);
        let mut near = self.places[next..].iter().take_while(|place| place.start < range.end);
        near.any(|place| place.end > range.start || place.is_empty())
    }

    pub(crate) fn hold(&self, at: u64) -> bool {
        let next = self.places.partition_point(|place| place.end <= at);
        self.places.get(next).is_some_and(|place| place.start <= at)
    }

    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        self.places.iter().map(|place| place.start)
    }

    pub(crate) fn describe(&self, recorded: Option<&RecordedCall>) -> String {
        let all = self.places.len() as u64;
        match all {
            0 => "equal".to_owned(),
            _ if recorded.is_some_and(|recorded| recorded.equal().is_some()) => {
                format!("equal but for text that the agent added · {}", count(all, "difference"))
            }
            _ => {
                let place = describe_place(self.first, self.part);
                format!("first differs at {place} · {}", count(all, "difference"))
            }
        }
    }
}

/// Whether the document of a preview is its text byte for byte: no figure is still being counted, and no byte is shown that
/// is no character.
fn is_exact(preview: &Preview, input: &Input) -> bool {
    preview.parts.iter().all(|part| match part {
        Part::Kept { range, .. } => part.byte_len(input) == range.len() as u64,
        Part::Counting => false,
        Part::Changed { .. } | Part::Notice { .. } => true,
    })
}
