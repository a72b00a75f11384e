//! Too few descriptors: a command is run to its end, or is not started and the failure is reported.

use std::process::Stdio;

use crate::common::home::{Home, finish};

#[test]
fn with_too_few_descriptors_no_command_is_started() {
    let mut refused = 0;
    for most in 5..20 {
        let home = Home::new();
        let line = format!("ulimit -n {most}; exec \"$overspill\" run -- sh -c 'echo > started; exit 7'");
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &line]).current_dir(home.work()).env_clear().envs(home.env());
        shell.env("overspill", env!("CARGO_BIN_EXE_overspill"));
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = finish(shell.spawn().unwrap());
        let is_told = ran.stderr.contains("was not started") && ran.stderr.contains("ulimit -n");
        let started = home.at("started").exists();
        assert_eq!(ran.status, if started { 7 } else { 125 }, "{most}: {}", ran.stderr);
        assert!(started || !ran.stderr.is_empty(), "{most}: it must say why");
        refused += usize::from(is_told);
    }
    assert!(refused > 0, "so few are too few");
}
