//! The policy picker: what each policy does to the output on the screen, and trying policies on.

use overspill::internals::config::EffectivePolicy;
use overspill::internals::tui::app::{Effect, Event, OutputEvent};
use overspill::internals::tui::job::Slot;
use overspill::internals::tui::pager::Pager;
use overspill::internals::tui::popup::help::HelpView;
use overspill::preview::ParamKind;

use crate::common::bench::{Bench, is_job, policy};
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::screens::SIZES;

fn open(size: (u16, u16)) -> Bench {
    let home = Home::new();
    // The map outlives the file's name, so the home directory may be removed.
    Bench::open(size, &home.file("build.log", test_log(8432)), policy("opencode/output"))
}

fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), bench.screen());
    });
}

/// Returns the row of a policy in the table.
fn row(bench: &Bench, policy: &str) -> Vec<String> {
    let rows = bench.rows();
    let is_it =
        |row: &&String| row.starts_with('│') && row.replace('@', " ").contains(&format!(" {policy} "));
    let row = rows.iter().find(is_it).expect("the policy is listed");
    row.split_whitespace()
        .filter(|word| !["│", "│▌", "▌"].contains(word))
        .map(|word| word.trim_start_matches("│▌@").to_owned())
        .collect()
}

#[test]
fn the_picker_shows_what_each_policy_keeps() {
    for size in SIZES.into_iter().chain([(60, 15)]) {
        keep("policies_after_a_search", open(size).keys("/error<Enter>lp"));
    }
    let mut bench = open(SIZES[0]);
    assert_eq!(row(bench.keys("lp"), "opencode/output")[2], "2,000", "its lines");
    assert_eq!(row(open((40, 15)).keys("lp"), "opencode/output")[1], "2,000", "the names go last");
}

#[test]
fn the_drawer_shows_figures_whole_or_not_at_all() {
    for (width, words) in [(40, None), (50, Some("lines  1,500 ")), (60, Some("lines  2,000 → 1,500 "))] {
        let rows = open((width, 24)).keys("l-").rows();
        let row = rows.iter().find(|row| row.contains(" opencod")).expect("the row of the policy");
        let figures = row.trim_end_matches('│').split_once("output ").expect("the policy").1.trim_start();
        assert_eq!(Some(figures.trim_end()).filter(|f| !f.is_empty()), words.map(str::trim_end), "{row}");
        assert!(rows.iter().any(|row| row.contains("(a)") || row.contains(" is kept")), "{rows:#?}");
    }
}

#[test]
fn the_picker_counts_lines_as_the_drawer_does() {
    let home = Home::new();
    let mut bench = Bench::open(SIZES[0], &home.file("f", "line\n".repeat(300)), policy("opencode/output"));
    let drawer = bench.keys("l").rows();
    let kept = drawer.iter().find(|row| row.contains("kept lines")).expect("a figure").clone();
    let listed = row(bench.keys("p"), "opencode/output");
    assert!(kept.contains(" 300 ") && listed.contains(&"300".to_owned()), "{kept}: {listed:?}");
}

#[test]
fn picker_rows_show_an_ellipsis_until_measured() {
    let mut bench = open(SIZES[0]);
    bench.keys("l");
    let effects = bench.update(overspill::internals::tui::app::Event::Key(crossterm::event::KeyEvent::new(
        crossterm::event::KeyCode::Char('p'),
        crossterm::event::KeyModifiers::NONE,
    )));
    let choices = vec![EffectivePolicy::chosen(policy("opencode/output"), true)];
    assert!(effects.len() == 1 && is_job(&effects[0], Slot::Other), "{effects:?}");
    let effects = bench.update(OutputEvent::Policies(choices));
    assert!(effects.len() == 1 && is_job(&effects[0], Slot::Compare), "{effects:?}");
    assert_eq!(row(&bench, "opencode/output")[1..3], ["…", "…"]);
    bench.carry_out(effects);
    assert_eq!(row(&bench, "opencode/output")[2], "2,000");
}

#[test]
fn the_preview_follows_the_cursor_and_esc_returns_without_change() {
    for size in SIZES {
        let mut bench = open(size);
        let before = bench.keys("jjjl").screen();
        assert!(bench.keys("p").rows()[0].contains("reconstructed"));
        assert!(bench.keys("<Down>").rows()[0].contains("would get · read view"), "{}", bench.rows()[0]);
        assert_eq!(bench.keys("<Up><Up><Down><Esc>").screen(), before);
    }
}

#[test]
fn enter_takes_the_policy_under_the_cursor() {
    let mut bench = open(SIZES[0]);
    bench.keys("lp/metadata<Enter><Enter>");
    assert!(bench.pager().drawer.picker.is_none() && bench.pager().drawer.is_open());
    assert!(bench.pager().output.policy().name().starts_with("opencode/metadata"));
}

#[test]
fn limits_changed_by_hand_stay_when_the_picker_is_left() {
    let mut bench = open((120, 24));
    bench.keys("l1900<Enter>p");
    assert_eq!(row(&bench, "opencode/output")[2], "1,900");
    assert!(bench.screen().contains("· limits from: changes made here"), "{}", bench.screen());
    bench.keys("<Down><Up><Enter>");
    assert_eq!(bench.pager().output.policy().max_lines(), Some(1900));
    assert!(bench.pager().drawer.picker.is_none());
}

#[test]
fn the_drawer_takes_typed_digits_only_for_numbers() {
    let mut bench = open(SIZES[0]);
    let typed = |bench: &Bench| bench.pager().drawer.typed.clone();
    assert_eq!(typed(bench.keys("l5<^d>")).as_deref(), Some("5"));
    assert_eq!(typed(bench.keys("<^c>")), None);
    assert!(bench.pager().drawer.is_open(), "only typing ends");
    for _ in 0..10 {
        let params = bench.pager().output.policy().params();
        let at = bench.pager().drawer.row.checked_sub(1);
        let is_word =
            at.is_none_or(|at| matches!(params[at].kind, ParamKind::Boolean | ParamKind::Choice(_)));
        assert_eq!(typed(bench.keys("7")).is_none(), is_word, "{}", bench.pager().drawer.row);
        bench.keys(if is_word { "<Down>" } else { "<Esc><Down>" });
    }
    assert!(!bench.keys("<Esc>m<^c>").status().contains("is set"), "{}", bench.status());
    assert!(bench.keys("'c").status().contains("no line has mark c"), "{}", bench.status());
}

#[test]
fn esc_discards_and_enter_keeps_changed_limits() {
    let mut bench = open(SIZES[0]);
    let lines = |bench: &Bench| bench.pager().output.policy().max_lines();
    assert!(bench.keys("+").status().contains("l changes limits"), "{}", bench.status());
    assert_eq!(lines(bench.keys("l+")), Some(3000), "it opens on the limit that cuts");
    assert_eq!(lines(bench.keys("<Tab>Ge")), Some(3000), "other keys act on the output");
    assert_eq!(lines(bench.keys("<Esc>")), Some(2000));
    assert!(bench.keys("l+<Enter>").rows()[0].contains("would get"), "{}", bench.rows()[0]);
    assert_eq!((lines(&bench), bench.pager().drawer.is_open()), (Some(3000), false));
    assert_eq!(lines(bench.keys("lR<Enter>")), Some(2000));
    assert!(bench.rows()[0].contains("reconstructed"), "{}", bench.rows()[0]);
}

#[test]
fn the_advice_follows_the_current_line() {
    let mut bench = open(SIZES[0]);
    let shows = |bench: &Bench, words: &str| bench.rows().iter().any(|row| row.contains(words));
    assert!(shows(bench.keys("<Tab>l"), "line 1 is kept"));
    assert!(shows(bench.keys(":5000<Enter>"), "line 5,000 is lost. Kept with:"), "{:#?}", bench.rows());
    assert!(shows(bench.keys("a"), "line 5,000 is kept"), "{:#?}", bench.rows());
    assert!(bench.keys("a").status().contains("gets this line already"), "{}", bench.status());
    let mut narrow = open((40, 15));
    assert!(shows(narrow.keys("<Tab>l:5000<Enter>"), "(a)"), "the key that takes it: {:#?}", narrow.rows());
    bench.keys("<Esc>O<Tab>:8000<Enter>");
    assert!(shows(bench.keys("l"), "No change of these limits keeps it."), "{:#?}", bench.rows());
}

#[test]
fn does_not_search_for_limits_over_64_mb() {
    let home = Home::new();
    let mut bench = Bench::open((80, 24), &home.sparse("huge", 65 << 20), policy("opencode/output"));
    bench.keys("<Tab>Gl");
    assert!(bench.rows().concat().contains("Limits that keep it are not looked for over 64 MB."));
    assert!(bench.keys("a").status().contains("not looked for over 64 MB"), "{}", bench.status());
}

#[test]
fn the_drawer_documents_and_resets() {
    let mut bench = open((60, 15));
    keep("limits", bench.keys("l"));
    let lines = |bench: &Bench| bench.pager().output.policy().max_lines();
    bench.keys("<Right>+");
    assert_eq!(lines(&bench), Some(4000));
    assert_eq!(lines(bench.keys("R")), Some(2000));
    assert_eq!(lines(bench.keys("<Right><Enter>")), Some(3000));
}

#[test]
fn copies_limits_as_flags_policy_file_or_agent_configuration() {
    let mut bench = open(SIZES[0]);
    bench.keys("l<Right>y");
    let screen = bench.screen();
    assert!(
        screen.contains("f  flags                  --policy opencode/output --set max_lines=3000"),
        "{screen}"
    );
    assert!(screen.contains("p  path ") && screen.contains("l  line "), "{screen}");
    bench.keys("fytya");
    let copied: Vec<&String> = bench
        .asked
        .iter()
        .filter_map(|effect| match effect {
            Effect::Copy(text) => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(copied[0], "--policy opencode/output --set max_lines=3000");
    assert!(copied[1].contains("default = 3000") && copied[1].starts_with("agent = "));
    assert!(copied[2].contains("tool_output") && copied[2].contains("\"max_lines\": 3000"), "{}", copied[2]);
}

#[test]
fn help_opens_over_picker_and_drawer_and_returns_to_them() {
    for size in SIZES {
        let mut bench = open(size);
        for (open, first) in [("lp<Down>", "Lists"), ("<Esc><Esc>l<Right>", "Limits")] {
            let before = bench.keys(open).keys("<F1><F1>").screen();
            bench.keys("<F1>");
            assert!(bench.layer::<HelpView>().is_some(), "{open}");
            let rows = bench.rows();
            let heading = rows.iter().skip_while(|row| !row.contains("┌ Keys")).nth(1);
            assert!(heading.is_some_and(|row| row.contains(first)), "{open}: {heading:?}");
            assert_eq!(bench.keys("jj<F1>").screen(), before, "{open}");
        }
    }
}

#[test]
fn a_question_asked_over_the_picker_leads_back_to_it() {
    let mut bench = open(SIZES[0]);
    bench.app.screen_mut::<Pager>().expect("an output").running = true;
    let before = bench.keys("lp<Down><F1>").screen();
    assert!(bench.keys("Q").rows().iter().any(|row| row.contains("Stop the command?")));
    assert_eq!(bench.keys("<Esc>").screen(), before);
    assert!(bench.keys("<F1>").pager().drawer.picker.is_some());
}

#[test]
fn pastes_into_picker_and_drawer_are_ignored() {
    let mut bench = open(SIZES[0]);
    for open in ["lp", "<Esc>", "7"] {
        let before = bench.keys(open).screen();
        let effects = bench.update(Event::Paste("5\u{1b}qy metadata".into()));
        assert!(effects.is_empty());
        assert_eq!(bench.screen(), before, "{open}");
    }
}

#[test]
fn policies_sort_like_every_list() {
    let mut bench = open(SIZES[0]);
    let names = |bench: &Bench| {
        let rows = bench.rows();
        let names =
            rows.iter().filter_map(|row| row.split_whitespace().find(|word| word.starts_with("opencode/")));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let forth = names(bench.keys("lpst"));
    assert!(bench.rows().iter().any(|row| row.contains("sort: tokens, fewest first")), "{:#?}", bench.rows());
    let mut back = names(bench.keys("st"));
    back.reverse();
    assert_eq!(forth, back);
    assert!(forth.len() > 1);
}

/// The error is below the rows that are left once the picker is open.
#[test]
fn picking_a_policy_keeps_the_current_line() {
    for size in SIZES {
        let mut bench = open(size);
        let row = |bench: &Bench| bench.rows().iter().position(|row| row.contains("8421 ┊"));
        let before = row(bench.keys("el"));
        assert!(bench.status().contains("line 8,421 "), "{}", bench.status());
        assert!(bench.keys("p").status().contains("line 8,421 "), "{}", bench.status());
        assert!(bench.keys("<Down>").status().contains("line 8,421 is "), "{}", bench.status());
        assert_eq!(row(bench.keys("<Up><Esc>")), before, "it is where it was");
    }
}

#[test]
fn undoing_a_limit_change_restores_the_picked_policys_limits() {
    let mut bench = open((120, 40));
    let from = |bench: &mut Bench| {
        let facts = bench.keys("=").rows();
        bench.keys("<Esc>");
        facts.into_iter().find(|row| row.contains("limits  ")).expect("a fact")
    };
    bench.keys("lp/metadata<Enter><Enter><Down>+");
    assert!(from(&mut bench).contains("(from changes made here)"));
    bench.keys("-");
    assert!(from(&mut bench).contains("(from policy)"), "{}", from(&mut bench));
}

#[test]
fn the_drawer_hides_keys_that_the_policy_cannot_use() {
    let home = Home::new();
    let foot = |name: &str| {
        let path = home.file("build.log", test_log(8432));
        Bench::open((120, 40), &path, policy(name)).keys("l").rows().pop().expect("a row")
    };
    assert!(foot("opencode/output").contains("D direction"));
    assert!(!foot("claude-code/bash").contains("D direction"), "{}", foot("claude-code/bash"));
}

#[test]
fn the_picker_drops_its_sort_column_last() {
    let mut bench = open((40, 15));
    let heading = |bench: &Bench| bench.rows().into_iter().find(|row| row.contains("policy ")).expect("one");
    assert!(!heading(bench.keys("/error<Enter>lp")).contains("matches"), "{}", heading(&bench));
    assert!(heading(bench.keys("sm")).contains("matches"), "{}", heading(&bench));
}

#[test]
fn small_screens_still_show_the_selected_row() {
    for size in [(40, 8), (40, 10), (60, 11)] {
        let rows = open(size).keys("l").rows();
        assert!(rows.iter().any(|row| row.contains("▌ max lines ")), "{rows:#?}");
        let rows = open(size).keys("lp").rows();
        assert!(rows.iter().any(|row| row.starts_with("│▌@opencode/output")), "{rows:#?}");
    }
}
