//! Overspill is killed in the middle: bar 21.

use std::fs::{self, File};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use super::{names, own, record, run, spills, wait_until};
use crate::common::home::Home;

/// Bytes of the output during which overspill is killed.
const OUTPUT: u64 = 3_000_000;

/// Returns the size of the only unfinished spill, if there is one.
fn growing(home: &Home) -> Option<u64> {
    let root = own(home, "tool-output");
    let name = names(&root).into_iter().find(|name| name.starts_with(".tmp-"))?;
    Some(fs::metadata(root.join(name)).ok()?.len())
}

/// Kills a run once `at` bytes are spilled (or it has finished), and checks what is left.
fn kill_at(home: &Home, at: u64) {
    let words = ["run", "--keep", "always", "--", "head", "-c", &OUTPUT.to_string(), "/dev/zero"];
    let mut child = home.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut ended = None;
    wait_until("so much is spilled", || {
        ended = child.try_wait().unwrap();
        ended.is_some() || growing(home).is_some_and(|size| size >= at)
    });
    // It may have just ended.
    let _ = kill_process(Pid::from_child(&child), Signal::KILL);
    child.wait().unwrap();
    for spill in spills(home) {
        assert_eq!(fs::metadata(&spill).unwrap().len(), OUTPUT, "a part under a final name");
        assert_eq!(record(home, &spill)["kept"]["bytes"], OUTPUT);
        fs::remove_file(spill).unwrap();
    }
    for name in names(&own(home, "tool-output")) {
        assert!(name.starts_with(".tmp-"), "{name}");
        fs::remove_file(own(home, "tool-output").join(name)).unwrap();
    }
}

#[test]
fn a_killed_run_leaves_no_partial_spill_under_a_final_name() {
    const TIMES: u64 = 1000;
    let home = Home::new();
    for time in 0..TIMES {
        kill_at(&home, time * OUTPUT / TIMES);
    }
}

fn an_old_id() -> String {
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(2);
    overspill::internals::store::new_id(then, 1, [7; 12])
}

#[test]
fn an_unfinished_spill_is_listed_and_deleted_after_an_hour() {
    let home = Home::new();
    let mut child = home.command(&["run", "--", "yes"]).stdout(Stdio::null()).spawn().unwrap();
    wait_until("it spills", || growing(&home).is_some_and(|size| size > 100_000));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let listed = home.run(&["list", "--json"]).ok().json();
    assert_eq!((&listed[0]["status"], &listed[0]["rule"]), (&"unfinished".into(), &"unfinished".into()));
    let id = listed[0]["id"].as_str().unwrap();
    let shown = home.run(&["show", id]).ok();
    assert!(shown.text().contains("unfinished: 1 h after the last change"), "{}", shown.text());
    run(&home, &[], "seq 1 50000").ok();
    assert!(growing(&home).is_some(), "too young to be swept");
    let root = own(&home, "tool-output");
    let name = names(&root).into_iter().find(|name| name.starts_with(".tmp-")).unwrap();
    // Two hours old, both by its mtime and by the time in its id.
    let old = root.join(format!(".tmp-{}", an_old_id()));
    fs::rename(root.join(name), &old).unwrap();
    let then = SystemTime::now() - Duration::from_secs(2 * 3600);
    File::open(&old).unwrap().set_modified(then).unwrap();
    run(&home, &[], "seq 1 50000").ok();
    assert!(growing(&home).is_none());
}
