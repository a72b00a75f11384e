//! Roo Code, Kilo up to 5 and Cline up to 3, extensions of an editor: a directory a task, with a list of messages. Not seen in
//! use: after the programs' sources.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{first_text, is_type, name, pieces, start_of, text};
use crate::session::document::DocumentSession;
use crate::session::find::{self, FoundFile};
use crate::session::json::{Json, Kind, Tape};
use crate::session::model::{
    Call, CallResult, CallStatus, Citation, CutState, Evidence, ResultFate, SessionFacts,
};
use crate::session::reader::{
    OpenedSession, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat,
};
use crate::session::record::FileRecords;
use crate::session::transcript::Transcript;

/// The messages of a task.
const HISTORY: &str = "api_conversation_history.json";

/// The directories of the editors below those of the user's settings.
const EDITORS: &[&str] = &["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// The sessions of an extension.
#[derive(Debug)]
pub(crate) struct Tasks {
    agent: &'static str,
    name: &'static str,
    /// The directory of the extension among those of all.
    extension: &'static str,
    seen: &'static str,
}

/// The three of them.
pub(crate) const ROO: Tasks = Tasks {
    agent: "roo",
    name: "roo",
    extension: "rooveterinaryinc.roo-cline",
    seen: "none (source of 3.52)",
};
pub(crate) const KILO: Tasks = Tasks {
    agent: "kilo",
    name: "kilo (tasks)",
    extension: "kilocode.kilo-code",
    seen: "none (source of 5)",
};
pub(crate) const CLINE: Tasks = Tasks {
    agent: "cline",
    name: "cline (tasks)",
    extension: "saoudrizwan.claude-dev",
    seen: "none (source of 3)",
};

impl Tasks {
    fn session(&self, file: &FoundFile) -> SessionFile {
        let task = file.path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        file.session(self.name, task.unwrap_or_default())
    }

    /// Returns the directories in which tasks may lie.
    fn roots(&self, env: &Env) -> Vec<PathBuf> {
        let config = env.var("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
        let home = Some(env.home()).filter(|home| home.is_absolute());
        let config = config.or(home.map(|home| home.join(".config")));
        let mac = home.map(|home| home.join("Library/Application Support"));
        let storage = |user: PathBuf| user.join("User/globalStorage").join(self.extension).join("tasks");
        let local =
            config.into_iter().chain(mac).flat_map(|dir| EDITORS.iter().map(move |name| dir.join(name)));
        let remote = home.map(|home| home.join(".vscode-server/data"));
        let mut roots: Vec<_> = local.chain(remote).map(storage).collect();
        if self.agent == "cline" {
            let named = find::home_or(env, "CLINE_DIR", ".cline").map(|dir| dir.join("data"));
            let data = env.var("CLINE_DATA_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
            roots.extend(data.or(named).map(|data| data.join("tasks")));
        }
        roots
    }
}

impl SessionFormat for Tasks {
    fn agent(&self) -> &'static str {
        self.agent
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn seen(&self) -> &'static str {
        self.seen
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
        for root in self.roots(env) {
            for task in find::directories(&root, fault) {
                let history = find::found_file(&task.join(HISTORY));
                history.iter().for_each(|file| found(self.session(file)));
            }
        }
    }

    /// A copy elsewhere does not tell whose it is: it counts as Roo's.
    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let is_history = path.ends_with(HISTORY) && head.trim_ascii_start().starts_with(b"[");
        let is_ours = path.ancestors().any(|dir| dir.ends_with(self.extension));
        let is_elsewhere = ![ROO, KILO, CLINE]
            .iter()
            .any(|other| path.ancestors().any(|dir| dir.ends_with(other.extension)));
        let is_meant = is_history && (is_ours || (is_elsewhere && self.agent == "roo"));
        is_meant.then(|| find::found_file(path).map(|file| self.session(&file)))?
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        facts(&file.path)
    }

    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        DocumentSession::open(self.agent, &file.path, read, progress)
    }
}

/// Returns what lies beside the messages: Roo keeps the item of its list of tasks there.
fn facts(history: &Path) -> SessionFacts {
    let task = history.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let bytes = FileRecords::new(history.with_file_name("history_item.json")).whole().unwrap_or_default();
    let mut tape = Tape::default();
    let mut facts = SessionFacts { id: task.to_owned(), ..SessionFacts::default() };
    if let Ok(item) = tape.read(bytes.trim_ascii()) {
        facts.title = text(item, "task");
        facts.cwd = text(item, "workspace");
        facts.ended = item.get("ts").and_then(clock::time);
    }
    facts
}

fn read(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript) {
    out.facts = facts(path);
    if document.kind() != Kind::Array {
        out.unread.records += 1;
        return;
    }
    let marks = Marks::of(document);
    for message in document.items() {
        out.unread.records += 1;
        out.unread.known += 1;
        let at = message.get("ts").and_then(clock::time);
        out.facts.started = out.facts.started.or(at);
        out.facts.ended = out.facts.ended.max(at);
        let fate = marks.fate(message);
        let blocks = message.get("content").into_iter().flat_map(|content| content.items());
        for (number, block) in blocks.enumerate() {
            if is_type(block, "tool_use") {
                call(block, at, place, out);
            } else if is_type(block, "tool_result") {
                let Some(id) = name(block, "tool_use_id") else { continue };
                let content = block.get("content");
                result(&TaskResult { id: &id, tool: "", block, content, at, fate }, place, out);
            } else if let Some(tool) = of_old_protocol(block) {
                // Without ids: the time of the message, and where in it the block is.
                let message = message.get("ts").and_then(|ts| ts.int()).unwrap_or(out.unread.records as i64);
                let (id, content) = (format!("{message}.{number}"), block.get("text"));
                result(&TaskResult { id: &id, tool: &tool, block, content, at, fate }, place, out);
            }
        }
    }
}

/// The summaries and the gaps that stand for messages which name them.
struct Marks {
    summaries: Vec<String>,
    gaps: Vec<String>,
}

impl Marks {
    fn of(document: Json) -> Self {
        let all =
            |key: &'static str| document.items().filter_map(move |message| name(message, key)).collect();
        Self { summaries: all("condenseId"), gaps: all("truncationId") }
    }

    /// A message that names a summary or a gap which exists is not sent.
    fn fate(&self, message: Json) -> ResultFate {
        let names = |key: &str, all: &[String]| name(message, key).is_some_and(|id| all.contains(&id));
        if names("condenseParent", &self.summaries) {
            ResultFate::Compacted(None)
        } else if names("truncationParent", &self.gaps) {
            ResultFate::Cleared(None)
        } else {
            ResultFate::InContext
        }
    }
}

fn call(block: Json, at: Option<Timestamp>, place: RecordPlace, out: &mut Transcript) {
    let Some(id) = name(block, "id") else { return };
    let tool = out.tool_id(&name(block, "name").unwrap_or_default());
    let mut call = Call::new(id, 0, tool);
    call.input = block.get("input").map(|input| place.span(input));
    call.at = at;
    call.record = Some(place.span(block));
    out.add_call(call);
}

/// Returns the tool of a result as it was written before there were blocks for that:
/// `[execute_command for 'make'] Result:`.
fn of_old_protocol(block: Json) -> Option<String> {
    let start = block.get("text").filter(|_| is_type(block, "text")).map(start_of)?;
    let (head, _) = start.strip_prefix('[')?.split_once("] Result:")?;
    let tool = head.split(' ').next().unwrap_or_default();
    let is_name = !tool.is_empty() && tool.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then(|| tool.to_owned())
}

/// A result in a message.
struct TaskResult<'a> {
    id: &'a str,
    tool: &'a str,
    block: Json<'a>,
    content: Option<Json<'a>>,
    at: Option<Timestamp>,
    fate: ResultFate,
}

fn result(found: &TaskResult, place: RecordPlace, out: &mut Transcript) {
    let history = out.sources.get(place.source as usize).map(|source| source.path().to_owned());
    let call = out.call_or_new(0, found.id, found.tool);
    let Some(content) = found.content.filter(|_| call.results.is_empty()) else { return };
    let start = first_text(content);
    let is_error = found.block.get("is_error").and_then(|flag| flag.bool()) == Some(true);
    call.exit = exit_of(&start);
    let failed = is_error || call.exit.is_some_and(|code| code != 0);
    call.status = if failed { CallStatus::Failed } else { CallStatus::Ok };
    let spill = place_of_spill(&start, history);
    call.cut = if spill.is_some() { CutState::Spill } else { CutState::No };
    call.cites = spill.into_iter().collect();
    call.results.push(CallResult {
        evidence: Evidence::Recorded,
        pieces: pieces(content, place),
        at: found.at,
        fate: found.fate,
        record: Some(place.span(found.block)),
    });
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
    let line = rest
        .lines()
        .find(|line| line.starts_with("Output (") && line.contains(") persisted. Artifact ID: "))?;
    let artifact = line.split_once(") persisted. Artifact ID: ")?.1;
    let is_name = artifact.starts_with("cmd-") && !artifact.contains('/');
    let path = history?.with_file_name("command-output").join(artifact);
    is_name.then_some(Citation { path, bytes: None })
}
