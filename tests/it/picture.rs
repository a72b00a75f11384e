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
    let failed = "FAILED test_login.py::test_expiry\n".to_owned() + &passed("test_login.py::test_", 2_400);
    let claude = "home/.claude/projects/-home-someone-app/4f1c2f0e-8a1b-4b7e-9d7e-0f8f6f1f2a3b/tool-results";
    let opencode = "data/opencode/tool-output";
    for (store, name, content, hours) in [
        (claude, "b3f9k2m7q.txt", &*log, 1),
        (opencode, "tool_0118bbe94001BcDeFgHiJkLmNo", &passed("test unit_", 3_000), 5),
        (opencode, "tool_0118bbe95001CdEfGhIjKlMnOp", &failed, 30),
        (claude, "b7x1c4d8z.txt", &passed("test doc_", 1_420), 53),
        (opencode, "tool_0118bbe97001EfGhIjKlMnOpQr", &log[..40_000], 130),
    ] {
        home.entry_at(&format!("{store}/{name}"), content, hours);
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
    session.wait_for("5 outputs").wait_for("<1%            2").wait_for("all            0       38 h");
    let frames = [
        ("", &["lost: error[E0308]"][..], ("", "Two errors of this build never reached the model.")),
        (
            "\r",
            &["errors 2, model got 0", "S lists  h help"],
            ("Enter", "What the model got of the log: its first 2 KB."),
        ),
        ("c", &["</persisted-output>"], ("c", "The cut, in the agent's own words.")),
        ("e", &["line 6,330 · lost"], ("e", "The lost error, in the whole output.")),
        ("l", &["No change of these limits keeps it"], ("l", "Other limits: would any have kept it?")),
        (
            "p",
            &["2/2    819", "0/2    500", "2/2    500", "2/2    688"],
            ("p", "Other agents: those that keep the end get both errors."),
        ),
    ]
    .map(|(keys, texts, words)| taken(&mut session, keys, texts, words));
    let svg = svg::film(&frames, "overspill finds the error that was cut from what the model got");
    let svg = svg.replace(home.work().parent().unwrap().to_str().unwrap(), "/home/someone");
    assert!(svg.len() < MAX_BYTES, "{} bytes", svg.len());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(assets().join("lost-error.svg"), svg).unwrap();
    }
}
