//! The title: the word for certainty stays at every width, a long name makes room, the exit status stays as long as it can.

use overspill::internals::config::EffectivePolicy;
use overspill::internals::output::Subject;
use overspill::internals::source::Source;
use overspill::preview::{Certainty, Policy};

use crate::common::bench::{Bench, policy, subject};
use crate::common::home::Home;
use crate::common::rng::Rng;

/// Steps that change what is shown, or where; each leaves the title in sight.
const STEPS: [&str; 22] = [
    "+",
    "-",
    "<",
    ">",
    "D",
    "R",
    "O",
    "j",
    "G",
    "w",
    "<Tab>",
    "<Tab>",
    "3-",
    "5>",
    "l+<Esc>",
    "l-<Enter>",
    "lD<Enter>",
    "pread<Enter>",
    "pmeta<Enter>",
    "p<Down><Enter>",
    "p<Esc>",
    "/unit_17<Enter>",
];

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

/// Whether two policies are one, with the same values.
fn is_same(one: &Policy, other: &Policy) -> bool {
    let values = |policy: &Policy| policy.params().iter().map(|p| policy.get(&p.name)).collect::<Vec<_>>();
    one.name() == other.name() && values(one) == values(other)
}

/// Returns the words for certainty that the title must have, and those it has.
fn words(
    bench: &Bench,
    certainty: Certainty,
    first: &Policy,
    candidates: &[Policy],
) -> [Vec<&'static str>; 2] {
    let now = bench.pager().output.policy();
    let mut wanted = vec![match certainty {
        certainty if is_same(now, first) => match certainty {
            Certainty::Recorded => "recorded",
            Certainty::Reconstructed => "reconstructed",
            Certainty::WouldGet => "would get",
        },
        _ if candidates.iter().any(|candidate| is_same(now, candidate)) => "reconstructed",
        _ => "would get",
    }];
    wanted.extend((now.name().ends_with("/read")).then_some("read view"));
    let title =
        bench.rows().swap_remove(0).replace("Model would get", "").replace("reconstructed", "RECONSTRUCTED");
    let has = |word: &&str| title.contains(&word.replace("reconstructed", "RECONSTRUCTED"));
    [wanted, ["recorded", "reconstructed", "would get", "read view"].into_iter().filter(has).collect()]
}

#[test]
fn the_title_always_shows_the_certainty() {
    let home = Home::new();
    let path = home.file("build.log", crate::common::samples::build_log(8_432));
    let mut seen = [0; 3];
    for seed in 1..=60 {
        let mut rng = Rng(seed * 7_919);
        let certainty = rng.choose(&[Certainty::Recorded, Certainty::Reconstructed, Certainty::WouldGet]);
        let first = policy(rng.choose(&["opencode/output", "opencode/metadata", "pi/bash"]));
        // Only what lies in an agent's store has candidates.
        let candidates = match certainty {
            Certainty::Reconstructed => vec![policy("opencode/output"), policy("opencode/metadata")],
            _ => Vec::new(),
        };
        let width = || [40, 41, 50, 59, 60, 79, 80, 100, 120, 139, 140, 200];
        let mut bench = Bench::new((rng.choose(&width()), 24));
        let source = Source::open(&path).expect("a file");
        let subject = {
            let mut subject = subject(first.clone());
            subject.policy.certainty = certainty;
            subject.candidates =
                candidates.iter().map(|one| EffectivePolicy::chosen(one.clone(), true)).collect();
            subject
        };
        let effects = bench.show(subject, &source);
        bench.carry_out(effects);
        let mut keys = String::new();
        for _ in 0..12 {
            let [wanted, said] = words(&bench, certainty, &first, &candidates);
            assert_eq!(said, wanted, "{certainty:?} {} after {keys:?}: {:?}", first.name(), bench.rows()[0]);
            seen[usize::from(wanted[0] == "would get") + usize::from(wanted.len() > 1)] += 1;
            let step = rng.choose(&STEPS);
            bench.keys(step).resize((rng.choose(&width()), 24));
            keys.push_str(step);
        }
    }
    assert!(seen.iter().all(|times| *times > 20), "{seen:?}");
}

#[test]
fn a_what_if_shows_would_get_and_the_changed_limits() {
    let home = Home::new();
    let path = home.file("build.log", crate::common::samples::build_log(8_432));
    for width in [40, 60, 80, 120, 140, 200] {
        let mut bench = Bench::open((width, 24), &path, policy("opencode/output"));
        let dim = bench.rows().swap_remove(0);
        assert!(dim.contains("reconstructed") && !dim.contains("direction"), "{dim}");
        bench.keys("lD");
        let changed = bench.rows().swap_remove(0);
        assert!(
            changed.contains(if width < 80 { "would get" } else { "would get · direction tail" }),
            "{changed}"
        );
        assert!(!changed.contains("reconstructed"), "{changed}");
        bench.keys("D");
        assert_eq!(bench.rows().swap_remove(0), dim);
    }
}

#[test]
fn a_long_name_does_not_displace_headings_and_certainty() {
    let name = "tool_c8d4f08d5001AbCdEfGhIjKlMnOpQrStUvWxYz0123456789.txt";
    for width in [80, 90, 100] {
        for policy in ["opencode/output", "codex/exec-bytes", "claude-code/bash"] {
            let title = title(width, name, policy);
            assert!(title.contains("tool_c") && title.contains('…'), "{width}: {title}");
            assert!(title.contains("Model got │ Whole output"), "{width}: {title}");
            assert!(title.contains(" reconstructed"), "{width}: {title}");
        }
    }
}

#[test]
fn the_title_cuts_the_name_only_after_dropping_the_rest() {
    let name = "Bash: seq 1 12000 # all of the numbers";
    let mut cut = 0;
    for width in (72..=150).step_by(2) {
        let title = title(width, name, "opencode/output");
        assert!(title.contains(" reconstructed"), "{width}: {title}");
        if !title.contains(name) {
            cut += 1;
            assert!(title.starts_with(" Bash: ") && title.contains("… "), "{width}: {title}");
            assert!(!title.contains("got 9%") && !title.contains("opencode"), "{width}: {title}");
        }
    }
    assert!(cut > 2, "{cut}");
    let long = title(160, &"words ".repeat(40), "opencode/output");
    assert!(long.contains("· got 9%"), "half of the line is enough for a name: {long}");
}

#[test]
fn the_exit_status_stays_in_the_title() {
    let shown = title(100, "build.log", "opencode/output");
    assert!(shown.contains("exit status 3") && shown.contains("reconstructed"), "{shown}");
    let narrow = title(60, "build.log", "opencode/output");
    assert!(!narrow.contains("exit status") && narrow.contains("reconstructed"), "{narrow}");
}

#[test]
fn the_title_drops_policy_share_warnings_and_errors_in_order() {
    let home = Home::new();
    let log = format!("{}warning: w\nerror: e\n", "line\n".repeat(20_000));
    let mut bench = Bench::open((200, 24), &home.file("build.log", log), policy("opencode/output"));
    let parts = ["opencode", "got 9%", "warnings 1", "errors 1", "reconstructed"];
    let mut gone = 0;
    for width in (40..=200).rev() {
        let title = bench.resize((width, 24)).rows().swap_remove(0);
        let kept: Vec<bool> = parts.iter().map(|part| title.contains(part)).collect();
        let now = kept.iter().take_while(|kept| !**kept).count();
        assert!(kept[now..].iter().all(|kept| *kept), "{width}: {title}");
        // The headings of both texts stand in the title where only one is shown, and need room there.
        assert!(now >= gone || width == 139, "{width}: {title}");
        gone = now;
    }
    assert_eq!(gone, 4);
}

#[test]
fn the_share_has_a_bar_where_there_is_room() {
    let home = Home::new();
    let path = home.file("build.log", "line\n".repeat(20_000));
    let title = |width: u16| Bench::open((width, 24), &path, policy("opencode/output")).rows().swap_remove(0);
    assert!(title(140).contains("· got 9% ▇░░░░░░░"), "{}", title(140));
    assert!(title(70).contains("reconstructed · got 9% "), "{}", title(70));
}
