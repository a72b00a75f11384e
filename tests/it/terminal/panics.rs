//! Bar 28: after a panic in any thread, the terminal is restored and the panic printed, or the screens continue and
//! report it.
//!
//! The program cannot be made to panic. So its screens are run by a test of their own, in a terminal.

use std::path::Path;
use std::sync::mpsc::channel;

use overspill::internals::output::Target;
use overspill::internals::source::Source;
use overspill::internals::store::Env;
use overspill::internals::tui::{self, Services, Start, Startup};
use overspill::preview::Catalog;

use crate::common::bench::{no_services, subject};
use crate::common::home::Home;
use crate::common::session::Session;

/// Where to panic: the test that runs the screens does nothing without this.
const VARIABLE: &str = "OVERSPILL_TEST_PANIC";

#[test]
#[ignore = "it is run by the other tests, in a terminal"]
fn screens() {
    let Ok(place) = std::env::var(VARIABLE) else { return };
    let (tell, told) = channel();
    let helper = std::thread::Builder::new().name("helper".into());
    let helper = helper.spawn(move || told.recv().map(|()| panic!("the helper's fault"))).unwrap();
    // The p key reads all policies, on the loop's own thread.
    let load_policies = move |_: Option<&str>| match std::env::var(VARIABLE).as_deref() {
        Ok("loop") => panic!("the loop's fault"),
        Ok("helper") => tell.send(()).map(|()| Vec::new()).unwrap(),
        _ => Vec::new(),
    };
    let policy = Catalog::builtin().get("opencode/output").unwrap();
    let start = Start {
        startup: Startup {
            targets: vec![Target {
                subject: subject(policy),
                source: Source::open(Path::new("build.log")).unwrap(),
                under: None,
            }],
            ..Startup::default()
        },
        services: Services {
            load_policies: Box::new(load_policies),
            find: Box::new(|_, _, _| panic!("a job's fault")),
            ..no_services(Env::hermetic(Path::new("/nowhere")))
        },
        theme: overspill::internals::tui::widget::theme::Theme::named("16"),
        asks: None,
        unicode: true,
        mouse: Default::default(),
        keys: overspill::internals::tui::keys::KeyMap::standard(),
        notice: None,
    };
    tui::run(start).unwrap();
    let _ = helper.join();
    if place == "after" {
        let _ = std::thread::spawn(|| panic!("a late fault")).join();
    }
    println!("the screens are left");
}

/// Runs the screens of a test program in a terminal.
fn shown(place: &str) -> (Home, Session) {
    let home = Home::new();
    home.file("build.log", "first\nsecond\n");
    let program = std::env::current_exe().unwrap();
    let words = ["terminal::panics::screens", "--exact", "--ignored", "--nocapture"];
    let session = Session::program(&home, &program, &[(VARIABLE, place)], &words);
    session.wait_for("second");
    (home, session)
}

/// Returns everything that has been written, including what has scrolled off the screen.
fn written(session: &Session) -> String {
    String::from_utf8_lossy(&session.seen().raw).into_owned()
}

#[test]
fn a_panic_of_the_loop_gives_the_terminal_back_and_is_printed() {
    let (_home, mut session) = shown("loop");
    session.keys("lp");
    assert_eq!(session.ended(), 101);
    session.is_restored();
    let text = written(&session);
    assert!(text.contains("panicked at") && text.contains("the loop's fault"), "{text}");
    assert!(!text.contains("the screens are left"), "{text}");
}

#[test]
fn a_panic_of_a_helper_thread_is_reported_and_screens_go_on() {
    let (_home, mut session) = shown("helper");
    session.keys("lp").wait_for("Policies");
    session.wait_for("a thread failed: panicked at");
    session.keys("\x1b").wait_gone("Policies");
    session.keys("\x1b").wait_gone("What if");
    session.keys("q").wait_for("the screens are left");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn a_panic_of_a_job_is_reported_and_other_jobs_go_on() {
    let (_home, mut session) = shown("job");
    session.keys("S").wait_for("outputs");
    session.keys("&x\r").wait_for("a background task crashed; some figures are missing");
    session.keys("q").keys("S").wait_for("outputs");
    session.keys("q").keys("q").wait_for("the screens are left");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn a_panic_after_the_screens_is_printed() {
    let (_home, mut session) = shown("after");
    session.keys("q").wait_for("the screens are left");
    assert_eq!(session.ended(), 0);
    session.is_restored();
    let text = written(&session);
    assert!(text.contains("panicked at") && text.contains("a late fault"), "{text}");
}
