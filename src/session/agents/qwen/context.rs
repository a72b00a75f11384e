//! What Qwen Code's model still has: the living branch, less what a compression and two unrecorded rules take.

use std::collections::{HashMap, HashSet};
use std::mem;

use jiff::{SignedDuration, Timestamp};

use crate::session::agents::{Branches, ChangeOrigin, ContextChange, FateEvidence, RecordId, Transcript};

const CLEARED_TOOLS: &str = "read_file run_shell_command grep_search glob web_fetch web_search \
    read_mcp_resource edit write_file skill";

pub(super) const CLEARED: &str = "[Old tool result content cleared]";

/// How many UTF-16 units all results have at most, and how many are left when there are more.
const MAX_UNITS: u64 = 500_000;
const LEFT_UNITS: u64 = 250_000;

/// How many of the newest results are never cleared.
const KEPT: usize = 5;

/// After how long a pause all others are cleared.
const IDLE: SignedDuration = SignedDuration::from_mins(60);
/// About how many UTF-16 units a token has.
const TOKEN_UNITS: i64 = 4;

pub(super) fn is_cleared_tool(name: &str) -> bool {
    CLEARED_TOOLS.split(' ').any(|tool| tool.eq_ignore_ascii_case(name))
}

pub(super) struct Step {
    pub record: RecordId,
    pub at: Option<Timestamp>,
    /// The origin of the change that the step is, or shows.
    pub origin: ChangeOrigin,
    pub kind: StepKind,
}

pub(super) enum StepKind {
    /// A result, with its length in UTF-16 units if it can be cleared, else 0.
    Result {
        call: u32,
        units: u32,
    },
    Prompt,
    /// The answer to a request, with its size in tokens.
    Answer {
        tokens: Option<i64>,
    },
    /// A summary took the place of all but these calls' results, some of which are cleared.
    Compression {
        kept: Vec<(u32, bool)>,
    },
    /// A compression that cannot be read: whoever resumes the session begins with nothing, up to the next one that can.
    Loss,
    Rewind,
}

#[derive(Clone, Copy)]
struct ClearableResult {
    step: usize,
    call: u32,
    units: u32,
}

#[derive(Default)]
struct Context {
    /// All results by their calls, those that are never cleared, too.
    all: Vec<u32>,
    whole: Vec<ClearableResult>,
    cleared: Vec<ClearableResult>,
    /// Those that no request carried yet.
    pending: Vec<ClearableResult>,
    /// What the last request had: when it was answered, its size in tokens, and the units in it.
    answered: Option<Timestamp>,
    tokens: Option<i64>,
    units: u64,
    /// When the person asked, if nothing was answered since.
    prompt: Option<Option<Timestamp>>,
    /// Whether the results that come are left out if the session was resumed, which is not recorded.
    is_lost: bool,
}

pub(super) fn events(steps: &[Step], branches: &Branches, out: &mut Transcript) {
    let living = branches.living();
    let mut context = Context::default();
    let result = |step: &Step| match step.kind {
        StepKind::Result { call, .. } => Some((living.number(step.record)?, call)),
        _ => None,
    };
    let mut left = branches.left_calls(&living, steps.iter().filter_map(result));
    for (number, step) in steps.iter().enumerate() {
        let lives = living.contains(&step.record);
        match &step.kind {
            StepKind::Rewind => {
                let number = living.number(step.record).unwrap_or_default();
                while let Some(branch) = left.first_entry().filter(|branch| *branch.key() <= number) {
                    out.add_event(ContextChange::Rewind, step.origin, branch.remove());
                }
            }
            _ if !lives => {}
            StepKind::Result { call, .. } if context.is_lost => {
                context.all.push(*call);
                let origin = ChangeOrigin { evidence: FateEvidence::Unknown, ..step.origin };
                out.add_event(ContextChange::Drop, origin, [*call]);
            }
            StepKind::Result { call, units } => {
                context.all.push(*call);
                let result = ClearableResult { step: number, call: *call, units: *units };
                context.pending.extend((*units > 0).then_some(result));
            }
            StepKind::Prompt => context.prompt = Some(step.at),
            // Under other limits, what the rules cleared is not known.
            StepKind::Answer { .. } if out.default_evidence == FateEvidence::Unknown => {}
            StepKind::Answer { tokens } => context.answer(*tokens, step, out),
            StepKind::Compression { kept } => context.compress(kept, step.origin, out),
            StepKind::Loss => {
                context.compress(&[], step.origin, out);
                context.is_lost = true;
            }
        }
    }
    out.add_event(ContextChange::Leave, ChangeOrigin::default(), left.into_values().flatten());
}

impl Context {
    /// Takes in the answer to a request, before which old results may have been cleared.
    fn answer(&mut self, tokens: Option<i64>, answer: &Step, out: &mut Transcript) {
        let origin = ChangeOrigin { evidence: FateEvidence::ByRule, ..answer.origin };
        match self.prompt.take() {
            None => {
                let count = too_many(&self.whole, units(&self.pending));
                self.clear(count, origin, out);
                self.whole.append(&mut self.pending);
            }
            Some(asked) => {
                self.whole.append(&mut self.pending);
                let pause = self.answered.zip(asked).map(|(answered, asked)| asked.duration_since(answered));
                let count = match pause {
                    Some(pause) if pause >= IDLE => self.whole.len().saturating_sub(KEPT),
                    _ => too_many(&self.whole, 0),
                };
                self.go_on_or_resume(count, tokens, origin, out);
            }
        }
        self.answered = answer.at.or(self.answered);
        self.tokens = tokens;
        self.units = units(&self.whole);
    }

    /// Clears the oldest `count` results, or, if the session was resumed, first takes back all that was cleared. Which of
    /// them is not recorded, but follows from the size of the request.
    fn go_on_or_resume(
        &mut self,
        count: usize,
        tokens: Option<i64>,
        origin: ChangeOrigin,
        out: &mut Transcript,
    ) {
        if count == 0 && self.cleared.is_empty() {
            return;
        }
        let mut all = [&self.cleared[..], &self.whole[..]].concat();
        all.sort_by_key(|result| result.step);
        let again = too_many(&all, 0);
        let more = |results: &[ClearableResult]| units(results) as i64 - self.units as i64;
        let (gone_on, resumed) = (more(&self.whole[count..]), more(&all[again..]));
        let is_resumed = tokens.zip(self.tokens).is_some_and(|(tokens, before)| {
            let seen = (tokens - before).saturating_mul(TOKEN_UNITS);
            seen.abs_diff(resumed) < seen.abs_diff(gone_on)
        });
        if !is_resumed {
            self.clear(count, origin, out);
            return;
        }
        let first = all.get(again).map_or(usize::MAX, |result| result.step);
        let is_kept = |result: &&ClearableResult| result.step >= first;
        let back = self.cleared.iter().filter(is_kept).map(|result| result.call);
        out.add_event(ContextChange::Restore, origin, back);
        let new = self.whole.iter().filter(|result| !is_kept(result)).map(|result| result.call);
        out.add_event(ContextChange::Clear, origin, new);
        self.whole = all.split_off(again);
        self.cleared = all;
    }

    /// Clears the oldest `count` results that are whole.
    fn clear(&mut self, count: usize, origin: ChangeOrigin, out: &mut Transcript) {
        out.add_event(ContextChange::Clear, origin, self.whole[..count].iter().map(|result| result.call));
        self.cleared.extend(self.whole.drain(..count));
    }

    /// A summary takes the place of all results but those that are kept.
    fn compress(&mut self, kept: &[(u32, bool)], origin: ChangeOrigin, out: &mut Transcript) {
        self.is_lost = false;
        self.whole.append(&mut self.pending);
        let numbers: HashMap<u32, bool> = kept.iter().copied().collect();
        let (stay, gone): (Vec<u32>, Vec<u32>) = self.all.iter().partition(|call| numbers.contains_key(call));
        out.add_event(ContextChange::Compact, origin, gone);
        let is_cleared = |call: &u32| numbers.get(call) == Some(&true);
        let (now, whole): (Vec<u32>, Vec<u32>) = stay.iter().partition(|call| is_cleared(call));
        let cleared: HashSet<u32> = self.cleared.iter().map(|result| result.call).collect();
        // The compressed history witnesses what the rules had cleared.
        let back = whole.iter().filter(|call| cleared.contains(*call)).copied();
        out.add_event(ContextChange::Restore, origin, back);
        let new = now.iter().filter(|call| !cleared.contains(*call)).copied();
        out.add_event(ContextChange::Clear, origin, new);
        let mut results = [mem::take(&mut self.cleared), mem::take(&mut self.whole)].concat();
        results.sort_by_key(|result| result.step);
        results.retain(|result| numbers.contains_key(&result.call));
        (self.cleared, self.whole) = results.into_iter().partition(|result| is_cleared(&result.call));
        self.all = stay;
        (self.units, self.tokens) = (units(&self.whole), None);
    }
}

/// Returns how many of the oldest results are cleared, when this many more units come with the request.
fn too_many(whole: &[ClearableResult], pending: u64) -> usize {
    let mut left = units(whole) + pending;
    if left <= MAX_UNITS {
        return 0;
    }
    let old = &whole[..whole.len().saturating_sub(KEPT)];
    let is_over = |result: &&ClearableResult| {
        let is_over = left > LEFT_UNITS;
        left = left.saturating_sub(result.units.into());
        is_over
    };
    old.iter().take_while(is_over).count()
}

fn units(results: &[ClearableResult]) -> u64 {
    results.iter().map(|result| u64::from(result.units)).sum()
}
