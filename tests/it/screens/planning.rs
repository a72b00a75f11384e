//! Previews of large outputs are made by a worker: keys work meanwhile, Esc cancels, late results are dropped.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use overspill::internals::output::plan::AT_ONCE;
use overspill::internals::tui::app::{Effect, Event, OutputEvent};
use overspill::internals::tui::job::{Job, Slot};
use overspill::internals::tui::widget::layout::Side;
use overspill::preview::Catalog;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

/// Presses a key; returns the requested effects without carrying them out.
fn press(bench: &mut Bench, code: KeyCode) -> Vec<Effect> {
    bench.update(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

/// Returns the requested preview without making it.
fn asked_for(effects: Vec<Effect>) -> Job {
    let plan = effects.into_iter().find_map(|effect| match effect {
        Effect::Run(job) if job.slot() == Slot::Plan => Some(job),
        _ => None,
    });
    plan.expect("a preview is asked for")
}

fn answer(bench: &mut Bench, job: Job) {
    let events = bench.events(job);
    bench.receive(events);
}

/// Opens an output that is too large to be planned on the screen's thread, with all of it counted.
fn large(home: &Home) -> Bench {
    let path = home.file("build.log", b"0123456789abcdefghijklmnopqrstu\n".repeat(AT_ONCE / 32 + 1));
    Bench::open((80, 24), &path, policy("opencode/output"))
}

fn status(bench: &Bench) -> String {
    bench.status()
}

fn kept_lines(bench: &Bench) -> Option<u64> {
    bench.pager().output.made.preview.as_ref().ok()?.kept.lines
}

#[test]
fn an_outdated_planning_result_is_dropped() {
    let home = Home::new();
    let mut bench = large(&home);
    bench.keys("l");
    let first = kept_lines(&bench);
    let [oldest, older, newer] = [(); 3].map(|()| {
        let job = asked_for(press(&mut bench, KeyCode::Char('-')));
        bench.events(job)
    });
    bench.receive(oldest);
    assert_eq!(kept_lines(&bench), first);
    assert!(status(&bench).contains("planning"), "{}", status(&bench));
    bench.receive(newer);
    let last = kept_lines(&bench);
    assert_ne!(last, first);
    bench.receive(older);
    assert_eq!(kept_lines(&bench), last);
    assert!(!status(&bench).contains("planning"), "{}", status(&bench));
}

#[test]
fn esc_cancels_planning_and_restores_the_limits() {
    let home = Home::new();
    let mut bench = large(&home);
    bench.keys("l");
    let (kept, limits) = (kept_lines(&bench), bench.pager().output.limits());
    let task = asked_for(press(&mut bench, KeyCode::Char('-')));
    assert_ne!(bench.pager().output.limits(), limits);
    let late = bench.events(task);
    let effects = press(&mut bench, KeyCode::Esc);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Stop(Slot::Plan))), "{effects:?}");
    assert_eq!(bench.pager().output.limits(), limits);
    assert!(status(&bench).contains("gave up planning opencode/output"), "{}", status(&bench));
    bench.receive(late);
    assert_eq!(kept_lines(&bench), kept);
}

#[test]
fn keys_work_while_a_preview_is_made_and_the_old_one_is_still_shown() {
    let home = Home::new();
    let mut bench = large(&home);
    bench.keys("l");
    let task = asked_for(press(&mut bench, KeyCode::Char('-')));
    assert!(bench.rows()[1].contains("0123456789"), "{:?}", bench.rows());
    bench.keys("<Tab>G");
    assert_eq!(bench.pager().focus(), Side::Spill);
    assert!(bench.pager().panes.top(Side::Spill) > AT_ONCE as u64 / 2);
    bench.resize((120, 40)).draw();
    answer(&mut bench, task);
    assert_eq!(bench.pager().focus(), Side::Spill);
}

#[test]
fn cancelling_the_first_preview_leaves_the_whole_output_readable() {
    let home = Home::new();
    let path = home.sparse("huge", 1 << 40);
    let mut bench = Bench::new((80, 24));
    let source = overspill::internals::source::Source::open(&path).unwrap();
    asked_for(bench.show(crate::common::bench::subject(policy("opencode/read")), &source));
    assert!(bench.rows().concat().contains("The preview is being planned"), "{:?}", bench.rows());
    press(&mut bench, KeyCode::Esc);
    assert!(bench.pager().output.task().run(&|| false).is_none());
    assert!(bench.rows().concat().contains("No preview was made"), "{:?}", bench.rows());
    bench.keys("<Tab>GgG").draw();
    assert!(bench.rows().concat().contains("^@^@"), "{:?}", bench.rows());
}

#[test]
fn a_truncated_file_hides_the_old_preview_during_planning() {
    let home = Home::new();
    let path = home.file("build.log", vec![b'x'; 4 * AT_ONCE]);
    let mut bench = Bench::open((80, 24), &path, policy("pi/read"));
    bench.keys("l");
    let task = asked_for(press(&mut bench, KeyCode::Char('+')));
    let late = bench.events(task);
    std::fs::File::options().write(true).open(&path).unwrap().set_len(2 * AT_ONCE as u64).unwrap();
    let source = bench.source.as_mut().unwrap();
    let content = source.refresh();
    let changed = overspill::internals::tui::app::ContentChange {
        view: source.view(),
        content,
        path: source.path_status(),
        streaming: false,
    };
    let newer = asked_for(bench.update(OutputEvent::Changed(changed)));
    bench.receive(late);
    assert!(bench.rows().concat().contains("The preview is being planned"), "{:?}", bench.rows());
    answer(&mut bench, newer);
    assert!(!bench.rows().concat().contains("planned"), "{:?}", bench.rows());
}

#[test]
fn growth_does_not_restart_planning_in_progress() {
    let home = Home::new();
    let mut bench = large(&home);
    bench.keys("l");
    let task = asked_for(press(&mut bench, KeyCode::Char('-')));
    let path = home.at("build.log");
    std::io::Write::write_all(&mut std::fs::File::options().append(true).open(path).unwrap(), b"more\n")
        .unwrap();
    bench.look();
    assert!(bench.pager().output.is_awaited());
    answer(&mut bench, task);
    // It was made again at once, from everything there is.
    assert!(!bench.pager().output.is_awaited());
    let preview = bench.pager().output.made.preview.as_ref().unwrap();
    assert_eq!(preview.total.lines, Some(AT_ONCE as u64 / 32 + 2 + 1));
}

#[test]
fn no_event_plans_on_the_screens_thread() {
    let home = Home::new();
    let small = home.file("small", b"a line\n".repeat(AT_ONCE / 7));
    // Reading all of this would take forever.
    let huge = home.sparse("huge", 1 << 40);
    for name in Catalog::builtin().names() {
        for path in [&small, &huge] {
            let mut bench = Bench::new((80, 24));
            let source = overspill::internals::source::Source::open(path).unwrap();
            bench.show(crate::common::bench::subject(policy(name)), &source);
            for key in "l-+".chars() {
                press(&mut bench, KeyCode::Char(key));
            }
            press(&mut bench, KeyCode::Esc);
            press(&mut bench, KeyCode::Char('G'));
            assert_eq!(bench.pager().output.touched, 0, "{name}");
            assert!(!bench.pager().output.has_preview(), "{name}");
        }
    }
}

/// The first match of all is next where the lines shown have no lost one; the notice before it has become longer since.
#[test]
fn a_search_under_way_keeps_its_match_in_a_new_preview() {
    let home = Home::new();
    let word = |n: u64| if [5, 11_000].contains(&n) { "error" } else { "fine" };
    let text: String = (1..=12_000).map(|n| format!("{} {n}\n", word(n))).collect();
    let mut bench = Bench::open((80, 24), &home.file("build.log", text), policy("claude-code/bash"));
    bench.keys("&fine<Enter><Tab>/error<Enter>");
    assert!(status(&bench).contains("/error 1 of 2"), "{}", status(&bench));
    let mut effects = press(&mut bench, KeyCode::Char('n'));
    for last in [false, true] {
        let job = effects.into_iter().find_map(|effect| match effect {
            Effect::Run(job) if job.slot() == Slot::Search => Some(job),
            _ => None,
        });
        let events = bench.events(job.expect("a search"));
        if last {
            let effects = bench.update(OutputEvent::SavedAs("/a/far/longer/path/than/before".repeat(4)));
            bench.carry_out(effects);
        }
        effects = events.into_iter().flat_map(|event| bench.update(event)).collect();
    }
    assert!(status(&bench).contains("/error 1 of 2"), "{}", status(&bench));
}
