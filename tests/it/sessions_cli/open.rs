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
fn reports_records_open_to_others_with_the_remedy() {
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

#[test]
fn the_remedy_closes_every_directory() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(".pi/agent/sessions/--p--/2030-11-22T05-51-41-802Z_pi1.jsonl");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, "{\"type\":\"session\",\"version\":3,\"id\":\"pi1\",\"cwd\":\"/p\"}\n").unwrap();
    let temporary = std::env::temp_dir().canonicalize().unwrap();
    let dirs = [".claude", ".pi"].map(|name| root(&home).join(name));
    let above = dirs.iter().flat_map(|dir| dir.ancestors());
    above.filter(|dir| **dir != temporary && dir.starts_with(&temporary)).for_each(|dir| chmod(dir, 0o755));
    let is_reachable = |dir: &Path| dir.metadata().is_ok_and(|meta| meta.permissions().mode() & 1 != 0);
    if temporary.ancestors().all(is_reachable) {
        let said = home.run(&["sessions"]).stderr;
        let remedy = format!("`chmod 700 {} {}` keeps them out", dirs[0].display(), dirs[1].display());
        assert!(said.contains("other users can read 2 sessions") && said.contains(&remedy), "{said}");
    }
}

fn remedy(agent: &Path) -> String {
    format!("; `chmod 700 {}` keeps them out", agent.display())
}
