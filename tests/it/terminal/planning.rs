//! A slow plan does not block the screen.

use crate::common::home::Home;
use crate::common::session::Session;

#[test]
fn a_terabyte_that_a_policy_reads_whole_can_be_left_looked_at_and_given_up() {
    let home = Home::new();
    home.sparse("huge.log", 1 << 40);
    let mut session = Session::start(&home, &["-p", "pi/ls", "huge.log"]);
    session.wait_status("nothing kept: the first line alone is 1 TB");
    session.keys(">").wait_status("planning…  Esc gives up");
    session.keys("\t").wait_for("^@^@^@");
    session.keys("\x1b").wait_status("gave up planning pi/ls; showing the previous preview");
    session.keys("\t").wait_status("nothing kept: the first line alone is 1 TB, over 50 KB");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}
