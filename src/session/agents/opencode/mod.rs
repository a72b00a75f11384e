//! opencode before 2, and Kilo, built on it: a file for each session, message and part; since 1.2 a row of a database.

mod history;
mod messages;

use std::path::{Path, PathBuf};

use crate::base::env::Env;
use crate::session::record::FileRecords;
use crate::session::watch::{RecordUse, read_record};

use super::{
    FindWatch, FormatInfo, FoundFile, Json, ReadParameter, ReadProgress, RecordFiles, RowBuffer, RowsOf,
    SessionFacts, SessionFile, SessionFormat, SessionResult, TableRow, TableRows, TableSession, Tape,
    Transcript, database, find, read_json,
};

use history::{Revert, SessionHistory, revert};

pub(crate) use messages::OPENCODE_MESSAGES;

const PARTS: RowsOf = RowsOf::plain("part", "data");

pub(crate) const OPENCODE_ROWS: SessionFormat = SessionFormat::in_tables(
    FormatInfo { parameters: PARAMETERS, ..FormatInfo::new("opencode", "1.18.33") },
    databases,
    RecordFiles::Tables {
        names: TABLES,
        list: |path, rows| if is_kilo(path) { Ok(Vec::new()) } else { list(path, rows) },
        read: read_rows,
    },
);

/// Kilo has the tools of opencode.
pub(crate) const KILO_ROWS: SessionFormat = SessionFormat::in_tables(
    FormatInfo { policies_of: Some("opencode"), parameters: PARAMETERS, ..FormatInfo::new("kilo", "7.7.9") },
    |env, watch| find::matching(find::data_dir(env, "kilo"), "kilo.db", watch),
    RecordFiles::Tables { names: TABLES, list, read: read_rows },
);

const TABLES: &[&str] = &["session", "message", "part", messages::SESSIONS];

const PARAMETERS: &[(&str, ReadParameter)] = &[
    // The shell tool was called bash before.
    ("tag", |recorded| recorded.text.ends_with("</bash_metadata>").then(|| "bash".to_owned())),
    ("timeout_ms", |recorded| {
        recorded.figure_at_end("shell tool terminated command after exceeding timeout ")
    }),
];

/// Whether a database is Kilo's, by its name: the tables are alike.
fn is_kilo(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"kilo"))
}

/// Returns opencode's databases: a channel of releases has one of its own.
fn databases(env: &Env, watch: FindWatch) -> Vec<FoundFile> {
    let Some(dir) = find::data_dir(env, "opencode") else { return Vec::new() };
    let named = env.var("OPENCODE_DB").map(|path| dir.join(path));
    let is_database = |name: &str| name.starts_with("opencode") && name.ends_with(".db");
    let named = named.and_then(|path| find::found_file(&path));
    named.into_iter().chain(find::files(&dir, is_database, watch)).collect()
}

fn list(_: &Path, rows: &TableRows) -> database::Result<Vec<SessionFacts>> {
    // opencode 2 leaves the rows of the sessions that it took over.
    let is_taken = !rows.columns("session_v2")?.is_empty();
    let others = if is_taken { "WHERE id NOT IN (SELECT id FROM session_v2)" } else { "" };
    list_main("session", others, rows)
}

/// Lists the sessions in a table, those that a clause selects; those of sub-agents are part of their parents.
fn list_main(table: &'static str, clause: &str, rows: &TableRows) -> database::Result<Vec<SessionFacts>> {
    let facts = "parent_id AS parent, directory AS cwd, title AS title, version AS version, \
        time_created AS started, time_updated AS ended, fork_session_id AS origin";
    let mut sessions = rows.sessions(table, facts, clause)?;
    sessions.retain(|facts| facts.parent.is_none());
    Ok(sessions)
}

fn read_rows(of: &TableSession, out: &mut Transcript) -> database::Result<()> {
    let source = of.add_source(PARTS, out);
    let sql = format!(
        "SELECT part.rowid, part.message_id, part.id, {} FROM part LEFT JOIN message ON message.id = part.message_id
        WHERE part.session_id = ? ORDER BY message.time_created, message.rowid, part.rowid",
        database::record("part.data")
    );
    for (session, thread) in threads(of, "session", out)? {
        let mut history = history(of.rows, &session, thread)?;
        let mut buffer = RowBuffer::default();
        of.each_record(&sql, &session, out, &mut |row, out| {
            let [message, id] = [1, 2].map(|column| row.text(column).unwrap_or_default());
            if let Some(record) = row.record(3, PARTS, &mut buffer, &mut out.unread) {
                let is_known = history.part(&message, &id, record, row.place(source), out);
                out.unread.known += u64::from(is_known);
            }
        })?;
        history.derive_events(out);
    }
    Ok(())
}

fn history(rows: &TableRows, session: &str, thread: u32) -> database::Result<SessionHistory> {
    let sql = format!(
        "SELECT id, {}, time_created FROM message WHERE session_id = ? ORDER BY time_created, rowid",
        database::record("data")
    );
    let mut history = SessionHistory::new(thread, reverted(rows, session)?);
    let mut tape = Tape::default();
    rows.each(&sql, &[session], &mut |row| {
        let message = row.bytes(1).and_then(|data| tape.read(data).ok());
        let at = row.time(2);
        history.add_message(&row.text(0).unwrap_or_default(), at, message);
        true
    })?;
    Ok(history)
}

/// Returns from where on the person took a session back, if so.
fn reverted(rows: &TableRows, session: &str) -> database::Result<Option<Revert>> {
    if !rows.columns("session")?.contains("revert") {
        return Ok(None);
    }
    let sql = format!("SELECT {} FROM session WHERE id = ?", database::record("revert"));
    let reverted = |row: &TableRow| revert(Tape::default().read(row.bytes(0)?).ok()?);
    Ok(rows.all(&sql, &[session], reverted)?.into_iter().next().flatten())
}

/// Returns the ids of a session and of those of its sub-agents in a table, with the threads that they are.
fn threads(
    of: &TableSession,
    table: &'static str,
    out: &mut Transcript,
) -> database::Result<Vec<(String, u32)>> {
    let sql = format!("SELECT id, {} FROM {table} WHERE parent_id = ?", database::title("title"));
    of.threads(&sql, RowsOf::plain(table, "title"), out)
}

pub(crate) const OPENCODE_TREE: SessionFormat = SessionFormat {
    info: FormatInfo { name: "opencode (files)", made_for: "1.1.53", ..OPENCODE_ROWS.info },
    find: |env, watch| {
        let root = find::data_dir(env, "opencode/storage/session");
        let with_facts = |file: FoundFile| Some(FoundFile { facts: read_json(&file.path, facts)?, ..file });
        let sessions = find::matching(root, "*/*.json", watch).into_iter().filter_map(with_facts);
        // Those of sub-agents are part of their parents.
        sessions.filter(|session| session.facts.parent.is_none()).collect()
    },
    is_session: |_, head| {
        let mut tape = Tape::default();
        let record = tape.read(head.trim_ascii()).ok();
        record.is_some_and(|record| record.name("projectID").is_some() && record.name("directory").is_some())
    },
    id: |session| find::stem(session).into(),
    glance: |file, _, _| read_json(&file.path, facts).unwrap_or_default(),
    records: RecordFiles::Watched(files, read_tree),
};

fn is_json(name: &str) -> bool {
    name.ends_with(".json")
}

fn facts(record: Json) -> SessionFacts {
    let time = record.object("time");
    SessionFacts {
        id: record.name("id").unwrap_or_default(),
        version: record.name("version"),
        cwd: record.string("directory"),
        title: record.string("title"),
        parent: record.name("parentID"),
        started: time.time("created"),
        ended: time.time("updated"),
        ..SessionFacts::default()
    }
}

fn storage(file: &SessionFile) -> PathBuf {
    file.path.ancestors().nth(3).map(Path::to_owned).unwrap_or_default()
}

/// Returns the files of the parts, and the directory of the sessions, in which those of sub-agents come.
fn files(file: &SessionFile, transcript: &Transcript) -> Vec<PathBuf> {
    let storage = storage(file);
    let others = transcript.threads.iter().skip(1).map(|thread| &*thread.id);
    let sessions = std::iter::once(file.id.as_str()).chain(others);
    let messages = sessions.flat_map(|session| messages(&storage, session));
    let files = messages.flat_map(|message| {
        let parts = parts(&storage, &message).into_iter().map(|part| part.path);
        parts.chain([message.path])
    });
    file.path.parent().map(Path::to_owned).into_iter().chain([file.path.clone()]).chain(files).collect()
}

fn read_tree(file: &SessionFile, progress: &dyn ReadProgress, out: &mut Transcript) -> SessionResult<()> {
    out.facts = read_json(&file.path, facts).unwrap_or_default();
    let storage = storage(file);
    // Those of sub-agents lie beside their parent's.
    let files = find::files(file.path.parent().unwrap_or(&file.path), is_json, &mut |_| true).into_iter();
    let all: Vec<_> = files.filter_map(|file| Some((read_json(&file.path, facts)?, file))).collect();
    let children = |parent: &str| -> SessionResult<Vec<_>> {
        let children = all.iter().filter(|(facts, _)| facts.parent.as_deref() == Some(parent));
        let child = |(facts, file): &(SessionFacts, FoundFile)| {
            (find::stem(&file.path).to_owned(), Some(facts.title.clone().unwrap_or_default()))
        };
        Ok(children.map(child).collect())
    };
    for (session, thread) in out.family(&file.id, &children)? {
        let session_file = file.path.with_file_name(format!("{session}.json"));
        let reverted = read_json(session_file, |session| revert(session.object("revert"))).flatten();
        let mut history = SessionHistory::new(thread, reverted);
        read_messages(&storage, &session, &mut history, progress, out)?;
        history.derive_events(out);
    }
    Ok(())
}

fn messages(storage: &Path, session: &str) -> Vec<FoundFile> {
    find::files(&storage.join("message").join(session), is_json, &mut |_| true)
}

fn parts(storage: &Path, message: &FoundFile) -> Vec<FoundFile> {
    find::files(&storage.join("part").join(find::stem(&message.path)), is_json, &mut |_| true)
}

/// Reads the messages of a session, in the order of their times.
fn read_messages(
    storage: &Path,
    session: &str,
    history: &mut SessionHistory,
    progress: &dyn ReadProgress,
    out: &mut Transcript,
) -> SessionResult<()> {
    let read = |file: FoundFile| {
        let created = read_json(&file.path, |message| message.object("time").time("created"));
        (created.flatten(), file)
    };
    let mut messages: Vec<_> = messages(storage, session).into_iter().map(read).collect();
    messages.sort_by_key(|(at, _)| *at);
    let (mut tape, total) = (Tape::default(), messages.len() as u64);
    for (at, file) in &messages {
        progress.try_step(0, total)?;
        // A message may hold whole files, so that all of them would not fit.
        let bytes = FileRecords::whole(&file.path, false).map(|(_, bytes)| bytes).unwrap_or_default();
        history.add_message(find::stem(&file.path), *at, tape.read(&bytes).ok());
    }
    for (number, (_, message)) in messages.iter().enumerate() {
        progress.try_step(number as u64, total)?;
        for part in parts(storage, message) {
            let id = find::stem(&part.path).to_owned();
            read_record(part.path, out, |record, place, out| {
                match history.part(find::stem(&message.path), &id, record, place, out) {
                    false => RecordUse::Unknown,
                    true if record.is_type("tool") => RecordUse::Kept,
                    true => RecordUse::Known,
                }
            });
        }
    }
    Ok(())
}
