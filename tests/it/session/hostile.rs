//! Hostile records for every reader: records as agents write them, mutated at random. Shared by the property tests and by the
//! fuzz target `records`.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use overspill::internals::session::command::command;
use overspill::internals::session::copies::SeenCalls;
use overspill::internals::session::format::SessionFormat;
use overspill::internals::session::model::SessionFacts;
use overspill::internals::session::reader::SessionFile;
use overspill::internals::session::tally::tally;
use overspill::internals::session::transcript::Transcript;
use overspill::internals::session::{FORMATS, find, text};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;

/// Records as agents write them, for each form.
const TEMPLATES: &[(&str, &str)] = &[
    (
        "claude-code",
        r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"s","version":"2.1.330","cwd":"/p","timestamp":"2026-11-22T05:49:31.291Z","isSidechain":false,"message":{"role":"user","content":"run it"}}
{"type":"assistant","uuid":"00000000-0000-4000-8000-000000000002","parentUuid":"00000000-0000-4000-8000-000000000001","message":{"id":"m1","model":"c","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},"timestamp":"2026-11-22T05:49:32Z"}
{"type":"user","uuid":"00000000-0000-4000-8000-000000000003","parentUuid":"00000000-0000-4000-8000-000000000002","sourceToolAssistantUUID":"00000000-0000-4000-8000-000000000002","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"<persisted-output>\nOutput too large (59.5KB). Full output saved to: /p/b1.txt\n\nPreview (first 2KB):\n1\n...\n</persisted-output>","is_error":false}]},"toolUseResult":{"stdout":"1","persistedOutputPath":"/p/b1.txt","persistedOutputSize":60894}}
{"type":"user","uuid":"x","parentUuid":"x","isSidechain":true,"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"Exit code 3\nout"},{"type":"image","source":{}}],"is_error":true}]}}
{"type":"content-replacement","replacements":[{"kind":"tool-result","toolUseId":"t1","replacement":"<persisted-output>"}]}
{"type":"system","subtype":"compact_boundary","logicalParentUuid":"x","compactMetadata":{"preservedMessages":{"uuids":["00000000-0000-4000-8000-000000000003"]}},"timestamp":1795326617}
{"type":"last-prompt","leafUuid":"00000000-0000-4000-8000-000000000003"}
{"type":"api-request","id":"r1","timestamp":"2026-11-22T05:49:31Z","querySource":"q","keep":1,"base":"r1","tail":["0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"]}
{"type":"api-request-blob","hash":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}
{"type":"ai-title","aiTitle":"a title"}"#,
    ),
    (
        "codex",
        r#"{"timestamp":"2026-11-22T05:49:31Z","type":"session_meta","payload":{"id":"i","cwd":"/p","cli_version":"0.169.0","forked_from_id":"j"}}
{"timestamp":"2026-11-22T05:49:31Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"ls\"}","call_id":"c1"}}
{"timestamp":"2026-11-22T05:49:31Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: 1\nProcess exited with code 0\nOutput:\nWarning: truncated output (original token count: 4)\nTotal output lines: 3\n\nx"}}
{"timestamp":"2026-11-22T05:49:31Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","aggregated_output":"x","exit_code":0}}}
{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c1","output":{"content":[{"type":"input_text","text":"x"}]}}}
{"type":"compacted","payload":{"message":"m","replacement_history":[{"call_id":"c1"}]}}
{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":2}}
{"type":"event_msg","payload":{"type":"user_message"}}
{"id":"i","timestamp":"t","instructions":null,"git":null}
{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"}
{"record_type":"state"}"#,
    ),
    (
        "gemini-cli",
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-11-22T05:49:31Z","kind":"main"}
{"id":"1","timestamp":"2026-11-22T05:49:31Z","type":"gemini","content":"","toolCalls":[{"id":"f1","name":"run_shell_command","args":{"command":"ls"},"status":"success","resultDisplay":"whole"}]}
{"id":"2","type":"user","content":[{"functionResponse":{"id":"f1","name":"n","response":{"output":"Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /p/o\nx"}}}]}
{"$set":{"messages":[{"id":"2","type":"user","content":[{"functionResponse":{"id":"f1","response":{"error":"masked"}}}]}]}}
{"$rewindTo":"1"}"#,
    ),
    (
        "qwen-code",
        r#"{"uuid":"1","parentUuid":null,"sessionId":"s","timestamp":"2026-11-22T05:49:31Z","type":"user","cwd":"/p","version":"0.24.4","message":{"role":"user","parts":[{"text":"hi"}]}}
{"uuid":"2","parentUuid":"1","type":"assistant","model":"m","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"ls"}}}]}}
{"uuid":"3","parentUuid":"2","type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c1","name":"n","response":{"output":"Tool output was too large and has been truncated.\nThe full output has been saved to: /p/o\nx"}}}]},"toolCallResult":{"callId":"c1","status":"cancelled","resultDisplay":{"exitCode":1,"truncated":true,"output":"x","outputFiles":["/p/o"]}}}
{"uuid":"4","parentUuid":"3","type":"system","subtype":"chat_compression","systemPayload":{}}"#,
    ),
    (
        "pi",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-22T05:49:31Z","cwd":"/p","parentSession":"/q"}
{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}]}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-11-22T05:49:31Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"x\nCommand exited with code 3"}],"details":{"truncation":{"truncated":true,"totalBytes":60894},"fullOutputPath":"/tmp/pi.log"},"isError":true}}
{"type":"context_edit","id":"c","parentId":"b","targetId":"b","replacement":[{"type":"text","text":"short"}]}
{"type":"compaction","id":"d","parentId":"c","firstKeptEntryId":"b","summary":"s"}
{"type":"model_change","id":"e","parentId":"d","modelId":"m"}
{"type":"session_info","name":"n"}"#,
    ),
    (
        "copilot-cli",
        r#"{"type":"session.start","timestamp":"2026-11-22T05:49:31Z","data":{"sessionId":"s","copilotVersion":"1.0.102","context":{"cwd":"/p"}}}
{"type":"tool.execution_start","agentId":"g1","data":{"toolCallId":"c1","toolName":"bash","arguments":{"command":"ls"}}}
{"type":"tool.execution_complete","agentId":"g1","data":{"toolCallId":"c1","success":true,"shellExecution":{"exitCode":0},"result":{"content":"Output too large to read at once (59.5 KB). Saved to: /tmp/o\nx","detailedContent":"x"},"toolTelemetry":{"properties":{"largeOutputHandled":"true","largeOutputOriginalSizeBytes":"60894"},"metrics":{"result_token_count":421}}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c2","success":false,"error":{"message":"no"}}}
{"type":"subagent.started","agentId":"g1","data":{"agentName":"n","toolCallId":"c1"}}"#,
    ),
    (
        "kimi-code",
        r#"{"type":"metadata","protocol_version":"1","created_at":1795326617000}
{"type":"context.append_loop_event","time":1795326617.5,"event":{"type":"tool.call","toolCallId":"c1","name":"Bash","args":{"command":"ls"}}}
{"type":"context.append_loop_event","time":1795326617,"event":{"type":"tool.result","toolCallId":"c1","result":{"output":"Tool output exceeded 9\noutput_path: /p/o\noutput_size_bytes: 9\nx","isError":true,"durationMs":1e300,"note":"n"}}}
{"type":"subagent.spawned","subagentId":"a1","subagentName":"n","parentToolCallId":"c1"}"#,
    ),
    (
        "kimi-cli",
        r#"{"role":"_system_prompt","content":"p"}
{"role":"assistant","content":[{"type":"text","text":"x"}],"tool_calls":[{"type":"function","id":"c1","function":{"name":"Shell","arguments":"{\"command\":\"ls\"}"}}]}
{"role":"tool","content":[{"type":"text","text":"<system>ERROR</system>"},{"type":"text","text":"x"}],"tool_call_id":"c1"}
{"role":"_checkpoint","id":1}
{"timestamp":1795326617.5,"message":{"type":"ToolResult","payload":{"tool_call_id":"c1","return_value":{}}}}"#,
    ),
    (
        "continue",
        r#"{"sessionId":"s","title":"t","workspaceDirectory":"file:///p","history":[{"message":{"role":"assistant","content":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"Bash","arguments":"{}"}}]},"toolCallStates":[{"toolCallId":"c1","status":"done","parsedArgs":{"command":"ls"},"output":[{"content":"x","name":"n"}]}]}]}"#,
    ),
    (
        "opencode",
        r#"{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls"},"output":"...output truncated...\n\nFull output saved to: /p/o\n\nx","metadata":{"output":"x","exit":0,"truncated":true,"outputPath":"/p/o"},"time":{"start":1795326617000,"end":1795326618000,"compacted":1795326619000}}}
{"type":"tool","tool":"read","callID":"c2","state":{"status":"error","error":"no"}}
{"type":"text","text":"x"}"#,
    ),
    (
        "goose",
        r#"[{"type":"toolRequest","id":"c1","toolCall":{"value":{"name":"shell","arguments":{"command":"ls"}}}},{"type":"text","text":"x"}]
[{"type":"toolResponse","id":"c1","toolResult":{"value":{"content":[{"type":"text","text":"x"},{"type":"text","text":"[Output exceeded 9 lines. Full output saved to /p/o. Read it with cat]"}],"isError":true,"structuredContent":{"stdout":"x","exit_code":3}}}}]"#,
    ),
];

/// More of them: forms with tables, with a file for each event, and documents with lists of messages.
const MORE_TEMPLATES: &[(&str, &str)] = &[
    (
        "gemini-cli (documents)",
        r#"{"sessionId":"s","projectHash":"h","startTime":"2025-11-22T05:49:31Z","lastUpdated":"2025-11-22T05:49:31Z","messages":[{"id":"1","type":"user","content":"x"},{"id":"2","timestamp":"2025-11-22T05:49:31Z","type":"gemini","content":"","toolCalls":[{"id":"f1","name":"n","args":{},"status":"success","result":[{"functionResponse":{"id":"f1","name":"n","response":{"output":"y\nExit Code: 3"}}}]}]}]}"#,
    ),
    (
        "cline",
        r#"{"version":1,"updated_at":"2026-11-22T05:49:31Z","agent":"main","sessionId":"s1","origin":{"version":"3.0.65","subagent":"a"},"messages":[{"id":"m1","role":"assistant","ts":1795378305189,"content":[{"type":"tool_use","id":"c1","name":"run_commands","input":{"commands":["ls"]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","name":"run_commands","content":[{"query":"ls","result":"x\n[... output truncated: 60894 chars total. Refine the command (grep, head, tail) to view the elided middle ...]\ny","success":false,"error":"Command exited with code 3"}]},{"type":"tool_result","tool_use_id":"c2","content":"x","is_error":true}]}]}"#,
    ),
    (
        "roo",
        r#"[{"role":"assistant","ts":1795378305189,"condenseId":"s1","content":[{"type":"tool_use","id":"c1","name":"execute_command","input":{"command":"ls"}}]},{"role":"user","condenseParent":"s1","truncationParent":"s2","content":[{"type":"tool_result","tool_use_id":"c1","content":"Exit code: 3\n\nOutput (35.7KB) persisted. Artifact ID: cmd-17.txt\n\nPreview:\na\n[...3 bytes omitted...]\nb"}]},{"role":"user","truncationId":"s2","ts":1,"content":[{"type":"text","text":"[read_file for 'x'] Result:\n\nx"},{"type":"text","text":"[note] more"}]}]"#,
    ),
    (
        "openhands",
        r#"{"id":"e0","parent_id":null,"timestamp":"2026-11-22T20:58:49.157886","kind":"ActionEvent","tool_name":"terminal","tool_call_id":"c1","action":{"command":"ls"}}
{"id":"e1","parent_id":"e0","kind":"ObservationEvent","tool_name":"terminal","tool_call_id":"c1","observation":{"kind":"TerminalObservation","content":[{"type":"text","text":"x"}],"exit_code":3,"is_error":true,"full_output_save_dir":"/x","metadata":{"exit_code":3,"working_dir":"/p","py_interpreter_path":"/py","prefix":"[p]","suffix":"\n[s]"}}}
{"id":"e2","parent_id":"e1","kind":"UserRejectObservation","tool_name":"terminal","tool_call_id":"c3","rejection_reason":"no"}
{"id":"e3","parent_id":"e9","kind":"AgentErrorEvent","tool_name":"terminal","tool_call_id":"c3","error":"no"}
{"id":"e4","parent_id":"e4","kind":"Condensation","forgotten_event_ids":["e1","e4"]}"#,
    ),
    (
        "hermes",
        r#"[{"id":"c1","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}},{"call_id":"c2","function":{}}]
{"output":"a\n\n... [OUTPUT TRUNCATED - 10 chars omitted out of 50 total] ...\n\nb","exit_code":3,"error":null}"#,
    ),
    (
        "crush",
        r#"[{"type":"tool_call","data":{"id":"c1","name":"bash","input":"{\"command\":\"ls\"}","finished":true}}]
[{"type":"tool_result","data":{"tool_call_id":"c1","name":"bash","content":"a\n\n... [12 lines truncated, full output: /x/output-1.log] ...\n\nb\nExit code 3","metadata":"{\"output\":\"x\"}","is_error":true}},{"type":"finish","data":{}}]"#,
    ),
    (
        "opencode-2",
        r#"{"content":[{"type":"text","text":"a"},{"type":"tool","id":"c1","name":"bash","state":{"status":"completed","input":{"command":"ls"},"content":[{"type":"text","text":"x"}],"structured":{"exit":3},"outputPaths":["/x/tool_1"],"metadata":{"truncated":true}},"time":{"created":1795326607575,"completed":1795326608000,"pruned":1795326609000}}]}
{"content":[{"type":"tool","id":"c2","name":"read","state":{"status":"error","error":{"message":"no"}}}]}"#,
    ),
    (
        "openclaw",
        r#"{"type":"session","version":4,"id":"s","timestamp":"2026-11-22T05:49:31Z","cwd":"/p"}
{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"exec","arguments":{"command":"ls"}}]}}
{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","toolCallId":"c1","toolName":"exec","content":[{"type":"text","text":"x[... 12 more characters truncated; rerun with narrower args if needed]"}],"details":{"exitCode":3},"timestamp":1}}
{"type":"custom","id":"c","parentId":"b","customType":"openclaw.cache-ttl","data":{"prunedToolResults":[{"key":"tool:c1:1","mode":"soft"},{"key":"tool:c1:1","mode":"hard","placeholder":"x"}]}}
{"type":"custom","id":"d","parentId":"c","customType":"openclaw.cache-ttl","data":{"cacheTtlDelta":{"prunedToolResults":{"set":[{"key":"tool:c1","mode":"hard"}],"remove":[]}}}}
{"type":"leaf","id":"e","parentId":"d","targetId":"b","appendParentId":"a","appendMode":"side"}
{"type":"reset","id":"f","parentId":"e","appendMode":"side","firstKeptEntryId":"b"}"#,
    ),
    (
        "mini-swe-agent",
        r#"{"info":{"mini_version":"2.4.6","config":{"model":{"model_name":"m"},"environment":{"cwd":"/p"}}},"messages":[{"role":"user","content":"do"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}],"extra":{"timestamp":1795378305.5}},{"role":"tool","tool_call_id":"c1","content":"{\n  \"returncode\": 1,\n  \"output_head\": \"a\",\n  \"output_tail\": \"b\",\n  \"elided_chars\": 12,\n  \"warning\": \"Output too long.\"\n}","extra":{"raw_output":"ab","returncode":1,"timestamp":1795378306.5,"exception_info":"x"}},{"role":"exit","content":"done"}],"trajectory_format":"mini-swe-agent-1.1"}"#,
    ),
];

/// Returns the form whose records a form has, too.
fn template_of(form: &str) -> &str {
    match form {
        "kilo" | "opencode (files)" => "opencode",
        "kilo (tasks)" | "cline (tasks)" => "roo",
        form => form,
    }
}

/// Values that no agent writes, or that mean much.
const ODD: &[&str] = &[
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "-9223372036854775808",
    "1795326617",
    "1795326617000",
    "253402300800",
    "0.1",
    "\"\"",
    "\"\\ud83d\"",
    "\"\\u0000\"",
    "\"\\ude00\\ud83d\"",
    "\"2026-11-22T05:49:31\"",
    "\"t1\"",
    "\"c1\"",
    "\"x\"",
    "\"00000000-0000-4000-8000-000000000001\"",
    "[]",
    "{}",
    "[[[[[[]]]]]]",
    "{\"type\":{\"type\":[]}}",
    "\"<persisted-output>\\n\"",
    "\"../../etc/passwd\"",
    "\"\\\\\"",
    "\"é\\u00e9\u{1F600}\"",
];

/// Numbers drawn from bytes. Once they are used up, all numbers are 0.
struct ByteRng<'a>(&'a [u8]);

impl ByteRng<'_> {
    fn below(&mut self, most: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % most.max(1)
    }

    fn one_in(&mut self, most: usize) -> bool {
        !self.0.is_empty() && self.below(most) == 0
    }
}

/// Makes records of a form at random, reads them every way there is, and asserts what must hold whatever they are. Returns how
/// many calls they have.
pub fn check(data: &[u8], dir: &Path) -> usize {
    let mut rng = ByteRng(data);
    let format = FORMATS[rng.below(FORMATS.len())];
    let records = records(format.info.name, &mut rng);
    let path = write(format.info.name, dir, &records, &mut rng);
    let bytes = fs::read(&path).unwrap();
    let file = file(format, &path);
    let (head, tail) = find::ends(&path).unwrap();
    let _ = FORMATS.iter().filter(|format| format.recognise(&path, &head).is_some()).count();
    let _ = (format.glance)(&file, &head, &tail);
    let Ok(mut opened) = format.open(&file, &()) else { return 0 };
    let calls = opened.transcript().calls.len();
    is_sound(opened.transcript(), &path);
    // Kimi CLI has a second log beside, and which of two logs grows first makes a difference.
    let is_one_log = path.extension().is_some_and(|end| end == "jsonl") && format.info.name != "kimi-cli";
    if is_one_log {
        let whole = looks(opened.transcript());
        let part = rng.0.first().map_or(0, |first| bytes.len() * usize::from(*first) / 256);
        let part = (part..=bytes.len()).find(|part| !is_between(&bytes, *part)).unwrap_or(bytes.len());
        assert_eq!(grown(format, &file, &bytes, part), whole, "in two parts, at {part}");
    }
    let _ = opened.refresh(&());
    calls
}

fn records(form: &str, rng: &mut ByteRng) -> Vec<Vec<u8>> {
    let templates = || TEMPLATES.iter().chain(MORE_TEMPLATES);
    let own = templates().find(|(name, _)| *name == template_of(form));
    let all: Vec<&str> = own.unwrap_or_else(|| panic!("no records of {form}")).1.lines().collect();
    let mut made: Vec<Vec<u8>> = Vec::new();
    for number in 0..all.len() + rng.below(8) {
        let mut record =
            all[if rng.one_in(3) { rng.below(all.len()) } else { number % all.len() }].as_bytes().to_vec();
        for _ in 0..rng.below(4) {
            let mut value: Value = serde_json::from_slice(&record).unwrap_or_default();
            mutate(&mut value, rng);
            record = serde_json::to_vec(&value).unwrap_or_default();
        }
        match rng.below(24) {
            1 => drop(record.drain(..rng.below(200).min(record.len()))),
            2 => record.truncate(rng.below(200)),
            3 => record = std::mem::take(&mut rng.0).to_vec(),
            4 => record.extend_from_slice(&[b'['; 300]),
            5 => record = made.last().cloned().unwrap_or_default(),
            _ => {}
        }
        made.push(record);
    }
    made
}

/// Changes one value somewhere inside of another: for an odd one, for another of the record, or away.
fn mutate(value: &mut Value, rng: &mut ByteRng) {
    let count = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if count == 0 || rng.one_in(6) {
        *value = serde_json::from_str(ODD[rng.below(ODD.len())]).unwrap_or(Value::Null);
        return;
    }
    let at = rng.below(count);
    match value {
        Value::Array(items) if rng.one_in(8) => items.extend(items.clone()),
        Value::Array(items) => mutate(&mut items[at], rng),
        Value::Object(members) => {
            let key = members.keys().nth(at).cloned().unwrap_or_default();
            match rng.below(9) {
                1 => drop(members.remove(&key)),
                2 => {
                    let other = members.values().nth(rng.below(count)).cloned().unwrap_or_default();
                    members.insert(key, other);
                }
                _ => mutate(&mut members[&key], rng),
            }
        }
        _ => {}
    }
}

/// Writes the records as the form has them; returns the session's file.
fn write(form: &str, dir: &Path, records: &[Vec<u8>], rng: &mut ByteRng) -> PathBuf {
    let ending: &[u8] = [b"\n".as_slice(), b"\r\n", b"\n\n"][rng.below(3)];
    let mut lines = records.join(ending);
    if !rng.one_in(4) {
        lines.push(b'\n');
    }
    let path = dir.join(match form {
        "kimi-code" => "session/agents/main/wire.jsonl",
        "kimi-cli" => "session/context.jsonl",
        "continue" | "cline" | "gemini-cli (documents)" => "s.messages.json",
        "opencode (files)" => "storage/session/p/ses_1.json",
        "opencode" => "opencode.db",
        "kilo" => "kilo.db",
        "goose" => "sessions.db",
        "hermes" | "crush" | "opencode-2" | "openclaw" => "s.db",
        "mini-swe-agent" => "s.traj.json",
        "openhands" => "c/base_state.json",
        "roo" | "kilo (tasks)" | "cline (tasks)" => "t/api_conversation_history.json",
        _ => "s.jsonl",
    });
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match form {
        "continue" | "cline" | "gemini-cli (documents)" | "roo" | "kilo (tasks)" | "cline (tasks)" | "mini-swe-agent" => fs::write(&path, records.first().cloned().unwrap_or_default()).unwrap(),
        "opencode" | "kilo" => {
            database(&path, OPENCODE, "INSERT INTO part VALUES (?, 'msg_1', 'ses_1', ?)", records);
        }
        "goose" => {
            database(&path, GOOSE, "INSERT INTO messages VALUES (?, 'ses_1', ?, 1795326617, '{}')", records)
        }
        "hermes" => database(
            &path,
            HERMES,
            "INSERT INTO messages VALUES (?1, 'ses_1', iif(?1 % 2, 'tool', 'assistant'), ?2, 'c1', ?2, 'terminal',
                1795380273.5, ?1 % 3, ?1 % 5)",
            records,
        ),
        "crush" => {
            database(&path, CRUSH, "INSERT INTO messages VALUES (?, 'ses_1', 'tool', ?, 'm', 1)", records)
        }
        "opencode-2" => database(
            &path,
            OPENCODE_2,
            "INSERT INTO session_message VALUES (?1, 'ses_1', iif(?1 % 3 = 2, 'compaction', 'assistant'), ?1, 1, 2, ?2)",
            records,
        ),
        "openclaw" => {
            let packed = |(number, record): (usize, &Vec<u8>)| match number % 2 {
                0 => record.clone(),
                _ => compress_to_vec(&record[..], CompressionLevel::Fastest),
            };
            let rows: Vec<_> = records.iter().enumerate().map(packed).collect();
            database(
                &path,
                OPENCLAW,
                "INSERT INTO transcript_events VALUES ('ses_1', ?1, iif(?1 % 2, NULL, ?2), 1795326617000, iif(?1 % 2, ?2, NULL))",
                &rows,
            );
        }
        "openhands" => {
            fs::write(&path, r#"{"workspace":{"working_dir":"/p"}}"#).unwrap();
            let events = path.with_file_name("events");
            fs::create_dir_all(&events).unwrap();
            for (number, event) in records.iter().enumerate() {
                fs::write(events.join(format!("event-{number:05}-x.json")), event).unwrap();
            }
        }
        "opencode (files)" => {
            fs::write(&path, r#"{"id":"ses_1","projectID":"p","directory":"/p"}"#).unwrap();
            for (at, part) in ["message/ses_1/msg_1.json"].into_iter().map(|path| (path, &lines)) {
                let at = dir.join("storage").join(at);
                fs::create_dir_all(at.parent().unwrap()).unwrap();
                fs::write(at, part).unwrap();
            }
            fs::create_dir_all(dir.join("storage/part/msg_1")).unwrap();
            for (number, part) in records.iter().enumerate() {
                fs::write(dir.join(format!("storage/part/msg_1/prt_{number:03}.json")), part).unwrap();
            }
        }
        _ => fs::write(&path, &lines).unwrap(),
    }
    if form == "kimi-cli" {
        fs::write(path.with_file_name("wire.jsonl"), &lines).unwrap();
    }
    path
}

const OPENCODE: &str =
    "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, version text,
        time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part (id integer, message_id text, session_id text, data text);
    INSERT INTO session VALUES ('ses_1', NULL, '/p', 't', '1', 1, 2);
    INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{\"role\":\"assistant\"}');";

const GOOSE: &str = "CREATE TABLE sessions (id text, name text, working_dir text, created_at text, updated_at text);
    CREATE TABLE messages (id integer, session_id text, content_json text, created_timestamp integer, metadata_json text);
    INSERT INTO sessions VALUES ('ses_1', 't', '/p', '2026-11-22 05:52:17', '2026-11-22 05:52:17');";

const HERMES: &str = "CREATE TABLE sessions (id TEXT, source TEXT, cwd TEXT, model TEXT, title TEXT, parent_session_id TEXT,
        started_at REAL);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
        tool_calls TEXT, tool_name TEXT, timestamp REAL, active INTEGER, compacted INTEGER);
    INSERT INTO sessions VALUES ('ses_1', 'cli', '/p', 'm', 't', NULL, 1795380271.5);
    INSERT INTO sessions VALUES ('ses_2', 'subagent', '/p', 'm', NULL, 'ses_1', 1795380272.5);";

const CRUSH: &str = "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER, updated_at INTEGER,
        summary_message_id TEXT);
    CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER);
    INSERT INTO sessions VALUES ('ses_1', NULL, 't', 1795380271, 1795380279, '1');";

const OPENCODE_2: &str =
    "CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, directory text, title text, version text,
        time_created integer, time_updated integer, fork_session_id text, fork_boundary text);
    CREATE TABLE session_message (id text, session_id text, type text, seq integer, time_created integer,
        time_updated integer, data text);
    INSERT INTO session_v2 VALUES ('ses_1', NULL, '/p', 't', '2.0.3', 1, 2, NULL, NULL);";

const OPENCLAW: &str =
    "CREATE TABLE transcript_events (session_id text, seq integer, event_json text, created_at integer, event_zstd blob,
        PRIMARY KEY (session_id, seq));";

fn database(path: &Path, tables: &str, insert: &str, records: &[Vec<u8>]) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(tables).unwrap();
    for (number, record) in records.iter().enumerate() {
        connection.execute(insert, (number as i64, record)).unwrap();
    }
}

fn file(format: &SessionFormat, path: &Path) -> SessionFile {
    SessionFile {
        format: format.info.name,
        path: path.to_owned(),
        id: "ses_1".into(),
        size: 0,
        modified: None,
        facts: SessionFacts::default(),
    }
}

/// Whether a place in a log is after an object that is followed by something else in the same line, which no agent writes:
/// read up to there, the object is whole.
fn is_between(bytes: &[u8], place: usize) -> bool {
    let before = bytes[..place].trim_ascii_end();
    let rest = bytes[place..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    before.ends_with(b"}") && !rest.trim_ascii().is_empty()
}

/// Opens the first part of a log, then lets it grow to the whole.
fn grown(format: &SessionFormat, file: &SessionFile, bytes: &[u8], part: usize) -> String {
    fs::write(&file.path, &bytes[..part]).unwrap();
    let mut opened = format.open(file, &()).unwrap();
    OpenOptions::new().append(true).open(&file.path).unwrap().write_all(&bytes[part..]).unwrap();
    opened.refresh(&()).unwrap();
    looks(opened.transcript())
}

/// What has to be the same however a session was read.
fn looks(transcript: &Transcript) -> String {
    let Transcript { facts, threads, tools, calls, unread, events, .. } = transcript;
    format!("{calls:#?} {threads:#?} {tools:?} {facts:?} {unread:?} {events:#?}")
}

/// Asserts that every number and place in a transcript leads somewhere, that every text can be read or is refused, and
/// that no call is there twice.
fn is_sound(transcript: &Transcript, path: &Path) {
    let mut ids = BTreeSet::new();
    for call in &transcript.calls {
        assert!(ids.insert((call.thread, call.id.clone())), "a call is there twice");
        assert!(
            (call.thread as usize) < transcript.threads.len()
                && (call.tool as usize) < transcript.tools.len()
        );
        assert!(
            call.first()
                .and_then(|result| result.record)
                .iter()
                .all(|span| span.source() < transcript.sources.len() as u32)
        );
        let _ = command(transcript, call);
        if let Some(result) = call.first() {
            let (text, facts) = text::to_text(transcript, &result.pieces, 4096).unwrap();
            assert!(text.len() <= 4096 && facts.is_stopped == (facts.bytes > text.len() as u64));
        }
        for copy in &call.display {
            let _ = text::to_text(transcript, std::slice::from_ref(&copy.text), 4096);
        }
    }
    for event in &transcript.events {
        for call in &event.calls {
            let call = transcript.calls.get(*call as usize);
            assert!(call.is_some_and(|call| call.result.is_some()), "{event:?}");
        }
    }
    let sums = tally(transcript, path, 0, &SeenCalls::default(), &()).unwrap();
    assert_eq!(sums.calls, transcript.calls.len() as u64);
    assert!(transcript.unread.known + transcript.unread.broken <= transcript.unread.records);
}
