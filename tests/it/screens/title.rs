//! The title: a long name makes room for the policy, and the exit status stays as long as there is room.

use overspill::source::Source;
use overspill::tui::pager::subject::Subject;

use crate::common::bench::{Bench, policy, subject};
use crate::common::home::Home;

/// Returns the title of an output of this name, whose command exited with status 3.
fn title(width: u16, name: &str, policy_name: &str) -> String {
    let home = Home::new();
    let source = Source::open(&home.file("build.log", "line\n".repeat(20_000))).expect("a file");
    let mut subject = Subject { name: name.into(), ..subject(policy(policy_name)) };
    subject.context.exit_code = Some(3);
    let mut bench = Bench::new((width, 24));
    let effects = bench.show(subject, &source);
    bench.carry_out(effects);
    bench.rows().swap_remove(0)
}

#[test]
fn a_long_name_is_shortened_before_the_policy_is_dropped() {
    let name = "tool_e26cf08d5001AbCdEfGhIjKlMnOpQrStUvWxYz0123456789.txt";
    for width in [80, 90, 100] {
        for policy in ["opencode/output", "codex/exec-bytes", "claude-code/bash"] {
            let title = title(width, name, policy);
            assert!(title.contains(policy) && title.contains("tool_e"), "{width}: {title}");
            assert!(title.contains('…') && title.contains("Spill"), "{width}: {title}");
        }
    }
}

#[test]
fn the_exit_status_stays_in_the_title() {
    let shown = title(100, "build.log", "opencode/output");
    assert!(shown.contains("exit status 3") && shown.contains("opencode/output"), "{shown}");
    let narrow = title(60, "build.log", "opencode/output");
    assert!(!narrow.contains("exit status") && narrow.contains("opencode/output"), "{narrow}");
}
