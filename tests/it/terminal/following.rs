//! Outputs that follow on a terminal: an output comes, is opened where the model lost an error, and is left again.

use crate::common::home::Home;
use crate::common::session::Session;

const ID: &str = "tool_c8d4f08d5001AbCdEfGhIjKlMn";

#[test]
fn a_new_output_appears_on_top_and_opens_at_its_lost_error() {
    let home = Home::new();
    let mut session = Session::start(&home, &[]);
    session.wait_for("No stored outputs yet");
    session.keys("F").wait_for("Waiting for new outputs").wait_for("FOLLOW");
    home.private_entry("opencode", "tool_c8d4f08d6001AbCdEfGhIjKlMn", "an old one\n", 1);
    session.wait_for("an old one");
    let line = |number| if number == 2500 { "error: lost\n".into() } else { format!("line {number}\n") };
    home.private_entry("opencode", ID, (1..=3000).map(line).collect::<String>(), 0);
    session.wait_for("2 outputs").wait_for("lost: error: lost");
    session.keys("\r").wait_for("2500 ┊ error: lost");
    session.keys("\x1b").wait_for("FOLLOW").wait_status("1 of 2");
    session.keys("j").wait_gone("FOLLOW").wait_status("2 of 2");
    session.keys("F").wait_for("FOLLOW").wait_status("or a move stops");
    session.keys("\x03").wait_gone("FOLLOW").wait_status("1 of 2");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}
