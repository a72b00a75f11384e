//! Crush: a database in each project, with a row for each message. Not seen in use: after the program's source.

use std::path::{Component, Path, PathBuf};

use crate::base::env::Env;
use crate::session::database::check_database_in_project;

use super::{
    Call, CallStatus, Citation, ContextChange, FindWatch, FormatInfo, FoundFile, Json, Kind, MAX_TEXT,
    RecordEntry, RecordFiles, ResultBody, RowBuffer, RowsOf, SessionFacts, SessionFormat, TableRows,
    TableSession, Transcript, between, database, find, is_number, number_after, read_json, text_end,
};

const TITLES: RowsOf = RowsOf::plain("sessions", "title");
const MESSAGES: RowsOf = RowsOf::plain("messages", "parts");
const DATABASE: &str = "crush.db";

const OTHER_KINDS: &str = "text reasoning image_url binary finish shell_command skill_invocation";

pub(crate) const CRUSH: SessionFormat = SessionFormat::in_tables(
    FormatInfo {
        body: |recorded, _| {
            let state = JOB_STATES.iter().find(|state| recorded.text.starts_with(**state));
            Ok(ResultBody::after(recorded, state.map(|state| state.len())))
        },
        // In the last line.
        parameters: &[("cwd", |recorded| {
            Some(recorded.text.strip_suffix("</cwd>")?.rsplit_once("\n<cwd>")?.1.to_owned())
        })],
        saves_exit: |tool| tool == "job_output",
        ..FormatInfo::new("crush", "the source of August 2026")
    },
    databases,
    RecordFiles::Tables { names: &["sessions", "messages"], list, read },
);

/// What stands before the output of a background job.
const JOB_STATES: [&str; 2] = ["Status: running\n\n", "Status: completed\n\n"];

/// Returns the databases of the projects that the agent lists, and of the one at hand, as far as they may be read.
fn databases(env: &Env, watch: FindWatch) -> Vec<FoundFile> {
    let data = env.dir("CRUSH_GLOBAL_DATA").or_else(|| find::data_dir(env, "crush"));
    let mut databases = data.map(|data| project_databases(&data.join("projects.json"))).unwrap_or_default();
    let here = env.dir("PWD");
    let above = here.iter().flat_map(|dir| dir.ancestors());
    let above = above.map(|project| (project.to_owned(), project.join(".crush").join(DATABASE)));
    databases.extend(above.into_iter().find(|(_, path)| path.symlink_metadata().is_ok()));
    databases.sort_by(|(_, a), (_, b)| a.cmp(b));
    databases.dedup_by(|(_, a), (_, b)| a == b);
    let may_be_read = |(project, path): &(PathBuf, PathBuf)| match check_database_in_project(project, path) {
        Ok(()) => true,
        Err(refused) => {
            watch(refused);
            false
        }
    };
    databases.into_iter().filter(may_be_read).filter_map(|(_, path)| find::found_file(&path)).collect()
}

/// Returns the projects that the agent lists, and the database of each.
fn project_databases(list: &Path) -> Vec<(PathBuf, PathBuf)> {
    let database = |project: Json| {
        let (project, data) = (PathBuf::from(project.string("path")?), project.string("data_dir")?);
        let path = project.join(&data).join(DATABASE);
        let is_inside = Path::new(&data).components().all(|name| matches!(name, Component::Normal(_)));
        // A directory elsewhere is the agent's own choice; what is in it still counts as the project's.
        let project = if is_inside { project } else { path.parent()?.parent()?.to_owned() };
        path.is_absolute().then_some((project, path))
    };
    read_json(list, |list| list.list("projects").filter_map(database).collect()).unwrap_or_default()
}

/// Lists the sessions; those of sub-agents, which have a parent, are part of it.
fn list(path: &Path, rows: &TableRows) -> database::Result<Vec<SessionFacts>> {
    let of_session = rows.columns("sessions")?;
    let is_crush = ["parent_session_id", "summary_message_id"].iter().all(|name| of_session.contains(*name));
    if !is_crush || !rows.columns("messages")?.contains("parts") {
        return Ok(Vec::new());
    }
    let cwd = path.parent().and_then(Path::parent).map(|dir| dir.to_string_lossy().into_owned());
    let facts = "title AS title, created_at AS started, updated_at AS ended";
    let sessions = rows.sessions("sessions", facts, "WHERE parent_session_id IS NULL")?;
    Ok(sessions.into_iter().map(|facts| SessionFacts { cwd: cwd.clone(), ..facts }).collect())
}

fn read(of: &TableSession, out: &mut Transcript) -> database::Result<()> {
    let source = of.add_source(MESSAGES, out);
    let title = database::title("title");
    let sub_agents = format!("SELECT id, {title} FROM sessions WHERE parent_session_id = ?");
    let threads = of.threads(&sub_agents, TITLES, out)?;
    let columns = of.rows.columns("messages")?;
    let column = |name| database::or_null(&columns, name);
    let sql = format!(
        "SELECT rowid, {}, model, created_at, {} = 'assistant' AND {} IS NOT 1, \
         id = (SELECT summary_message_id FROM sessions WHERE id = ?1) \
         FROM messages WHERE session_id = ?1 ORDER BY created_at, rowid",
        database::record("parts"),
        column("role"),
        column("is_summary_message"),
    );
    for (session, thread) in threads {
        let (mut buffer, mut is_first) = (RowBuffer::default(), true);
        let first = out.calls.len() as u32;
        of.each_record(&sql, &session, out, &mut |row, out| {
            // The history begins with a summary.
            let is_summary = !std::mem::take(&mut is_first) && row.integer(5) == Some(1);
            if row.integer(4) == Some(1) && !is_summary {
                out.count_answer(thread);
            }
            if let Some(parts) = row.record(1, MESSAGES, &mut buffer, &mut out.unread) {
                let at = row.time(3);
                let entry = RecordEntry { record: parts, place: row.place(source), at, thread };
                if is_summary {
                    // A summary stands for all that came before it in its thread.
                    entry.add_event(ContextChange::Compact, first..out.calls.len() as u32, out);
                }
                out.facts.model = row.text(2).filter(|model| !model.is_empty()).or(out.facts.model.take());
                message(entry, out);
            }
        })?;
    }
    Ok(())
}

fn message(entry: RecordEntry, out: &mut Transcript) {
    let mut is_known = true;
    for part in entry.record.items() {
        let (entry, data) = (entry.with(part), part.get("data"));
        match (&*part.word("type"), data) {
            ("tool_call", Some(data)) => {
                entry.add_next_call_of(data, ["id", "name", "input"], out);
            }
            ("tool_result", Some(data)) => {
                let Some(id) = data.name("tool_call_id") else { continue };
                let number = out.call_or_new(entry.thread, &id, &data.word("name"));
                out.unanswered(number).into_iter().for_each(|call| result(entry, data, call));
            }
            (kind, _) => is_known &= out.unread.is_known(kind, OTHER_KINDS),
        }
    }
    out.unread.known += u64::from(is_known);
}

fn result(entry: RecordEntry, data: Json, call: &mut Call) {
    let Some(content) = data.get("content").filter(|content| content.kind() == Kind::String) else { return };
    let end = text_end(content, MAX_TEXT);
    // The last line says where the command ran.
    let printed = end.rsplit_once("\n\n<cwd>").map_or(&*end, |(printed, _)| printed);
    let last = printed.lines().next_back().unwrap_or_default();
    call.exit = number_after(last, "Exit code ");
    call.end(data.flag("is_error"));
    if last == ABORTED {
        call.status = CallStatus::Denied;
    }
    let text = content.text().map(|content| content.to_text(MAX_LOOKED_AT).text).unwrap_or_default();
    let notice = notice(&text);
    call.note_cut(notice.flatten().map(Citation::new), notice.is_some());
    entry.add_result(Some(content), call);
}

/// What follows the output of a command that the person stopped, where else its exit status stands.
const ABORTED: &str = "Command was aborted before completion";

/// How much of a result is searched for the notice, in bytes: what is left of an output is shorter.
const MAX_LOOKED_AT: usize = 1 << 20;

/// Returns the notice, a paragraph of its own, with the path in it if it has one:
/// `... [12 lines truncated, full output: /x/output-1.log] ...`.
fn notice(text: &str) -> Option<Option<&str>> {
    text.split("\n\n").find_map(|paragraph| {
        // What is kept before it may end in a line feed.
        let line = paragraph.trim_start_matches('\n');
        let (lines, path) = between(line, "... [", "] ...")?.split_once(" lines truncated")?;
        let path = path.strip_prefix(", full output: ").filter(|path| !path.is_empty());
        is_number(lines).then_some(path)
    })
}
