//! `overspill hook`: answers an agent's hook: after a command it tells the model what was cut, and where the rest is.

mod wire;

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::cli::args::{HookAgent, HookArgs};
use crate::cli::{CommandResult, Failure, json};
use crate::compare::{LostErrors, kept_ranges, lost_errors};
use crate::config::{Config, Overrides};
use crate::human::{count as count_of, lines, size, thousands};
use crate::preview::{self, Input, Policy, Preview, ToCount};
use crate::session;
use crate::source::{self, Buffer, Source, ViewSupply};
use crate::text::label;
use crate::text::search::Severity;
use crate::text::supply::{OwnBytes, Supply};
use crate::text::units::{self, Measure, Want};

use wire::{HookInput, ToolResponse};

/// Maximum size of what an agent passes to a hook, in bytes.
const MOST_INPUT: u64 = 64 << 20;
/// Maximum number of bytes that are read of an output: agents wait for their hooks.
const MAX_READ: usize = 40 << 20;
/// Maximum number of bytes of a lost error line in a note.
const MOST_LINE: usize = 200;

/// Reads the hook's input, and prints an answer if there is something to answer.
pub(crate) fn run(config: &Config, args: &HookArgs) -> CommandResult {
    let mut text = Vec::new();
    io::stdin().lock().take(MOST_INPUT).read_to_end(&mut text)?;
    let input: HookInput = serde_json::from_slice(&text).map_err(|_| {
        let agent = clap::ValueEnum::to_possible_value(&args.agent);
        let agent = agent.as_ref().map_or("the agent", |agent| agent.get_name());
        Failure::Usage(format!("standard input is not what {agent} passes to a hook; see docs/agents.md"))
    })?;
    if !input.is_after_command(args.agent) {
        return Ok(());
    }
    match after(config, &input, args.agent)? {
        Some(note) => Ok(json(&mut crate::cli::safe::stdout(), &input.with_note(&note))?),
        None => Ok(()),
    }
}

/// Describes what the model did not get; none if it got everything.
fn after(config: &Config, input: &HookInput, agent: HookAgent) -> anyhow::Result<Option<String>> {
    let ToolResponse { text, saved_as, notice } = input.response(agent);
    if let Some(notice) = notice {
        let lost = format!("overspill: you did not get all of this output ({notice}).");
        let remedy = "run the command as `overspill run -- COMMAND` to keep it.";
        return Ok(Some(format!("{lost} The agent keeps no copy: {remedy}")));
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
        let bytes = text.as_bytes();
        let mut start = OwnBytes::from(&*text).part(0..bytes.len().min(MAX_READ));
        let output = HookOutput {
            bytes,
            count: &|range, want| units::measure_all(bytes.get(range).unwrap_or_default(), want),
        };
        // The agent may still save it: Gemini CLI does so after the hook, and then names the file itself.
        return of_output(config, &output, &mut start, &policy, "");
    };
    let name = path.to_string_lossy();
    let mut read = |source: &mut Source| {
        let view = source.view();
        let output = HookOutput {
            bytes: &view,
            count: &|range, want| source::measure(&view, range, want, &mut Buffer::default()),
        };
        of_output(config, &output, &mut ViewSupply::from(&view).up_to(MAX_READ), &policy, &name)
    };
    // Of a file that is cut or rewritten again and again nothing is known.
    let lost = Source::glance_at_entry(&path)?.read_steadily(&mut || true, &mut read);
    let lost = lost.unwrap_or(Ok(None))?;
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

/// An output that a hook describes.
struct HookOutput<'a> {
    bytes: &'a [u8],
    /// Counts totals of a range of the bytes.
    count: &'a dyn Fn(Range<usize>, Want) -> Measure,
}

/// Describes what a policy cuts of an output: lines, size, errors. Of a long one only the first [`MAX_READ`] bytes are
/// read, which `supply` has, and what they cannot tell is left out.
fn of_output(
    config: &Config,
    output: &HookOutput,
    supply: &mut impl Supply,
    policy: &Policy,
    path: &str,
) -> anyhow::Result<Option<String>> {
    let HookOutput { bytes, count } = *output;
    let input = Input { saved_as: path, ..Input::of(bytes, path) };
    let is_read = bytes.len() <= MAX_READ;
    let totals = |_, want| is_read.then(|| count(0..bytes.len(), want));
    let planned = preview::plan_counting(&input, policy, ToCount::All, totals)
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let preview = planned.preview;
    if !preview.truncated {
        return Ok(None);
    }
    let kept = kept_ranges(&preview.parts);
    let read = bytes.get(..MAX_READ).unwrap_or(bytes);
    let severities = config.severities();
    let mut lost = |severity| {
        let found = severities.get(severity).map(|pattern| lost_errors(read, supply, &kept, pattern));
        (severity, found.unwrap_or_default())
    };
    let errors = lost(Severity::Error);
    let found = if errors.1.all > 0 { errors } else { lost(Severity::Warning) };
    Ok(Some(note(&preview, &found, output)))
}

/// Writes the note, for a model to read.
fn note(preview: &Preview, (severity, found): &(Severity, LostErrors), output: &HookOutput) -> String {
    let HookOutput { bytes, count } = *output;
    let of = |kept: Option<u64>, total: Option<u64>, shown: &dyn Fn(u64) -> String| {
        kept.zip(total).map(|(kept, total)| format!("{} of {}", thousands(kept), shown(total)))
    };
    let got = of(preview.kept_lines, preview.total_lines, &lines).unwrap_or_else(|| "a part".to_owned());
    let whole = size(bytes.len() as u64);
    let mut note = format!("overspill: you got {got} of this output ({whole} in all).");
    let Some(line) = &found.first_lost else { return note };
    let number = thousands(count(0..line.start, Want::LINE_FEEDS).line_feeds + 1);
    let text = bytes.get(line.clone()).unwrap_or_default();
    let text = label::label(text.get(..MOST_LINE).unwrap_or(text));
    let (lost, all) = (thousands(found.lost()), thousands(found.all));
    let one = severity.singular();
    note.push_str(&match found.kept {
        _ if bytes.len() > MAX_READ => format!(" The first {one} that you did not get"),
        0 => format!(" You got none of its {}; the first", count_of(found.all, one)),
        _ => format!(" You did not get {lost} of its {all} {}; the first", severity.plural()),
    });
    note.push_str(&format!(" is line {number}: {text}."));
    note
}
