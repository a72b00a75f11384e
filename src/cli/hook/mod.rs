//! `overspill hook`: answers an agent's hook. Before a command it passes the command through `run`, so that nothing of the
//! output is lost; after a command it tells the model what was cut, and where the rest is.

mod wire;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::cli::args::{HookAgent, HookArgs};
use crate::cli::{CommandResult, Failure, in_words, json};
use crate::compare::{LostErrors, kept_ranges, lost_errors};
use crate::config::{Config, Overrides};
use crate::human::{lines, size, thousands};
use crate::preview::{self, Input, Policy, Preview, ToCount};
use crate::session;
use crate::source::Source;
use crate::text::label::{self, shell};
use crate::text::units;

use wire::{HookInput, Moment, ToolResponse};

/// Maximum size of what an agent passes to a hook, in bytes.
const MOST_INPUT: u64 = 64 << 20;
/// Maximum number of bytes of a lost error line in a note.
const MOST_LINE: usize = 200;

/// What a model can do about an output that nobody kept.
const RUN_AGAIN: &str = "run the command as `overspill run -- COMMAND` to keep it.";

/// Reads the hook's input, and prints an answer if there is something to answer. Any failure ends with 1: for agents, 2
/// means that the command must not run.
pub(crate) fn run(config: &Config, args: &HookArgs) -> CommandResult {
    answer(config, args).map_err(|error| Failure::Failed(in_words(&error)).into())
}

fn answer(config: &Config, args: &HookArgs) -> CommandResult {
    let mut text = Vec::new();
    io::stdin().lock().take(MOST_INPUT).read_to_end(&mut text)?;
    let input: HookInput = serde_json::from_slice(&text).map_err(|_| {
        let agent = clap::ValueEnum::to_possible_value(&args.agent);
        let agent = agent.as_ref().map_or("the agent", |agent| agent.get_name());
        Failure::Usage(format!("standard input is not what {agent} passes to a hook; see docs/agents.md"))
    })?;
    let answer = match input.moment(args.agent) {
        Moment::BeforeCommand => before(&input, args.agent),
        Moment::AfterCommand => after(config, &input, args.agent)?.map(|note| input.with_note(&note)),
        Moment::Other => None,
    };
    match answer {
        Some(answer) => Ok(json(&mut crate::fs::patient::stdout(), &answer)?),
        None => Ok(()),
    }
}

/// Passes the command through `run`, with the agent's own cut and within its limits. The shell is the user's, as the agent
/// runs it.
fn before(input: &HookInput, agent: HookAgent) -> Option<serde_json::Value> {
    let command = input.command().filter(|command| !command.contains("overspill "))?;
    let policy = agent.policy();
    let program = std::env::args_os().next().unwrap_or_else(|| "overspill".into());
    let program = shell::word(program.as_encoded_bytes());
    // In single quotes, as every shell reads them, also across lines.
    let command = format!("'{}'", command.replace('\'', r"'\''"));
    let line = format!(r#"{program} run -p {policy} --headroom {policy} -- "${{SHELL:-sh}}" -c {command}"#);
    input.with_command(agent, &line)
}

/// Describes what the model did not get; none if it got everything.
fn after(config: &Config, input: &HookInput, agent: HookAgent) -> anyhow::Result<Option<String>> {
    let ToolResponse { text, saved_as, notice } = input.response(agent);
    if let Some(notice) = notice {
        let lost = format!("overspill: you did not get all of this output ({notice}).");
        return Ok(Some(format!("{lost} The agent keeps no copy: {RUN_AGAIN}")));
    }
    let overrides = Overrides { policy: Some(agent.policy().to_owned()), ..Overrides::default() };
    let policy = config.resolve(&overrides, None).map_err(crate::cli::input::usage)?.policy;
    // A text that the agent has cut already is no output: its notice says where that is.
    let cited = notices(&policy, &text);
    if saved_as.is_none() && cited.is_none() && policy.notices_in(&text).is_some() {
        return Ok(None);
    }
    let saved = saved_as.or(cited).filter(|path| is_known(config, path, input.transcript_path.as_deref()));
    let Some(path) = saved else {
        return Ok(of_output(config, text.as_bytes(), &policy, "")?
            .map(|lost| format!("{lost} No file holds the rest, as far as this hook is told: {RUN_AGAIN}")));
    };
    let mut source = Source::open(&path)?;
    source.wait();
    let view = source.view();
    let name = path.to_string_lossy();
    let lost = of_output(config, &view, &policy, &name)?;
    Ok(lost.map(|lost| format!("{lost} The whole output is in {}", label::label(name.as_bytes()))))
}

/// Returns the path in a notice of the policy's, at the end of a text or at its start.
fn notices(policy: &Policy, text: &str) -> Option<PathBuf> {
    let found = policy.notice_patterns().iter().flat_map(|form| form.find_in(text));
    let at_an_end = found.filter(|found| found.range.start < NEAR || found.range.end + NEAR > text.len());
    let mut figures = at_an_end.flat_map(|found| found.figures);
    figures.find(|(name, path)| name == "path" && path.starts_with('/')).map(|(_, path)| path.into())
}

/// How near to an end of a text a notice is the agent's own and no quotation, in bytes.
const NEAR: usize = 600;

/// Whether a path that an agent names is one that it may have: in a known store, or beside its records. Nothing else is
/// opened.
fn is_known(config: &Config, path: &Path, records: Option<&Path>) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let is_beside = || records.is_some_and(|records| session::spill::is_beside(path, records));
    is_file && (config.stores.store_of(path, &config.env).is_some() || is_beside())
}

/// Describes what a policy cuts of an output: lines, size, errors.
fn of_output(config: &Config, bytes: &[u8], policy: &Policy, path: &str) -> anyhow::Result<Option<String>> {
    let input = Input { saved_as: path, ..Input::of(bytes, path) };
    let count = |_, want| Some(units::measure_all(bytes, want));
    let planned = preview::plan_counting(&input, policy, ToCount::All, count)
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let preview = planned.preview;
    if !preview.truncated {
        return Ok(None);
    }
    let kept = kept_ranges(&preview.parts);
    let errors = config.error_pattern().map(|pattern| lost_errors(bytes, &kept, &pattern));
    let errors = errors.unwrap_or_default();
    Ok(Some(note(&preview, &errors, bytes)))
}

/// Writes the note, for a model to read.
fn note(preview: &Preview, errors: &LostErrors, bytes: &[u8]) -> String {
    let of = |kept: Option<u64>, total: Option<u64>, shown: &dyn Fn(u64) -> String| {
        kept.zip(total).map(|(kept, total)| format!("{} of {}", thousands(kept), shown(total)))
    };
    let got = of(preview.kept_lines, preview.total_lines, &lines).unwrap_or_else(|| "a part".to_owned());
    let whole = size(bytes.len() as u64);
    let mut note = format!("overspill: you got {got} of this output ({whole} in all).");
    if errors.lost() > 0 {
        let (lost, all) = (thousands(errors.lost()), thousands(errors.errors));
        note.push_str(&match errors.kept {
            0 => format!(" You got none of its {} with an error or warning", lines(errors.errors)),
            _ => format!(" You did not get {lost} of its {all} lines with an error or warning"),
        });
        if let Some(line) = &errors.first_lost {
            let number = bytecount::count(bytes.get(..line.start).unwrap_or_default(), b'\n') + 1;
            let text = bytes.get(line.clone()).unwrap_or_default();
            let text = label::label(text.get(..MOST_LINE).unwrap_or(text));
            note.push_str(&format!("; the first is line {}: {text}", thousands(number as u64)));
        }
        note.push('.');
    }
    note
}
