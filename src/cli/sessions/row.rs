//! One call as `--json` prints it, and what examines it.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::human::utc;
use crate::session::command::command;
use crate::session::examine::{CallInspector, Examiner, Paths};
use crate::session::mask::mask;
use crate::session::model::Call;
use crate::session::spill::SpillState;
use crate::session::text;
use crate::session::transcript::Transcript;
use crate::session::verdict::{Against, Verdict};

/// Returns what examines the calls of an agent's sessions.
pub(crate) fn examiner(config: &Config, agent: &str, paths: Paths) -> Examiner {
    let (stores, env) = (config.stores.clone(), config.env.clone());
    let in_store = Arc::new(move |path: &Path| stores.store_of(path, &env).is_some());
    Examiner::new(&config.catalog, agent, in_store, config.env.uid(), paths)
}

/// Returns the one line that says what a call did; what looks like a secret is masked.
pub(crate) fn command_of(transcript: &Transcript, call: &Call) -> String {
    mask(&command(transcript, call)).into_owned()
}

/// Returns the fields of `--json`. Times are RFC 3339, UTC, to the second; sizes are bytes of UTF-8.
pub(crate) fn record(of: CallInspector, call: &Call) -> Value {
    let CallInspector { file, transcript, .. } = of;
    let mut hash = Sha256::new();
    let best = of.best(call);
    let measured = best.first().and_then(|first| {
        let mut take = |piece: &str| {
            hash.update(piece);
            true
        };
        text::decode(transcript, &first.pieces, &mut take).ok()
    });
    let spill = of.spill(call);
    let verdict = call.is_partial().then(|| of.verify(call));
    let thread = transcript.thread(call);
    json!({
        "id": &*call.id,
        "session": file.id,
        "agent": transcript.agent,
        "agent_version": transcript.facts.version,
        "thread": thread.map_or("", |thread| &thread.name),
        "tool": transcript.tool(call),
        "command": command_of(transcript, call),
        "at": call.at.map(utc),
        "status": call.status.as_str(),
        "exit": call.exit,
        "evidence": best.first().map(|first| first.evidence.as_str()),
        "got_bytes": measured.map(|facts| facts.bytes),
        "got_sha256": measured.map(|_| format!("{:x}", hash.finalize())),
        "tokens_estimate": call.tokens.or_else(|| measured.map(|facts| facts.bytes.div_ceil(4))),
        "cut": call.cut.as_str(),
        "cut_by": verdict.as_ref().and_then(Verdict::cut_by),
        "spill": call.cites.first().map(|cite| cite.path.to_string_lossy()),
        "spill_state": spill.as_ref().map(SpillState::as_str),
        "fate": best.first().map(|first| first.context.fate.as_str()),
        "fate_evidence": best.first().map(|first| first.context.evidence.as_str()),
        "verify": verdict.as_ref().map(Verdict::as_str),
        "verify_against": verdict.as_ref().and_then(Verdict::against).map(Against::as_str),
    })
}
