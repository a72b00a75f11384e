//! What is done with every fault: commands as a person gives them, and what must be true afterwards.

use std::fs;
use std::path::PathBuf;

use crate::stocked::{ID, OTHER, Stocked};
use crate::trial::Came;

/// How the program is run.
pub enum Stage {
    /// Without a terminal.
    Command {
        words: &'static [&'static str],
        /// The file in the working directory that is standard input.
        input: Option<&'static str>,
    },
    /// On a terminal.
    Screens {
        /// What a shell runs; `$overspill` is the program.
        line: &'static str,
        steps: &'static [Step],
    },
}

/// What is typed, and when.
pub struct Step {
    /// It is typed once this is on the screen.
    pub shown: &'static str,
    pub keys: &'static str,
}

/// What a person does.
pub struct Scene {
    pub name: &'static str,
    pub stage: Stage,
    /// The exit status without a fault.
    pub status: i32,
    pub prepare: fn(&Stocked),
    /// What must be true whatever failed.
    pub judge: fn(&Came) -> Result<(), String>,
}

/// The command's script says that it was started.
const SHORT: &str = "echo > started; seq 1 5000; exit 4";
/// Longer than what is held in memory.
const LONG: &str = "echo > started; seq 1 90000; exit 4";
const APART: &str = "echo > started; seq 1 5000; seq 1 4000 >&2; exit 4";

pub const SCENES: &[Scene] = &[
    Scene {
        name: "a_run_keeps_status_and_output",
        stage: Stage::Command { words: &["run", "--max-lines", "5", "--", "sh", "-c", SHORT], input: None },
        status: 4,
        prepare: due,
        judge: |came| ran_well(came, &[sequence(5000)]),
    },
    Scene {
        name: "a_long_run_keeps_status_and_output",
        stage: Stage::Command {
            words: &["run", "--max-lines", "5", "--durable", "--", "sh", "-c", LONG],
            input: None,
        },
        status: 4,
        prepare: |_| {},
        judge: |came| ran_well(came, &[sequence(90_000)]),
    },
    Scene {
        name: "streams_apart_are_both_kept",
        stage: Stage::Command {
            words: &["run", "--max-lines", "5", "--split", "--", "sh", "-c", APART],
            input: None,
        },
        status: 4,
        prepare: |_| {},
        judge: |came| ran_well(came, &[sequence(5000), sequence(4000)]),
    },
    Scene {
        name: "a_run_in_an_agents_layout_is_whole",
        stage: Stage::Command {
            words: &[
                "run",
                "--layout",
                "agent",
                "-p",
                "go-opencode/bash",
                "--session",
                "s",
                "--",
                "sh",
                "-c",
                LONG,
            ],
            input: None,
        },
        status: 4,
        prepare: |_| {},
        judge: |came| ran_well(came, &[sequence(90_000)]),
    },
    Scene {
        name: "a_piped_output_is_saved_whole",
        stage: Stage::Command { words: &["preview", "--max-lines", "5", "--save"], input: Some("long.log") },
        status: 0,
        prepare: logs,
        judge: |came| spills_are_whole(came, &[sequence(90_000)]).and(preview_is_right(came)),
    },
    Scene {
        name: "a_preview_is_right_or_none",
        stage: Stage::Command { words: &["preview", "--max-lines", "5", "build.log"], input: None },
        status: 0,
        prepare: logs,
        judge: preview_is_right,
    },
    Scene {
        name: "a_piped_preview_is_right_or_none",
        stage: Stage::Command { words: &["preview", "--max-lines", "5"], input: Some("build.log") },
        status: 0,
        prepare: logs,
        judge: preview_is_right,
    },
    Scene {
        name: "a_file_is_copied_whole_or_the_status_tells",
        stage: Stage::Command { words: &["long.log"], input: None },
        status: 0,
        prepare: logs,
        judge: |came| is_whole(came, &sequence(90_000)),
    },
    Scene {
        name: "a_window_is_right_or_none",
        stage: Stage::Command {
            words: &["read", "--offset", "100", "--limit", "5", "build.log"],
            input: None,
        },
        status: 0,
        prepare: logs,
        judge: |came| is_whole(came, &came.usual().1),
    },
    Scene {
        name: "a_list_lists_all",
        stage: Stage::Command { words: &["list", "--json"], input: None },
        status: 0,
        prepare: due,
        judge: lists_all,
    },
    Scene {
        name: "facts_are_told_of_one",
        stage: Stage::Command { words: &["show", ID], input: None },
        status: 0,
        prepare: due,
        judge: |_| Ok(()),
    },
    Scene {
        name: "cleaning_takes_what_is_due_and_says_what",
        stage: Stage::Command { words: &["clean", "--yes", "--all"], input: None },
        status: 0,
        prepare: due,
        judge: cleaned,
    },
    Scene {
        name: "removing_takes_one_and_says_so",
        stage: Stage::Command { words: &["rm", "--yes", OTHER], input: None },
        status: 0,
        prepare: due,
        judge: cleaned,
    },
    Scene {
        name: "ending_a_session_takes_its_spills_and_says_so",
        stage: Stage::Command { words: &["clean", "--session", "s"], input: None },
        status: 0,
        prepare: session_of_one,
        judge: session_ended,
    },
    Scene {
        name: "the_pager_shows_searches_and_is_left",
        stage: Stage::Screens {
            line: "\"$overspill\" long.log",
            steps: &[
                Step { shown: "of 90,000 lines", keys: "\tG" },
                Step { shown: "90000", keys: "/4321\r" },
                Step { shown: "1 of 19", keys: "n" },
                Step { shown: "2 of 19", keys: "q" },
            ],
        },
        status: 0,
        prepare: logs,
        judge: |_| Ok(()),
    },
    Scene {
        name: "the_list_deletes_one_on_leaving",
        stage: Stage::Screens {
            line: "\"$overspill\"",
            steps: &[
                Step { shown: "4 outputs", keys: "/0118\r" },
                Step { shown: "filter: 0118", keys: "x" },
                Step { shown: "1 output (3 B) to delete", keys: "q" },
                Step { shown: ", 3 B)?", keys: "y" },
            ],
        },
        status: 0,
        prepare: due,
        judge: cleaned,
    },
    Scene {
        name: "the_list_keeps_a_copy",
        stage: Stage::Screens {
            line: "\"$overspill\"",
            steps: &[
                Step { shown: "2 outputs", keys: "/0118\r" },
                Step { shown: "filter: 0118", keys: "K" },
                Step { shown: "is kept forever", keys: "q" },
            ],
        },
        status: 0,
        prepare: entries,
        judge: copied_whole,
    },
    Scene {
        name: "a_run_that_is_watched_keeps_status_and_output",
        stage: Stage::Screens {
            line: "\"$overspill\" run -i --max-lines 5 -- sh -c 'echo > started; seq 1 90000; exit 4'",
            steps: &[Step { shown: "exited with status 4", keys: "q" }],
        },
        status: 4,
        prepare: due,
        judge: |came| ran_well(came, &[sequence(90_000)]),
    },
    Scene {
        name: "a_pipe_that_is_watched_is_saved_whole",
        stage: Stage::Screens {
            line: "seq 1 90000 | \"$overspill\" --max-lines 5",
            steps: &[Step { shown: "of 90,000 lines", keys: "q" }],
        },
        status: 0,
        prepare: |_| {},
        judge: |came| spills_are_whole(came, &[sequence(90_000)]),
    },
];

/// Two outputs that are due and two that are not.
fn due(home: &Stocked) {
    home.own(1, "0123456789", 240);
    home.own(2, "0123456789", 24);
    home.entry("opencode", OTHER, "due", 240);
    home.entry("opencode", ID, "young", 24);
}

/// Two outputs of another program's, of which one is longer than one write.
fn entries(home: &Stocked) {
    home.private_entry("opencode", OTHER, sequence(90_000) + "due\n", 240);
    home.private_entry("opencode", ID, "young", 24);
}

/// What the last run left in its session.
fn session_of_one(home: &Stocked) {
    let words =
        ["run", "--layout", "agent", "-p", "go-opencode/bash", "--session", "s", "--", "seq", "90000"];
    home.run(&words);
}

fn logs(home: &Stocked) {
    home.file("build.log", sequence(5000));
    home.file("long.log", sequence(90_000));
}

/// `1` to `last`, a line each.
fn sequence(last: u32) -> String {
    (1..=last).map(|n| format!("{n}\n")).collect()
}

/// Once a command has been started its status is ours.
fn status_is_kept(came: &Came) -> Result<(), String> {
    let is_started = came.home.at("started").exists();
    // Without anyone to read, the preview is what failed.
    if came.ran.status == 4 || !is_started || came.print_failed() {
        Ok(())
    } else {
        Err(format!("status {} for the command's 4", came.ran.status))
    }
}

fn ran_well(came: &Came, wholes: &[String]) -> Result<(), String> {
    status_is_kept(came)?;
    spills_are_whole(came, wholes)
}

/// A spill that has its name is whole, or its record says which part it is; what is not saved is said.
fn spills_are_whole(came: &Came, wholes: &[String]) -> Result<(), String> {
    let mut saved = 0;
    for path in came.below("").iter().filter(|path| is_new_spill(came, path)) {
        let kept = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let is_whole = wholes.contains(&kept);
        saved += usize::from(is_whole);
        let says = |record: serde_json::Value| {
            let is_told = !record["truncated"].is_null() || !record["stopped"].is_null();
            is_told && record["kept"]["bytes"] == kept.len()
        };
        if !is_whole && !record(came, path).is_some_and(says) {
            return Err(format!("{} has {} bytes, and no word of it", path.display(), kept.len()));
        }
    }
    let is_told = saved == wholes.len() || !came.ran.stderr.is_empty() || matches!(came.ran.status, 1 | 125);
    if is_told { Ok(()) } else { Err("nothing is saved, and nothing said".into()) }
}

fn is_new_spill(came: &Came, path: &std::path::Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_ours = path.starts_with(came.home.dir("data/overspill/tool-output"))
        || path.starts_with(came.home.dir("tmp"));
    let is_old = path.metadata().is_ok_and(|meta| meta.len() == 10);
    is_ours && !is_old && !name.starts_with('.')
}

fn record(came: &Came, spill: &std::path::Path) -> Option<serde_json::Value> {
    let name = format!("{}.json", spill.file_name()?.to_str()?);
    serde_json::from_slice(&fs::read(came.home.dir("data/overspill/records").join(name)).ok()?).ok()
}

/// The usual preview, or a word that it is not.
fn preview_is_right(came: &Came) -> Result<(), String> {
    let text = came.said().1;
    let is_told = came.ran.status != 0 || !came.ran.stderr.is_empty();
    if !is_told && text != came.usual().1 { Err("another preview".into()) } else { Ok(()) }
}

fn is_whole(came: &Came, whole: &str) -> Result<(), String> {
    let out = came.said().1;
    if !whole.starts_with(&out) {
        Err("other bytes".into())
    } else if came.ran.status == 0 && out.len() < whole.len() {
        Err("a part, and status 0".into())
    } else {
        Ok(())
    }
}

/// Every id is there, unless something was said.
fn lists_all(came: &Came) -> Result<(), String> {
    let text = came.said().1;
    let missing = text.matches("\"path\"").count() < came.usual().1.matches("\"path\"").count();
    if missing && came.ran.stderr.is_empty() { Err("an entry is missing".into()) } else { Ok(()) }
}

/// What is young is there; what is gone was due, is said to be, and is in the log.
fn cleaned(came: &Came) -> Result<(), String> {
    let is_there = |path: PathBuf| path.exists();
    let root = came.home.dir("data/opencode/tool-output");
    if !is_there(root.join(ID)) {
        return Err("a young entry is gone".into());
    }
    let own = came.below("data/overspill/tool-output").len();
    if own == 0 {
        return Err("a young spill is gone".into());
    }
    let gone = usize::from(!is_there(root.join(OTHER))) + (2 - own.min(2));
    let logged = came.home.log().lines().count();
    if gone == logged || !came.ran.stderr.is_empty() {
        Ok(())
    } else {
        Err(format!("{gone} gone, {logged} in the log"))
    }
}

/// A session's spill is there, or gone and said to be.
fn session_ended(came: &Came) -> Result<(), String> {
    let is_there = !came.below("tmp").is_empty();
    let is_told = came.ran.stderr.contains("removed 1 spill") || came.ran.stderr.contains("(os error ");
    match (is_there, came.ran.status) {
        (true, 0) => Err("it is there, and status 0".into()),
        (false, _) if !is_told => Err("it is gone without a word".into()),
        _ => Ok(()),
    }
}

/// What was copied to be kept is whole and kept, or said not to be; what it was copied from is there.
fn copied_whole(came: &Came) -> Result<(), String> {
    let whole = sequence(90_000) + "due\n";
    let root = came.home.dir("data/opencode/tool-output");
    if !root.join(ID).exists() || fs::read_to_string(root.join(OTHER)).ok().as_ref() != Some(&whole) {
        return Err("what was to be copied has changed".into());
    }
    let copies = came.below("data/overspill/tool-output");
    let is_kept = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        came.home.dir("data/overspill/kept").join(name).exists()
    };
    match &copies[..] {
        [] if came.ran.stderr.is_empty() => Err("no copy and no word".into()),
        [] => Ok(()),
        [one] if fs::read_to_string(one).ok().as_ref() != Some(&whole) => Err("a part of a copy".into()),
        [one] if !is_kept(one) => Err("a copy that is not kept".into()),
        [_] => Ok(()),
        more => Err(format!("{} copies", more.len())),
    }
}
