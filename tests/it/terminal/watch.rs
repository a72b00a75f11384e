//! The list of new outputs: an output comes, is opened where the model lost an error, and is left again.

use crate::common::home::Home;
use crate::common::session::Session;

const ID: &str = "tool_e26cf08d5001AbCdEfGhIjKlMn";

#[test]
fn a_new_output_is_listed_opened_at_its_lost_error_and_left() {
    let home = Home::new();
    home.private_entry("opencode", "tool_e26cf08d6001AbCdEfGhIjKlMn", "an old one\n", 1);
    let mut session = Session::start(&home, &["watch", "--agent", "opencode"]);
    session.wait_for("Waiting for new outputs").wait_for("data/opencode/tool-output");
    let line = |number| if number == 2500 { "error: lost\n".into() } else { format!("line {number}\n") };
    home.private_entry("opencode", ID, (1..=3000).map(line).collect::<String>(), 0);
    session.wait_for("1 output · 1 cut · 1 error lost").wait_for("error: lost").wait_for("following");
    session.keys("\r").wait_for("2500 ┊ error: lost");
    session.keys("\x1b").wait_for("following");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}
