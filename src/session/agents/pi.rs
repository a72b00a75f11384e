//! pi: a log that is a tree of entries, of which the branch to the last counts.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;

use super::codex::WARNING;
use super::{
    Branches, Call, ChangeOrigin, Citation, ContextChange, FormatInfo, IdMap, Json, LivingBranch, LogReader,
    MAX_TEXT, RecordEntry, RecordFiles, RecordId, RecordPlace, SessionFacts, SessionFormat, ShownLines,
    Transcript, find, id_of, id_of_bytes, last_line, number_after, only_file, record_id, shown_lines,
    text_end, text_start, texts, title,
};

pub(crate) const PI: SessionFormat = SessionFormat {
    info: FormatInfo {
        parameters: &[("timeout_s", |recorded| recorded.figure_at_end("Command timed out after "))],
        prints_given_path: true,
        ..FormatInfo::new("pi", "1.5.2")
    },
    find: |env, watch| {
        find::in_agent_dir(env, ("PI_CODING_AGENT_DIR", ".pi/agent"), &["sessions/*/*.jsonl"], watch)
    },
    is_session: |_, head| find::begins_with_line(head, &["\"type\":\"session\"", "\"cwd\""]),
    // The name is a time and the id.
    id: |log| find::stem(log).split_once('_').map_or(find::stem(log), |(_, id)| id).into(),
    glance: |_, head, tail| find::glance(head, tail, note_facts),
    records: RecordFiles::Logs(only_file, || Box::new(PiReader::default())),
};

pub(super) fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("timestamp"));
    if record.is_type("session") {
        facts.id = record.name("id").unwrap_or_default();
        facts.cwd = record.string("cwd");
        facts.parent = record.string("parentSession");
    } else if facts.origin.is_none() {
        facts.origin = record.name("id");
    }
    if record.is_type("model_change") {
        facts.model = record.name("modelId").or(facts.model.take());
    }
    if record.is_type("session_info") {
        facts.title = record.string("name").or(facts.title.take());
    }
    let message = record.get("message").filter(|_| facts.title.is_none());
    if let Some(message) = message.filter(|message| message.has("role", "user")) {
        facts.title = title(message.get("content"));
    }
}

const OTHER_KINDS: &str = "session model_change thinking_level_change branch_summary label session_info \
    custom custom_message context_edit leaf";

#[derive(Default)]
pub(crate) struct PiReader {
    branches: Branches,
    /// The number of the first request after each entry.
    requests: Vec<u32>,
    /// The entries with results; one that a branch holds again has several.
    results: Vec<EntryResult>,
    changes: Vec<EntryChange>,
    /// The calls, by what their entries hold, each with the number of the last of these.
    called: IdMap<(u32, u32)>,
    /// The entries between the one to which the conversation went back last and the first after that.
    skipped: Range<u32>,
}

impl LogReader for PiReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let entry = RecordEntry { record, place, at: record.time("timestamp"), thread: 0 };
        let kind = record.word("type");
        if kind != "session" {
            self.link(record, &kind, out);
        }
        if kind == "message" {
            self.message(entry, out);
            return true;
        }
        let effect = EntryEffect::read(&kind, entry, out);
        let is_known = effect.is_some() || out.unread.is_known(&kind, OTHER_KINDS);
        self.changes.extend(effect.map(|effect| {
            let entry = self.entry();
            // An entry about pruned results may come after the first requests that are made so.
            let is_before = !matches!(effect, EntryEffect::Prune(_));
            let request = self.requests.get(entry as usize).copied().filter(|_| is_before);
            EntryChange { entry, origin: ChangeOrigin { request, ..out.origin(0) }, effect }
        }));
        is_known
    }

    fn derive_events(&mut self, out: &mut Transcript) {
        out.events.clear();
        self.results.iter().for_each(|result| out.calls[result.call as usize].later = 0);
        let living = self.branches.living();
        let results = self.each_result(&living);
        let places = results.iter().map(|result| (result.entry, result.call));
        let mut left = self.branches.left_calls(&living, places).into_iter().peekable();
        let mut unread = results.iter().filter(|result| living.contains_number(result.entry)).peekable();
        let mut context = ContextResults::default();
        for change in self.changes.iter().filter(|change| living.contains_number(change.entry)) {
            while let Some((next, calls)) = left.next_if(|(next, _)| *next < change.entry) {
                self.add_event(ContextChange::Leave, next, calls, out);
            }
            while let Some(result) = unread.next_if(|result| result.entry < change.entry) {
                self.push(*result, &mut context, out);
            }
            change.apply(&living, &mut context, out);
        }
        unread.for_each(|result| self.push(*result, &mut context, out));
        left.for_each(|(next, calls)| self.add_event(ContextChange::Leave, next, calls, out));
    }
}

impl PiReader {
    /// Notes the place of an entry in the tree. The first version had neither ids nor parents: a line.
    fn link(&mut self, record: Json, kind: &str, out: &Transcript) {
        let line = || record_id(&format!("line {}", self.requests.len()));
        let id = record.id("id").unwrap_or_else(line);
        // OpenClaw names the entry to which the conversation goes back.
        let key = if kind == "leaf" { "targetId" } else { "parentId" };
        let parent = if record.get(key).is_some() { record.id(key) } else { self.branches.last() };
        if parent != self.branches.last() {
            let parent = parent.and_then(|parent| self.branches.recent(parent));
            self.skipped = parent.map_or(0, |parent| parent + 1)..self.branches.next();
        }
        self.branches.add(id, parent);
        // An entry at the side, which only OpenClaw has, leaves the conversation where it is.
        if record.get("appendMode").is_none_or(|mode| kind == "leaf" || !mode.is("side")) {
            self.branches.leaf = Some(id);
        }
        self.requests.push(out.next_request(0).unwrap_or(1));
    }

    /// Returns the number of the entry that was read last.
    fn entry(&self) -> u32 {
        (self.requests.len() as u32).saturating_sub(1)
    }

    fn message(&mut self, entry: RecordEntry, out: &mut Transcript) {
        let Some(message) = entry.record.get("message") else { return };
        match &*message.word("role") {
            "assistant" => {
                let calls = message.list("content").filter(|block| block.is_type("toolCall"));
                let copies: Vec<bool> = calls.map(|block| self.call(entry, message, block, out)).collect();
                if copies.first() != Some(&true) {
                    out.count_answer(0);
                }
            }
            "toolResult" => {
                let Some(call_id) = message.name("toolCallId") else { return };
                let call = out.call_or_new(0, &call_id, &message.word("toolName"));
                // What OpenClaw calls it, by the call and the time in the message.
                let at = message.number::<i64>("timestamp").map_or(String::new(), |at| format!(":{at}"));
                let key = record_id(&format!("tool:{call_id}{at}"));
                let len = entry.result(message.get("content")).recorded_len();
                out.unanswered(call).into_iter().for_each(|call| result(entry, message, call));
                self.results.push(EntryResult { entry: self.entry(), call, key, len, pruned: None });
            }
            _ => {}
        }
    }

    /// Reads a call. Returns whether it is one that stands on a branch that was left just before: OpenClaw changes an entry by
    /// writing it and all that follows once more, on a branch of its own.
    fn call(&mut self, entry: RecordEntry, message: Json, block: Json, out: &mut Transcript) -> bool {
        let Some(id) = id_of(block, "id", out) else { return false };
        let at: i64 = message.number("timestamp").unwrap_or(0);
        let key = id_of_bytes(block.raw()).wrapping_add(at as u64);
        let known = self.called.get(&key).filter(|(_, entry)| self.skipped.contains(entry));
        let known = known.map(|(call, _)| *call);
        let new = || entry.add_next_call(&*id, &block.word("name"), block.get("arguments"), out);
        let call = known.unwrap_or_else(new);
        out.bind(0, &id, call);
        self.called.insert(key, (call, self.entry()));
        known.is_some()
    }

    /// Returns the result of each call, in the order of the entries: the first on the living branch, or else the last.
    fn each_result(&self, living: &LivingBranch) -> Vec<EntryResult> {
        let mut of_calls: BTreeMap<u32, EntryResult> = BTreeMap::new();
        for result in &self.results {
            let known = of_calls.entry(result.call).or_insert(*result);
            if !living.contains_number(known.entry) {
                *known = *result;
            }
        }
        let mut results: Vec<_> = of_calls.into_values().collect();
        results.sort_unstable_by_key(|result| result.entry);
        results
    }

    /// Puts a result into the context, which may be another text than the model got first.
    fn push(&self, result: EntryResult, context: &mut ContextResults, out: &mut Transcript) {
        let first = out.calls.get(result.call as usize).and_then(Call::first);
        if first.is_some_and(|first| first.recorded_len() != result.len) {
            out.calls[result.call as usize].later += 1;
            self.add_event(ContextChange::Replace, result.entry, vec![result.call], out);
        }
        context.push(result);
    }

    /// Adds a change with the first request after an entry.
    fn add_event(&self, change: ContextChange, entry: u32, calls: Vec<u32>, out: &mut Transcript) {
        let request = self.requests.get(entry as usize).copied();
        out.add_event(change, ChangeOrigin { request, ..ChangeOrigin::default() }, calls);
    }
}

fn result(entry: RecordEntry, message: Json, call: &mut Call) {
    let (content, is_error) = (message.get("content"), message.flag("isError"));
    let last = content.map(last_line).unwrap_or_default();
    call.exit = number_after(&last, "Command exited with code ").filter(|_| is_error);
    call.end(is_error);
    let details = message.object("details");
    let truncation = details.object("truncation");
    let is_read = message.has("toolName", "read");
    let is_truncated = truncation.flag("truncated");
    let shown = truncation.number("outputLines").map(|count| ShownLines { count, is_end: false });
    // grep, find and ls note the limit that they reached, which the call may have set itself.
    let limits = ["matchLimitReached", "resultLimitReached", "entryLimitReached"];
    let is_at_limit = limits.iter().any(|key| details.number::<u64>(key).is_some());
    let is_limited = details.flag("linesTruncated") || is_at_limit && call.gives_less(None);
    let is_cut = is_limited || is_truncated && (!is_read || call.gives_less(shown));
    let goes_on = last.starts_with('[') && last.contains(" more lines in file. Use offset=");
    call.is_window = is_read && (is_truncated || goes_on);
    let noted = content.and_then(|content| noted_spill(content, is_error));
    let spill = details.string("fullOutputPath").or(noted.clone().filter(|path| path != "undefined"));
    let bytes = truncation.number("totalBytes");
    let spill = spill.map(|path| Citation { bytes, is_decoded: true, ..Citation::new(path) });
    call.note_cut(spill, is_cut || noted.is_some());
    entry.add_result(content, call);
}

/// Returns the path in a notice that the details omit: for a failed command in the second last paragraph, for an MCP
/// server or a script in the last line. Until March 2026, failed commands cut by lines alone have the path
/// `undefined`.
fn noted_spill(content: Json, is_error: bool) -> Option<String> {
    // How cut results of MCP servers and scripts begin.
    let is_other = text_start(content, WARNING.len()).starts_with(WARNING);
    if !is_error && !is_other {
        return None;
    }
    let text = text_end(content, MAX_TEXT);
    let failed = || {
        let (rest, _) = text.rsplit_once("\n\nCommand ").filter(|_| is_error)?;
        let notice = rest.rsplit("\n\n").next().filter(|notice| notice.starts_with("[Showing "))?;
        let is_of = |kept: &str| match shown_lines(notice) {
            Some(lines) => kept.split('\n').count() == lines.count as usize,
            None => notice.starts_with("[Showing last ") && kept.len() >= MIN_PART,
        };
        let whole = texts(content).last()?.text()?.to_text(MAX_RESULT).text;
        let kept = whole.rsplit_once(notice)?.0.strip_suffix("\n\n").filter(|kept| is_of(kept));
        kept.and(notice.rsplit_once(". Full output: ")?.1.strip_suffix(']'))
    };
    let other = || {
        let line = text.lines().next_back().filter(|_| is_other)?.strip_prefix("[Full output: ")?;
        Some(line.strip_suffix(" with offset/limit)]")?.rsplit_once(" (read")?.0)
    };
    failed().or_else(other).map(str::to_owned)
}

/// The longest result that is looked at for how many lines it has, in bytes, and the least that is kept of a line: by default
/// 50 KB.
const MAX_RESULT: usize = 1 << 20;
const MIN_PART: usize = 1024;

/// OpenClaw's own entries about results that it prunes when it sends them. Not seen in use: after the source.
const PRUNED: &str = "openclaw.cache-ttl";

#[derive(Clone, Copy)]
struct EntryResult {
    entry: u32,
    call: u32,
    /// What OpenClaw calls it where it was pruned.
    key: RecordId,
    /// How many bytes its text takes in the records, or another one that stands in its place.
    len: u64,
    /// How it was pruned last, or that an edit took it out.
    pruned: Option<ContextChange>,
}

/// The results that the model has, in their order.
#[derive(Default)]
struct ContextResults {
    results: VecDeque<EntryResult>,
    /// The entries of all that it ever had, by their keys; of equal ones the first.
    entries: IdMap<u32>,
}

impl ContextResults {
    fn push(&mut self, result: EntryResult) {
        self.entries.entry(result.key).or_insert(result.entry);
        self.results.push_back(result);
    }

    fn place(&self, entry: u32) -> Option<usize> {
        self.results.binary_search_by_key(&entry, |result| result.entry).ok()
    }

    /// Marks results as pruned. Returns the calls of those that were not pruned so before.
    fn prune(&mut self, keys: &IdMap<ContextChange>, change: ContextChange) -> Vec<u32> {
        let keys = keys.iter().filter(|(_, wanted)| **wanted == change);
        let mut places: Vec<_> = keys.filter_map(|(key, _)| self.place(*self.entries.get(key)?)).collect();
        places.sort_unstable();
        let results = places.into_iter().filter_map(|place| {
            let result = self.results.get_mut(place)?;
            (result.pruned.replace(change) != Some(change)).then_some(result.call)
        });
        results.collect()
    }
}

struct EntryChange {
    entry: u32,
    /// With the first request after it, if that is the first with the change.
    origin: ChangeOrigin,
    effect: EntryEffect,
}

enum EntryEffect {
    /// Entries before `first` are gone; all of them if it is unknown.
    KeptFrom { first: RecordId, change: ContextChange },
    /// A summary stands for all entries; some are in its own record again, with texts of these lengths.
    KeptTail(HashMap<u32, u64>),
    /// Another text of an entry, of this length, in all later requests; it is gone without one.
    Edit { target: RecordId, replacement: Option<u64> },
    /// Results are shortened or cleared, in requests up to then and in all later ones.
    Prune(IdMap<ContextChange>),
}

impl EntryEffect {
    /// Reads what an entry of a kind says; `None` if that is nothing.
    fn read(kind: &str, entry: RecordEntry, out: &Transcript) -> Option<Self> {
        let record = entry.record;
        let first = record.id("firstKeptEntryId").unwrap_or_default();
        let len = |content: Option<Json>| entry.result(content).recorded_len();
        let call = |message: Json| out.call_number(0, &message.name("toolCallId")?);
        let retained = |message: Json| Some((call(message)?, len(message.get("content"))));
        match kind {
            "compaction" => match record.get("retainedTail").filter(|tail| !tail.is_null()) {
                Some(tail) => Some(Self::KeptTail(tail.items().filter_map(retained).collect())),
                None => Some(Self::KeptFrom { first, change: ContextChange::Compact }),
            },
            "reset" => Some(Self::KeptFrom { first, change: ContextChange::Drop }),
            "context_edit" => {
                let target = record.id("targetId")?;
                let content = record.get("replacement").filter(|replacement| !replacement.is_null());
                Some(Self::Edit { target, replacement: content.map(|content| len(Some(content))) })
            }
            "custom" if record.has("customType", PRUNED) => read_prune(record),
            _ => None,
        }
    }
}

/// Reads which results are pruned: all of them, or those since the entry before.
fn read_prune(record: Json) -> Option<EntryEffect> {
    let lists = [&["data", "prunedToolResults"][..], &["data", "cacheTtlDelta", "prunedToolResults", "set"]];
    let results = lists.into_iter().find_map(|list| record.path(list))?;
    let result = |result: Json| {
        let change = match result.get("mode")? {
            mode if mode.is("soft") => ContextChange::Replace,
            mode if mode.is("hard") => ContextChange::Clear,
            _ => return None,
        };
        Some((result.id("key")?, change))
    };
    let results: IdMap<_> = results.items().filter_map(result).collect();
    (!results.is_empty()).then_some(EntryEffect::Prune(results))
}

impl EntryChange {
    /// Notes what an entry of the living branch does to the results that the model has.
    fn apply(&self, living: &LivingBranch, context: &mut ContextResults, out: &mut Transcript) {
        match &self.effect {
            EntryEffect::KeptFrom { first, change } => {
                let first = living.number(*first).filter(|first| *first < self.entry);
                let first = first.unwrap_or(self.entry);
                let gone = context.results.partition_point(|result| result.entry < first);
                out.add_event(*change, self.origin, context.results.drain(..gone).map(|result| result.call));
            }
            EntryEffect::KeptTail(kept) => {
                let all = std::mem::take(&mut context.results).into_iter();
                let (stay, gone): (VecDeque<_>, VecDeque<_>) =
                    all.partition(|result| kept.contains_key(&result.call));
                context.results = stay;
                out.add_event(ContextChange::Compact, self.origin, gone.iter().map(|result| result.call));
                for result in &mut context.results {
                    if let Some(len) = kept.get(&result.call).filter(|len| **len != result.len) {
                        self.replace(result, *len, out);
                    }
                }
            }
            EntryEffect::Edit { target, replacement } => {
                let Some(target) = living.number(*target) else { return };
                let Some(place) = context.place(target) else { return };
                let result = &mut context.results[place];
                let change = replacement.is_none().then_some(ContextChange::Drop);
                let before = std::mem::replace(&mut result.pruned, change);
                match replacement {
                    None => out.add_event(ContextChange::Drop, self.origin, [result.call]),
                    Some(len) => {
                        if before == Some(ContextChange::Drop) {
                            out.add_event(ContextChange::Restore, self.origin, [result.call]);
                        }
                        self.replace(result, *len, out);
                    }
                }
            }
            EntryEffect::Prune(keys) => {
                for change in [ContextChange::Replace, ContextChange::Clear] {
                    out.add_event(change, self.origin, context.prune(keys, change));
                }
            }
        }
    }

    /// Another text of this length stands in the place of a result.
    fn replace(&self, result: &mut EntryResult, len: u64, out: &mut Transcript) {
        out.add_event(ContextChange::Replace, self.origin, [result.call]);
        result.len = len;
        out.calls[result.call as usize].later += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::session::json::Tape;

    use super::*;

    #[test]
    fn a_notice_is_read_where_the_details_are_missing() {
        let noted = |text: &str, is_error| {
            let text = serde_json::to_string(text).unwrap();
            noted_spill(Tape::default().read(text.as_bytes()).unwrap(), is_error)
        };
        let cut = "x\ny\n\n[Showing lines 8-9 of 9 (50.0KB limit). Full output: /t/a (b).log]";
        for end in ["Command exited with code 2", "Command timed out after 60 seconds", "Command aborted"] {
            assert_eq!(noted(&format!("{cut}\n\n{end}"), true).as_deref(), Some("/t/a (b).log"), "{end}");
            assert_eq!(noted(&format!("{cut}\n\n{end}"), false), None, "what a command printed");
            assert_eq!(noted(&format!("{cut}\n\nmore\n\n{end}"), true), None, "not the last but one");
            assert_eq!(noted(&format!("one\n{cut}\n\n{end}"), true), None, "a quoted notice is no notice");
        }
        assert_eq!(noted(cut, true), None);
        let server =
            |path: &str| format!("{WARNING}20000)\n\nx\n\n[Full output: {path} (read it with offset/limit)]");
        assert_eq!(noted(&server("/t/m.txt"), false).as_deref(), Some("/t/m.txt"));
        assert_eq!(noted(&server("/t/m.txt").replace(" it ", " "), false).as_deref(), Some("/t/m.txt"));
        assert_eq!(noted(&server("/t/m.txt")[1..], false), None, "a quoted notice is no notice");
    }
}
