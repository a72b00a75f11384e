//! Records that other users of the machine can read.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{claude, root};
use crate::common::home::Home;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn records_that_others_can_read_are_said_with_the_remedy() {
    let home = Home::new();
    claude(&home);
    let agent = root(&home).join(".claude");
    let shown = || {
        let marked = home.run(&["sessions", "--json"]).ok().json();
        let said = home.run(&["sessions"]).stderr;
        let parts = ["other users can read 1 session, such as ", &remedy(&agent)];
        (marked[0]["open_to_others"].as_bool().unwrap(), parts.map(|part| said.contains(part)))
    };
    chmod(&agent, 0o700);
    assert_eq!(shown(), (false, [false; 2]));
    // Everything above, as far as it is the test's own.
    let temporary = std::env::temp_dir().canonicalize().unwrap();
    let above = agent.ancestors().take_while(|dir| **dir != temporary && dir.starts_with(&temporary));
    above.for_each(|dir| chmod(dir, 0o755));
    let is_reachable = |dir: &Path| dir.metadata().is_ok_and(|meta| meta.permissions().mode() & 1 != 0);
    if temporary.ancestors().all(is_reachable) {
        assert_eq!(shown(), (true, [true; 2]));
    }
}

fn remedy(agent: &Path) -> String {
    format!("; `chmod 700 {}` keeps them out", agent.display())
}
