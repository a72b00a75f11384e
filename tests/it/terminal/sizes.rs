//! Many resizes of a real terminal in a row: the last size is what is drawn (bar 32).

use crate::capture::wait_until;
use crate::common::home::Home;
use crate::common::samples::build_log;
use crate::common::session::Session;

const SIZES: u16 = 100;
const LAST: (u16, u16) = (97, 31);

#[test]
fn after_a_storm_of_sizes_the_last_one_is_drawn() {
    let home = Home::new();
    home.file("build.log", build_log(300));
    for (keys, shown) in
        [("", "300 lines"), ("h", "down a line"), ("/word", "/word"), ("p", "type to narrow")]
    {
        let mut calm = Session::start_sized(&home, LAST, &["build.log"]);
        calm.keys(keys).wait_for(shown);
        let mut storm = Session::start(&home, &["build.log"]);
        storm.keys(keys).wait_for(shown);
        let mut state = 0x9e37_79b9_u32;
        for _ in 0..SIZES {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            storm.resize(1 + (state >> 8) as u16 % 300, 1 + (state >> 20) as u16 % 100);
        }
        storm.resize(LAST.0, LAST.1);
        wait_until("the screen of a program that had this size from the start", || {
            let text = storm.seen().text();
            text.contains(shown) && text == calm.seen().text()
        });
    }
}
