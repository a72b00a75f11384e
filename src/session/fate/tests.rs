//! Laws of the fold from events to fates, against a model that looks up the definitions of the words.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use smallvec::SmallVec;

use super::*;
use crate::session::model::{Call, CallResult, ChangeOrigin, ContextEvent, RecordSpan};
use crate::session::transcript::Transcript;

const CHANGES: [ContextChange; 8] = [
    ContextChange::Clear,
    ContextChange::Replace,
    ContextChange::Compact,
    ContextChange::Checkpoint,
    ContextChange::Drop,
    ContextChange::Rewind,
    ContextChange::Leave,
    ContextChange::Restore,
];

/// Returns what counts of some changes.
fn last(changes: &[ContextChange]) -> ContextChange {
    let event = |change: &ContextChange| ContextEvent {
        change: *change,
        origin: ChangeOrigin::default(),
        calls: Vec::new(),
    };
    let states =
        changes.iter().fold(ContextState::default(), |state, change| event(change).applied_to(state));
    states.change
}

#[test]
fn a_summary_overrides_clearing_and_not_the_reverse() {
    use ContextChange::{Clear, Compact, Leave, Replace, Restore, Rewind};
    assert_eq!(last(&[Clear, Compact]), ContextChange::Compact);
    assert_eq!(last(&[Compact, Clear]), ContextChange::Compact);
    assert_eq!(last(&[Replace, Clear]), ContextChange::Clear);
    assert_eq!(last(&[Compact, Restore]), ContextChange::Restore);
    assert_eq!(last(&[Rewind, Compact]), ContextChange::Rewind);
    assert_eq!(last(&[Compact, Leave]), ContextChange::Leave);
}

#[test]
fn a_fate_names_the_request_from_which_it_holds() {
    let says = |change, request| {
        let origin = ChangeOrigin { request, ..ChangeOrigin::default() };
        let event = ContextEvent { change, origin, calls: Vec::new() };
        event.applied_to(ContextState::default()).describe()
    };
    assert_eq!(ContextState::default().describe(), "yes");
    assert_eq!(says(ContextChange::Restore, Some(3)), "yes");
    assert_eq!(says(ContextChange::Replace, Some(3)), "edited since #3");
    assert_eq!(says(ContextChange::Compact, Some(12)), "in summary #12");
    assert_eq!(says(ContextChange::Clear, None), "cleared");
}

#[test]
fn unknown_evidence_is_not_shown_as_yes() {
    let says = |change| {
        ContextState { change, evidence: FateEvidence::Unknown, ..ContextState::default() }.describe()
    };
    assert_eq!(says(ContextChange::Restore), "–");
    assert_eq!(says(ContextChange::Compact), "in summary");
}

proptest! {
    #[test]
    fn a_result_is_whole_again_only_if_it_is_restored(changes in vec(0usize..CHANGES.len(), 0..12)) {
        let changes: Vec<_> = changes.into_iter().map(|n| CHANGES[n]).collect();
        let is_whole = last(&changes) == ContextChange::Restore;
        let last = changes.last().copied();
        prop_assert_eq!(is_whole, matches!(last, None | Some(ContextChange::Restore)));
    }
}

/// The calls of a synthetic transcript, by how many results each has.
type Shape = Vec<usize>;

/// An event before it has a time: its change, its request, how it is known, and its calls, which may not be there.
type EventSketch = (usize, Option<u32>, usize, Vec<u32>);

const EVIDENCE: [FateEvidence; 4] =
    [FateEvidence::Sent, FateEvidence::Recorded, FateEvidence::ByRule, FateEvidence::Unknown];

/// Calls with few results, so that many events meet at one.
fn shape() -> impl Strategy<Value = Shape> {
    vec(0usize..4, 0..5)
}

/// Events that name calls of any transcript, and some that none has.
fn event_sketches() -> impl Strategy<Value = Vec<EventSketch>> {
    let calls = vec(0u32..6, 0..8);
    vec((0..CHANGES.len(), option::of(0u32..9), 0..EVIDENCE.len(), calls), 0..12)
}

fn events_of(made: Vec<EventSketch>) -> Vec<ContextEvent> {
    let event = |(change, request, evidence, calls): EventSketch| ContextEvent {
        change: CHANGES[change],
        origin: ChangeOrigin { request, evidence: EVIDENCE[evidence] },
        calls,
    };
    made.into_iter().map(event).collect()
}

/// Events of which each later one is of a later request, or of the same.
fn in_order(mut events: Vec<ContextEvent>) -> Vec<ContextEvent> {
    let mut request = 1;
    for event in &mut events {
        request += event.origin.request.unwrap_or(0) % 3;
        event.origin.request = Some(request);
    }
    events
}

/// Returns what becomes of each result of a transcript, of which `default` is known where nothing happens.
fn derived(shape: &Shape, default: FateEvidence, events: &[ContextEvent]) -> Vec<(u32, ContextState)> {
    let mut transcript = Transcript::new("test");
    transcript.default_evidence = default;
    for (number, results) in shape.iter().enumerate() {
        let call = transcript.add_call(Call::new(number.to_string(), 0, 0));
        let call = &mut transcript.calls[call as usize];
        let result = CallResult::recorded(SmallVec::new(), None, RecordSpan::new(0, 0, 0, 0));
        (0..*results).for_each(|_| call.add(result.clone()));
    }
    // What was derived before leaves no trace.
    transcript.add_event(ContextChange::Leave, ChangeOrigin::default(), 0..shape.len() as u32);
    transcript.derive_fates();
    transcript.events = events.to_vec();
    transcript.derive_fates();
    let results = (0..).zip(&transcript.calls).filter_map(|(call, of)| Some((call, of.first()?.context)));
    results.collect()
}

/// Returns which of these changes, in their order, decides what the model has of a result; `None` if it is whole.
fn telling(changes: &[ContextChange]) -> Option<usize> {
    let restored = changes.iter().rposition(|change| *change == ContextChange::Restore);
    let from = restored.map_or(0, |at| at + 1);
    let find = |wanted: &[ContextChange]| (from..changes.len()).find(|at| wanted.contains(&changes[*at]));
    use ContextChange::{Checkpoint, Compact, Drop, Leave, Rewind};
    let gone = find(&[Leave]).or_else(|| find(&[Compact, Checkpoint, Drop, Rewind]));
    // Of changes that leave something in the place, the last run of equal ones counts, from its start.
    let last_run = || {
        let last = changes[from..].last()?;
        let other = changes[from..].iter().rposition(|change| change != last);
        Some(from + other.map_or(0, |at| at + 1))
    };
    gone.or_else(last_run)
}

/// Works out one result's state from nothing but the definitions of the words.
fn naive(call: u32, default: FateEvidence, events: &[ContextEvent]) -> ContextState {
    let of_it: Vec<_> = events.iter().filter(|event| event.calls.contains(&call)).collect();
    let changes: Vec<_> = of_it.iter().map(|event| event.change).collect();
    let Some(event) = telling(&changes).map(|at| of_it[at]) else {
        let is_whole = |until: &usize| telling(&changes[..*until]).is_none();
        let whole_since = (0..=changes.len()).rev().take_while(is_whole).last().unwrap_or(0);
        let restored = whole_since.checked_sub(1).map(|at| of_it[at].origin.evidence);
        return ContextState { evidence: restored.unwrap_or(default), ..ContextState::default() };
    };
    ContextState {
        change: event.change,
        evidence: event.origin.evidence,
        since: event.origin.request.and_then(NonZero::new),
    }
}

proptest! {
    #[test]
    fn without_events_all_results_have_the_default(shape in shape(), evidence in 0..EVIDENCE.len()) {
        let default = EVIDENCE[evidence];
        for (_, state) in derived(&shape, default, &[]) {
            prop_assert_eq!(state, ContextState { evidence: default, ..ContextState::default() });
            prop_assert_eq!(state.describe(), if default == FateEvidence::Unknown { "–" } else { "yes" });
        }
    }

    #[test]
    fn derived_states_agree_with_the_naive_definition(
        shape in shape(), evidence in 0..EVIDENCE.len(), made in event_sketches(),
    ) {
        let (default, events) = (EVIDENCE[evidence], events_of(made));
        for (call, state) in derived(&shape, default, &events) {
            prop_assert_eq!(state, naive(call, default, &events), "{}", call);
        }
    }

    #[test]
    fn an_event_may_be_split_in_pieces(shape in shape(), made in event_sketches(), pieces in vec(any::<Index>(), 0..8)) {
        let events = events_of(made);
        let mut split = Vec::new();
        for event in &events {
            // A piece for each place, in which the calls run backwards, and one call is named again.
            let mut rest = event.calls.clone();
            for piece in &pieces {
                let mut calls = rest.split_off(piece.index(rest.len() + 1));
                calls.reverse();
                calls.extend(calls.first().copied());
                split.push(ContextEvent { calls, ..event.clone() });
            }
            split.push(ContextEvent { calls: rest, ..event.clone() });
        }
        let default = FateEvidence::Unknown;
        prop_assert_eq!(derived(&shape, default, &split), derived(&shape, default, &events));
    }

    #[test]
    fn one_more_event_changes_only_its_own_results(
        shape in shape(), made in event_sketches(), last in event_sketches(),
    ) {
        let (events, default) = (events_of(made), FateEvidence::Recorded);
        for last in events_of(last) {
            let with = [&events[..], std::slice::from_ref(&last)].concat();
            let states = derived(&shape, default, &events).into_iter().zip(derived(&shape, default, &with));
            for ((call, before), (_, after)) in states {
                if !last.calls.contains(&call) {
                    prop_assert_eq!(after, before);
                    continue;
                }
                prop_assert_eq!(after, last.applied_to(before));
                let is_there = matches!(before.describe().split(' ').next(), Some("yes" | "–" | "cleared" | "edited"));
                match last.change {
                    ContextChange::Restore => {
                        prop_assert_eq!((after.change, after.since), (ContextChange::Restore, None));
                    }
                    ContextChange::Leave => prop_assert_eq!(after.change, ContextChange::Leave),
                    ContextChange::Rewind if is_there => {
                        let since = last.origin.request.and_then(NonZero::new);
                        prop_assert_eq!((after.change, after.since), (ContextChange::Rewind, since));
                    }
                    _ if !is_there => prop_assert_eq!(after, before, "what is gone stays gone"),
                    _ => prop_assert_ne!(after.change, ContextChange::Restore),
                }
            }
        }
    }

    #[test]
    fn the_state_at_a_request_follows_from_the_events_up_to_it(shape in shape(), made in event_sketches()) {
        let (events, default) = (in_order(events_of(made)), FateEvidence::Recorded);
        let last = events.last().and_then(|event| event.origin.request).unwrap_or(0);
        let up_to = |request: u32| {
            let count = events.partition_point(|event| event.origin.request <= Some(request));
            derived(&shape, default, &events[..count])
        };
        let by_request: Vec<_> = (0..=last).map(up_to).collect();
        for (number, (call, state)) in derived(&shape, default, &events).into_iter().enumerate() {
            let of_it = |event: &&ContextEvent| event.calls.contains(&call);
            for (request, states) in (0..).zip(&by_request) {
                let until = events.iter().filter(|event| event.origin.request <= Some(request)).filter(of_it);
                let start = ContextState { evidence: default, ..ContextState::default() };
                prop_assert_eq!(states[number].1, until.fold(start, |state, event| event.applied_to(state)));
            }
            // It holds at each request since the first one, and that one has an event of the result.
            for request in state.since.map_or(last, NonZero::get)..=last {
                prop_assert_eq!(by_request[request as usize][number].1, state);
            }
            let told = events.iter().filter(of_it).any(|event| event.origin.request == state.since.map(NonZero::get));
            prop_assert_eq!(told, !state.is_whole());
        }
    }
}
