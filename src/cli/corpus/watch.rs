//! `overspill watch`: a line for each output as an agent stores it, with what the model got.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cli::args::WatchArgs;
use crate::cli::stores::row::EntryJson;
use crate::cli::stores::runs;
use crate::cli::stores::select::{Selected, Whose};
use crate::cli::{CommandResult, json, say, terminal};
use crate::compare::{LostErrors, kept_ranges, lost_errors};
use crate::config::Config;
use crate::corpus::{CorpusOutput, CorpusReader, CutPolicies, ReadFault, planned};
use crate::human::{count, size, thousands};
use crate::preview::{Preview, Status};
use crate::source::Identity;
use crate::store::{DirWatch, Entry, EntryStatus};
use crate::text::label::{fit, label};
use crate::text::search::Pattern;

/// The shortest time between two looks at the directories, and the time for which an output must not change before it
/// counts as complete.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks are rarer after a slow listing: they are at least this many times its duration apart, as in Stores.
const REST: u32 = 4;

/// Bytes of an error line that are printed.
const MOST_OF_LINE: usize = 400;

/// Prints a line for each new output until it is interrupted, or nobody reads the lines.
pub(crate) fn run(config: &Config, args: &WatchArgs) -> CommandResult {
    let whose = args.agent.as_deref().map_or(Whose::All, Whose::Agent);
    let watcher = Watcher {
        config,
        policies: CutPolicies::new(config),
        errors: config.error_pattern(),
        is_json: args.json,
    };
    let mut known = HashSet::new();
    let (mut selected, mut rest) = listed(config, whose)?;
    selected.entries.iter().filter(|entry| is_complete(entry)).for_each(|entry| {
        known.insert(key(entry));
    });
    let mut directories = DirWatch::new(selected.roots());
    say("watching for new outputs; Ctrl-C ends");
    let mut growing: Vec<Growing> = Vec::new();
    loop {
        std::thread::sleep(rest);
        for output in take_complete(&mut growing) {
            watcher.report(output, &selected)?;
        }
        if directories.check_once() {
            (selected, rest) = listed(config, whose)?;
            directories = DirWatch::new(selected.roots());
            growing.extend(new_entries(&mut selected, &mut known));
        }
    }
}

/// Lists the entries, and says how long to rest after it.
fn listed(config: &Config, whose: Whose) -> anyhow::Result<(Selected, Duration)> {
    let began = Instant::now();
    let selected = Selected::list(config, whose)?.with_marks(config);
    Ok((selected, LOOK_EVERY.max(began.elapsed() * REST)))
}

/// A new output, until it has not changed for a while.
struct Growing {
    entry: Entry,
    since: Instant,
}

/// Takes out the new entries, oldest first.
fn new_entries(selected: &mut Selected, known: &mut HashSet<u64>) -> Vec<Growing> {
    let since = Instant::now();
    let mut new: Vec<Entry> = std::mem::take(&mut selected.entries);
    new.retain(|entry| is_complete(entry) && known.insert(key(entry)));
    new.sort_by_key(Entry::modified);
    new.into_iter().map(|entry| Growing { entry, since }).collect()
}

/// Takes out what has not changed for long enough; what vanished is forgotten.
fn take_complete(growing: &mut Vec<Growing>) -> Vec<Entry> {
    let (mut complete, mut left) = (Vec::new(), Vec::new());
    for mut output in growing.drain(..) {
        let Ok(now) = output.entry.path().symlink_metadata() else { continue };
        let now = Identity::from(&now);
        if now != output.entry.identity {
            (output.entry.identity, output.since) = (now, Instant::now());
        }
        if output.since.elapsed() >= LOOK_EVERY { complete.push(output.entry) } else { left.push(output) }
    }
    *growing = left;
    complete
}

/// Whether an entry has its final name; only such can be opened.
fn is_complete(entry: &Entry) -> bool {
    use EntryStatus::{FutureTime, HardLinked, Ok};
    matches!(entry.status, Ok | HardLinked | FutureTime)
}

/// Returns what tells an output from others: another file of the same name is another output.
fn key(entry: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    (entry.path(), entry.identity.dev, entry.identity.ino).hash(&mut hasher);
    hasher.finish()
}

/// One output as in `--json`.
#[derive(Serialize)]
struct WatchedJson {
    #[serde(flatten)]
    entry: EntryJson,
    kept_lines: Option<u64>,
    removed_lines: Option<u64>,
    errors_lost: Option<u64>,
    first_lost: Option<String>,
}

/// What is known of a new output.
struct Watched {
    preview: Option<Preview>,
    lost: Option<LostErrors>,
    /// The first error that the model did not get, decoded and cut.
    first_lost: Option<String>,
}

/// What the reports need.
struct Watcher<'a> {
    config: &'a Config,
    policies: CutPolicies<'a>,
    errors: Option<Pattern>,
    is_json: bool,
}

impl Watcher<'_> {
    fn report(&self, mut entry: Entry, selected: &Selected) -> CommandResult {
        runs::learn(&mut entry, &self.config.env);
        let output = CorpusOutput::Entry(Box::new(entry.clone()));
        let mut reader = CorpusReader::default();
        let watched = match reader.read(&output) {
            Ok(bytes) => self.watched(&bytes, &entry.path()),
            Err(ReadFault::Gone) => return Ok(()),
            Err(ReadFault::Failed(words)) => {
                say(&words);
                return Ok(());
            }
        };
        let mut out = crate::fs::patient::stdout();
        if self.is_json {
            json(&mut out, &watched.json(EntryJson::of(&entry, selected)))?;
        } else {
            let words = watched.words(&entry);
            let words = if terminal::has_screen() { fit(&words, columns()) } else { words };
            out.write_all(format!("{words}\n").as_bytes())?;
        }
        Ok(out.flush()?)
    }

    fn watched(&self, bytes: &[u8], path: &Path) -> Watched {
        let policy = self.policies.of(path).ok();
        let preview = policy.and_then(|policy| planned(bytes, path, &policy.policy).ok());
        let preview = preview.filter(|preview| preview.status == Status::Ok);
        let lost = preview.as_ref().zip(self.errors.as_ref());
        let lost = lost.map(|(preview, errors)| lost_errors(bytes, &kept_ranges(&preview.parts), errors));
        let line = lost.as_ref().and_then(|lost| bytes.get(lost.first_lost.clone()?));
        let first_lost = line.map(|line| {
            let part = line.get(..line.len().min(MOST_OF_LINE)).unwrap_or_default();
            String::from_utf8_lossy(part).into_owned()
        });
        Watched { preview, lost, first_lost }
    }
}

impl Watched {
    fn json(self, entry: EntryJson) -> WatchedJson {
        WatchedJson {
            entry,
            kept_lines: self.preview.as_ref().and_then(|preview| preview.kept_lines),
            removed_lines: self.preview.as_ref().and_then(|preview| preview.removed_lines),
            errors_lost: self.lost.as_ref().map(LostErrors::lost),
            first_lost: self.first_lost,
        }
    }

    /// Returns it as one safe line: time, agent, size, what the model got, errors lost and the first of them.
    fn words(&self, entry: &Entry) -> String {
        let zone = jiff::tz::TimeZone::system();
        let time = entry.modified().to_zoned(zone).strftime("%H:%M:%S").to_string();
        let agent = label(entry.agent().as_bytes());
        let mut words = format!("{time}  {agent}  {}  {}", size(entry.size()), self.got());
        if let Some(lost) = self.lost.as_ref().filter(|lost| lost.lost() > 0) {
            let errors = count(lost.lost(), "error");
            words.push_str(&format!("  {errors} lost of {}", thousands(lost.errors)));
        }
        if let Some(line) = &self.first_lost {
            words.push_str(&format!(": {}", label(line.trim().as_bytes())));
        }
        words
    }

    fn got(&self) -> String {
        match &self.preview {
            None => "not known what the model got".to_owned(),
            Some(preview) if !preview.truncated => "the model got all".to_owned(),
            Some(preview) => match (preview.kept_lines, preview.total_lines) {
                (Some(kept), Some(all)) => {
                    format!("the model got {} of {} lines", thousands(kept), thousands(all))
                }
                _ => "the model got part".to_owned(),
            },
        }
    }
}

fn columns() -> usize {
    crossterm::terminal::size().map_or(80, |(columns, _)| columns.max(1).into())
}
