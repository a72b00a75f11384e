//! Draws the moving picture of the README from the real screens; `UPDATE_DOCS=1 cargo test --test it picture` writes it.

use std::path::{Path, PathBuf};

use crate::common::home::Home;
use crate::common::session::Session;
use crate::common::svg::{self, Frame};

/// Columns and rows of the screens.
const SIZE: (u16, u16) = (100, 24);

/// Maximum size of the picture: a page with it has to load at once.
const MAX_BYTES: usize = 150_000;

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

/// Stores what two agents left behind.
fn stored(home: &Home) {
    let log = std::fs::read_to_string(assets().join("samples/build.log")).unwrap();
    let passed =
        |name: &str, count: u32| -> String { (1..=count).map(|n| format!("{name}{n} ... ok\n")).collect() };
    let failed = passed("test_login.py::test_", 2_400) + "FAILED test_login.py::test_expiry\n";
    for (agent, id, content, hours) in [
        ("opencode", "tool_0118bbe93001AbCdEfGhIjKlMn", &*log, 1),
        ("opencode", "tool_0118bbe94001BcDeFgHiJkLmNo", &passed("test unit_", 3_000), 5),
        ("kilo", "tool_0118bbe95001CdEfGhIjKlMnOp", &failed, 30),
        ("opencode", "tool_0118bbe96001DeFgHiJkLmNoPq", &passed("test doc_", 420), 53),
        ("kilo", "tool_0118bbe97001EfGhIjKlMnOpQr", &log[..40_000], 130),
    ] {
        home.private_entry(agent, id, content, hours);
    }
}

/// Types keys, waits until the screen shows all texts, and takes the screen.
fn taken(session: &mut Session, keys: &str, texts: &[&str], words: (&'static str, &'static str)) -> Frame {
    session.keys(keys);
    session.wait_until(&texts.join(" and "), |seen| {
        let screen = seen.parser.screen();
        let is_drawn = texts.iter().all(|text| screen.contents().contains(text));
        is_drawn.then(|| Frame { screen: screen.clone(), keys: words.0, caption: words.1 })
    })
}

#[test]
fn the_moving_picture_finds_the_lost_error() {
    let home = Home::new();
    stored(&home);
    let mut session = Session::start_sized(&home, SIZE, &[]);
    session.wait_for("5 outputs").wait_gone("… ");
    let frames = [
        ("", &["lost: error[E0308]"][..], ("", "Two errors of this build never reached the model.")),
        (
            "\r",
            &["errors 2, model got 0", "S lists  h help"],
            ("Enter", "What the model got of the log: its first 50 KB."),
        ),
        ("c", &["view specific sections"], ("c", "The cut, and what the agent says about it.")),
        ("e", &["line 6,330 of 6,344 · lost"], ("e", "The lost error, in the whole output.")),
        ("l", &["Kept with: direction tail"], ("l", "Other limits: which would have kept it?")),
        ("a", &["line 6,330 is kept"], ("a", "The end instead of the start: the model gets both errors.")),
    ]
    .map(|(keys, texts, words)| taken(&mut session, keys, texts, words));
    let svg = svg::film(&frames, "overspill finds the error that was cut from what the model got");
    let svg = svg.replace(home.work().parent().unwrap().to_str().unwrap(), "/home/someone");
    assert!(svg.len() < MAX_BYTES, "{} bytes", svg.len());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(assets().join("lost-error.svg"), svg).unwrap();
    }
}
