//! The screens of sessions and of calls, and a recorded call beside its spill.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use overspill::internals::compare::ErrorsLost;
use overspill::internals::config::ChosenBy;
use overspill::internals::output::Subject;
use overspill::internals::output::recorded::{CallFacts, CallRequest, ReadyCall, RecordedCall};
use overspill::internals::rows::calls::{CallRow, CallSizes};
use overspill::internals::rows::column::{SlowFigure, SlowState};
use overspill::internals::rows::lost::{KeptShare, LostCounts, ModelShare};
use overspill::internals::rows::sessions::{SessionRow, SessionTexts};
use overspill::internals::session::call_details::TitledText;
use overspill::internals::session::examine::{OutputPlace, Paths, RestOfOutput};
use overspill::internals::session::fate::{ContextChange, ContextState};
use overspill::internals::session::model::{CallStatus, CutState, SessionFacts};
use overspill::internals::session::reader::SessionFile;
use overspill::internals::session::spill::{CitingCall, SpillState};
use overspill::internals::session::tally::CallSums;
use overspill::internals::session::verify::{Counterpart, Difference, NoVerdict, Verdict, Verifier};
use overspill::internals::source::{MapView, Source};
use overspill::internals::store::{Env, Expiry};
use overspill::internals::tui::calls::{CallsEvent, OpenedCalls};
use overspill::internals::tui::job::{Job, Slot};
use overspill::internals::tui::keys::KeyContext;
use overspill::internals::tui::pager::OutputEvent;
use overspill::internals::tui::screen::Effect;
use overspill::internals::tui::sessions::SessionsEvent;
use overspill::internals::tui::target::PagerInput;
use overspill::preview::{Catalog, Input, InputContext, LimitHit, Unit, plan_counted};

use crate::common::bench::{Bench, is_job, no_services, policy, subject};

use super::SIZES;

fn row(agent: &'static str, minutes: u64, words: Option<[&str; 3]>, sums: Option<CallSums>) -> SessionRow {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000);
    let file = SessionFile {
        format: agent,
        path: PathBuf::from(format!("/home/u/.{agent}/sessions/{minutes}.jsonl")),
        id: format!("0195-{minutes:04}"),
        size: minutes * 1000,
        modified: Some(now - Duration::from_secs(60 * minutes)),
        facts: SessionFacts::default(),
    };
    let words = words.map(|[version, project, title]| SessionTexts {
        version: version.into(),
        project: project.into(),
        title: title.into(),
        begun: jiff::Timestamp::from_second(1_795_000_000 - 3_600).ok(),
        is_open_to_others: minutes == 12,
    });
    SessionRow {
        file: Arc::new(file),
        agent,
        words,
        sums: known(sums),
        lost: SlowFigure::default(),
        differing: 0,
        expires: SlowFigure::default(),
        earlier: Arc::default(),
    }
}

/// Returns a figure that is known, if it is there.
fn known<T>(value: Option<T>) -> SlowFigure<T> {
    let state = if value.is_some() { SlowState::Known } else { SlowState::Missing };
    SlowFigure { value, state }
}

fn sums(calls: u64, cut: u64, lost: u64, gone: u64, got_bytes: u64) -> Option<CallSums> {
    Some(CallSums { calls, cut, never_saved: lost, deleted: gone, got_bytes, ..CallSums::default() })
}

fn sessions() -> Vec<SessionRow> {
    let long = "Find out why the release build fails on the second machine and not on the first \u{1b}[31m";
    vec![
        row(
            "claude-code",
            0,
            Some(["2.1.330", "/home/u/work/overspill", long]),
            sums(1284, 31, 0, 4, 9_400_000),
        ),
        row("codex", 12, Some(["0.169.0", "/home/u/proj", "run it"]), sums(3, 1, 1, 0, 10_240)),
        row("opencode", 700, Some(["1.18.33", "/home/u/proj", ""]), None),
        row("pi", 9000, None, None),
    ]
}

fn listing(rows: Vec<SessionRow>) -> SessionsEvent {
    let now = jiff::Timestamp::from_second(1_795_000_000).expect("a time");
    SessionsEvent::Listed(now, rows, Vec::new())
}

fn found(bench: &mut Bench, rows: Vec<SessionRow>) {
    let effects = bench.update(listing(rows));
    bench.carry_out(effects);
}

fn call(id: &str, tool: &str, cut: CutState) -> CallRow {
    CallRow {
        id: id.into(),
        thread: "".into(),
        tool: tool.into(),
        at: None,
        status: CallStatus::Ok,
        cut,
        is_window: false,
        context: Some(ContextState::default()),
        sizes: None,
        verdict: None,
        share: SlowFigure::default(),
        copies: 0,
    }
}

fn sized(row: CallRow, got: u64, whole: Option<u64>, spill: Option<SpillState>, command: &str) -> CallRow {
    let sizes = CallSizes {
        got: Some(got),
        whole,
        spill,
        command: command.into(),
        written: command.into(),
        evidence: None,
        context: None,
    };
    CallRow { sizes: Some(sizes), ..row }
}

fn share(percent: u8) -> ModelShare {
    ModelShare {
        got: KeptShare::Percent(percent),
        is_past: true,
        lost: Some(LostCounts::default()),
        first_lost: None,
    }
}

fn calls() -> Vec<CallRow> {
    let differs = Difference { policy: "claude-code/bash".into(), at: 1999, part: "notice", fits: None };
    let spill = |id: &str| call(id, "Bash", CutState::Spill);
    vec![
        sized(call("toolu_1", "Read", CutState::No), 57_000, None, None, "/home/u/proj/notes.txt"),
        CallRow {
            verdict: Some(equal()),
            share: known(Some(share(3))),
            ..sized(
                spill("toolu_2"),
                2_220,
                Some(60_894),
                Some(SpillState::Here("/nowhere/output.txt".into())),
                "seq 1 12000",
            )
        },
        CallRow {
            verdict: Some(Verdict::Differs(differs)),
            context: Some(ContextState { change: ContextChange::Compact, ..ContextState::default() }),
            thread: "general-purpose".into(),
            share: known(Some(share(0))),
            ..sized(
                spill("toolu_3"),
                2_220,
                Some(9_000_000),
                Some(SpillState::Here("/nowhere/output.txt".into())),
                "cargo build --release -vv 2>&1",
            )
        },
        CallRow {
            verdict: Some(Verdict::Unchecked(NoVerdict::NoSpill)),
            ..sized(spill("toolu_4"), 2_220, Some(1_000_000), Some(SpillState::Deleted), "journalctl -b")
        },
        CallRow {
            status: CallStatus::Failed,
            ..sized(call("toolu_5", "Bash", CutState::No), 19, None, None, "false \u{1b}[31m\nsecond line")
        },
        call("toolu_6", "Grep", CutState::NoSpill),
    ]
}

/// A session without calls.
fn by() -> OpenedCalls {
    OpenedCalls {
        rows: Vec::new(),
        now: jiff::Timestamp::from_second(1_795_000_000).expect("a time"),
        agent: "claude-code 2.1.330".into(),
        title: "".into(),
        unread: "".into(),
        is_format_unknown: false,
    }
}

/// Opens the list of sessions.
fn listed(size: (u16, u16)) -> Bench {
    let mut bench = Bench::new(size);
    bench.start_with_stores();
    bench.keys("<Tab>");
    assert_eq!(bench.jobs(Slot::FindSessions), 1);
    found(&mut bench, sessions());
    bench
}

/// Opens the calls of the first session.
fn opened(size: (u16, u16)) -> Bench {
    let mut bench = listed(size);
    bench.keys("<Enter>");
    let opened = OpenedCalls { rows: calls(), ..by() };
    let effects = bench.update(CallsEvent::Opened(Box::new(opened)));
    bench.carry_out(effects);
    bench
}

fn keep(name: &str, bench: &Bench) {
    let (columns, rows) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), bench.screen());
    });
}

/// Returns the jobs that sum up the calls of sessions.
fn sum_jobs(effects: Vec<Effect>) -> Vec<Job> {
    let sum = |effect| match effect {
        Effect::Run(job) if job.slot() == Slot::SumSessions => Some(job),
        _ => None,
    };
    effects.into_iter().filter_map(sum).collect()
}

/// Returns the last request about a call of the open session.
fn last_request(bench: &Bench) -> Option<&CallRequest> {
    bench.asked.iter().rev().find_map(|effect| match effect {
        Effect::Ask(request) => Some(request),
        _ => None,
    })
}

fn text(bench: &Bench) -> String {
    crate::common::looks::rows(&bench.draw().0).join("\n")
}

#[test]
fn sessions_and_calls() {
    for size in SIZES {
        let mut bench = listed(size);
        keep("sessions", &bench);
        keep("sessions_grouped", bench.keys("t"));
        let mut bench = opened(size);
        keep("calls", bench.keys("j"));
    }
}

#[test]
fn only_the_sessions_on_the_screen_are_counted() {
    let rows = (0..1000).map(|n| row("pi", n, Some(["", "/p", "t"]), None)).collect();
    let mut bench = Bench::new((80, 24));
    bench.keys("<Tab>");
    found(&mut bench, rows);
    let summed: Vec<usize> = sum_jobs(std::mem::take(&mut bench.asked))
        .into_iter()
        .map(|job| job.run_here(&Arc::new(no_services(bench.env.clone()))).len())
        .collect();
    assert_eq!(summed, [18], "one request, for the rows on the screen");
}

#[test]
fn a_growing_session_does_not_delay_counting_others() {
    let mut bench = listed((80, 24));
    assert_eq!(sum_jobs(std::mem::take(&mut bench.asked)).len(), 1, "of the two that were not counted");
    let mut rows = sessions();
    rows[0] = row("claude-code", 0, Some(["2.1.330", "/home/u/work/overspill", "grown"]), None);
    Arc::make_mut(&mut rows[0].file).size += 1;
    let grown = rows[0].file.clone();
    found(&mut bench, rows);
    assert_eq!(sum_jobs(std::mem::take(&mut bench.asked)).len(), 0, "the request goes on");
    assert!(text(&bench).contains("1,284") || text(&bench).contains("31"), "what was known stays");
    let older = sessions()[0].file.clone();
    bench.update(SessionsEvent::Summed(older.clone(), sums(1285, 32, 0, 0, 10), None));
    for other in [1, 2, 3] {
        let file = bench.sessions().list.rows()[other].file.clone();
        let effects = bench.update(SessionsEvent::Summed(file, sums(1, 0, 0, 0, 10), None));
        bench.carry_out(effects);
    }
    assert_eq!(sum_jobs(std::mem::take(&mut bench.asked)).len(), 1, "then it is counted again");
    bench.update(SessionsEvent::Summed(older, sums(1285, 32, 0, 0, 10), None));
    assert_eq!(bench.sessions().list.rows()[0].sums.state, SlowState::Asked, "it has grown since");
    let texts = |title: &str, is_open_to_others| SessionTexts {
        title: title.into(),
        is_open_to_others,
        ..SessionTexts::default()
    };
    bench.update(SessionsEvent::Summed(grown, sums(1286, 33, 0, 0, 10), Some(texts("of all records", true))));
    assert_eq!(bench.sessions().list.rows()[0].sums.state, SlowState::Known);
    bench.update(SessionsEvent::Described(vec![(0, texts("of the ends", false))]));
    let words = bench.sessions().list.rows()[0].words.clone();
    assert_eq!(words, Some(texts("of all records", false)));
}

#[test]
fn an_outdated_listing_is_dropped_and_the_selection_stays() {
    let mut bench = listed((80, 24));
    bench.keys("jR");
    let late = bench.report(Slot::FindSessions, 0, listing(Vec::new()));
    bench.update(late);
    assert!(text(&bench).contains("4 sessions"), "{}", text(&bench));
    let mut rows = sessions();
    rows.insert(0, row("goose", 0, Some(["1.52.0", "/new", "another"]), None));
    let effects = bench.update(bench.report(Slot::FindSessions, 1, listing(rows)));
    bench.carry_out(effects);
    let chosen = bench.sessions().list.chosen().map(|row| row.agent);
    assert_eq!(chosen, Some("codex"));
}

#[test]
fn a_filter_is_typed_kept_and_given_up() {
    let mut bench = listed((80, 24));
    bench.keys("/proj run");
    assert_eq!(bench.sessions().list.len(), 1);
    bench.keys("<Esc>");
    assert_eq!(bench.sessions().list.len(), 4);
    bench.keys("/proj<Enter>");
    assert!(text(&bench).contains("2 of 4 sessions"), "{}", text(&bench));
    assert!(bench.status().contains(" Esc show all  Enter calls  "), "{}", bench.status());
    bench.keys("<Esc>");
    assert_eq!(bench.sessions().list.len(), 4);
}

#[test]
fn calls_sort_by_loss_and_q_goes_back_step_by_step() {
    let mut bench = opened((80, 24));
    bench.keys("sgg");
    let chosen = |bench: &Bench| bench.calls().list.chosen().map(|row| row.id.to_string());
    assert_eq!(chosen(&bench).as_deref(), Some("toolu_4"));
    assert_eq!(chosen(bench.keys("j")).as_deref(), Some("toolu_6"), "of neither it is known");
    bench.keys("q");
    assert!(bench.calls().list.rows().is_empty(), "the calls are closed");
    assert!(is_job(bench.asked.last().unwrap(), Slot::SumSessions), "{:?}", bench.asked.last());
    bench.keys("<Tab>");
    assert!(text(&bench).contains(" Outputs"), "{}", text(&bench));
    assert!(bench.stops(Slot::SumSessions), "{:?}", bench.asked);
}

#[test]
fn a_call_without_its_output_shows_no_share() {
    let mut bench = opened((120, 24));
    bench.update(CallsEvent::Measured(3, None));
    let row = |bench: &Bench| bench.rows().into_iter().find(|row| row.contains("journalctl -b")).unwrap();
    assert!(row(&bench).contains(" 976.6 KB") && row(&bench).contains("  –  "), "{}", row(&bench));
    assert!(!row(&bench).contains("2.2 KB"), "a size is no share: {}", row(&bench));
    bench.keys("sgg");
    assert_eq!(bench.calls().list.chosen_index(), Some(3), "what is not known may be the most");
}

#[test]
fn a_narrow_title_keeps_the_call_count_and_drops_the_agent() {
    let bench = opened((60, 15));
    assert!(bench.rows()[0].starts_with(" Sessions › Calls   6 calls, 4 cut "), "{:?}", bench.rows()[0]);
    assert!(opened((120, 24)).rows()[0].contains("6 calls, 4 cut · claude-code 2.1.330"));
}

#[test]
fn leaving_the_sessions_stops_their_jobs() {
    for key in ["<Tab>", "S"] {
        let mut bench = Bench::new((80, 24));
        bench.start_with_stores();
        bench.keys("<Tab>");
        bench.asked.clear();
        bench.keys(key);
        assert!(text(&bench).contains(" Outputs"), "{}", text(&bench));
        assert!(bench.stops(Slot::SumSessions), "{:?}", bench.asked);
    }
}

#[test]
fn calls_that_were_copied_count_once_and_say_where_else_they_are() {
    let mut bench = listed((120, 24));
    for counted in [0, 1, 2, 3] {
        let file = bench.sessions().list.rows()[counted].file.clone();
        bench.update(SessionsEvent::Summed(file, sums(1, 0, 0, 0, 10), None));
    }
    let related = |bench: &mut Bench| {
        let effects = bench.update(SessionsEvent::Related(vec![vec![2, 0]]));
        sum_jobs(effects).len()
    };
    assert_eq!(related(&mut bench), 1, "the sums are asked for again");
    assert_eq!(related(&mut bench), 0, "but not twice");
    let rows = bench.sessions().list.rows();
    let earlier: Vec<_> = rows[0].earlier.iter().map(|file| file.id.clone()).collect();
    assert_eq!(earlier, [rows[2].file.id.clone()]);
    let file = rows[0].file.clone();
    let copied = CallSums { copied: 23, ..CallSums::default() };
    bench.update(SessionsEvent::Summed(file.clone(), Some(copied), None));
    assert!(text(&bench).contains("0 calls, 0 cut · 23 of another session · got"), "{}", text(&bench));
    let row = bench.rows().into_iter().find(|row| row.starts_with('▌')).unwrap();
    assert!(row.contains(" –  ") && !row.contains(" 0 "), "{row}");
    bench.update(SessionsEvent::Summed(file, Some(CallSums { calls: 2, ..copied }), None));
    assert!(text(&bench).contains("2 calls, 0 cut · 23 of another session · got"), "{}", text(&bench));
    let mut bench = opened((200, 50));
    bench.update(CallsEvent::Copied(vec![(1, 2)]));
    bench.keys("j");
    assert!(text(&bench).contains("saved, also in 2 sessions"), "{}", text(&bench));
}

#[test]
fn a_session_that_grows_follows_its_last_call() {
    let mut bench = opened((80, 24));
    bench.keys("G");
    let mut rows = calls();
    rows.push(call("toolu_7", "Bash", CutState::No));
    let more = OpenedCalls { rows, ..by() };
    bench.update(CallsEvent::Opened(Box::new(more)));
    let open = &bench.calls().list;
    assert_eq!(open.chosen().map(|row| row.id.to_string()).as_deref(), Some("toolu_7"));
    assert!(open.rows()[0].sizes.is_some(), "what was known stays");
}

#[test]
fn a_list_without_groups_says_so_and_following_says_how_it_ends() {
    let mut bench = opened((80, 24));
    assert!(text(bench.keys("t")).contains("t does nothing here"), "{}", text(&bench));
    assert!(text(bench.keys("F")).contains("at the last call, following new ones"), "{}", text(&bench));
}

#[test]
fn following_calls_sorts_them_oldest_first() {
    for keys in ["sgF", "swF", "sgFswF"] {
        let mut bench = opened((80, 24));
        let said = text(bench.keys(keys));
        assert!(said.contains("sorted oldest first: at the last call, following new ones"), "{keys}: {said}");
        let chosen = |bench: &Bench| bench.calls().list.chosen().map(|row| row.id.to_string());
        assert_eq!(chosen(&bench), calls().last().map(|row| row.id.to_string()), "{keys}");
        let mut rows = calls();
        rows.push(call("toolu_7", "Bash", CutState::No));
        bench.update(CallsEvent::Opened(Box::new(OpenedCalls { rows, ..by() })));
        assert_eq!(chosen(&bench).as_deref(), Some("toolu_7"), "{keys}");
        assert!(bench.rows()[0].contains(" FOLLOW "), "{keys}: {:?}", bench.rows());
        assert!(!bench.keys("sg").rows()[0].contains(" FOLLOW "), "{keys}: {:?}", bench.rows());
    }
}

#[test]
fn the_title_of_calls_says_follow_until_following_stops() {
    for (follows, stops) in [("F", "<^C>"), ("G", "<^C>"), ("F", "k"), ("F", "<Esc>")] {
        let mut bench = opened((80, 24));
        let is_told = |bench: &Bench| bench.rows()[0].contains(" FOLLOW ");
        assert!(!is_told(&bench));
        assert!(is_told(bench.keys(follows)), "{follows}: {:?}", bench.rows());
        assert!(!is_told(bench.keys(stops)), "{stops}: {:?}", bench.rows());
        assert!(!bench.asked.iter().any(|effect| matches!(effect, Effect::Quit(_))), "{stops}");
        let mut rows = calls();
        rows.push(call("toolu_7", "Bash", CutState::No));
        bench.update(CallsEvent::Opened(Box::new(OpenedCalls { rows, ..by() })));
        let chosen = bench.calls().list.chosen().map(|row| row.id.to_string());
        assert_ne!(chosen.as_deref(), Some("toolu_7"), "{stops}");
    }
}

#[test]
fn losses_of_unknown_size_come_before_known_ones() {
    let mut bench = opened((80, 24));
    bench.keys("se");
    let mut at = |place: usize| {
        bench.keys(&format!("{place}g"));
        bench.calls().list.chosen().map(|row| row.id.to_string()).unwrap()
    };
    assert_eq!([at(1), at(2)], ["toolu_4", "toolu_6"], "of neither it is known");
    assert_eq!([at(5), at(6)], ["toolu_1", "toolu_5"], "these lost nothing");
}

#[test]
fn tab_leads_from_a_call_through_the_lists_and_back_to_it() {
    let mut bench = opened((80, 24));
    let view = MapView::from_bytes(b"one\n").unwrap();
    let effects = bench.show_opened(PagerInput::new(subject(policy("opencode/output")), view));
    bench.carry_out(effects);
    for keys in ["S", "<Tab>", "<Tab>", "<Tab>"] {
        bench.keys(keys);
        assert_eq!(bench.app.context(), KeyContext::Lists, "{keys}");
    }
    bench.keys("q");
    assert_eq!(bench.app.context(), KeyContext::Pager);
    bench.keys("q");
    assert!(bench.rows()[0].starts_with(" Sessions › Calls"), "{:?}", bench.rows());
}

#[test]
fn keys_typed_while_a_session_is_read_act_on_its_calls() {
    let mut bench = listed((80, 24));
    bench.keys("<Enter>G<Enter>");
    let opened = || CallsEvent::Opened(Box::new(OpenedCalls { rows: calls(), ..by() }));
    bench.update(CallsEvent::Reading(50));
    assert_eq!(last_request(&bench), None, "there are no calls yet");
    let effects = bench.update(opened());
    bench.carry_out(effects);
    let last = calls().len() - 1;
    assert_eq!(bench.calls().list.chosen_index(), Some(last));
    assert_eq!(last_request(&bench), Some(&CallRequest::Show(last, Paths::Known)));
}

#[test]
fn a_session_being_read_can_be_left_at_once() {
    for key in ["q", "<Esc>", "S"] {
        let mut bench = listed((80, 24));
        bench.keys("<Enter>G").keys(key);
        assert!(!text(&bench).contains("reading the session"), "{key}: {}", text(&bench));
    }
}

#[test]
fn late_results_of_a_closed_session_are_dropped() {
    let mut bench = opened((80, 24));
    bench.keys("q<Enter>");
    let opened = || CallsEvent::Opened(Box::new(OpenedCalls { rows: calls(), ..by() }));
    let copied = || CallsEvent::Copied(vec![(1, 2)]);
    let [first, second] = [0, 1].map(|job| {
        [bench.report(Slot::OpenSession, job, opened()), bench.report(Slot::OpenSession, job, copied())]
    });
    let ([late, late_copied], [opened, copied]) = (first, second);
    bench.update(late);
    assert!(bench.calls().list.is_empty(), "of the session before");
    let effects = bench.update(opened);
    bench.carry_out(effects);
    bench.update(late_copied);
    assert_eq!(bench.calls().list.rows()[1].copies, 0);
    bench.update(copied);
    assert_eq!(bench.calls().list.rows()[1].copies, 2);
}

#[test]
fn records_that_are_not_understood_say_so() {
    let mut bench = listed((80, 24));
    bench.keys("<Enter>");
    let unread = "12 records of 1 unknown kind (x ×12)".into();
    let opened = OpenedCalls { unread, is_format_unknown: true, ..by() };
    bench.update(CallsEvent::Opened(Box::new(opened)));
    assert!(text(&bench).contains("Format not understood"), "{}", text(&bench));
    assert!(text(&bench).contains("12 records of 1 unknown kind"), "{}", text(&bench));
}

/// Returns what the records hold of a call: facts, and texts under these titles.
fn facts(titles: &[&str]) -> Box<CallFacts> {
    let text = |title: &&str| TitledText { title: (*title).into(), text: b"{\n  \"id\": 1\n}".to_vec() };
    let facts = vec![
        ("evidence", "recorded: the agent's history holds it".into()),
        ("recorded by", "claude-code 2.1.330".into()),
        ("session", "0195".into()),
        ("call", "toolu_2".into()),
    ];
    Box::new(CallFacts { facts, texts: titles.iter().map(text).collect() })
}

#[test]
fn the_facts_of_a_call_open_at_once_and_records_follow() {
    let mut bench = opened((80, 24));
    bench.keys("j=");
    assert_eq!(last_request(&bench), Some(&CallRequest::Facts(1)));
    assert!(text(&bench).contains("compared     verified: claude-code/bash"), "{}", text(&bench));
    assert!(text(&bench).contains("│ …  "), "the rest has not come yet: {}", text(&bench));
    bench.update(CallsEvent::Facts(0, facts(&["Record"])));
    assert!(!text(&bench).contains("Record"), "of another call: {}", text(&bench));
    bench.update(CallsEvent::Facts(1, facts(&["Record", "Arguments"])));
    keep("calls_facts", &bench);
    bench.keys("=");
    assert!(!text(&bench).contains("Record"), "{}", text(&bench));
}

#[test]
fn the_facts_of_a_session_update_and_lead_to_its_calls() {
    let mut bench = listed((120, 40));
    bench.keys("j=");
    for fact in [
        "session      0195-0012",
        "title        run it",
        "file         /home/u/.codex/sessions/12.jsonl",
        "agent        codex 0.169.0",
        "project      /home/u/proj",
        " · 60 min ago",
        " · 12 min ago",
        "calls        3 calls, 1 cut (1 never saved) · got 10 KB (~2.6k tokens)",
        "errors lost  …",
        "time left    …",
        "read by      its owner, and other users",
    ] {
        assert!(text(&bench).contains(fact), "{fact}: {}", text(&bench));
    }
    let file = bench.sessions().list.rows()[1].file.clone();
    bench.update(SessionsEvent::Expires(file.clone(), Some(Expiry::Never)));
    assert!(text(&bench).contains("time left    never  "), "{}", text(&bench));
    let left = jiff::Timestamp::from_second(1_795_000_000 + 3 * 86_400).ok();
    bench.update(SessionsEvent::Expires(file, left.map(Expiry::At)));
    let left = "time left    3 d · of the spill that is deleted first";
    assert!(text(&bench).contains(left), "{}", text(&bench));
    bench.keys("<Enter>");
    assert!(bench.rows()[0].contains("Sessions › Calls"), "{:?}", bench.rows()[0]);
}

#[test]
fn goes_to_a_session_by_time_and_says_why_it_cannot() {
    let mut bench = listed((80, 24));
    bench.keys(":");
    assert!(bench.status().contains("row · 50% · 14:30 · 2026-11-24 · 3d · q quits"), "{}", bench.status());
    bench.keys("2 h<Enter>");
    assert!(bench.status().contains("3 of 4"), "{}", bench.status());
    bench.keys(":2<Enter>");
    assert!(bench.status().contains("2 of 4"), "{}", bench.status());
    bench.keys("sa:2h<Enter>");
    let refused = "sorted by agent: sort by when to go to a time";
    assert!(bench.status().contains(refused), "{}", bench.status());
}

#[test]
fn the_page_of_facts_scrolls_and_follows_the_size_of_the_terminal() {
    let mut bench = shown((80, 24), RestOfOutput::Here, None);
    bench.keys("=");
    assert_eq!(last_request(&bench), Some(&CallRequest::Facts(1)));
    bench.update(CallsEvent::Facts(1, facts(&["Record"])));
    assert!(!text(&bench).contains("Record"), "{}", text(&bench));
    assert!(text(bench.keys("G")).contains("── Record"), "{}", text(&bench));
    bench.resize((120, 40));
    let known = "known from   the agent run against a stand-in for the model: 97 of 97 outputs, and 39 edges";
    assert!(text(&bench).contains(known), "{}", text(&bench));
}

fn lines(range: std::ops::Range<u32>) -> String {
    range.map(|n| format!("line {n}\n")).collect()
}

/// The call that is opened.
fn citing() -> CitingCall {
    let file = row("claude-code", 1, None, None).file;
    CitingCall { file: SessionFile::clone(&file), call: "toolu_1".into(), command: "seq 1 1000\ntrue".into() }
}

/// Opens a call: what was recorded, over an output of numbered lines.
fn shown(size: (u16, u16), rest: RestOfOutput, check: Option<Verdict>) -> Bench {
    let whole = lines(1..1001);
    let head = "<persisted-output>\nOutput too large (8.7KB). Full output saved to: /s.txt\n\nPreview (first 2KB):\n";
    let text = format!("{head}{}...\n</persisted-output>", lines(1..31));
    shown_over(size, &whole, text, rest, check)
}

/// Opens a call: the text that was recorded, over an output.
fn shown_over(
    size: (u16, u16),
    whole: &str,
    text: String,
    rest: RestOfOutput,
    check: Option<Verdict>,
) -> Bench {
    let notices = match rest {
        RestOfOutput::Here => Vec::new(),
        _ => Verifier::new(&Catalog::builtin(), "claude-code").notices_in(&text),
    };
    let bytes = if rest == RestOfOutput::Here { whole.as_bytes() } else { text.as_bytes() };
    let view = MapView::from_bytes(bytes).expect("memory");
    let base = subject(policy("claude-code/bash"));
    let context = InputContext { saved_as: "/s.txt".into(), ..base.context };
    let recorded = RecordedCall {
        index: Some(1),
        call: citing(),
        text: text.into(),
        notices: notices.into(),
        policy: Some(base.policy.policy.clone()),
        by: "claude-code 2.1.330".into(),
        rest,
        claim: None,
        check,
        facts: facts(&[]).facts,
        texts: None,
    };
    let mut bench = opened(size);
    bench.keys("j<Enter>");
    let subject = Subject { name: "Bash: seq".into(), context, ..base };
    let opened = PagerInput { recorded: Some(Box::new(recorded)), ..PagerInput::new(subject, view) };
    let effects = bench.show_opened(opened);
    bench.carry_out(effects);
    bench
}

#[test]
fn a_late_record_replaces_a_reconstruction_but_not_a_what_if() {
    let ready = || {
        let recorded = shown((120, 24), RestOfOutput::Here, None).pager().output.recorded.clone();
        let recorded = RecordedCall { index: None, ..recorded.expect("a record") };
        Box::new(ReadyCall {
            name: "Bash: seq".into(),
            agent: "claude-code",
            exit_code: None,
            saved_as: Some("/s.txt".into()),
            place: OutputPlace::File("/s.txt".into()),
            recorded: Box::new(recorded),
        })
    };
    for (keys, word) in [("", "recorded · by claude-code 2.1.330"), ("lj+<Enter>", "would get · ")] {
        let mut bench = Bench::new((120, 24));
        let mut stored = subject(policy("claude-code/bash"));
        stored.file = Some("/s.txt".into());
        stored.context.saved_as = "/s.txt".into();
        stored.policy.chosen_by = ChosenBy::Store(Vec::new());
        let opened = PagerInput::new(stored, MapView::from_bytes(lines(1..1001).as_bytes()).unwrap());
        let effects = bench.show_opened(opened);
        bench.carry_out(effects);
        bench.keys(keys);
        bench.update(OutputEvent::Record("/s.txt".into(), Ok(ready())));
        assert!(bench.rows()[0].contains(word), "{keys}: {:?}", bench.rows()[0]);
        bench.keys("lR<Enter>");
        assert!(!bench.rows()[0].contains("would get"), "{keys}: {:?}", bench.rows()[0]);
    }
}

#[test]
fn facts_lead_to_the_call_and_the_session_and_arrows_choose_between_them() {
    let mut bench = shown((120, 40), RestOfOutput::Here, None);
    bench.keys("=");
    let screen = bench.screen();
    assert!(screen.contains("↓ ↑ and Enter go to what is underlined"), "{screen}");
    bench.asked.clear();
    bench.keys("<Down><Enter>");
    assert!(bench.rows()[0].contains("Sessions › Calls"), "{:?}", bench.rows()[0]);
    let is_opened = bench.asked.iter().any(|effect| is_job(effect, Slot::OpenSession));
    assert!(is_opened, "the call is of another session than the one that was listed");
}

#[test]
fn a_requested_call_opens_only_over_its_own_list() {
    let ready = || {
        let recorded = RecordedCall {
            index: Some(0),
            call: citing(),
            text: "text".into(),
            notices: Arc::default(),
            policy: None,
            by: "claude-code".into(),
            rest: RestOfOutput::Missing("spill deleted"),
            claim: None,
            check: None,
            facts: Vec::new(),
            texts: None,
        };
        let place = OutputPlace::Memory(MapView::from_bytes(b"text").expect("memory"));
        let call = ReadyCall {
            name: "Bash: seq".into(),
            agent: "claude-code",
            exit_code: None,
            saved_as: None,
            place,
            recorded: Box::new(recorded),
        };
        CallsEvent::Ready(Box::new(call))
    };
    for (keys, opens) in [("", true), ("q", false), ("qq", false)] {
        let mut bench = Bench::new((80, 24));
        let output = MapView::from_bytes(b"named\n").expect("memory");
        bench.show_view(subject(policy("pi/bash")), output);
        bench.keys("S<Tab>");
        found(&mut bench, sessions());
        bench.keys("<Enter>");
        let opened = OpenedCalls { rows: calls(), ..by() };
        bench.update(CallsEvent::Opened(Box::new(opened)));
        bench.keys("g<Enter>").keys(keys);
        assert_eq!(
            last_request(&bench),
            Some(&CallRequest::Show(0, Paths::Known)),
            "the first call is asked for"
        );
        let effects = bench.update(bench.report(Slot::OpenSession, 0, ready()));
        let is_opened = effects.iter().any(|effect| matches!(effect, Effect::OpenCall(..)));
        assert_eq!(is_opened, opens, "{keys}");
    }
}

/// The policy makes the same text.
fn equal() -> Verdict {
    let by = Some((LimitHit::Size(Unit::Utf16), Some(30_000)));
    Verdict::Equal { policy: "claude-code/bash".into(), by, counterpart: Counterpart::Spill }
}

#[test]
fn a_recorded_call_beside_its_spill() {
    for size in SIZES {
        let mut bench = shown(size, RestOfOutput::Here, Some(equal()));
        keep("recorded", &bench);
        keep("recorded_spill", bench.keys("<Tab>30g"));
        keep("recorded_facts", bench.keys("="));
        let missing = RestOfOutput::Missing("spill deleted");
        let mut bench = shown(size, missing, Some(Verdict::Unchecked(NoVerdict::NoSpill)));
        keep("recorded_alone", &bench);
        keep("recorded_alone_end", bench.keys("G"));
        let (policy, by) = ("claude-code/bash".into(), Some((LimitHit::Size(Unit::Utf16), Some(30_000))));
        let witness = Verdict::Equal { policy, by, counterpart: Counterpart::Witness };
        let mut bench = shown(size, RestOfOutput::Missing("spill deleted"), Some(witness));
        keep("recorded_witness", bench.keys("="));
    }
}

#[test]
fn differences_from_the_record_are_marked_and_can_be_visited() {
    let whole = lines(1..12001);
    let input = Input::from_bytes(whole.as_bytes(), "/s.txt");
    let made = plan_counted(&input, &policy("claude-code/bash")).expect("a preview").text(&input);
    let text = made.replacen("KB", "kB", 1).replacen("line 7\n", "", 1);
    let text = text.replacen("line 80\n", "line 80!\n", 1);
    assert_eq!(text.len() + 6, made.len(), "{made}");
    let at = made.find("KB").expect("a size");
    let words = format!("first differs at byte {}, in the notice text · 3 differences", at + 1);
    for size in SIZES {
        let mut bench = shown_over(size, &whole, text.clone(), RestOfOutput::Here, None);
        bench.keys("i");
        assert!(
            bench.status().starts_with(" reconstructed by claude-code/bash · first"),
            "{}",
            bench.status()
        );
        keep("compared_made", bench.keys("k"));
        assert!(bench.status().contains(&words), "{}", bench.status());
        let mut goes_there = || bench.keys("}").rows().iter().any(|row| row.starts_with("≠line 80"));
        assert!((0..3).any(|_| goes_there()), "though no notice is there: {}", bench.screen());
        keep("compared", bench.keys("igk"));
    }
}

#[test]
fn a_record_that_matches_the_reconstruction_says_equal() {
    let whole = lines(1..12001);
    let input = Input::from_bytes(whole.as_bytes(), "/s.txt");
    let made = plan_counted(&input, &policy("claude-code/bash")).expect("a preview").text(&input);
    let mut bench = shown_over((120, 40), &whole, made, RestOfOutput::Here, None);
    assert!(
        bench.keys("i").status().contains("reconstructed by claude-code/bash · equal"),
        "{}",
        bench.status()
    );
    assert!(bench.keys("k").status().starts_with(" got "), "{}", bench.status());
    bench.keys("l<Right><Enter>k");
    assert!(!text(&bench).contains("≠"), "a what-if is not compared: {}", text(&bench));
}

#[test]
fn a_record_with_added_text_says_equal_but_for_that() {
    let whole = lines(1..12001);
    let input = Input::from_bytes(whole.as_bytes(), "/s.txt");
    let made = plan_counted(&input, &policy("claude-code/bash")).expect("a preview").text(&input);
    let recorded = format!("{made}\n\n<system-reminder>\nx\n</system-reminder>");
    for (check, words) in
        [(Some(equal()), "equal but for text that the agent added · 1 difference"), (None, "at the end")]
    {
        let mut bench = shown_over((120, 40), &whole, recorded.clone(), RestOfOutput::Here, check);
        assert!(bench.keys("i").status().contains(words), "{}", bench.status());
        assert!(bench.keys("k").status().contains(words), "{}", bench.status());
    }
}

#[test]
fn a_verified_record_names_the_limit_that_cut_it() {
    let mut bench = shown((120, 40), RestOfOutput::Here, Some(equal()));
    let status = bench.keys("<Tab>900g").status();
    assert!(status.contains("line 900 of 1,000 · lost: over 30,000 UTF-16 units"), "{status}");
    assert!(bench.keys("l").screen().contains("▌ max bytes        30,000  cuts"), "{}", bench.screen());
    let mut bench = shown((120, 40), RestOfOutput::Here, None);
    let status = bench.keys("<Tab>900g").status();
    assert!(status.contains("line 900 of 1,000 · lost ") && !status.contains("over"), "{status}");
}

#[test]
fn comparing_ends_the_read_view() {
    let mut bench = shown((100, 24), RestOfOutput::Here, None);
    assert!(text(bench.keys("O")).contains("read view"), "{}", text(&bench));
    assert!(text(bench.keys("i")).contains("recorded · by claude-code 2.1.330"), "{}", text(&bench));
    assert_eq!(bench.pager().output.policy().name(), "claude-code/bash");
    assert!(text(bench.keys("q")).contains("Sessions › Calls"), "{}", text(&bench));
}

#[test]
fn a_record_without_its_output_has_no_second_text() {
    for size in SIZES {
        let mut bench = shown(size, RestOfOutput::Missing("spill deleted"), None);
        assert!(!text(&bench).contains("Whole output"), "{}", text(&bench));
        bench.keys("<Tab>");
        let words = "only what the model got is left: spill deleted";
        assert!(bench.status().contains(words), "{}", bench.status());
        for keys in ["]", "[", "O", "o"] {
            assert!(bench.keys("k").keys(keys).status().contains(words), "{keys}: {}", bench.status());
        }
        assert!(text(bench.keys("G")).contains("</persisted-output>"), "{}", text(&bench));
        assert!(!text(&bench).contains("all 36 lines"), "{}", text(&bench));
    }
}

#[test]
fn changing_limits_leaves_the_record_and_i_returns_to_it() {
    let mut bench = shown((100, 24), RestOfOutput::Here, None);
    assert!(text(&bench).contains("recorded · by claude-code 2.1.330"), "{}", text(&bench));
    bench.keys("l-<Enter>");
    assert!(text(&bench).contains("would get · max bytes 20,000 B"), "{}", text(&bench));
    bench.keys("i");
    assert!(text(&bench).contains("recorded · by claude-code 2.1.330 · got 2%"), "{}", text(&bench));
    let verdict = equal();
    bench.update(OutputEvent::Checked(1, Box::new(verdict)));
    assert!(
        text(bench.keys("=")).contains("verified: claude-code/bash makes the same text"),
        "{}",
        text(&bench)
    );
    bench.keys("<Esc>");
    bench.keys("q");
    assert!(text(&bench).contains("Calls"), "{}", text(&bench));
}

#[test]
fn limits_have_no_effect_if_only_the_record_is_left() {
    let mut bench = shown((100, 24), RestOfOutput::Missing("spill deleted"), None);
    bench.keys("l");
    assert!(bench.status().contains("limits have no effect: only the recorded text"), "{}", bench.status());
    assert!(!bench.pager().drawer.is_open());
    assert!(bench.keys("K").status().contains("nothing to keep: spill deleted"), "{}", bench.status());
    let mut whole = shown((100, 24), RestOfOutput::Here, None);
    assert!(whole.keys("K").status().contains("the records hold all of it"), "{}", whole.status());
    assert_eq!(whole.jobs(Slot::Keep), 0);
    bench.keys("i");
    assert!(text(&bench).contains("spill deleted"), "{}", text(&bench));
}

#[test]
fn a_count_marks_nothing_where_nothing_is_deleted() {
    let mut bench = opened((100, 24));
    for keys in ["3x", "3K"] {
        assert!(bench.keys(keys).status().contains("does nothing here"), "{}", bench.status());
        assert!(!text(&bench).contains("marked"), "{}", text(&bench));
    }
}

#[test]
fn i_says_that_no_record_of_the_output_is_known() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("x.log");
    std::fs::write(&path, "one\n").expect("a file");
    let mut bench = Bench::open((100, 24), &path, policy("opencode/output"));
    drop(Source::open(&path));
    bench.keys("i");
    assert!(text(&bench).contains("no record of this output is known"), "{}", text(&bench));
}

#[test]
fn a_record_that_differs_says_so_in_the_title_at_every_width() {
    let differs = Difference { policy: "claude-code/bash".into(), at: 193, part: "notice", fits: None };
    let mut bench = shown((200, 24), RestOfOutput::Here, Some(Verdict::Differs(differs.clone())));
    for width in (40..=200).rev() {
        let title = bench.resize((width, 24)).rows().swap_remove(0);
        assert!(title.contains("recorded · DIFFERS"), "{width}: {title}");
        assert!(!title.contains("got ") || width < 100 || title.contains("DIFFERS from claude"), "{title}");
    }
    let fits = Difference { fits: Some("claude-code/bash-2025".into()), ..differs };
    let bench = shown((120, 24), RestOfOutput::Here, Some(Verdict::Differs(fits)));
    assert!(!text(&bench).contains("DIFFERS"), "another version made it: {}", text(&bench));
}

#[test]
fn the_state_of_a_call_says_the_worst_first() {
    let state = |row: CallRow| row.state();
    let failed = CallRow { status: CallStatus::Failed, copies: 1, ..call("c", "Bash", CutState::No) };
    assert_eq!(state(failed), "failed, also in 1 session");
    for cut in [CutState::NoSpill, CutState::Spill] {
        assert_eq!(state(call("c", "Bash", cut)), "", "nobody has looked yet");
    }
    let lost = |whole| state(sized(call("c", "Bash", CutState::NoSpill), 9, whole, None, "ls"));
    assert_eq!([lost(None), lost(Some(99))], ["never saved", "in the record"]);
    let rows = calls().into_iter().map(state).collect::<Vec<_>>();
    let differs = "DIFFERS from claude-code/bash, saved";
    assert_eq!(rows, ["", "saved", differs, "deleted", "failed", ""]);
}

#[test]
fn calls_of_unknown_cut_count_as_unknown() {
    let mut bench = listed((200, 50));
    let unsure = Some(CallSums { calls: 2, unsure: 1, ..CallSums::default() });
    found(&mut bench, vec![row("openhands", 0, Some(["", "/p", "t"]), unsure)]);
    let shown = text(&bench);
    assert!(shown.contains("2 calls, 0 cut, 1 unknown") && !shown.contains("0 cut ·"), "{shown}");
    bench.keys("<Enter>");
    let known = sized(call("known", "Bash", CutState::No), 19, None, None, "ls");
    let rows = vec![known, sized(call("unsure", "Bash", CutState::Unknown), 19, None, None, "ls")];
    bench.update(CallsEvent::Opened(Box::new(OpenedCalls { rows, ..by() })));
    assert!(text(&bench).contains("2 calls, 0 cut, 1 unknown"), "{}", text(&bench));
}

#[test]
fn sorting_by_cut_puts_unsure_sessions_before_uncut_ones() {
    let mut bench = listed((120, 40));
    let sums = |cut, unsure| Some(CallSums { calls: 2, cut, unsure, ..CallSums::default() });
    let row = |agent, sums| row(agent, 0, Some(["", "/p", "t"]), sums);
    found(&mut bench, vec![row("crush", sums(0, 0)), row("openhands", sums(0, 1)), row("codex", sums(1, 0))]);
    let shown = text(bench.keys("su"));
    let at = ["codex", "openhands", "crush"].map(|agent| shown.find(agent).expect("a row"));
    assert!(at.is_sorted(), "{shown}");
}

#[test]
fn sorting_and_filtering_find_calls_that_lost_errors() {
    let mut bench = opened((120, 40));
    let lost = |all, lost| ErrorsLost { all, lost };
    for (index, percent, errors, warnings) in [(1, 3, lost(0, 0), lost(9, 5)), (2, 0, lost(3, 2), lost(0, 0))]
    {
        let share = ModelShare { lost: Some(LostCounts { errors, warnings }), ..share(percent) };
        bench.update(CallsEvent::Measured(index, Some(share)));
    }
    bench.update(CallsEvent::Measured(3, None));
    keep("calls_lost", bench.keys("se"));
    let title = bench.keys("se").rows().swap_remove(0);
    assert!(title.contains("sort: errors lost"), "the order is said before the name of the session: {title}");
    bench.keys("se");
    assert_eq!(
        bench.keys("3g").calls().list.chosen().map(|row| row.id.to_string()).as_deref(),
        Some("toolu_3")
    );
    bench.keys("/lost<Enter>");
    assert_eq!(bench.calls().list.len(), 1);
    bench.keys("<Esc>/cut tool:bash<Enter>");
    assert_eq!(bench.calls().list.len(), 3);
}

#[test]
fn a_filter_on_sums_reads_sessions_off_the_screen_too() {
    let mut bench = Bench::new((80, 12));
    bench.start_with_stores();
    bench.keys("<Tab>");
    let session = |n: u64| row("pi", n, Some(["1", "/p", "a title"]), None);
    found(&mut bench, (1..40).map(session).collect());
    let asked = |bench: &Bench| {
        let rows = bench.sessions().list.rows();
        rows.iter().filter(|row| row.sums.state == SlowState::Asked).count()
    };
    let on_screen = asked(&bench);
    assert!(on_screen < 12, "{on_screen}");
    bench.keys("/differs<Enter>");
    assert_eq!(asked(&bench), 39, "what no row on the screen shows is found out, too");
    let file = Arc::clone(&bench.sessions().list.rows()[30].file);
    bench.update(SessionsEvent::Summed(Arc::clone(&file), sums(8, 2, 0, 0, 10), None));
    bench.update(SessionsEvent::Compared(Arc::clone(&file), 1));
    bench.update(listing((1..40).map(session).collect()));
    assert!(bench.rows().iter().any(|row| row.contains("a title")), "{}", bench.screen());
    assert!(bench.resize((80, 40)).keys("=").screen().contains("2 cut (1 DIFFERS)"), "{}", bench.screen());
}

#[test]
fn sessions_are_found_by_calls_that_failed_or_were_never_saved() {
    let mut bench = Bench::new((80, 24));
    bench.start_with_stores();
    bench.keys("<Tab>");
    let of = |n| row("pi", n, Some(["1", "/p", "its title"]), None);
    found(&mut bench, [1, 2, 3].map(of).into());
    bench.keys("/failed<Enter>");
    let asked = bench.sessions().list.rows().iter().filter(|row| row.sums.state == SlowState::Asked);
    assert_eq!(asked.count(), 3, "the filter waits for their sums");
    let files: Vec<_> = bench.sessions().list.rows().iter().map(|row| Arc::clone(&row.file)).collect();
    let failed = Some(CallSums { failed: 2, ..sums(8, 0, 0, 0, 10).unwrap() });
    for (file, sums) in files.into_iter().zip([failed, sums(8, 2, 1, 0, 10), sums(8, 0, 0, 0, 10)]) {
        bench.update(SessionsEvent::Summed(file, sums, None));
    }
    let listed = |bench: &Bench| bench.rows().iter().filter(|row| row.contains("its title")).count();
    for (words, rows) in [("failed", 1), ("never saved", 1), ("deleted", 0)] {
        assert_eq!(listed(bench.keys(&format!("<Esc>/{words}<Enter>"))), rows, "{words}");
    }
}

#[test]
fn a_column_filter_matches_whole_words() {
    let mut bench = Bench::new((80, 24));
    bench.start_with_stores();
    bench.keys("<Tab>");
    let of = |agent| row(agent, 1, Some(["1", "/p", "its title"]), None);
    found(&mut bench, ["pi", "copilot-cli", "opencode"].map(of).into());
    let listed = |bench: &Bench| bench.rows().iter().filter(|row| row.contains("its title")).count();
    assert_eq!([listed(bench.keys("/pi<Enter>")), listed(bench.keys("<Esc>/agent:pi<Enter>"))], [2, 1]);
    assert_eq!(listed(bench.keys("<Esc>/agent:cli<Enter>")), 1);
}

#[test]
fn refresh_checks_the_spills_of_calls_again() {
    let mut bench = opened((120, 24));
    let sizes = |bench: &Bench| bench.calls().list.rows().iter().filter(|row| row.sizes.is_some()).count();
    assert!(sizes(&bench) > 0);
    bench.asked.clear();
    bench.keys("R");
    assert_eq!(sizes(&bench), 0);
    assert!(matches!(last_request(&bench), Some(CallRequest::Rows(rows)) if rows.len() > 2));
}

#[test]
fn a_search_in_sessions_stops_at_50_000_lines() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    for (name, lines) in [("a", 30_000), ("b", 30_000), ("c", 1)] {
        let used =
            serde_json::json!({"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "x"}});
        let got = "error\n".repeat(lines);
        let got = serde_json::json!({"type": "tool_result", "tool_use_id": name, "content": got});
        let record = |kind: &str, block| serde_json::json!({"type": kind, "message": {"id": name, "content": [block]}});
        let path = project.join(format!("{name}.jsonl"));
        std::fs::write(&path, format!("{}\n{}\n", record("assistant", used), record("user", got))).unwrap();
        let age = Duration::from_secs(60 * u64::from(name.as_bytes()[0]));
        std::fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(SystemTime::now() - age)
            .unwrap();
    }
    let mut bench = Bench::new((120, 24));
    bench.env = Env::hermetic(home.path());
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    let title = bench.keys("<Tab>&error<Enter>").rows()[0].clone();
    assert!(title.contains("the first 50,000 lines in 0 of 0 outputs, 2 sessions · with error"), "{title}");
}
