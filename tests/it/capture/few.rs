//! Too few descriptors or threads: a command is run to its end, or is not started and the failure is reported.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::common::home::{Home, finish};
use crate::common::skip;

const USER: u32 = 54_321;

/// Runs a command that ends with status 7, from `line` of a shell; counts once more in `refused` if it is not started.
fn run(home: &Home, line: &str, prepare: impl Fn(&mut Command), refused: &mut usize) {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).current_dir(home.work()).env_clear().envs(home.env());
    shell.env("overspill", env!("CARGO_BIN_EXE_overspill"));
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    prepare(&mut shell);
    let ran = finish(shell.spawn().unwrap());
    let is_told = ran.stderr.contains("was not started") && ran.stderr.contains("ulimit -n");
    let started = home.at("started").exists();
    assert_eq!(ran.status, if started { 7 } else { 125 }, "{line}: {}", ran.stderr);
    assert!(started || !ran.stderr.is_empty(), "{line}: it must say why");
    *refused += usize::from(is_told);
}

#[test]
fn with_too_few_descriptors_no_command_is_started() {
    let mut refused = 0;
    for most in 5..20 {
        let line = format!("ulimit -n {most}; exec \"$overspill\" run -- sh -c 'echo > started; exit 7'");
        run(&Home::new(), &line, |_| {}, &mut refused);
    }
    assert!(refused > 0, "so few are too few");
}

#[cfg(target_os = "linux")]
#[test]
fn with_too_few_threads_no_command_is_started() {
    if !skip::is_root("run the program as a user who has no other processes") {
        return;
    }
    let mut refused = 0;
    for most in 2..9 {
        let home = Home::new();
        std::fs::set_permissions(home.at(".."), PermissionsExt::from_mode(0o755)).unwrap();
        chown(home.work(), Some(USER), None).unwrap();
        // Shells differ in the letter.
        let limit = format!("ulimit -u {most} 2> /dev/null || ulimit -p {most}");
        // The first, for signals, for the end, for the command, and two for its output.
        let all = "set -- /proc/$PPID/task/*; [ $# -ge 6 ] && exit 7";
        let line = format!("{limit}; exec \"$overspill\" run -- sh -c 'echo > started; {all}'");
        run(&home, &line, |shell| _ = shell.uid(USER).gid(USER), &mut refused);
    }
    assert!(refused > 0, "so few are too few");
}
