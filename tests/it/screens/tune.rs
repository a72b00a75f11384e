//! The lists of settings and policies: what they show of many outputs, what keys do there, and what becomes of a setting
//! that is applied.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use overspill::internals::corpus::{TuneOutputs, TunePolicies};
use overspill::internals::store::Env;
use overspill::internals::tui::app::{Effect, Event};
use overspill::internals::tui::job::{JobContext, Slot};
use overspill::internals::tui::keys::KeyContext;
use overspill::internals::tui::screen::{Link, TuneStart};
use overspill::internals::tui::widget::canvas::Canvas;

use crate::common::bench::{Bench, is_job, policy};
use crate::screens::SIZES;

/// Ids of outputs of opencode: its 12 hex digits, then 14 others.
fn id(number: usize) -> String {
    format!("tool_c8d4f08d{number:02x}01AbCdEfGhIjKlMn")
}

/// An output of so many lines, with errors in the lines of a range.
fn output(lines: usize, errors: std::ops::Range<usize>) -> String {
    let word = |line| if errors.contains(&line) { "error: " } else { "" };
    (0..lines).map(|line| format!("{}step {line} of the build of everything\n", word(line))).collect()
}

/// Creates screens that show stores with these outputs.
fn stocked(size: (u16, u16), outputs: &[String]) -> (tempfile::TempDir, Bench) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join(".local/share/opencode/tool-output");
    fs::create_dir_all(&store).unwrap();
    let mut bench = Bench::new(size);
    for (number, text) in outputs.iter().enumerate() {
        let path = store.join(id(number));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let then =
            std::time::SystemTime::from(bench.now) - std::time::Duration::from_secs(60 * number as u64);
        fs::File::options().append(true).open(&path).unwrap().set_modified(then).unwrap();
    }
    bench.env = Env::hermetic(dir.path());
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    (dir, bench)
}

fn builds() -> Vec<String> {
    vec![
        output(2600, 2540..2580),
        output(2300, 1100..1110),
        output(900, 10..14),
        output(40, 0..0),
        output(2100, 2095..2100),
    ]
}

/// One output whose errors today's limits lose, and a short one.
fn few() -> Vec<String> {
    vec![output(2200, 2150..2170), output(30, 3..4)]
}

fn assert(name: &str, screen: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, screen);
    });
}

#[test]
fn settings() {
    for size in SIZES {
        let (_dir, mut bench) = stocked(size, &builds());
        bench.keys("lj");
        assert(&format!("settings_{}x{}", size.0, size.1), &bench.screen());
    }
}

#[test]
fn a_filter_in_tune_does_not_change_the_judged_pattern() {
    for open in ["l", "p"] {
        let (_dir, mut bench) = stocked((120, 24), &few());
        bench.keys(open).keys("/pi/<Enter>");
        let title = bench.rows()[0].clone();
        assert!(title.contains("filter: pi/") && title.contains(" errors"), "{title}");
        bench.keys("<Esc>");
        assert!(!bench.rows()[0].contains("filter"), "{:?}", bench.rows());
    }
}

#[test]
fn outputs_that_a_setting_cuts_differently() {
    let (_dir, mut bench) = stocked((80, 24), &builds());
    bench.keys("lg<Enter>");
    assert("changed_outputs_80x24", &bench.rows()[..8].join("\n"));
    bench.keys("<Enter>");
    let opened = bench.opened().expect("an output opens");
    assert!(opened.starts_with(bench.env.home()), "{opened:?}");
    bench.keys("<Esc>");
    assert!(bench.rows()[0].starts_with(" Settings   opencode/output · 5 outputs"), "{:?}", bench.rows());
}

#[test]
fn ascii_alone() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.repaint(Canvas { unicode: false, ..bench.app.canvas });
    bench.keys("l");
    let rows = bench.rows();
    assert!(rows.iter().all(|row| row.is_ascii()), "{rows:#?}");
    assert!(rows[1].contains("# this row") && rows[1].contains("o best"), "{rows:#?}");
}

#[test]
fn an_empty_tune_view_says_where_it_looked() {
    let (dir, mut bench) = stocked((120, 24), &[]);
    bench.keys("l");
    let text = bench.rows().join("\n");
    assert!(text.contains("No stored outputs yet. Try `overspill --demo`, or `overspill FILE`."), "{text}");
    assert!(
        text.contains(&*dir.path().join(".local/share/opencode/tool-output").to_string_lossy()),
        "{text}"
    );
}

#[test]
fn marked_and_filtered_outputs_are_measured_alone() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.keys("  l");
    let title = |bench: &Bench| bench.rows()[0].clone();
    assert!(title(&bench).contains("2 outputs") && title(&bench).ends_with(" · marked"), "{}", title(&bench));
    bench.keys("q<Esc>/f08d01<Enter>l");
    assert!(
        title(&bench).contains("1 output, ") && title(&bench).contains("filter: f08d01"),
        "{}",
        title(&bench)
    );
}

#[test]
fn an_applied_setting_affects_outputs_opened_later() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.keys("lga");
    let status = bench.status();
    let setting = status.split("using ").nth(1).unwrap().split(" for opencode/output").next().unwrap();
    let open = |bench: &mut Bench| {
        let path = bench.env.home().join(".local/share/opencode/tool-output").join(id(0));
        bench.start(&path, policy("opencode/output"));
        let limits = bench.pager().output.limits();
        (limits, bench.pager().output.subject.policy.origin())
    };
    let (limits, from) = open(&mut bench);
    let expected = setting.replacen(", ", " · max ", 1);
    assert_eq!((limits, from.as_str()), (expected, "setting, in this session"));
    bench.keys("q");
    assert!(bench.rows()[0].starts_with(" Settings "), "{:?}", bench.rows()[0]);
    bench.keys("a");
    assert!(bench.status().contains("using opencode/output's own limits again"), "{}", bench.status());
    assert_eq!(open(&mut bench).0, "head · max 2,000 lines, 50 KB");
}

#[test]
fn every_policy_says_which_part_it_keeps() {
    let (_dir, mut bench) = stocked((120, 150), &few());
    let rows = bench.keys("p").rows();
    for (policy, keeps) in
        [("opencode/output ", "head "), ("pi/bash ", "tail "), ("codex/exec ", "head+tail ")]
    {
        let row = rows.iter().find(|row| row.contains(policy)).expect(policy);
        let rest = row.split_once(policy).unwrap().1.trim_start();
        assert!(rest.starts_with(keeps), "{row}");
    }
}

#[test]
fn the_present_limits_are_in_use_unless_others_were_applied() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.keys("la");
    assert!(bench.status().contains("opencode/output's own limits are in use"), "{}", bench.status());
}

#[test]
fn a_setting_is_copied_in_three_ways() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.keys("lg");
    for (key, start) in [("f", "--policy opencode/output --set "), ("t", ""), ("a", "{")] {
        bench.asked.clear();
        bench.keys("y").keys(key);
        let copied = bench.asked.iter().find_map(|effect| match effect {
            Effect::Copy(text) => Some(text.clone()),
            _ => None,
        });
        assert!(copied.as_ref().is_some_and(|text| text.starts_with(start)), "{key}: {copied:?}");
    }
}

#[test]
fn a_typed_pattern_judges_the_settings() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.keys("lestep 2<Enter>");
    assert!(bench.rows()[0].contains(" matches"), "{:?}", bench.rows()[0]);
    bench.keys("e(<Enter>");
    assert!(bench.status().contains("at column"), "{}", bench.status());
    bench.keys("<Esc>e<^U><Enter>");
    assert!(bench.rows()[0].contains("21 errors"), "{:?}", bench.rows()[0]);
}

#[test]
fn figures_so_far_stand_when_measuring_is_stopped() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    let effects = bench.update(key('l'));
    assert!(is_job(&effects[0], Slot::Tune), "{effects:?}");
    assert!(bench.status().contains("listing the outputs"), "{}", bench.status());
    let found = found(&mut bench, effects);
    let stopped = bench.update(interrupt());
    assert!(matches!(stopped.first(), Some(Effect::Stop(Slot::Tune))), "{stopped:?}");
    // What the worker found out until it noticed arrives later.
    bench.receive(found);
    assert!(bench.rows()[0].contains("21 errors"), "{:?}", bench.rows()[0]);
    bench.keys("R");
    assert!(bench.status().contains("a apply"), "{}", bench.status());
}

#[test]
fn late_results_of_a_reopened_tune_view_are_ignored() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    let effects = bench.update(key('l'));
    let late = found(&mut bench, effects);
    bench.keys("<Esc> l");
    assert!(bench.rows()[0].contains("1 output, "), "{:?}", bench.rows()[0]);
    bench.receive(late);
    bench.keys("estep<Enter>");
    assert!(bench.rows()[0].contains("1 output, "), "{:?}", bench.rows()[0]);
}

#[test]
fn policies_are_compared_on_outputs_and_lead_to_their_settings() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.keys("p");
    let rows = bench.rows();
    assert!(rows[0].starts_with(" Policies   2 outputs"), "{rows:#?}");
    assert!(rows[1].starts_with("  policy ") && rows[1].contains("kept  tokens"), "{rows:#?}");
    assert!(bench.status().contains("Enter its settings"), "{}", bench.status());
    while !bench.rows().iter().any(|row| row.starts_with("▌ pi/bash ")) {
        let before = bench.status();
        bench.keys("j");
        assert_ne!(before, bench.status(), "pi/bash is not listed: {:#?}", bench.rows());
    }
    bench.keys("<Enter>");
    assert!(bench.rows()[0].starts_with(" Settings   pi/bash · 2 outputs"), "{:?}", bench.rows()[0]);
    bench.keys("<Esc>");
    assert!(bench.rows().iter().any(|row| row.starts_with("▌ pi/bash ")), "{:#?}", bench.rows());
    bench.keys("<Esc>");
    assert_eq!(bench.app.context(), KeyContext::Lists);
}

#[test]
fn tune_shows_the_kept_errors_of_each_output_or_a_dash() {
    let (_dir, mut bench) = stocked((80, 24), &[output(2600, 2540..2580), output(2300, 0..0)]);
    let rows = bench.keys("lg<Enter>").rows();
    assert!(rows.iter().any(|row| row.contains(" 0 of 40 → ")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("  –  ") && row.contains(" step 0 of the b")), "{rows:#?}");
}

#[test]
fn a_title_without_figures_yet_has_no_gap() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    let effects = bench.update(key('l'));
    let began = found(&mut bench, effects).into_iter().next().unwrap();
    bench.receive(vec![began]);
    let title = bench.rows()[0].clone();
    assert!(title.starts_with(" Settings   opencode/output · all stored outputs"), "{title}");
}

#[test]
fn tune_says_if_a_session_or_agent_saved_no_outputs() {
    let mut bench = Bench::new((80, 24));
    let (of_session, of_agent) =
        (TuneOutputs::Entries(Vec::new()), TuneOutputs::Stored(Some("aider".into())));
    for (none, policies) in [
        (of_session.clone(), TunePolicies::Current),
        (of_session, TunePolicies::Around(Box::default())),
        (of_agent, TunePolicies::Current),
    ] {
        let none = Arc::new(move |_: &JobContext| Ok(none.clone()));
        let start = TuneStart::new(none, "run it", policies);
        let effects = bench.act(|app, effects| app.go_to(Link::Tune(start), effects));
        bench.carry_out(effects);
        let text = bench.rows().join("\n");
        assert!(text.contains("No output was saved here: run it."), "{text}");
    }
}

/// Esc in the settings leads back to policies that are still being measured.
#[test]
fn measuring_policies_continues_while_settings_are_shown() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    let effects = bench.update(key('p'));
    let mut found = found(&mut bench, effects);
    let end = found.pop().unwrap();
    bench.receive(found);
    assert!(bench.status().contains(" 2 of 2"), "{}", bench.status());
    bench.keys("<Enter>");
    assert!(bench.rows()[0].starts_with(" Settings   "), "{:?}", bench.rows()[0]);
    bench.receive(vec![end]);
    bench.keys("<Esc>");
    assert!(bench.rows()[0].starts_with(" Policies "), "{:?}", bench.rows()[0]);
    assert!(bench.status().contains(" 1 of "), "{}", bench.status());
}

/// Returns what the worker finds out that is asked for.
fn found(bench: &mut Bench, effects: Vec<Effect>) -> Vec<Event> {
    let job = effects.into_iter().find_map(|effect| match effect {
        Effect::Run(job) if [Slot::Tune, Slot::TunePolicies].contains(&job.slot()) => Some(job),
        _ => None,
    });
    bench.events(job.expect("something is to be measured"))
}

fn key(c: char) -> Event {
    Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))
}

fn interrupt() -> Event {
    Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL))
}

#[test]
fn every_size_is_drawn() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    for keys in ["l", "<Enter>", "<Esc>p", "<Enter>"] {
        bench.keys(keys);
        for (width, height) in [(0, 0), (1, 1), (20, 3), (20, 5), (20, 15), (33, 16), (79, 18), (300, 90)] {
            bench.resize((width, height)).draw();
            bench.keys("jG").draw();
        }
        bench.resize((80, 24));
    }
}

#[test]
fn an_output_opens_under_the_setting_that_cuts_it_differently() {
    let (_dir, mut bench) = stocked((80, 24), &few());
    bench.keys("lg<Enter><Enter>");
    let path = bench.opened().unwrap().clone();
    let effects = bench.open_requested(&path, policy("opencode/output"));
    bench.carry_out(effects);
    assert_ne!(bench.pager().output.limits(), "head · max 2,000 lines, 50 KB");
    bench.keys("<Esc>");
    assert!(bench.rows()[0].contains("Settings › Outputs"), "{:?}", bench.rows()[0]);
    bench.keys("S<Esc><Esc>");
    assert_eq!(bench.app.context(), KeyContext::Lists, "what was measured is gone by then");
}
