//! `overspill show`: prints what is known of one output, session or call.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::base::human::{NamedFact, lines, size, span, thousands, utc};
use crate::base::provenance::{Extent, Warning};
use crate::config::{Config, Overrides};
use crate::preview::Policy;
use crate::rows::outputs::{self, mode};
use crate::session::command::command;
use crate::session::text::mask;
use crate::source;
use crate::store::{
    Entry, EntryStatus, Expiry, Listing, OutputSize, ProcessStatus, Rule, RunRecord, StoredForm,
};
use crate::text::label::label;

use super::args::ShowArgs;
use super::input::{self, NamedItem};
use super::stores::{self, OutputScope, read_run};
use super::table::print_facts;
use super::{CommandResult, add, print_json, say, sessions, usage};

pub(crate) fn run(config: &Config, args: &ShowArgs) -> CommandResult {
    let named = match args.text {
        Some(_) => input::find_call(config, &args.name, |call| *args.name == *call.id),
        None => input::find(config, &args.name),
    };
    let path = match named? {
        NamedItem::Recorded(found) => return sessions::show::run(config, &found, args),
        NamedItem::Output(entry) => entry.path(),
        NamedItem::File(path) => path,
        NamedItem::Stdin => PathBuf::from("-"),
    };
    if args.text.is_some() {
        if path != Path::new("-") {
            source::metadata(&path)?;
        }
        let word = label(args.name.as_encoded_bytes());
        let words = "--text prints a text of a call";
        return Err(usage(format!("{words}; `overspill {word} | cat` prints an output")));
    }
    let selected = stores::select(config, OutputScope::Beside(&path))?.with_marks(config);
    let Some(mut entry) = selected.at(&path).cloned() else {
        let (record, facts) = loose_facts(&path, &source::metadata(&path)?, config, selected.now);
        return if args.json { print_json(&record) } else { print_facts(9, facts) };
    };
    let run = read_run(&mut entry, &config.env);
    match args.json {
        true => print_json(&record(&entry, run, &selected, config)),
        false => print_facts(9, entry_facts(&entry, run.as_ref(), &selected, config)),
    }
}

/// Returns the facts as in `--json`: those of `list`, and more.
fn record(entry: &Entry, run: Option<RunRecord>, selected: &Listing, config: &Config) -> Value {
    let mut record = json!({ "version": 1, "kind": "output" });
    add(&mut record, outputs::json(entry, selected.now));
    origin(entry, run.as_ref(), config).into_iter().for_each(|(name, known)| record[name] = known.into());
    let has_rule = !entry.is_kept() && entry.expires != Expiry::Exempt;
    let more = json!({
        "made": entry.made().map(utc),
        "retention": has_rule.then(|| entry.place().retention.describe()),
        "policies": config.candidates(Some(&entry.path())),
        "owner": entry.owner,
        "exposed": entry.exposed(),
        "note": entry.store().note,
        "warnings": warnings(entry, run.as_ref(), config),
        "run": run.map(|run| RunRecord { start: whole(run.start), end: whole(run.end), ..run }),
    });
    add(&mut record, more);
    record
}

/// Returns what an output is of, by name: as its store tells or a record of ours, else as the agent's records do.
fn origin(entry: &Entry, run: Option<&RunRecord>, config: &Config) -> [(&'static str, Option<String>); 4] {
    let file = entry.is_of_agent().then(|| entry.recorded_file());
    let found = file.and_then(|file| sessions::find_citing(config, file));
    let call = found.as_ref().and_then(|found| Some((found.opened.transcript(), found.call()?)));
    let ours = entry.copy().map(|copy| copy.command.clone()).or_else(|| Some(run?.command.join(" ")));
    let does = || call.map(|(transcript, call)| mask(&command(transcript, call)).into_owned());
    let known = |told: Option<&str>, recorded: Option<&str>| told.or(recorded).map(str::to_owned);
    [
        ("tool", known(entry.tool(), call.map(|(transcript, call)| transcript.tool(call)))),
        ("session", known(entry.session(), found.as_ref().map(|found| &*found.file.id))),
        ("project", known(entry.project(), call.and_then(|(of, _)| of.facts.cwd.as_deref()))),
        ("command", ours.filter(|words| !words.is_empty()).or_else(does)),
    ]
}

/// Leaves out parts of a second.
fn whole(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// Returns the facts of a file that is in no store: as in `--json`, and by name.
fn loose_facts(path: &Path, meta: &Metadata, config: &Config, now: Timestamp) -> (Value, [NamedFact; 6]) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.to_string_lossy().into_owned();
    let modified = meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).map(whole);
    let ago = |time: Timestamp| span(now.duration_since(time).as_secs().try_into().unwrap_or(0));
    let told = modified.map(|time| format!("{} ({} ago)", utc(time), ago(time)));
    let permissions = mode(meta.mode() & 0o7777);
    let record = json!({
        "version": 1,
        "kind": "output",
        "path": path,
        "size": meta.size(),
        "modified": modified.map(utc),
        "rule": null,
        "mode": permissions,
        "owner": meta.uid(),
        "exposed": meta.mode() & 0o077 != 0,
    });
    let facts = [
        ("path", path),
        ("store", "none: no agent's rule deletes it".to_owned()),
        ("size", bytes(meta.size())),
        ("modified", or_dash(told.as_deref())),
        ("mode", permissions),
        ("owner", owner(meta.uid(), config)),
    ];
    (record, facts)
}

fn entry_facts(
    entry: &Entry,
    run: Option<&RunRecord>,
    selected: &Listing,
    config: &Config,
) -> Vec<NamedFact> {
    let spec = entry.store();
    let retention = entry.place().retention.describe();
    let rule = match entry.rule.as_str() {
        _ if entry.is_kept() => "kept: no rule deletes it".to_owned(),
        _ if entry.expires == Expiry::Exempt => format!("none deletes it: {}", entry.status.describe()),
        _ if entry.rule == Rule::Unfinished => "unfinished: 1 h after the last change".to_owned(),
        word if retention.starts_with(word) => retention,
        word => format!("{word}: {retention}"),
    };
    let ago = outputs::when(entry, &selected.look()).text;
    let exposed = if entry.exposed() { " (warning: readable by others; fix with `chmod 600`)" } else { "" };
    let [tool, session, project, command] =
        origin(entry, run, config).map(|(name, known)| (name, or_dash(known.as_deref())));
    let mut facts = vec![
        ("id", entry.id().into_owned()),
        ("path", label(entry.path().as_os_str().as_encoded_bytes())),
        ("agent", entry.agent().to_owned()),
        tool,
        session,
        project,
        command,
        ("size", bytes(entry.size())),
        ("modified", format!("{} ({ago} ago)", utc(entry.modified()))),
        ("expires", expires(entry, selected)),
        ("rule", rule),
        ("holds", holds(entry.holds())),
        ("policies", or_dash(Some(&config.candidates(Some(&entry.path())).join(", ")))),
        ("mode", format!("{}{exposed}", mode(entry.mode))),
        ("owner", owner(entry.owner, config)),
        ("status", entry.status.describe().into_owned()),
    ];
    let notes = [&spec.retention.note, &spec.note].map(|note| note.as_ref().filter(|_| !entry.is_kept()));
    facts.extend(notes.into_iter().flatten().map(|note| ("note", note.clone())));
    facts.extend(warnings(entry, run, config).into_iter().map(|text| ("warning", text)));
    facts.extend(run.map(run_facts).into_iter().flatten());
    if let Some(copy) = entry.copy() {
        let cut = copy.policies.first().map(|policy| format!("{policy}, limits from {}", copy.limits_from));
        facts.extend([("copy of", copy.original.clone()), ("cut by", cut.unwrap_or_default())]);
    }
    facts
}

fn run_facts(run: &RunRecord) -> Vec<NamedFact> {
    let exit = run.exit.map(|exit| match exit {
        ProcessStatus::Code(code) => format!("with status {code}"),
        ProcessStatus::Signal(signal) => format!("by signal {signal}"),
    });
    let ended = [exit, run.stopped.as_ref().map(|how| format!("stopped: {how}"))];
    let ended: Vec<String> = ended.into_iter().flatten().collect();
    let amount = |of: OutputSize| format!("{}, {}", size(of.bytes), lines(of.lines));
    let lost = run.truncated.as_ref().map(|why| format!("; {} kept: {why}", amount(run.kept)));
    vec![
        ("in", run.directory.clone()),
        ("began", utc(run.start)),
        ("ended", ended.join(", ")),
        ("stream", if run.stream == "stderr" { run.stream.clone() } else { String::new() }),
        ("printed", amount(run.seen) + &lost.unwrap_or_default()),
        ("cut by", run.policy.clone()),
    ]
}

fn expires(entry: &Entry, selected: &Listing) -> String {
    let left = outputs::time_left(entry, false, &selected.look()).text;
    let copy = if selected.kept.has_copy_of(entry) { "; you keep a copy" } else { "" };
    match entry.expires.at() {
        _ if entry.is_kept() => "never: you keep it".to_owned(),
        Some(time) => format!("{} ({left}){copy}", utc(time)),
        None if entry.expires == Expiry::Exempt => format!("{left}{copy}"),
        None => format!("({left}){copy}"),
    }
}

/// Returns the warnings of its store, and of the policy at the time: of what agents do to the files that they save, so none
/// of a run, which overspill saved.
fn warnings(entry: &Entry, run: Option<&RunRecord>, config: &Config) -> Vec<String> {
    if run.is_some() {
        return Vec::new();
    }
    let last = last_byte(entry).unwrap_or_else(|error| {
        if entry.status == EntryStatus::Ok {
            say(&format!("{}: cannot be read: {error}", entry.path().display()));
        }
        None
    });
    let extent = Extent { bytes: entry.size(), last, cut: true };
    let policy =
        config.candidates(Some(&entry.path())).first().and_then(|name| config.catalog.get(name).ok());
    let policy = policy.as_ref().map_or(&[][..], Policy::warnings);
    let resolved = config.resolve(&Overrides::default(), Some(&entry.path()));
    let store = resolved.map_or_else(|_| entry.store().warnings.clone(), |resolved| resolved.store_warnings);
    Warning::applying(policy, &store, extent).iter().map(|warning| warning.text.clone()).collect()
}

fn last_byte(entry: &Entry) -> io::Result<Option<u8>> {
    let mut byte = [0];
    let at = entry.size().saturating_sub(1);
    match entry.open()?.read_exact_at(&mut byte, at) {
        Ok(()) => Ok(Some(byte[0])),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn bytes(number: u64) -> String {
    if number < 1024 { size(number) } else { format!("{} ({} bytes)", size(number), thousands(number)) }
}

fn or_dash(words: Option<&str>) -> String {
    words.filter(|words| !words.is_empty()).unwrap_or("–").to_owned()
}

fn holds(holds: StoredForm) -> String {
    let what = match holds {
        StoredForm::Raw => "the output itself",
        StoredForm::Stripped => "without escape sequences",
        StoredForm::Wrapped => "with text of the agent around it",
        StoredForm::Reindented => "reindented JSON",
        StoredForm::Cut => "the agent keeps no more",
    };
    format!("{}: {what}", holds.as_str())
}

fn owner(uid: u32, config: &Config) -> String {
    if uid == config.env.uid() { format!("{uid} (you)") } else { format!("{uid} (another user)") }
}
