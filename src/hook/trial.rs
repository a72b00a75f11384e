//! Has Codex trust the hook, and tries the hook as the agent runs it, with a sample output.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::base::env::Env;
use crate::preview::{self, Input, Policy};
use crate::store::Record;

use super::HookAgent;

/// How long a trial, and Codex's server, may take.
const MAX_TRIAL: Duration = Duration::from_secs(5);
const MAX_SERVER: Duration = Duration::from_secs(10);

/// Asks Codex to trust the hook, which it otherwise skips without a word; `None` if it answers in an unknown way.
pub(crate) fn trust(command: &str, file: &Path) -> Option<()> {
    let directory = file.parent()?;
    let mut server = Command::new("codex");
    server.arg("app-server").current_dir(directory);
    let mut server = TimedChild::start(server, MAX_SERVER).ok()?;
    let client = json!({ "name": "overspill", "version": env!("CARGO_PKG_VERSION") });
    ask(&mut server, 1, "initialize", &json!({ "clientInfo": client }))?;
    server.write_line(&json!({ "method": "initialized" }).to_string()).ok()?;
    let hooks = ask(&mut server, 2, "hooks/list", &json!({ "cwds": [directory] }))?;
    let (key, hash) = find_hook(&hooks, command)?;
    let edit = json!({
        "keyPath": "hooks.state", "value": { key: { "trusted_hash": hash } }, "mergeStrategy": "upsert",
    });
    ask(&mut server, 3, "config/batchWrite", &json!({ "edits": [edit] })).map(drop)
}

fn ask(server: &mut TimedChild, id: u32, method: &str, params: &Value) -> Option<Value> {
    server.write_line(&json!({ "id": id, "method": method, "params": params }).to_string()).ok()?;
    loop {
        let Ok(mut answer) = serde_json::from_str::<Value>(&server.next_line()?) else { continue };
        if answer["id"] == id {
            return answer.get_mut("result").map(Value::take);
        }
    }
}

/// Returns the key and the hash of the hook with this command, however deep it is.
fn find_hook<'a>(value: &'a Value, command: &str) -> Option<(&'a str, &'a str)> {
    match value {
        Value::Array(list) => list.iter().find_map(|value| find_hook(value, command)),
        Value::Object(hook) => {
            let text = |name| hook.get(name).and_then(Value::as_str);
            match (text("key"), text("currentHash")) {
                (Some(key), Some(hash)) if text("command") == Some(command) => Some((key, hash)),
                _ => hook.values().find_map(|value| find_hook(value, command)),
            }
        }
        _ => None,
    }
}

/// Runs the command of the hook; fails with what came instead of a note.
pub(crate) fn try_hook(agent: HookAgent, command: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("the trial could not be made: {error}");
    let stores = tempfile::tempdir().map_err(failed)?;
    let event = event(agent, stores.path()).map_err(failed)?;
    fs::write(stores.path().join("event"), event.to_string()).map_err(failed)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{command} < event")]);
    // Without the user's settings, by which nothing may be cut, or no note be wanted. The rest is where agents keep outputs.
    let places = ["HOME", "XDG_DATA_HOME", "QWEN_RUNTIME_DIR", "TMPDIR"];
    shell.env_clear().envs(places.map(|name| (name, stores.path()))).current_dir(stores.path());
    let child = TimedChild::start(shell, MAX_TRIAL).map_err(|error| format!("sh: {error}"))?;
    let answer: Vec<String> = std::iter::from_fn(|| child.next_line()).collect();
    let answer = answer.join("\n");
    match serde_json::from_str(&answer) {
        Ok(value) if has_note(&value) => Ok(()),
        _ if Instant::now() >= child.end => Err("nothing within 5 seconds".to_owned()),
        _ if answer.is_empty() => Err("nothing".to_owned()),
        _ => Err(answer),
    }
}

/// Runs a failing command as Claude Code does; fails with what came instead of its output, its status and a copy.
pub(crate) fn try_prefix(program: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("the trial could not be made: {error}");
    let stores = tempfile::tempdir().map_err(failed)?;
    let output = stores.path().join("output");
    let line = "true && eval 'seq 9999; exit 3' < /dev/null && pwd -P >| made-up-cwd";
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" -c \"$1\" > \"$2\" 2>&1; echo $?", program, line]).arg(&output);
    shell.env("SHELL", "/bin/sh").current_dir(stores.path());
    shell.envs(["XDG_DATA_HOME", "XDG_CONFIG_HOME"].map(|name| (name, stores.path())));
    let child = TimedChild::start(shell, MAX_TRIAL).map_err(|error| format!("sh: {error}"))?;
    let status = child.next_line().ok_or("nothing within 5 seconds")?;
    let printed = fs::read_to_string(&output).map_err(failed)?;
    let expected: String = (1..=9999).map(|n| format!("{n}\n")).collect();
    let env = Env::hermetic(stores.path()).with_var("XDG_DATA_HOME", stores.path());
    match (&*status, Record::names(&env).len()) {
        ("3", _) if printed != expected => Err(format!("another output: {}", beginning(&printed))),
        ("3", 1) => Ok(()),
        ("3", _) => Err("no copy".to_owned()),
        (status, _) => Err(format!("the status {status}: {}", beginning(&printed))),
    }
}

fn beginning(printed: &str) -> String {
    printed.chars().take(200).collect()
}

fn has_note(answer: &Value) -> bool {
    let output = &answer["hookSpecificOutput"];
    let notes = [&answer["additionalContext"], &output["additionalContext"]];
    notes.iter().any(|note| note.as_str().is_some_and(|note| !note.is_empty()))
        || output["updatedToolOutput"].is_object()
}

/// Returns an event after a command that printed 6,000 lines with one error. An agent that saves the output has done so.
fn event(agent: HookAgent, stores: &Path) -> io::Result<Value> {
    let line = |n| if n == 3000 { "error: made up\n".to_owned() } else { format!("line {n} of an output\n") };
    let output: String = (1..=6000).map(line).collect();
    let saved = |path: &str| {
        let path = stores.join(path);
        fs::create_dir_all(path.parent().unwrap_or(stores))?;
        fs::write(&path, &output)?;
        Ok::<_, io::Error>(path.display().to_string())
    };
    let (event, response) = match agent {
        HookAgent::ClaudeCode => {
            let path = saved(".claude/projects/p/s/tool-results/b1.txt")?;
            let response = json!({ "stdout": output[..30_000], "stderr": "", "persistedOutputPath": path });
            ("PostToolUse", response)
        }
        HookAgent::Codex => ("PostToolUse", json!(cut(agent, &output, "")?)),
        HookAgent::GeminiCli => ("AfterTool", json!({ "llmContent": output })),
        HookAgent::QwenCode => {
            let path = saved("tmp/p/run_shell_command_0123456789ab.output")?;
            ("PostToolUse", json!({ "llmContent": cut(agent, &output, &path)? }))
        }
        HookAgent::Opencode => {
            let path = saved("opencode/tool-output/tool_e26cf08d5001AbCdEfGhIjKlMn")?;
            ("tool.execute.after", json!({ "output": "", "metadata": { "outputPath": path } }))
        }
        HookAgent::CopilotCli => {
            let path = saved("1-copilot-tool-output-1-0123abcd-0123-4567-89ab-0123456789ab.txt")?;
            let result = json!({ "resultType": "success", "textResultForLlm": cut(agent, &output, &path)? });
            return Ok(
                json!({ "toolName": agent.shell_tool(), "toolArgs": { "command": "made-up" }, "toolResult": result }),
            );
        }
    };
    let records = stores.join(".claude/projects/p/s.jsonl");
    Ok(json!({
        "hook_event_name": event, "tool_name": agent.shell_tool(), "tool_input": { "command": "made-up" }, "tool_response": response,
        "transcript_path": records,
    }))
}

fn cut(agent: HookAgent, output: &str, path: &str) -> io::Result<String> {
    let policy = Policy::builtin(agent.policy()).map_err(io::Error::other)?;
    let input = Input::from_bytes(output.as_bytes(), path);
    Ok(preview::plan_counted(&input, &policy).map_err(io::Error::other)?.text(&input))
}

struct TimedChild {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    end: Instant,
}

impl TimedChild {
    fn start(mut command: Command, limit: Duration) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let read = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            read.map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Ok(Self { child, input, lines, end: Instant::now() + limit })
    }

    fn write_line(&mut self, line: &str) -> io::Result<()> {
        self.input.as_mut().map_or(Ok(()), |input| writeln!(input, "{line}").and_then(|()| input.flush()))
    }

    /// Returns the next line; `None` at the end, or if the time is over.
    fn next_line(&self) -> Option<String> {
        self.lines.recv_timeout(self.end.saturating_duration_since(Instant::now())).ok()
    }
}

impl Drop for TimedChild {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
