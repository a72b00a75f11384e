//! The pictures in the README, made from the real screens: `cargo test --test it picture -- --ignored`.

use std::path::{Path, PathBuf};

use crate::common::home::Home;
use crate::common::session::Session;
use crate::common::svg;

/// Columns and rows of the pictures.
const SIZE: (u16, u16) = (142, 32);

const SAVED_AS: &str = "/home/me/.local/share/opencode/tool-output/tool_0118bbe93001AbCdEfGhIjKlMn";

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

/// Opens the sample in a home of its own.
fn sample(home: &Home) -> Session {
    std::fs::copy(assets().join("samples/build.log"), home.at("build.log")).unwrap();
    let session = Session::start_sized(home, SIZE, &["--saved-as", SAVED_AS, "build.log"]);
    session.wait_status("gets");
    session
}

fn write(session: &Session, name: &str, title: &str) {
    let svg = svg::picture(session.seen().parser.screen(), title);
    std::fs::write(assets().join(name), svg).unwrap();
}

#[test]
#[ignore = "it writes assets/preview.svg"]
fn preview_beside_spill() {
    let home = Home::new();
    let mut session = sample(&home);
    session.keys("}").wait_for("bytes truncated...").wait_for("Read with offset/limit");
    write(&session, "preview.svg", "overspill on a build log that was cut");
}

#[test]
#[ignore = "it writes assets/picker.svg"]
fn policies_with_figures() {
    let home = Home::new();
    let mut session = sample(&home);
    session.keys("/E0308\r").wait_for("1 of 2");
    session.keys("lp").wait_for("2/2").wait_for("codex/exec");
    write(&session, "picker.svg", "overspill: what each policy would make of the same output");
}

#[test]
#[ignore = "it writes assets/stores.svg"]
fn stored_outputs() {
    let home = Home::new();
    let log = std::fs::read(assets().join("samples/build.log")).unwrap();
    let tests: String = (1..=3000).map(|n| format!("test unit_{n} ... ok\n")).collect();
    for (agent, id, content, hours) in [
        ("opencode", "tool_0118bbe93001AbCdEfGhIjKlMn", &log[..], 1),
        ("opencode", "tool_0118bbe94001BcDeFgHiJkLmNo", tests.as_bytes(), 5),
        ("opencode", "tool_0118bbe95001CdEfGhIjKlMnOp", &log[60_000..200_000], 30),
        ("kilo", "tool_0118bbe96001DeFgHiJkLmNoPq", &tests.as_bytes()[..9_000], 130),
        ("kilo", "tool_0118bbe97001EfGhIjKlMnOpQr", &log[..120_000], 161),
    ] {
        home.private_entry(agent, id, content, hours);
    }
    let session = Session::start_sized(&home, SIZE, &[]);
    session.wait_for("5 outputs").wait_for("182 w").wait_for("Compiling proc-macro2");
    write(&session, "stores.svg", "overspill: all stored outputs, and what the model got of each");
}
