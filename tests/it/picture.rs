//! The picture in the README, made from the real screen: `cargo test --test picture -- --ignored`.

use std::path::Path;

use crate::common::home::Home;
use crate::common::session::Session;
use crate::common::svg;

/// Columns and rows of the picture.
const SIZE: (u16, u16) = (142, 32);

#[test]
#[ignore = "it writes assets/preview.svg"]
fn picture() {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let home = Home::new();
    std::fs::copy(assets.join("samples/build.log"), home.at("build.log")).unwrap();
    let saved_as = "/home/me/.local/share/opencode/tool-output/tool_0118bbe93001AbCdEfGhIjKlMn";
    let mut session = Session::start_sized(&home, SIZE, &["--saved-as", saved_as, "build.log"]);
    session.wait_status("kept");
    session.keys("}").wait_for("bytes truncated...").wait_for("Read with offset/limit");
    let svg = svg::picture(session.seen().parser.screen(), "overspill on a build log that was cut");
    std::fs::write(assets.join("preview.svg"), svg).unwrap();
}
