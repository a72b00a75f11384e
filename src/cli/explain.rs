//! `overspill explain`: from a notice, a tool's result or a transcript to the whole output, and whether that is there
//! and fits.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{anyhow, bail};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::base::human::{lines, span, span_left, thousands};
use crate::compare::{first_lost_line, kept_ranges, lines_as_numbered, lines_from};
use crate::config::recognise::{RecognisedNotice, figures_of, find_notices};
use crate::config::{Config, Overrides};
use crate::corpus::is_known;
use crate::preview::{self, CountedPlan, Input, Policy, Stream, TotalsFor, TotalsMask};
use crate::session::model::Citation;
use crate::session::spill::{SpillState, look_for};
use crate::source::{self, FileLock, MapView, OpenError};
use crate::store::{Basis, TimeLeft};
use crate::text::label::label;

use super::args::{ExplainArgs, PolicyArgs};
use super::input::{self, NamedItem};
use super::screens::{StartAt, Startup, show, target};
use super::sessions::SelectedSession;
use super::stores::{self, OutputScope};
use super::{CommandResult, fail, json, say, terminal};

/// A text of this many bytes or more is refused.
const MAX_TEXT: u64 = 64 << 20;
/// How many paths in a text without a notice are looked at.
const MAX_PATHS: usize = 100;
/// How many other policies with the same notice are named.
const MAX_ALSO: usize = 4;

#[derive(Serialize)]
struct ExplainedNotice {
    policy: String,
    agent: String,
    tool: String,
    also: Vec<String>,
    path: Option<String>,
    /// `here`, `gone`, `missing` where no store is known, or `other`: not the agent's file, and not opened.
    spill: Option<&'static str>,
    figures: Map<String, Value>,
    #[serde(flatten)]
    cited: CitedSpill,
}

impl ExplainedNotice {
    fn line(&self) -> String {
        let mut parts = vec![self.policy.clone()];
        parts.extend(self.lost());
        parts.push(match (self.spill, &self.cited.differs, self.cited.lines) {
            (Some("here"), None, Some(all)) => format!("the whole output is there, {}", lines(all)),
            (Some("here"), Some(why), _) => format!("the output there differs: {why}"),
            (Some("here"), None, None) => "the output is there, not checked".to_owned(),
            (Some("deleted"), ..) => "the whole output was deleted".to_owned(),
            (Some("missing"), ..) => "nothing is at that path here".to_owned(),
            (Some(_), ..) => "that file is in no known store, so it was not opened".to_owned(),
            (None, ..) => "the notice names no file".to_owned(),
        });
        parts.extend(self.cited.deletion.clone());
        label(parts.join(" · ").as_bytes())
    }

    fn lost(&self) -> Option<String> {
        if let (Some(lost), Some(true)) = (self.cited.removed_lines, self.cited.agrees) {
            return Some(format!("{} lost", lines(lost)));
        }
        let written = |name: &str| self.figures.get(name).and_then(Value::as_str);
        let figure = |name: &str| written(name).map(|text| text.parse().map_or(text.to_owned(), thousands));
        if let (Some(lost), Some(unit)) = (figure("removed"), written("unit")) {
            return Some(format!("{lost} {unit} lost"));
        }
        let known =
            [("removed_lines", "lines"), ("removed_bytes", "bytes"), ("removed_points", "characters")];
        known.iter().find_map(|(name, unit)| Some(format!("{} {unit} lost", figure(name)?)))
    }
}

/// What is known of a cited spill, and what the policy makes of it if it is here.
#[derive(Debug, Default, Serialize)]
struct CitedSpill {
    /// Whether the policy writes this notice for this spill, and else why not.
    agrees: Option<bool>,
    differs: Option<String>,
    /// Lines in the spill, and those that the model did not get, as they are numbered on the screen.
    lines: Option<u64>,
    removed_lines: Option<u64>,
    /// When it will be deleted, or by which rule it was, in words.
    deletion: Option<String>,
    /// The first line that the model did not get, 1-based.
    #[serde(skip)]
    first_lost: Option<u64>,
    /// Where it is, if it is here: in a copy of the agent's directory this is another path than the notice's.
    #[serde(skip)]
    place: PathBuf,
}

pub(crate) fn run(config: &Config, args: &ExplainArgs) -> CommandResult {
    let (text, call) = text(config, args)?;
    let agent = call.as_ref().map(|call| call.opened.transcript().agent);
    let own = call.as_ref().and_then(|call| call.policy());
    let found = find_notices(config, &text, agent, own.as_ref());
    let explainer = Explainer { config, own, records: call.map(|call| call.file.path) };
    let all: Vec<ExplainedNotice> = found.iter().map(|found| explainer.explain(found)).collect();
    let mut out = io::BufWriter::new(terminal::stdout());
    if args.json {
        json(&mut out, &all)?;
    } else {
        all.iter().try_for_each(|notice| print(&mut out, notice))?;
    }
    out.flush()?;
    // The screens may have to leave by way of standard output from another thread.
    drop(out);
    let here = all.iter().find(|notice| notice.spill == Some("here"));
    if let Some(notice) = here.filter(|_| !args.json && terminal::has_screen()) {
        return open(config, notice);
    }
    if all.is_empty() {
        let entries = stores::select(config, OutputScope::All)?;
        let named = entries.named_in(&text).map(|entry| label(entry.id_bytes()));
        let advice = named.map(|id| format!("the output that it names: overspill {id}"));
        let advice = advice.or_else(|| of_agent(config, &text));
        let advice = advice.unwrap_or("give the notice whole, from its first line to its last".into());
        bail!("no notice of a known policy in this text; {advice}");
    }
    Ok(())
}

/// Says which agent keeps files like one that a text names.
fn of_agent(config: &Config, text: &str) -> Option<String> {
    let mut paths = text.split_whitespace().filter(|word| word.starts_with('/')).take(MAX_PATHS);
    let (path, agent) =
        paths.find_map(|path| Some((path, config.stores.agent_of(Path::new(path), &config.env)?)))?;
    Some(format!("it names a file of {}: {}", label(agent.as_bytes()), label(path.as_bytes())))
}

/// Asks whether to open the first spill that is here, and opens it at the first line that the model did not get.
fn open(config: &Config, notice: &ExplainedNotice) -> CommandResult {
    // Standard input may be the text.
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return Ok(()) };
    say("Enter opens the output at the cut; Ctrl-C leaves");
    let mut answer = String::new();
    if io::BufReader::new(terminal).read_line(&mut answer)? == 0 || !answer.trim().is_empty() {
        return Ok(());
    }
    let path = &notice.cited.place;
    let Overrides { policy, .. } = overrides(config, &notice.policy, path);
    let policy_args = PolicyArgs { policy, ..PolicyArgs::default() };
    let opened = input::open(config, path.as_os_str(), &policy_args)?;
    let target = target(config, opened, &policy_args.overrides())?;
    let places = notice.cited.first_lost.map(|line| (0, StartAt::Line(line))).into_iter().collect();
    show(config.clone(), Startup { targets: vec![target], places, ..Startup::default() })
}

fn print(out: &mut impl Write, notice: &ExplainedNotice) -> io::Result<()> {
    writeln!(out, "{}", notice.line())?;
    if let Some(path) = &notice.path {
        writeln!(out, "  {}", label(path.as_bytes()))?;
    }
    let (also, more) = notice.also.split_at(notice.also.len().min(MAX_ALSO));
    if also.is_empty() {
        return Ok(());
    }
    let more = if more.is_empty() { "" } else { &format!(", {} more", thousands(more.len() as u64)) };
    writeln!(out, "  the same notice: {}{more}", label(also.join(", ").as_bytes()))
}

/// Returns the text to explain, and the call that it is the result of, if it is one.
fn text(config: &Config, args: &ExplainArgs) -> anyhow::Result<(String, Option<SelectedSession>)> {
    let bytes = if args.clipboard {
        clipboard()?
    } else {
        let named = match input::find_call(config, &args.file, |call| *args.file == *call.id) {
            Ok(NamedItem::Recorded(found)) => return Ok((found.text()?, Some(*found))),
            named => named,
        };
        let opened = named.and_then(|named| input::open_named(config, named, &PolicyArgs::default()));
        let mut source = opened.map_err(ask_for_text)?.source;
        source.wait_for(MAX_TEXT);
        if let Some(error) = source.error() {
            bail!("{}: {error}", label(args.file.as_encoded_bytes()));
        }
        let view = source.view();
        view[..view.len().min(MAX_TEXT as usize)].to_vec()
    };
    // No more is read: a device may never end.
    if bytes.len() as u64 >= MAX_TEXT {
        bail!("the text has 64 MB or more; give the part with the notice");
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), None))
}

fn ask_for_text(error: anyhow::Error) -> anyhow::Error {
    let Some(OpenError::Missing(path)) = error.downcast_ref() else { return error };
    anyhow!("{}: no such file; name the text to explain, or pipe it in", path.display())
}

const CLIPBOARDS: &[(&str, &[&str])] = &[
    ("pbpaste", &[]),
    ("wl-paste", &["--no-newline"]),
    ("xclip", &["-selection", "clipboard", "-o"]),
    ("xsel", &["--clipboard", "--output"]),
];

fn clipboard() -> anyhow::Result<Vec<u8>> {
    for (program, words) in CLIPBOARDS {
        if let Ok(output) = Command::new(program).args(*words).output()
            && output.status.success()
        {
            return Ok(output.stdout);
        }
    }
    let names: Vec<&str> = CLIPBOARDS.iter().map(|(program, _)| *program).collect();
    bail!("the clipboard cannot be read: none of {} works here; pipe the text in", names.join(", "))
}

struct Explainer<'a> {
    config: &'a Config,
    /// The policy of the call that the text is the result of, and the file that holds its records.
    own: Option<Policy>,
    records: Option<PathBuf>,
}

impl Explainer<'_> {
    fn explain(&self, found: &RecognisedNotice) -> ExplainedNotice {
        let path = found.path();
        let (spill, cited) = path.map(|path| self.look_up(found, path)).unzip();
        let named = found.figures().iter().filter(|(name, _)| !name.is_empty());
        let figures = named.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        ExplainedNotice {
            policy: found.policy().name().to_owned(),
            agent: found.policy().agent().to_owned(),
            tool: found.policy().tool().to_owned(),
            also: found.by.iter().skip(1).map(|(policy, _)| policy.name().to_owned()).collect(),
            path: path.map(|path| path.to_string_lossy().into_owned()),
            spill,
            figures: figures.collect(),
            cited: cited.unwrap_or_default(),
        }
    }

    /// Looks for the spill of a notice, and compares the notice with the one that the policy writes for the spill.
    fn look_up(&self, found: &RecognisedNotice, path: &Path) -> (&'static str, CitedSpill) {
        let Config { stores, env, .. } = self.config;
        let records = self.records.as_deref();
        match look_for(&Citation::new(path), records.unwrap_or(path), env.uid()) {
            SpillState::Deleted if stores.store_of(path, env).is_none() => ("missing", CitedSpill::default()),
            SpillState::Deleted => {
                ("deleted", CitedSpill { deletion: rule_of(self.config, path), ..CitedSpill::default() })
            }
            SpillState::Here(place) if is_known(self.config, &place, records) => {
                let checked = self.check(found, &place).unwrap_or_default();
                ("here", CitedSpill { deletion: self.time_left(&place), place, ..checked })
            }
            // Only files in known stores, or beside the records, are opened: a path in a text is a claim.
            SpillState::Here(_) | SpillState::Other(_) => ("other", CitedSpill::default()),
        }
    }

    fn time_left(&self, path: &Path) -> Option<String> {
        let entries = stores::select(self.config, OutputScope::Beside(path)).ok()?;
        let (entry, now) = (entries.at(path)?, entries.now);
        Some(match entry.left(now) {
            _ if entry.is_kept() => "you keep it".to_owned(),
            TimeLeft::For(rest) => format!("deleted in {}", span_left(rest.as_secs() as u64)),
            TimeLeft::Overdue(late) => format!("overdue for {}", span(late.as_secs() as u64)),
            TimeLeft::Open => format!("deleted: {}", entry.expires.left_word(now)),
        })
    }

    fn check(&self, found: &RecognisedNotice, path: &Path) -> Option<CitedSpill> {
        let name = found.policy().name();
        let mut opened =
            input::open_path(self.config, path, &PolicyArgs::default(), FileLock::Shared).ok()?;
        opened.policy = self.own.clone().filter(|own| own.name() == name);
        let mut policy = opened.policy_by(self.config, &overrides(self.config, name, path)).ok()?.policy;
        // The notice tells what only the agent knew, such as the call's id.
        for (name, value) in found.figures() {
            if matches!(policy.get(name), Some(preview::Value::Text(_))) {
                let _ = policy.set(name, value);
            }
        }
        let checked =
            opened.read_steadily(&mut |_, view| Ok(compare_notices(self.config, found, &policy, view)));
        checked.unwrap_or_else(|error| {
            fail(&error.to_string());
            None
        })
    }
}

/// Describes the rule of the store that the path is in, and when it applied.
fn rule_of(config: &Config, path: &Path) -> Option<String> {
    let (spec, rule) = config.stores.store_of(path, &config.env)?;
    let retention = spec.retention.as_set(&config.env);
    let made = rule.made(path.file_name()?, crate::base::env::now());
    let due = made.zip(retention.after).and_then(|(made, after)| made.checked_add(after).ok());
    if matches!(retention.basis, Basis::Never | Basis::Unknown) {
        return None;
    }
    if due.is_some_and(|due| due > crate::base::env::now()) {
        return Some("gone before its time, so not by the agent's rule".to_owned());
    }
    let due = due.map(|due| format!(", so from {} on", due.strftime("%Y-%m-%d")));
    Some(format!("{} deletes {}{}", spec.agent, retention.describe(), due.unwrap_or_default()))
}

/// Returns the overrides that choose `policy` for a stored output; none if it is the likeliest, whose limits of the
/// time a record may have, and which the model more certainly got.
fn overrides(config: &Config, policy: &str, path: &Path) -> Overrides {
    let likeliest = config.resolve(&Overrides::default(), Some(path));
    let is_likeliest = likeliest.is_ok_and(|found| found.policy.name() == policy);
    Overrides { policy: (!is_likeliest).then(|| policy.to_owned()), ..Overrides::default() }
}

fn compare_notices(
    config: &Config,
    found: &RecognisedNotice,
    policy: &Policy,
    view: &MapView,
) -> Option<CitedSpill> {
    let name = found.path().map(Path::to_string_lossy).unwrap_or_default();
    let count = |_, want| Some(source::count(view, want));
    let exit_code = found.figure("exit_code").and_then(|code| code.parse().ok());
    let input = Input { exit_code, ..Input::from_bytes(view, &name) };
    let planned = preview::plan_counting(&input, policy, TotalsFor::All, count);
    let CountedPlan { preview, totals, .. } = planned.ok()?;
    let made = figures_of(config, policy, &preview.text(&input));
    let differs = (!made.iter().any(|made| made == found.figures())).then(|| difference(found, made.first()));
    let kept = kept_ranges(&preview.parts, view, Stream::Stdout);
    let before = view.get(..first_lost_line(view, &kept)).unwrap_or_default();
    let counted = totals.stdout.line_feeds;
    let feeds = counted.unwrap_or_else(|| source::count(view, TotalsMask::LINE_FEEDS).line_feeds);
    let [kept_lines, lines] = lines_as_numbered(&preview, view, Some(lines_from(feeds, view)));
    Some(CitedSpill {
        agrees: Some(differs.is_none()),
        differs,
        lines,
        removed_lines: lines.zip(kept_lines).map(|(all, kept)| all.saturating_sub(kept)),
        first_lost: preview.truncated.then(|| bytecount::count(before, b'\n') as u64 + 1),
        ..CitedSpill::default()
    })
}

fn difference(found: &RecognisedNotice, made: Option<&Vec<(String, String)>>) -> String {
    let Some(made) = made else { return "the policy does not cut this file".to_owned() };
    let mut both = found.figures().iter().zip(made).take_while(|((name, _), (known, _))| name == known);
    let Some(((name, stated), (_, would))) = both.find(|(stated, would)| stated != would) else {
        return "the notice has another form".to_owned();
    };
    let name = if name.is_empty() { "a figure" } else { name };
    format!("{name} is {stated} in the notice, and would be {would}")
}
