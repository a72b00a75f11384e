//! Claude Code: where its sessions lie, which files make up each, and what they say about the whole of it.

mod fates;
mod history;
mod records;
mod requests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use jiff::Timestamp;
use memchr::memmem;

use crate::base::lock;
use crate::session::watch::PathWatch;

use super::{FormatInfo, GLANCE, Json, MAX_TEXT, RecordFiles, SessionFacts, SessionFormat, find, title};

use records::ClaudeReader;

#[cfg(feature = "app")]
pub(crate) use records::oversized_result;

pub(crate) const CLAUDE_CODE: SessionFormat = SessionFormat {
    info: FormatInfo::new("claude-code", "1.0.86 to 2.1.330"),
    find: |env, watch| {
        let roots = [env.dir_or("CLAUDE_CONFIG_DIR", ".claude"), env.in_home(".config/claude")];
        let logs = roots.into_iter().flat_map(|root| find::matching(root, "projects/*/*.jsonl", watch));
        logs.filter(|log| !is_sub_agent(find::dir_name(&log.path, 0))).collect()
    },
    is_session: |_, head| {
        let has = |words: &str| memmem::find(head, words.as_bytes()).is_some();
        let is_ours = !find::glance(head, &[], note_facts).id.is_empty() && has("\"sessionId\"");
        is_ours && has("\"parentUuid\"") && has("\"userType\"") && !has("\"toolCallResult\"")
    },
    id: |log| find::stem(log).into(),
    glance: |_, head, tail| find::glance(head, tail, note_facts),
    records: RecordFiles::Logs(find_logs, || Box::new(ClaudeReader::default())),
};

/// Takes over a name, without a copy of one that is the same as before.
fn keep_last(fact: &mut Option<String>, name: Option<Json>) {
    let is_new = |name: &Json| !fact.as_deref().is_some_and(|known| name.is(known));
    if let Some(name) = name.filter(is_new).and_then(|name| name.short(MAX_TEXT)) {
        *fact = Some(name);
    }
}

/// Takes over what a record says about the whole session. Returns when the record was written.
fn note_facts(record: Json, facts: &mut SessionFacts) -> Option<Timestamp> {
    let kind = record.get("type");
    let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
    if facts.id.is_empty() {
        facts.id = record.string("sessionId").unwrap_or_default();
    }
    keep_last(&mut facts.version, record.get("version"));
    facts.cwd = facts.cwd.take().or_else(|| record.string("cwd"));
    keep_last(&mut facts.model, record.path(&["message", "model"]));
    let at = record.time("timestamp");
    facts.note_time(at);
    if is("ai-title") || is("custom-title") || is("summary") {
        let keys = ["aiTitle", "customTitle", "title", "summary"];
        facts.title = keys.iter().find_map(|key| record.string(key)).or(facts.title.take());
    }
    let is_main = || !record.flag("isSidechain");
    if facts.origin.is_none() && is_main() {
        facts.origin = record.name("uuid");
    }
    let is_agents = || record.flag("isMeta") || record.flag("isCompactSummary");
    if facts.title.is_none() && is("user") && is_main() && !is_agents() {
        let words = title(record.path(&["message", "content"]));
        facts.title = words.filter(|words| !words.starts_with('<'));
    }
    at
}

static PROJECTS: LazyLock<Mutex<HashMap<PathBuf, Project>>> = LazyLock::new(Mutex::default);

/// Beside the files of the sessions lie directories, and as up to 2.0 sub-agents whose content tells whose they are.
#[derive(Default)]
struct Project {
    watch: PathWatch,
    directories: HashSet<PathBuf>,
    /// The session of each file, by its beginning. It stays the same as the file grows.
    session_of: BTreeMap<PathBuf, String>,
}

impl Project {
    /// Returns the files of a session's sub-agents, and whether it has a directory.
    fn sub_agents(&mut self, dir: &Path, session: &Path) -> (Vec<PathBuf>, bool) {
        if self.watch.has_changed(&[dir.to_owned()]) {
            self.directories = find::directories(dir, &mut |_| true).into_iter().collect();
            let mut known = std::mem::take(&mut self.session_of);
            for file in find::files(dir, is_sub_agent, &mut |_| true) {
                let session = known.remove(&file.path).or_else(|| session_of(&file.path));
                self.session_of.extend(session.map(|session| (file.path, session)));
            }
        }
        let name = session.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let files =
            self.session_of.iter().filter(|(_, session)| *session == name).map(|(file, _)| file.clone());
        (files.collect(), self.directories.contains(session))
    }
}

fn session_of(sub_agent: &Path) -> Option<String> {
    let head = find::head(sub_agent, GLANCE).ok()?;
    let id = find::glance(find::first_line(&head), &[], note_facts).id;
    let id = if id.is_empty() { find::glance(&head, &[], note_facts).id } else { id };
    (!id.is_empty()).then_some(id)
}

/// Finds the main file and those of its sub-agents, which since 2.1 lie in a directory of the session.
fn find_logs(main: &Path) -> Vec<PathBuf> {
    let session = main.with_extension("");
    let (beside, has_own) = match main.parent().filter(|_| session != main) {
        Some(dir) => lock(&PROJECTS).entry(dir.to_owned()).or_default().sub_agents(dir, &session),
        None => (Vec::new(), false),
    };
    let own = has_own.then(|| session.join("subagents"));
    let workflows = own.as_ref().map(|own| own.join("workflows"));
    let nested = workflows.iter().flat_map(|dir| find::directories(dir, &mut |_| true));
    let dirs: Vec<PathBuf> = own.iter().chain(&workflows).cloned().chain(nested).collect();
    let own = dirs.iter().flat_map(|dir| find::files(dir, is_sub_agent, &mut |_| true));
    std::iter::once(main.to_owned()).chain(own.map(|file| file.path)).chain(beside).collect()
}

fn is_sub_agent(name: &str) -> bool {
    name.ends_with(".jsonl") && name.starts_with("agent-")
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::SystemTime;

    use crate::base::env::Env;
    use crate::session::copies::SeenCalls;
    use crate::session::reader::SessionFile;
    use crate::session::record::READ;
    use crate::session::{list, tally};

    use super::*;

    const SESSIONS: usize = 60;

    fn write(dir: &Path, name: &str, session: &str) {
        let record = format!(
            "{{\"type\":\"user\",\"sessionId\":\"{session}\",\"message\":{{\"content\":\"{}\"}}}}\n",
            "x".repeat(2000)
        );
        fs::write(dir.join(name), record).unwrap();
    }

    #[test]
    fn lists_a_project_and_reads_its_sub_agents_only_once() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join(".claude/projects/-p");
        fs::create_dir_all(&project).unwrap();
        for n in 0..SESSIONS {
            write(&project, &format!("s{n}.jsonl"), &format!("s{n}"));
            write(&project, &format!("agent-{n}.jsonl"), "s7");
        }
        // What was changed just now is looked at again.
        File::open(&project).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let env = Env::hermetic(home.path());
        let (listed, read) = (find::LISTED.get(), READ.get());
        let sessions = list::list(&env, Some("claude-code"), &()).sessions;
        let count = |file: &SessionFile| {
            let mut listed = list::read_listed(file.clone(), &mut find::Exposure::default()).unwrap();
            tally::count_calls(&mut listed, env.uid(), &mut SeenCalls::default(), &()).unwrap().1.records
        };
        let records: Vec<u64> = sessions.iter().map(count).collect();
        assert_eq!((records.len(), records.iter().sum::<u64>()), (SESSIONS, 2 * SESSIONS as u64));
        // The two configuration directories, and the project: for the sessions, for the sub-agents and for directories.
        assert!(find::LISTED.get() - listed <= 5, "{} directories", find::LISTED.get() - listed);
        // Each file is read whole once, besides its end, and of the sub-agents' the beginning.
        let files = project.read_dir().unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        let bytes = files.sum::<u64>() as usize;
        assert!(READ.get() - read <= 3 * bytes, "{} of {bytes} bytes", READ.get() - read);
    }

    #[test]
    fn finding_the_version_of_a_call_reads_no_records() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let record = |kind: &str, version: &str, block: &str| {
            format!(
                "{{\"type\":\"{kind}\",\"version\":\"{version}\",\"message\":{{\"content\":[{block}]}}}}\n"
            )
        };
        let call = |id: &str| format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Bash\"}}");
        let result = "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"x\"}";
        let records = [
            record("assistant", "1.0", &call("a")),
            record("assistant", "1.1", &call("b")),
            record("user", "2.0", result),
        ];
        fs::write(&path, records.concat() + &record("assistant", "2.1", &call("a"))).unwrap();
        let file = CLAUDE_CODE.session(find::found_file(&path).unwrap());
        let opened = list::open(&file, &()).unwrap();
        let (transcript, read) = (opened.transcript(), READ.get());
        let versions: Vec<_> = transcript.calls.iter().map(|call| transcript.version_of(call)).collect();
        assert_eq!(versions, [Some("2.0"), Some("1.1")], "of the result, or else of the call");
        assert_eq!(READ.get(), read);
    }

    #[test]
    fn a_sub_agent_that_comes_later_is_found() {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), "s.jsonl", "s");
        write(home.path(), "agent-1.jsonl", "s");
        write(home.path(), "agent-2.jsonl", "other");
        let names = || {
            let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            find_logs(&home.path().join("s.jsonl")).into_iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(), ["s.jsonl", "agent-1.jsonl"]);
        let own = home.path().join("s/subagents/workflows/w");
        fs::create_dir_all(&own).unwrap();
        write(&own, "agent-3.jsonl", "");
        write(home.path(), "agent-4.jsonl", "s");
        fs::remove_file(home.path().join("agent-1.jsonl")).unwrap();
        assert_eq!(names(), ["s.jsonl", "agent-3.jsonl", "agent-4.jsonl"]);
    }
}
