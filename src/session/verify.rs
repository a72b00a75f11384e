//! Checks a reconstruction against the records: is what a policy makes of the whole output what the model got?

use std::io;
#[cfg(feature = "app")]
use std::ops::Range;
use std::sync::LazyLock;

use jiff::tz::TimeZone;

use crate::base::provenance::Era;
use crate::preview::{
    Catalog, Input, Output, ParamKind, ParamRole, Part, PlanContext, Policy, Preview, Totals, TotalsFor,
    TotalsMask, Unit, Value, Witness, plan_counting, witness,
};
use crate::source::{self, MapView};

use super::agents::info_of;
use super::body::{RecordedResult, ResultBody};
use super::counterpart::requested_window;
#[cfg(feature = "app")]
use super::model::CallResult;
use super::model::{Call, CutState, Evidence, RecordSpan};
use super::text::{self, MAX_RESULT};
use super::transcript::Transcript;

pub use super::counterpart::{WholeOutput, whole_display};
pub use super::verdict::{Counterpart, Difference, NoVerdict, Verdict};

/// How much white space may be between the records of two calls in one list, in bytes.
const MAX_GAP: u64 = 256;

/// How many calls before and after one are looked for in its message: limits that are divided among more are nothing.
const MAX_CALLS: usize = 1000;

pub struct Verifier {
    policies: LazyLock<Vec<Policy>, Box<dyn FnOnce() -> Vec<Policy> + Send>>,
}

impl Verifier {
    /// Takes the policies of an agent from a catalog, when they are needed first. Faulty files are left out.
    pub fn new(catalog: &Catalog, agent: &str) -> Self {
        let (catalog, agent) = (catalog.clone(), info_of(agent).policies_of.unwrap_or(agent).to_owned());
        let policies = move || catalog.names_of(&agent).filter_map(|name| catalog.get(name).ok()).collect();
        Self { policies: LazyLock::new(Box::new(policies)) }
    }

    /// Adds the policies again with the limits that the user has set, where `as_set` returns such.
    pub fn with_settings(self, as_set: impl Fn(&Policy) -> Option<Policy> + Send + 'static) -> Self {
        let with_others = move || {
            let set = self.policies.iter().filter_map(as_set).filter(|policy| !policy.changed().is_empty());
            self.policies.iter().cloned().chain(set).collect()
        };
        Self { policies: LazyLock::new(Box::new(with_others)) }
    }

    /// Compares what the model first saw with what the policies make of the whole output, or else of a witness.
    pub fn verify(&self, transcript: &Transcript, call: &Call, whole: Option<&WholeOutput>) -> Verdict {
        let Some(first) = call.first() else { return Verdict::Unchecked(NoVerdict::NoResult) };
        let is_cut = call.is_cut();
        let missing = match whole {
            Some(_) => NoVerdict::DisplayOnly,
            None if is_cut => NoVerdict::NoSpill,
            None if call.is_window => return Verdict::Unchecked(NoVerdict::NoFile),
            None if call.cut == CutState::Unknown => return Verdict::Unchecked(NoVerdict::Unsure),
            None => return Verdict::Unchecked(NoVerdict::NotCut),
        };
        if self.policies.is_empty() || call.has_unmodelled_cut {
            return Verdict::Unchecked(NoVerdict::NoPolicy);
        }
        let text = match text::to_text(transcript, &first.pieces, MAX_RESULT) {
            Err(_) => return Verdict::Unchecked(NoVerdict::Unreadable),
            Ok((_, facts)) if facts.is_stopped => return Verdict::Unchecked(NoVerdict::TooLong),
            Ok((text, _)) => text,
        };
        let window = whole.and_then(|whole| whole.window.as_ref());
        let recorded = RecordedResult { transcript, call, result: first, text: &text, window };
        let compared = whole.map_or(Verdict::Unchecked(missing), |whole| self.compare(&recorded, whole));
        match compared {
            Verdict::Unchecked(NoVerdict::NoSpill | NoVerdict::DisplayOnly) if is_cut => {
                self.witnessed(&recorded).map_or(compared, |(verdict, _)| verdict)
            }
            compared => compared,
        }
    }

    /// Returns the policy that a verdict on a call names, or else, of a part of a file, that of the agent's read tool; with
    /// what is recorded of its parameters.
    pub fn policy_of(
        &self,
        transcript: &Transcript,
        call: &Call,
        verdict: Option<&Verdict>,
    ) -> Option<Policy> {
        let result = call.first()?;
        let window = call.is_window.then(|| requested_window(transcript, call)).flatten();
        let (text, _) = text::to_text(transcript, &result.pieces, MAX_RESULT).ok()?;
        let recorded = RecordedResult { transcript, call, result, text: &text, window: window.as_ref() };
        let is_meant = |(policy, name): &(Policy, String)| match verdict.and_then(Verdict::policy) {
            Some(named) => name == named,
            None => call.is_window && policy.has_window() && recorded.is_of_version(&policy.era()),
        };
        let mut all = self.policies.iter().flat_map(|policy| variants(policy, &recorded));
        all.find(is_meant).map(|(policy, _)| policy)
    }

    /// Looks for an output from which a policy of the agent's version makes the recorded text. What overspill itself
    /// added to it, by what it knows of the agent, would prove nothing, so it is not looked at.
    fn witnessed(&self, recorded: &RecordedResult) -> Option<(Verdict, Witness)> {
        if recorded.result.evidence == Evidence::Rendered {
            return None;
        }
        let body = recorded.body(&[]).ok()?;
        let cite = recorded.call.cites.first();
        let saved_as = cite.map(|cite| cite.path.to_string_lossy()).unwrap_or_default();
        let total = cite.and_then(info_of(recorded.transcript.agent).size_beside);
        let around = PlanContext { saved_as: &saved_as, exit_code: recorded.exit(), total };
        let is_of_version = |policy: &&Policy| recorded.is_of_version(&policy.era());
        let of_outputs = self.of_tool(recorded).filter(|policy| !policy.has_window());
        let mut all = of_outputs.filter(is_of_version).flat_map(|policy| variants(policy, recorded));
        all.find_map(|(policy, name)| {
            let found = witness(&policy, &body.text, around)?;
            Some((Verdict::equal((&policy, name), Some(found.by), Counterpart::Witness), found))
        })
    }

    /// Returns what of the text of a result, as ranges in bytes, the agent added: what it puts around any output, and what a
    /// policy adds that makes the rest; empty if none is known.
    #[cfg(feature = "app")]
    pub fn added_in(
        &self,
        transcript: &Transcript,
        (call, result): (&Call, &CallResult),
        text: &str,
    ) -> Vec<Range<usize>> {
        let recorded = RecordedResult { transcript, call, result, text, window: None };
        let Ok(body) = recorded.body(&[]) else { return Vec::new() };
        let witnessed = || self.witnessed(&recorded).map(|(_, found)| found.added);
        let added = Some(self.notices_in(&body.text)).filter(|added| !added.is_empty()).or_else(witnessed);
        let place = |at: usize| (body.place(at as u64) as usize).min(text.len());
        let added = added.unwrap_or_default().into_iter().map(|range| place(range.start)..place(range.end));
        let (before, after) = (0..place(0), place(body.text.len())..text.len());
        let all = std::iter::once(before).chain(added).chain([after]);
        all.filter(|range| !range.is_empty()).collect()
    }

    /// Returns the byte ranges of a text that are the agent's notices, if the whole text fits what a policy makes of a
    /// cut output; empty if none fits. The policy with the longest notices counts.
    #[cfg(feature = "app")]
    pub fn notices_in(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.policies.iter().filter_map(|policy| policy.notices_in(text));
        let told = |notices: &Vec<Range<usize>>| notices.iter().map(Range::len).sum::<usize>();
        found.max_by_key(told).unwrap_or_default()
    }

    /// Returns the policies of the call's tool: those that name it, or else those that name none.
    fn of_tool(&self, recorded: &RecordedResult) -> impl Iterator<Item = &Policy> {
        let names = |policy: &Policy| policy.names_tool(recorded.transcript.tool(recorded.call));
        let is_named = self.policies.iter().any(|policy| names(policy) == Some(true));
        self.policies.iter().filter(move |policy| names(policy) == is_named.then_some(true))
    }

    fn compare(&self, recorded: &RecordedResult, whole: &WholeOutput) -> Verdict {
        let Ok(body) = recorded.body(&whole.view) else {
            return Verdict::Unchecked(NoVerdict::Unreadable);
        };
        let mut totals = Totals::unknown();
        let mut nearest: Option<Difference> = None;
        let (mut fits, mut is_of_other_limit, mut lacks_stderr) = (None, false, false);
        // A read tool has a window, and no other tool has one.
        let (is_window, exit) = (recorded.window.is_some(), recorded.exit());
        for policy in self.of_tool(recorded).filter(|policy| policy.has_window() == is_window) {
            let is_of_version = recorded.is_of_version(&policy.era());
            for (policy, name) in variants(policy, recorded) {
                let Some((preview, text)) = make(&policy, whole, &mut totals, exit) else { continue };
                if text == body.text && is_of_version {
                    return Verdict::equal((&policy, name), preview.truncated_by, whole.counterpart);
                } else if text == body.text {
                    fits = fits.or(Some(name));
                } else if is_of_version {
                    let mut makes_it = |policy| Some(make(policy, whole, &mut totals, exit)?.1 == body.text);
                    let others = with_limits_of(&policy, &body.text);
                    is_of_other_limit |= others.iter().any(|policy| makes_it(policy) == Some(true));
                    lacks_stderr |= policy.takes_stderr();
                    let at = text.bytes().zip(body.text.bytes()).take_while(|(a, b)| a == b).count() as u64;
                    if nearest.as_ref().is_none_or(|nearest| nearest.at < at) {
                        let part = part_at(&preview, &input(whole, &totals, exit), at);
                        nearest = Some(Difference { policy: name, at, part, fits: None });
                    }
                }
            }
        }
        let Some(nearest) = nearest else { return Verdict::Unchecked(NoVerdict::NoPolicy) };
        match whole.counterpart {
            Counterpart::Display if fits.is_none() => Verdict::Unchecked(NoVerdict::DisplayOnly),
            Counterpart::Spill if fits.is_none() && !is_claimed(recorded.call, &whole.view) => {
                Verdict::Unchecked(NoVerdict::NoSpill)
            }
            _ if whole.is_changed && fits.is_none() => Verdict::Unchecked(NoVerdict::Changed),
            _ if is_of_other_limit => Verdict::Unchecked(NoVerdict::OtherLimit),
            _ if lacks_stderr && fits.is_none() => Verdict::Unchecked(NoVerdict::NoStderr),
            _ => Verdict::Differs(Difference { at: body.place(nearest.at), fits, ..nearest }),
        }
    }
}

impl RecordedResult<'_> {
    fn body(&self, output: &[u8]) -> io::Result<ResultBody> {
        (info_of(self.transcript.agent).body)(self, output)
    }

    /// Whether a policy was seen in the agent's version, or holds for it; or, if either does not say, for the day of the call.
    fn is_of_version(&self, era: &Era) -> bool {
        let (version, at) = (self.transcript.version_of(self.call), self.result.at.or(self.call.at));
        let day = at.map(|at| at.to_zoned(TimeZone::UTC).date());
        let seen = era.seen.as_ref().and_then(|seen| seen.version.as_deref());
        match version.and_then(|version| era.holds_for(version)) {
            _ if version.is_some() && version == seen => true,
            Some(holds) => holds,
            None => day.is_none_or(|day| era.holds_at(day)),
        }
    }

    /// Returns the exit status for the policy, unless the output that is compared holds the line about it already.
    fn exit(&self) -> Option<i32> {
        let saves_exit = info_of(self.transcript.agent).saves_exit;
        self.call.exit.filter(|_| !saves_exit(self.transcript.tool(self.call)))
    }

    /// Returns how many calls the model made in one message: those with nothing but a comma between their records.
    fn calls_of_message(&self) -> usize {
        let calls = &self.transcript.calls;
        let Some(record) = self.call.record else { return 1 };
        let place = |record: RecordSpan| (record.source(), record.start());
        let is_before = |call: &Call| call.record.is_none_or(|other| place(other) < place(record));
        let at = calls.partition_point(is_before);
        let follows = |pair: &[Call]| {
            let (Some(a), Some(b)) = (pair[0].record, pair[1].record) else { return false };
            let gap = b.start().checked_sub(a.end()).filter(|_| a.source() == b.source());
            let Some(gap) = gap.filter(|gap| *gap <= MAX_GAP) else { return false };
            let between = self.transcript.read(RecordSpan::new(a.source(), a.row(), a.end(), gap), MAX_GAP);
            between.is_ok_and(|bytes| bytes.trim_ascii() == b",")
        };
        let before = calls.get(..=at).unwrap_or_default().windows(2).rev().take_while(|pair| follows(pair));
        let after = calls.get(at..).unwrap_or_default().windows(2).take_while(|pair| follows(pair));
        1 + before.take(MAX_CALLS).count() + after.take(MAX_CALLS).count()
    }

    fn parameter(&self, name: &str) -> Option<String> {
        match name {
            "offset" => Some(self.window?.offset?.to_string()),
            "limit" => Some(self.window?.limit?.to_string()),
            "call_id" => Some(self.call.id.to_string()),
            "tool_name" => Some(self.transcript.tool(self.call).to_owned()),
            "calls" => Some(self.calls_of_message().to_string()),
            _ => {
                let mut known = info_of(self.transcript.agent).parameters.iter();
                known.find(|(known, _)| *known == name).and_then(|(_, read)| read(self))
            }
        }
    }
}

/// Returns a policy with the recorded parameters, and again with each switch turned, since switches are not recorded.
fn variants(policy: &Policy, recorded: &RecordedResult) -> Vec<(Policy, String)> {
    let mut base = policy.clone();
    for param in policy.params() {
        if let Some(value) = recorded.parameter(&param.name) {
            let _ = base.set(&param.name, &value);
        }
    }
    let set = policy.changed().into_iter().map(|(key, value)| format!(" {key}={value}"));
    let name = base.name().to_owned() + &set.collect::<String>();
    let mut all = vec![(base.clone(), name.clone())];
    for param in policy.params().iter().filter(|param| param.kind == ParamKind::Boolean) {
        let other = if base.get(&param.name) == Some(Value::Boolean(true)) { "false" } else { "true" };
        let mut turned = base.clone();
        if turned.set(&param.name, other).is_ok() {
            all.push((turned, format!("{name} {}={other}", param.name)));
        }
    }
    all
}

/// Returns a policy with each limit that users can set as large as what a text keeps, and the other out of reach.
fn with_limits_of(policy: &Policy, text: &str) -> Vec<Policy> {
    let found = policy.agent_settings().and_then(|_| policy.notices_in(text));
    let Some(notices) = found.filter(|notices| !notices.is_empty()) else { return Vec::new() };
    let mut kept = text.to_owned();
    notices.iter().rev().for_each(|range| kept.replace_range(range.clone(), ""));
    let size = if policy.unit() == Unit::Utf16 { kept.encode_utf16().count() } else { kept.len() };
    let (lines, size, none) = (kept.matches('\n').count() as i64 + 1, size as i64, MAX_RESULT as i64);
    let with = |(lines, size)| {
        let mut policy = policy.clone();
        // It may have no limit on lines.
        let _ = policy.set_max_lines(lines as u64);
        policy.set_max_size(policy.nearest(ParamRole::Size, size)?).ok().map(|()| policy)
    };
    // How many raw bytes Claude Code reads before it tests its limit on the text: any number from the output's length on.
    let mut widest = policy.clone();
    let widest = widest.set("window_bytes", "150000").ok().map(|()| widest);
    [(lines, none), (none, size)].into_iter().filter_map(with).chain(widest).collect()
}

/// Whether a file has as much text as a call claims, if it claims a size of text; without the three bytes of a byte order mark.
fn is_claimed(call: &Call, file: &MapView) -> bool {
    let claimed = call.cites.first().filter(|cite| cite.is_decoded).and_then(|cite| cite.bytes);
    let decoded = || source::count(file, TotalsMask::DECODED_BYTES).decoded_bytes;
    claimed.is_none_or(|bytes| [Some(0), Some(3)].contains(&decoded().checked_sub(bytes)))
}

fn input<'a>(whole: &'a WholeOutput, totals: &'a Totals, exit_code: Option<i32>) -> Input<'a> {
    let output = Output { bytes: &whole.view, totals };
    Input { exit_code, ..Input::new(output, &whole.saved_as) }
}

/// Makes a preview and its text with exact totals, which are counted once for all policies.
fn make(
    policy: &Policy,
    whole: &WholeOutput,
    totals: &mut Totals,
    exit_code: Option<i32>,
) -> Option<(Preview, String)> {
    let count = |_, want| Some(source::count(&whole.view, want));
    let counted = plan_counting(&input(whole, totals, exit_code), policy, TotalsFor::Text, count).ok()?;
    *totals = totals.or(counted.totals.stdout);
    let (preview, input) = (counted.preview, input(whole, totals, exit_code));
    let is_short = preview.byte_len(&input) <= MAX_RESULT as u64;
    is_short.then(|| preview.text(&input)).map(|text| (preview, text))
}

/// Returns the kind of the part that holds a byte of a preview's text.
pub(crate) fn part_at(preview: &Preview, input: &Input, at: u64) -> &'static str {
    let mut end = 0;
    let part = preview.parts.iter().find(|part| {
        end += part.byte_len(input);
        at < end
    });
    part.map_or("end", Part::kind)
}
