//! Leaving the screens: what `q` closes and goes back to, and what is asked before anything is lost.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::any::{Any, TypeId};

use overspill::internals::source::Source;
use overspill::internals::tui::app::{Effect, Event, OutputEvent};
use overspill::internals::tui::keys::KeyContext;
use overspill::internals::tui::list::screen::ListScreen;
use overspill::internals::tui::outputs::Outputs;
use overspill::internals::tui::pager::Pager;
use overspill::internals::tui::sessions::Sessions;
use overspill::internals::tui::target::PagerInput;

use crate::common::bench::{Bench, policy, subject};
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::screens::SIZES;
use crate::screens::finding::plain;
use crate::screens::stores::Stocked;

/// Shows an output of more lines than the policy keeps; returns the home of its file too.
fn pager(size: (u16, u16)) -> (Home, Bench) {
    let home = Home::new();
    let path = home.file("build.log", test_log(3000));
    (home, Bench::open(size, &path, policy("opencode/output")))
}

/// Returns what leaving does, if the screens have been left: whether the command is stopped, and how many entries are
/// deleted.
fn left(bench: &Bench) -> Option<(bool, usize)> {
    let stops = bench.asked.iter().any(|effect| matches!(effect, Effect::StopCommand));
    let deleted = bench.asked.iter().find_map(|effect| match effect {
        Effect::Quit(to_delete) => Some(to_delete.len()),
        _ => None,
    });
    deleted.map(|deleted| (stops, deleted))
}

fn control_c(bench: &mut Bench) {
    let effects = bench.update(Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    bench.carry_out(effects);
}

/// Shows an output.
fn open(bench: &mut Bench, source: &Source, is_named: bool, running: bool) {
    let (subject, view) = (subject(policy("opencode/output")), source.view());
    let opened =
        PagerInput { streaming: running, running, files: 1, is_named, ..PagerInput::new(subject, view) };
    let effects = bench.show_opened(opened);
    bench.carry_out(effects);
}

/// Opens the chosen entry of the list, as the program does.
fn open_chosen(bench: &mut Bench) {
    bench.keys("<Enter>");
    let path = bench.opened().expect("an entry is opened").clone();
    let source = Source::open(&path).unwrap();
    open(bench, &source, false, false);
    assert_eq!(bench.app.context(), KeyContext::Pager);
}

#[test]
fn q_closes_overlays_and_then_leaves() {
    let (_home, mut bench) = pager(SIZES[0]);
    let before = bench.rows();
    for opened in ["h", "=", "l", "l<Right><Right>", "O"] {
        bench.keys(opened);
        assert_ne!(bench.rows(), before, "{opened} shows something");
        bench.keys("q");
        assert_eq!(left(&bench), None, "{opened}");
        assert_eq!(bench.pager().output.policy().name(), "opencode/output", "{opened}");
        assert!(!bench.pager().drawer.is_open() && bench.app.layers().next().is_none(), "{opened}");
    }
    assert!(bench.pager().output.limits_are_first(), "the drawer's changes are discarded");
    bench.keys("q");
    assert_eq!(left(&bench), Some((false, 0)));
}

#[test]
fn q_is_text_while_a_line_is_typed() {
    let (_home, mut bench) = pager(SIZES[0]);
    for typing in ["/q", ":q", "lp/q", "mq"] {
        bench.keys(typing).keys("<Esc>");
        assert_eq!(left(&bench), None, "{typing}");
    }
}

#[test]
fn an_output_opened_from_stores_returns_to_its_row() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let bench = &mut stocked.bench;
    bench.keys("jj");
    let chosen = |bench: &Bench| bench.stores().list.chosen().map(|row| row.entry.id().into_owned());
    let before = chosen(bench);
    open_chosen(bench);
    bench.keys("G<Tab>q");
    assert_eq!((bench.app.context(), chosen(bench)), (KeyContext::Lists, before));
    bench.keys("q");
    assert_eq!(left(bench), Some((false, 0)));
}

#[test]
fn leaving_the_lists_returns_to_the_named_file() {
    let (_home, mut bench) = pager(SIZES[0]);
    bench.keys("Sq");
    assert_eq!((bench.app.context(), left(&bench)), (KeyContext::Pager, None));
    bench.keys("SQ");
    assert_eq!(left(&bench), Some((false, 0)));
}

#[test]
fn leaving_asks_once_whether_to_delete() {
    for (keys, deleted) in
        [("qy", Some(3)), ("qn", Some(0)), ("Qy", Some(3)), (":q<Enter>n", Some(0)), ("q<Esc>", None)]
    {
        let mut stocked = Stocked::with_entries(SIZES[0]).shown();
        let bench = &mut stocked.bench;
        bench.keys("xxx").keys(keys);
        assert_eq!(left(bench), deleted.map(|deleted| (false, deleted)), "{keys}");
        assert!(bench.app.layers().next().is_none(), "{keys}");
    }
    let mut stocked = Stocked::with_entries((40, 10)).shown();
    let rows = stocked.bench.keys("xxxq").rows();
    assert!(rows[8].starts_with(" Delete 3 outputs (") && rows[8].trim_end().ends_with(")?"), "{rows:#?}");
    assert_eq!(rows[9].trim_end(), " y delete · n keep · Esc stay");
    // What does not answer does nothing, and the question stays.
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let bench = &mut stocked.bench;
    bench.keys("xxxq<Enter>qQjx5 ");
    let asked = |bench: &Bench| bench.status().contains("?  y delete · n keep · Esc stay");
    assert!(left(bench).is_none() && asked(bench), "{}", bench.status());
    bench.keys("<Esc>");
    assert!(!asked(bench) && bench.app.pending().is_some_and(|pending| pending.len() == 3));
}

#[test]
fn ctrl_c_closes_overlays_then_quits_and_deletes_nothing() {
    for before in ["", "q", "h", "X", "j/word", "s"] {
        let mut stocked = Stocked::with_entries(SIZES[0]).shown();
        let bench = &mut stocked.bench;
        bench.keys("x").keys(before);
        if !before.is_empty() {
            assert!(bench.app.layers().next().is_some(), "{before}");
            control_c(bench);
            assert!(left(bench).is_none() && bench.app.layers().next().is_none(), "{before}");
        }
        control_c(bench);
        assert_eq!(left(bench), Some((false, 0)), "{before}");
    }
    let (_home, mut bench) = pager(SIZES[0]);
    bench.keys("l<Right>");
    control_c(&mut bench);
    assert!(
        left(&bench).is_none() && !bench.pager().drawer.is_open() && bench.pager().output.limits_are_first()
    );
    control_c(&mut bench);
    assert_eq!(left(&bench), Some((false, 0)));
}

#[test]
fn ctrl_c_and_esc_stop_following_before_ctrl_c_quits() {
    let (_home, mut bench) = pager(SIZES[0]);
    assert!(!bench.keys("F<Esc>").rows()[0].contains("FOLLOW"), "{:?}", bench.rows());
    assert!(bench.keys("F").rows()[0].contains("FOLLOW"), "{:?}", bench.rows());
    control_c(&mut bench);
    assert!(left(&bench).is_none() && !bench.rows()[0].contains("FOLLOW"), "{:?}", bench.rows());
    control_c(&mut bench);
    assert_eq!(left(&bench), Some((false, 0)));
}

#[test]
fn the_drawer_leaves_following_on() {
    let (_home, mut bench) = pager(SIZES[0]);
    for keys in ["F", "l", "<Esc>", "l<Enter>"] {
        assert!(bench.keys(keys).rows()[0].contains("FOLLOW"), "{keys}: {:?}", bench.rows());
    }
}

#[test]
fn a_question_is_not_answered_by_a_paste() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let bench = &mut stocked.bench;
    bench.keys("xq");
    let effects = bench.update(Event::Paste("y".into()));
    bench.carry_out(effects);
    assert_eq!(left(bench), None);
}

#[test]
fn every_view_shows_how_many_outputs_are_marked() {
    for size in SIZES {
        let mut stocked = Stocked::with_entries(size).shown();
        let bench = &mut stocked.bench;
        let said = |bench: &Bench| bench.rows().iter().any(|row| row.contains(" 2 outputs to delete ("));
        bench.keys("xx");
        assert!(said(bench), "Stores");
        open_chosen(bench);
        assert!(said(bench), "what the model got");
        bench.keys("<Tab>");
        assert!(said(bench), "the whole output");
        bench.keys("q");
        assert!(said(bench) && left(bench).is_none(), "Stores again");
        keep("asks_to_delete", bench.keys("jq"));
        bench.keys("<Esc>UU");
        assert!(!bench.rows().iter().any(|row| row.contains("to delete")));
    }
}

/// Shows an output whose command still runs.
fn running() -> (Home, Bench) {
    let home = Home::new();
    let path = home.file("build.log", test_log(30));
    let mut bench = Bench::new(SIZES[0]);
    let source = Source::open(&path).unwrap();
    open(&mut bench, &source, true, true);
    (home, bench)
}

#[test]
fn leaving_a_running_command_asks_whether_to_stop_it() {
    for (keys, expected) in
        [("qy", Some((true, 0))), ("qn", Some((false, 0))), ("Qy", Some((true, 0))), ("q<Esc>", None)]
    {
        let (_home, mut bench) = running();
        bench.keys(&keys[..1]);
        assert!(bench.status().contains("Stop the command?  y stop"), "{}", bench.status());
        bench.keys(&keys[1..]);
        assert_eq!(left(&bench), expected, "{keys}");
    }
}

#[test]
fn answers_go_to_the_next_row_if_they_do_not_fit() {
    let (_home, mut bench) = running();
    bench.resize((40, 10));
    let rows = bench.keys("q").rows();
    assert_eq!(
        [8, 9].map(|row| rows[row].trim_end()),
        [" Stop the command?", " y stop · n let it end · Esc stay"]
    );
}

#[test]
fn a_command_that_has_ended_is_not_asked_about() {
    let (_home, mut bench) = running();
    bench.keys("q");
    bench.act(|app, effects| app.live_event(OutputEvent::Ended(Box::new(plain())), effects));
    bench.keys("y");
    assert_eq!(left(&bench), None, "the question is gone");
    bench.keys("<Esc>q");
    assert_eq!(left(&bench), Some((false, 0)));
}

fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("stores_{name}_{width}x{height}"), bench.screen());
    });
}

/// Presses a key, and opens the output that it asks for, as the program does. The drawer is closed again: it is no place.
fn press(bench: &mut Bench, key: &str) {
    bench.asked.clear();
    bench.keys(key);
    if bench.app.output().is_some_and(|pager| pager.drawer.is_open()) {
        bench.keys("<Esc>");
    }
    if let Some(path) = bench.opened().cloned() {
        open(bench, &Source::open(&path).unwrap(), false, false);
    }
}

fn screens(bench: &Bench) -> Vec<TypeId> {
    bench.app.places().map(|screen| (screen as &dyn Any).type_id()).collect()
}

/// Returns what is shown: the screens on the stack, and the title and text of the uppermost output. Outputs and sessions are
/// one, because Tab changes between them.
fn place(bench: &Bench) -> (Vec<TypeId>, Option<String>) {
    let shows_output = bench.app.context() == KeyContext::Pager;
    let rows = bench.rows();
    let [outputs, sessions] = [TypeId::of::<ListScreen<Outputs>>(), TypeId::of::<ListScreen<Sessions>>()];
    let kind = |screen: TypeId| if screen == sessions { outputs } else { screen };
    (screens(bench).into_iter().map(kind).collect(), shows_output.then(|| rows[..rows.len() - 2].join("\n")))
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

    #[test]
    fn going_back_retraces_every_step_and_no_list_is_stacked_twice(
        is_named in proptest::bool::ANY,
        walk in proptest::collection::vec(
            proptest::sample::select(vec!["S", "T", "<Enter>", "j", "d", "l", "<Tab>", "G", "/word<Enter>"]), 0..25),
    ) {
        let mut stocked = Stocked::with_entries(SIZES[0]);
        let bench = &mut stocked.bench;
        let (_home, path) = {
            let home = Home::new();
            let path = home.file("build.log", test_log(3000));
            (home, path)
        };
        let source = Source::open(&path).unwrap();
        match is_named {
            true => open(bench, &source, true, false),
            false => {
                let effects = bench.start_with_stores();
                bench.carry_out(effects);
            }
        }
        let mut places = Vec::new();
        for key in walk {
            let before = place(bench);
            press(bench, key);
            let after = screens(bench);
            let mut lists: Vec<_> = after.iter().filter(|screen| **screen != TypeId::of::<Pager>()).collect();
            lists.sort_unstable();
            let count = lists.len();
            lists.dedup();
            assert_eq!(lists.len(), count, "{after:?}");
            places.truncate(after.len() - 1);
            if after.len() > before.0.len() {
                places.push(before);
            }
        }
        bench.asked.clear();
        while let Some(before) = places.pop() {
            bench.keys("q");
            assert_eq!(place(bench), before);
        }
        assert_eq!(left(bench), None);
        bench.keys("q");
        assert_eq!(left(bench), Some((false, 0)));
    }
}
