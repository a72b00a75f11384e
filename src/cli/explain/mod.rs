//! `overspill explain`: from a notice, a tool's result or a transcript to the whole output.

mod recognise;
mod spill;

use std::ffi::OsStr;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{anyhow, bail};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::base::human::{lines, thousands};
use crate::cli::args::{ExplainArgs, PolicyArgs};
use crate::cli::input;
use crate::cli::named::{self, Named};
use crate::cli::screens::{Beginning, StartAt, show, target};
use crate::cli::stores::select::{Selected, Whose};
use crate::cli::terminal::has_screen;
use crate::cli::{CommandResult, json};
use crate::config::Config;
use crate::source::{self, OpenError, Source};
use crate::text::label::label;

use recognise::RecognisedNotice;
use spill::CitedSpill;

/// A text of this many bytes or more is refused.
const MAX_TEXT: u64 = 64 << 20;

/// One notice as in `--json`.
#[derive(Serialize)]
struct ExplainedNotice {
    policy: String,
    agent: String,
    tool: String,
    also: Vec<String>,
    path: Option<String>,
    /// `here`, `gone` or `other`: something that is not the agent's file, which is not opened.
    spill: Option<&'static str>,
    figures: Map<String, Value>,
    #[serde(flatten)]
    cited: CitedSpill,
}

impl ExplainedNotice {
    fn new(config: &Config, entries: &Selected, found: &RecognisedNotice) -> Self {
        let path = found.path();
        let (spill, cited) = path.map(|path| spill::look(config, entries, found, path)).unzip();
        let figures = found.figures.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        Self {
            policy: found.policy.name().to_owned(),
            agent: found.policy.agent().to_owned(),
            tool: found.policy.tool().to_owned(),
            also: found.also.clone(),
            path: path.map(|path| path.to_string_lossy().into_owned()),
            spill,
            figures: figures.collect(),
            cited: cited.unwrap_or_default(),
        }
    }

    fn line(&self) -> String {
        let mut parts = vec![self.policy.clone()];
        parts.extend(self.lost());
        parts.push(match (self.spill, &self.cited.differs, self.cited.lines) {
            (Some("here"), None, Some(all)) => format!("spill here, {}: agrees", lines(all)),
            (Some("here"), Some(why), _) => format!("spill here, but differs: {why}"),
            (Some("here"), None, None) => "spill here, not checked".to_owned(),
            (Some("gone"), ..) => "spill gone".to_owned(),
            (Some(_), ..) => "that file is in no known store, so it was not opened".to_owned(),
            (None, ..) => "names no file".to_owned(),
        });
        parts.extend(self.cited.deletion.clone());
        label(parts.join(" · ").as_bytes())
    }

    /// Says what was lost: as the spill shows, or else as the notice states it.
    fn lost(&self) -> Option<String> {
        if let (Some(lost), Some(true)) = (self.cited.removed_lines, self.cited.agrees) {
            return Some(format!("{} lost", lines(lost)));
        }
        let figure = |name: &str| self.figures.get(name).and_then(Value::as_str);
        if let (Some(lost), Some(unit)) = (figure("removed"), figure("unit")) {
            return Some(format!("{lost} {unit} lost"));
        }
        let known =
            [("removed_lines", "lines"), ("removed_bytes", "bytes"), ("removed_points", "characters")];
        known.iter().find_map(|(name, unit)| Some(format!("{} {unit} lost", figure(name)?)))
    }
}

/// Names agent, tool and form of every notice in a text, and what became of the spill that it cites.
pub(crate) fn run(config: &Config, args: &ExplainArgs) -> CommandResult {
    let text = text(config, args)?;
    let found = recognise::find_all(config, &text);
    let entries = Selected::list(config, Whose::All)?.with_marks(config);
    let all: Vec<ExplainedNotice> =
        found.iter().map(|found| ExplainedNotice::new(config, &entries, found)).collect();
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    if args.json {
        json(&mut out, &all)?;
    } else {
        all.iter().try_for_each(|notice| print(&mut out, notice))?;
    }
    out.flush()?;
    // The screens may have to leave by way of standard output from another thread.
    drop(out);
    let here = all.iter().find(|notice| notice.spill == Some("here"));
    if let Some(notice) = here.filter(|_| !args.json && has_screen()) {
        return open(config, notice);
    }
    match all.is_empty() {
        false => Ok(()),
        true => bail!(unrecognised(config, &text)),
    }
}

/// Asks whether to open the first spill that is here, and opens it at the first line that the model did not get.
fn open(config: &Config, notice: &ExplainedNotice) -> CommandResult {
    // Standard input may be the text.
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return Ok(()) };
    crate::cli::say("Enter opens the output at the cut; Ctrl-C leaves");
    let mut answer = String::new();
    if io::BufReader::new(terminal).read_line(&mut answer)? == 0 || !answer.trim().is_empty() {
        return Ok(());
    }
    let policy_args = PolicyArgs { policy: Some(notice.policy.clone()), ..PolicyArgs::default() };
    let path = notice.path.clone().unwrap_or_default();
    let opened = input::open(config, OsStr::new(&path), &policy_args)?;
    let target = target(config, opened, &policy_args.overrides())?;
    let places = notice.cited.first_lost.map(|line| (0, StartAt::Line(line))).into_iter().collect();
    show(config.clone(), Beginning { targets: vec![target], places, ..Beginning::default() })
}

fn print(out: &mut impl Write, notice: &ExplainedNotice) -> io::Result<()> {
    writeln!(out, "{}", notice.line())?;
    if let Some(path) = &notice.path {
        writeln!(out, "  {}", label(path.as_bytes()))?;
    }
    let more = notice.also.len().saturating_sub(MAX_ALSO);
    let also = notice.also.iter().take(MAX_ALSO).cloned().collect::<Vec<_>>().join(", ");
    match (also.is_empty(), more) {
        (true, _) => Ok(()),
        (false, 0) => writeln!(out, "  the same notice: {}", label(also.as_bytes())),
        (false, more) => {
            writeln!(out, "  the same notice: {}, {} more", label(also.as_bytes()), thousands(more as u64))
        }
    }
}

/// How many other policies with the same notice are named.
const MAX_ALSO: usize = 4;

fn unrecognised(config: &Config, text: &str) -> String {
    let nearest = recognise::guess(config, text);
    let nearest = nearest.map(|name| format!("; the nearest is that of {name}"));
    format!("no notice of a known policy in this text{}", nearest.unwrap_or_default())
}

fn text(config: &Config, args: &ExplainArgs) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    if args.clipboard {
        bytes = clipboard()?;
    } else if args.file == OsStr::new("-") {
        if io::IsTerminal::is_terminal(&io::stdin()) {
            crate::cli::say("paste the text here; Ctrl-D ends it");
        }
        let named = |error: io::Error| anyhow!("standard input: {error}");
        source::stdin().map_err(named)?.take(MAX_TEXT).read_to_end(&mut bytes).map_err(named)?;
    } else {
        let path = match named::find(config, &args.file) {
            Ok(Named::Recorded(found)) => return found.text(),
            Ok(Named::Output(entry)) => entry.path(),
            Err(error) if !error.is::<OpenError>() => return Err(error),
            _ => PathBuf::from(&args.file),
        };
        let mut source = Source::open_unpacked(&path).map_err(unreadable)?;
        source.wait_for(MAX_TEXT);
        if let Some(error) = source.error() {
            bail!("{}: {error}", label(args.file.as_encoded_bytes()));
        }
        let view = source.view();
        bytes = view[..view.len().min(MAX_TEXT as usize)].to_vec();
    }
    // No more is read: a device may never end.
    if bytes.len() as u64 >= MAX_TEXT {
        bail!("the text has 64 MB or more; give the part with the notice");
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Says why the file with the text cannot be opened.
fn unreadable(error: OpenError) -> anyhow::Error {
    match error {
        OpenError::Missing(path) => {
            anyhow!("{}: no such file; name the text to explain, or pipe it in", path.display())
        }
        error => error.into(),
    }
}

/// The programs that print the clipboard, with their arguments.
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
