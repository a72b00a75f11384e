//! `explain` on a terminal: Enter opens the output that a notice cites.

use crate::common::home::Home;
use crate::common::session::Session;

const ID: &str = "tool_c8d4f08d5001AbCdEfGhIjKlMn";

#[test]
fn enter_opens_the_output_at_the_cut() {
    let home = Home::new();
    let lines: String = (1..=6345).map(|number| format!("line {number}\n")).collect();
    let spill = home.private_entry("opencode", ID, lines, 48);
    let preview = home.run(&["preview", spill.to_str().unwrap()]);
    let notice = preview.text().split_once("line 2000\n").unwrap().1;
    home.file("notice.txt", notice);
    for line in ["$overspill explain notice.txt", "$overspill explain < notice.txt"] {
        let mut session = Session::shell(&home, line);
        session.wait_for("4,345 lines lost").wait_for("Enter opens the output at the cut");
        session.keys("\r").wait_top("──── lost from here: over 2,000 lines").wait_for("2001 ┊ line 2001");
        session.keys("q");
        assert_eq!(session.ended(), 0);
        session.is_restored();
    }
}
