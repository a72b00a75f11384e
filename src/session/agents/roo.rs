//! Roo Code, Kilo up to 5 and Cline up to 3, extensions of an editor: a directory a task, with a list of messages. Not seen in
//! use: after the programs' sources.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::base::env::Env;

use super::cline;
use super::opencode;
use super::{
    ChangeOrigin, Citation, ContextChange, FindWatch, FormatInfo, FoundFile, IdMap, Json, RecordEntry,
    RecordFiles, RecordPlace, RecordedResult, SessionFacts, SessionFormat, Transcript, count_records, find,
    first_text, only_file, read_json, title,
};

const HISTORY: &str = "api_conversation_history.json";

/// The directories of the editors below those of the user's settings.
const EDITORS: &[&str] = &["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// The directories of the extensions among those of all.
const ROO_DIR: &str = "rooveterinaryinc.roo-cline";
const KILO_DIR: &str = "kilocode.kilo-code";
const CLINE_DIR: &str = "saoudrizwan.claude-dev";

/// The sessions of Roo. A copy elsewhere does not show whose it is: it counts as Roo's.
pub(crate) const ROO: SessionFormat = SessionFormat {
    find: |env, watch| histories(roots(env, ROO_DIR), watch),
    is_session: |path, head| {
        is_history(path, head)
            && (is_below(path, ROO_DIR) || ![KILO_DIR, CLINE_DIR].iter().any(|dir| is_below(path, dir)))
    },
    ..tasks(FormatInfo { parameters: &[("cwd", cwd)], ..FormatInfo::new("roo", "the source of 3.52") })
};

pub(crate) const KILO: SessionFormat = SessionFormat {
    find: |env, watch| histories(roots(env, KILO_DIR), watch),
    is_session: |path, head| is_history(path, head) && is_below(path, KILO_DIR),
    ..tasks(FormatInfo { name: "kilo (tasks)", made_for: "the source of 5", ..opencode::KILO_ROWS.info })
};

/// The sessions of Cline; some may lie where those of its later form do.
pub(crate) const CLINE: SessionFormat = SessionFormat {
    find: |env, watch| {
        let own = cline::data_dir(env).map(|data| data.join("tasks"));
        histories(roots(env, CLINE_DIR).into_iter().chain(own), watch)
    },
    is_session: |path, head| is_history(path, head) && is_below(path, CLINE_DIR),
    ..tasks(FormatInfo { name: "cline (tasks)", made_for: "the source of 3", ..cline::CLINE.info })
};

const fn tasks(info: FormatInfo) -> SessionFormat {
    SessionFormat {
        info,
        find: |_, _| Vec::new(),
        is_session: is_history,
        id: |history| find::dir_name(history, 1).into(),
        glance: |file, _, _| facts(&file.path),
        records: RecordFiles::Documents(only_file, read),
    }
}

/// Reads the directory of a command from the first line.
fn cwd(recorded: &RecordedResult) -> Option<String> {
    let first = recorded.text.strip_prefix("Command executed in '")?.lines().next()?;
    Some(first.rsplit_once("'. ")?.0.to_owned())
}

fn roots(env: &Env, extension: &str) -> Vec<PathBuf> {
    let config = env.dir_or("XDG_CONFIG_HOME", ".config");
    let mac = env.in_home("Library/Application Support");
    let storage = |user: PathBuf| user.join("User/globalStorage").join(extension).join("tasks");
    let local = config.into_iter().chain(mac).flat_map(|dir| EDITORS.iter().map(move |name| dir.join(name)));
    local.chain(env.in_home(".vscode-server/data")).map(storage).collect()
}

fn histories(roots: impl IntoIterator<Item = PathBuf>, watch: FindWatch) -> Vec<FoundFile> {
    let mut histories = |root| find::matching(Some(root), &format!("*/{HISTORY}"), watch);
    roots.into_iter().flat_map(&mut histories).collect()
}

fn is_history(path: &Path, head: &[u8]) -> bool {
    path.ends_with(HISTORY) && head.trim_ascii_start().starts_with(b"[")
}

fn is_below(path: &Path, extension: &str) -> bool {
    path.ancestors().any(|dir| dir.ends_with(extension))
}

/// Returns what lies beside the messages: Roo keeps the item of its list of tasks there.
fn facts(history: &Path) -> SessionFacts {
    let facts = read_json(history.with_file_name("history_item.json"), |item| SessionFacts {
        title: item.string("task"),
        cwd: item.string("workspace"),
        ended: item.time("ts"),
        ..SessionFacts::default()
    });
    SessionFacts { id: find::dir_name(history, 1).to_owned(), ..facts.unwrap_or_default() }
}

/// Returns the words of the person in a message with a task.
fn task(words: String) -> String {
    let inside = words.strip_prefix("<task>").map(|task| task.split("</task>").next().unwrap_or_default());
    inside.map_or(words.clone(), |task| task.trim().to_owned())
}

fn read(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript) {
    out.facts = facts(path);
    let Some(messages) = count_records(Some(document), out) else { return };
    let mut history = History::default();
    for (number, message) in messages.items().enumerate() {
        let at = message.time("ts");
        out.facts.note_time(at);
        if out.facts.title.is_none() && message.has("role", "user") {
            out.facts.title = title(message.get("content")).map(task);
        }
        history.begin(message, out);
        let entry = RecordEntry { record: message, place, at, thread: 0 };
        let blocks = message.list("content");
        for (block_number, block) in blocks.enumerate() {
            let entry = entry.with(block);
            if block.is_type("tool_use") {
                let keys = ["id", "name", "input"];
                // A summary holds again the calls whose results come after it.
                let call = match message.flag("isSummary") {
                    true => entry.add_call_of(block, keys, out),
                    false => entry.add_next_call_of(block, keys, out),
                };
                history.uses.extend(call.map(|call| (call, number)));
            } else if block.is_type("tool_result") {
                let Some(id) = block.name("tool_use_id") else { continue };
                let content = block.get("content");
                let call = result(entry, &id, "", content, out);
                history.results.extend(call.map(|call| (number, call, true)));
            } else if let Some(tool) = old_protocol_tool(block) {
                // Without ids: the time of the message, and where in it the block is.
                let message = message.number("ts").unwrap_or(number as i64 + 1);
                let (id, content) = (format!("{message}-{block_number}"), block.get("text"));
                let call = result(entry, &id, &tool, content, out);
                history.results.extend(call.map(|call| (number, call, false)));
            }
        }
    }
    history.take_out(document, out);
}

#[derive(Default)]
struct History {
    /// The first request after each message.
    requests: Vec<Option<u32>>,
    /// The messages with calls, by the calls' numbers.
    uses: HashMap<u32, usize>,
    /// The messages with results, the numbers of the calls, and whether the result is a block with the call's id, not text.
    results: Vec<(usize, u32, bool)>,
}

impl History {
    fn begin(&mut self, message: Json, out: &mut Transcript) {
        self.requests.push(out.next_request(0));
        let is_mark = message.flag("isSummary") || message.flag("isTruncationMarker");
        if message.has("role", "assistant") && !is_mark {
            out.count_answer(0);
        }
    }

    /// Records which results are no longer sent: with a summary all before it, and results whose calls precede it; and
    /// messages that name an existing gap after it. If a summary or a gap is undone, they are sent again.
    fn take_out(self, document: Json, out: &mut Transcript) {
        let messages: Vec<Json> = document.items().collect();
        let start = messages.iter().rposition(|message| message.flag("isSummary"));
        let marks = messages.iter().enumerate().skip(start.unwrap_or(0));
        let marks = marks.filter(|(_, message)| message.flag("isTruncationMarker"));
        let gaps: IdMap<usize> =
            marks.filter_map(|(number, mark)| Some((mark.id("truncationId")?, number))).collect();
        let gap_of = |number: usize| gaps.get(&messages.get(number)?.id("truncationParent")?).copied();
        let told = |(number, call, is_block): &(usize, u32, bool)| {
            let is_orphan = |start: usize| *is_block && self.uses.get(call).is_none_or(|used| *used < start);
            let gap = || gap_of(*number).map(|gap| (gap, ContextChange::Drop));
            match start {
                Some(start) if *number < start => Some((start, ContextChange::Compact)),
                Some(start) => gap().or_else(|| is_orphan(start).then_some((start, ContextChange::Drop))),
                None => gap(),
            }
        };
        let mut gone: Vec<_> =
            self.results.iter().filter_map(|result| Some((told(result)?, result.1))).collect();
        gone.sort_by_key(|((by, change), _)| (*by, *change as u8));
        for group in gone.chunk_by(|(one, _), (other, _)| one == other) {
            let Some(((by, change), _)) = group.first() else { continue };
            // A gap stands among the messages, wherever it was made.
            let is_gap = *change == ContextChange::Drop && start != Some(*by);
            let request = self.requests.get(*by).copied().flatten().filter(|_| !is_gap);
            let calls = group.iter().map(|(_, call)| *call);
            out.add_event(*change, ChangeOrigin { request, ..ChangeOrigin::default() }, calls);
        }
    }
}

/// Returns the tool of an older result: `[execute_command for 'make'] Result:`.
fn old_protocol_tool(block: Json) -> Option<String> {
    let start = block.get("text").filter(|_| block.is_type("text")).map(first_text)?;
    let (head, _) = start.strip_prefix('[')?.split_once("] Result:")?;
    let tool = head.split(' ').next().unwrap_or_default();
    let is_name = !tool.is_empty() && tool.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then(|| tool.to_owned())
}

/// Reads a result. Returns the number of its call, unless that has one already.
fn result(
    entry: RecordEntry,
    id: &str,
    tool: &str,
    content: Option<Json>,
    out: &mut Transcript,
) -> Option<u32> {
    let history = out.sources.get(entry.place.source as usize).map(|source| source.path().to_owned());
    let number = out.call_or_new(0, id, tool);
    let (call, content) = (out.unanswered(number)?, content?);
    let start = first_text(content);
    call.exit = exit_of(&start);
    call.end(entry.record.flag("is_error"));
    call.note_cut(place_of_spill(&start, history), false);
    entry.add_result(Some(content), call);
    Some(number)
}

/// Reads `Exit code: 3` of the lines before the output.
fn exit_of(start: &str) -> Option<i32> {
    let is_command = start.starts_with("Command executed in '");
    let mut lines = start.lines().take(4).filter(|_| is_command);
    lines.find_map(|line| line.split("Exit code: ").nth(1)?.trim().parse().ok())
}

/// Returns the file that a result names by the name alone: it lies beside the messages.
fn place_of_spill(start: &str, history: Option<PathBuf>) -> Option<Citation> {
    let rest = start.strip_prefix("Command executed in '")?;
    let mut lines = rest.lines().filter(|line| line.starts_with("Output ("));
    let artifact = lines.find_map(|line| line.split_once(") persisted. Artifact ID: "))?.1;
    let is_name = artifact.starts_with("cmd-") && !artifact.contains('/');
    let path = history?.with_file_name("command-output").join(artifact);
    is_name.then(|| Citation::new(path))
}
