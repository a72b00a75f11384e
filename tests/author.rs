//! An agent as its author would write it from the crate page alone: tools whose outputs are cut and saved, commands that are
//! followed and cancelled, a policy of one's own. Needs no feature of the crate.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use overspill::capture::{Capture, Headroom, Location, Outcome, Truncator};
use overspill::preview::{Catalog, Input, Part, Policy, plan_counted};

/// What the agent's loop hands to its model, and what it shows to its user.
struct ToolResult {
    text: String,
    note: String,
    saved_to: Option<PathBuf>,
}

struct Agent {
    truncator: Truncator,
}

impl Agent {
    fn new(directory: &Path, policy: Policy) -> Agent {
        Agent { truncator: Truncator::from_policy(policy).save_in(Location::dir(directory)) }
    }

    /// A tool whose output is in hand.
    fn fetch(&self, page: &str) -> Result<ToolResult, Box<dyn Error>> {
        Ok(result(self.truncator.truncate(page, "fetch")?))
    }

    /// A tool whose output arrives piece by piece.
    fn follow(&self, pieces: impl Iterator<Item = String>) -> Result<ToolResult, Box<dyn Error>> {
        let mut writer = self.truncator.writer("follow");
        pieces.for_each(|piece| writer.push(piece.as_bytes()));
        Ok(result(writer.finish()?))
    }

    /// A shell.
    fn shell(&self) -> Capture {
        Capture::new(self.truncator.clone()).tool("shell").timeout(Duration::from_secs(60))
    }
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn result(outcome: Outcome) -> ToolResult {
    let (lines, errors) = (outcome.lines, outcome.errors.map_or(0, |errors| errors.lost()));
    let limit = outcome.truncated_by.map_or("nothing", |limit| limit.as_str());
    let note = format!("{} of {} lines, {errors} errors lost, cut by {limit}", lines.kept, lines.total);
    ToolResult { text: outcome.text, note, saved_to: outcome.saved_to }
}

fn shell_policy() -> Policy {
    Policy::builtin("basic/shell").unwrap()
}

#[test]
fn a_tool_s_output_is_cut_saved_and_accounted_for() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::new(directory.path(), shell_policy());
    let page = format!("{0}error: in the middle\n{0}", "one line of many\n".repeat(5000));
    let fetched = agent.fetch(&page).unwrap();
    assert!(fetched.note.ends_with("of 10002 lines, 1 errors lost, cut by bytes"), "{}", fetched.note);
    let path = fetched.saved_to.unwrap();
    assert!(fetched.text.contains(&*path.to_string_lossy()) && path.starts_with(directory.path()));
    assert_eq!(std::fs::read_to_string(path).unwrap(), page);

    let short = agent.follow((1..=3).map(|number| format!("piece {number}\n"))).unwrap();
    assert_eq!((short.text.as_str(), short.saved_to), ("piece 1\npiece 2\npiece 3\n", None));
    assert_eq!(short.note, "4 of 4 lines, 0 errors lost, cut by nothing");
}

#[test]
fn a_command_is_given_input_followed_and_fits_in_a_caller() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::new(directory.path(), shell_policy());
    let (tell, told) = channel();
    let room = Headroom { bytes: Some(2000), lines: None };
    let shell = agent.shell().stdin("2000\n").headroom(room).on_output(move |chunk| {
        tell.send(chunk.len()).unwrap();
    });
    let outcome = shell.run(sh("read count; seq $count; exit 3")).unwrap();
    drop(shell);
    assert_eq!(outcome.ended.unwrap().exit_code(), 3);
    assert!(outcome.truncated && outcome.text.len() <= 2000);
    assert_eq!(told.iter().sum::<usize>() as u64, outcome.bytes.total);
}

#[test]
fn a_command_is_cancelled_from_another_thread() {
    let directory = tempfile::tempdir().unwrap();
    let agent = Agent::new(directory.path(), shell_policy());
    let (tell, told) = channel();
    let shell = agent.shell().on_output(move |chunk| tell.send(chunk.to_vec()).unwrap());
    let running = shell.start(sh("echo started; exec sleep 1000")).unwrap();
    let control = running.control();
    let user = std::thread::spawn(move || {
        told.recv().unwrap();
        control.cancel();
    });
    let outcome = running.wait().unwrap();
    user.join().unwrap();
    assert!(outcome.ended.unwrap().is_aborted() && outcome.text == "started\n");
}

#[test]
fn a_custom_policy_cuts_and_works_without_files() {
    let own = r#"
        agent = "mine"
        tool = "shell"

        [[param]]
        name = "max_lines"
        role = "lines"
        default = 2

        [when]
        lines = "max_lines"

        [keep]
        strategy = "pieces"
        from = "tail"
        lines = "max_lines"

        [text]
        cut = "[{{ removed_lines }} lines are in {{ path }}]\n{{ kept }}"
    "#;
    let mut policy = Policy::parse(own).unwrap();
    let input = Input::from_bytes(b"one\ntwo\nthree", "/tmp/log");
    let preview = plan_counted(&input, &policy).unwrap();
    assert_eq!(preview.text(&input), "[1 lines are in /tmp/log]\ntwo\nthree");
    assert!(preview.parts.iter().any(|part| matches!(part, Part::Kept { range, .. } if *range == (4..13))));

    policy.set("max_lines", "1").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let outcome = Agent::new(directory.path(), policy).shell().run(sh("echo one; printf two")).unwrap();
    let path = outcome.saved_to.unwrap();
    assert_eq!(outcome.text, format!("[1 lines are in {}]\ntwo", path.display()));
    assert!(Catalog::builtin().get("basic/shell").is_ok());
}
