//! A second implementation of every policy, written only from the documents: whole text, plain loops, no cleverness.
//! Its results are compared with the engine's.
//!
//! Where a document leaves something open, a comment that begins with "Ambiguous" says which reading was chosen.
pub mod basic;
pub mod claude;
pub mod copilot;
pub mod edges;
pub mod engine;
pub mod go;
pub mod hermes;
pub mod inputs;
pub mod kimi;
pub mod openclaw;
pub mod opencode;
pub mod others;
pub mod others2;
pub mod pi;
pub mod pi_30k;
pub mod pi_ext;
pub mod pi_lists;
pub mod rest;
pub mod rules;
pub mod samples;
pub mod specs;
pub mod t15;
pub mod text;

/// Why there is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The agent itself crashes on this output.
    Crash(String),
    /// The agent's tool replies with an error; an empty text if the documents give none.
    Error(String),
}

pub type Verdict = Result<String, Fault>;

/// A question for both implementations.
#[derive(Debug, Clone)]
pub struct Case {
    pub policy: &'static str,
    pub input: Vec<u8>,
    pub sets: Vec<(&'static str, String)>,
    pub stderr: Option<Vec<u8>>,
    pub exit_code: Option<i32>,
}

pub fn case(policy: &'static str, input: &[u8], sets: &[(&'static str, &str)]) -> Case {
    let sets = sets.iter().map(|(k, v)| (*k, v.to_string())).collect();
    Case { policy, input: input.to_vec(), sets, stderr: None, exit_code: None }
}

impl Case {
    fn get(&self, key: &str) -> Option<&str> {
        self.sets.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub fn num(&self, key: &str, default: usize) -> usize {
        self.get(key).map_or(default, |v| v.parse().unwrap())
    }

    pub fn flag(&self, key: &str) -> bool {
        self.get(key) == Some("true")
    }

    pub fn word(&self, key: &str, default: &str) -> String {
        self.get(key).unwrap_or(default).to_string()
    }

    pub fn path(&self) -> &'static str {
        match self.policy {
            "goose/shell" | "goose/shell-2026-08" => "/t/stdout-3",
            "copilot-chat/result" if self.is_json() => "/s/content.json",
            "copilot-chat/result" => "/s/content.txt",
            _ => "/P",
        }
    }

    fn is_json(&self) -> bool {
        serde_json::from_slice::<serde_json::Value>(&self.input).is_ok()
    }

    pub fn path_stderr(&self) -> &'static str {
        "/P.stderr"
    }

    /// Returns what the model gets according to the documents.
    pub fn naive(&self) -> Verdict {
        let (_, implementation) = TABLE
            .iter()
            .find(|(name, _)| *name == self.policy)
            .unwrap_or_else(|| panic!("no double for {}", self.policy));
        implementation(self)
    }
}

impl Case {
    /// Returns the machine-readable details according to the documents, null if nothing applies; none for policies
    /// without details.
    pub fn naive_details(&self) -> Option<serde_json::Value> {
        Some(match self.policy {
            "pi-30k/read" => pi_30k::read_details(self),
            "pi-30k/bash" => pi_30k::bash_details(self),
            "pi-30k/grep" => pi_lists::details_30k(self, 100, "matchLimitReached", Some(500)),
            "pi-30k/find" => pi_lists::details_30k(self, 1000, "resultLimitReached", None),
            "pi-30k/ls" => pi_lists::details_30k(self, 500, "entryLimitReached", None),
            "go-opencode/bash" => go::bash_details(self),
            _ => return None,
        })
    }
}

type Double = fn(&Case) -> Verdict;

/// Every policy with a second implementation.
pub const TABLE: &[(&str, Double)] = &[
    ("opencode/output", opencode::output),
    ("kilo/output", opencode::output),
    ("opencode/metadata", opencode::metadata),
    ("opencode/metadata-2026", opencode::metadata_2026),
    ("opencode/read", opencode::read),
    ("opencode/read-2026-01", opencode::read_2026_01),
    ("opencode/shell", opencode::shell),
    ("kilo/shell", opencode::shell),
    ("opencode/v2", opencode::v2),
    ("basic/line-limit", basic::line_limit),
    ("basic/middle-out", basic::middle_out),
    ("basic/byte-limit", basic::byte_limit),
    ("basic/metadata", basic::metadata),
    ("basic/stdout-stderr", basic::stdout_stderr),
    ("basic/smart", basic::smart),
    ("basic/recommended", basic::recommended),
    ("basic/shell", basic::shell),
    ("go-opencode/legacy", go::legacy),
    ("go-opencode/response-cap", go::response_cap),
    ("go-opencode/line-aligned", go::line_aligned),
    ("go-opencode/bash", go::bash),
    ("go-opencode/shipped", go::shipped),
    ("go-opencode/shipped-2026-02", go::shipped_2026_02),
    ("go-opencode/2025", go::of_2025),
    ("go-opencode/mcp", go::mcp),
    ("go-opencode/read", go::read),
    ("t15/output", t15::output),
    ("t15/generic", t15::generic),
    ("t15/recipe", t15::recipe),
    ("pi-30k/read", pi_30k::read),
    ("pi-30k/bash", pi_30k::bash),
    ("pi-30k/grep", pi_lists::grep_30k),
    ("pi-30k/find", pi_lists::find_30k),
    ("pi-30k/ls", pi_lists::ls_30k),
    ("pi/read", pi::read),
    ("pi/bash", pi::bash),
    ("pi/bash-2026-03", pi::bash_2026_03),
    ("pi/grep", pi_lists::grep),
    ("pi/find", pi_lists::find),
    ("pi/ls", pi_lists::ls),
    ("pi/mcp", pi_ext::mcp),
    ("pi/codemode", pi_ext::codemode),
    ("codex/exec", others::codex_exec),
    ("codex/exec-bytes", others::codex_exec_bytes),
    ("codex/exec-code-mode", others::codex_code_mode),
    ("claude-code/bash", claude::bash),
    ("claude-code/bash-failed", claude::bash_failed),
    ("claude-code/bash-2025", claude::bash_2025),
    ("claude-code/bash-2026-01", claude::bash_2026_01),
    ("claude-code/bash-2026-02", claude::bash_2026_02),
    ("claude-code/tool", claude::tool),
    ("gemini-cli/output", others::gemini),
    ("qwen-code/shell", others::qwen),
    ("qwen-code/grep", others::qwen_grep),
    ("qwen-code/mcp", others::qwen_mcp),
    ("qwen-code/shell-2026-03", others::qwen_2026_03),
    ("crush/bang", others::crush_bang),
    ("goose/shell", others::goose),
    ("goose/shell-2026-08", others::goose_2026_08),
    ("goose/result", others::goose_result),
    ("kimi-cli/shell", others::kimi_shell),
    ("kimi-cli/task", others::kimi_task),
    ("cline/result", others2::cline),
    ("copilot-chat/result", copilot::chat),
    ("copilot-cli/tool", copilot::tool),
    ("copilot-cli/result", copilot::result),
    ("copilot-cli/tool-1.0.32", copilot::tool_1_0_32),
    ("hermes/tool", hermes::tool),
    ("hermes/tool-0.19", hermes::tool_0_19),
    ("hermes/terminal", hermes::terminal),
    ("kimi-code/bash", kimi::bash),
    ("kimi-code/tool", kimi::tool),
    ("nanocoder/bash", rest::nanocoder),
    ("openhands/terminal", rest::openhands),
    ("droid/tool", rest::droid),
    ("openclaw/tool", openclaw::tool),
    ("deepagents/tool", openclaw::deepagents),
    ("mini-swe-agent/observation", rest::mini_swe_agent),
    ("openhands-v0/terminal", others2::openhands_v0),
    ("continue/bash", others2::continue_bash),
    ("swe-agent/observation", others2::swe_agent),
];
