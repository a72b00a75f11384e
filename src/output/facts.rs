//! What is known of an output, by name.

use crate::base::human::{count, lines, size, thousands, tokens};
use crate::base::provenance::Certainty;
use crate::preview::Preview;
use crate::session::examine::RestOfOutput;
use crate::session::spill::CitingCall;
use crate::session::verdict::describe_check;

use super::OpenOutput;
use super::recorded::{Cited, RecordedCall};

pub(crate) type NamedFact = (&'static str, String);

impl OpenOutput {
    /// Returns the call that it is of, if one is known.
    pub(crate) fn call(&self) -> Option<&CitingCall> {
        match (&self.recorded, &self.cited) {
            (Some(recorded), _) => Some(&recorded.call),
            (None, Cited::By(call)) => Some(call),
            (None, _) => None,
        }
    }

    pub(crate) fn facts(&self) -> Vec<NamedFact> {
        let mut facts = call_facts(self);
        facts.push(("file", self.subject.path().to_owned()));
        facts.extend(self.fault.iter().map(|fault| ("cut short", fault.clone())));
        if !self.is_rest_missing() {
            facts.push(("size", bytes(self)));
            facts.extend(self.utf16().map(|order| ("text", order.describe().to_owned())));
            facts.push(("lines", self.lines().map_or_else(unknown, lines)));
        }
        let policy = self.policy();
        facts.extend([
            ("certainty", certainty(self).to_owned()),
            ("policy", policy.name().to_owned()),
            ("limits", limits(self)),
            ("versions", policy.version().to_owned()),
            ("known from", format!("{} · {}", policy.source(), policy.confidence().describe())),
            ("verdict", self.verdict()),
        ]);
        facts.extend(self.preview.as_ref().map(|preview| kept(self, preview)).unwrap_or_default());
        facts.extend(self.warnings().iter().map(|warning| ("warning", warning.text.clone())));
        facts
    }
}

fn call_facts(output: &OpenOutput) -> Vec<NamedFact> {
    let call = |words: &str| vec![("call", words.to_owned())];
    match (&output.recorded, &output.cited) {
        (Some(recorded), _) => record_facts(recorded),
        (None, Cited::By(cited)) => {
            vec![
                ("session", cited.file.id.clone()),
                ("call", cited.call.clone()),
                ("command", cited.command.clone()),
            ]
        }
        (None, Cited::Asked) => call("being looked for…"),
        (None, Cited::Nowhere) => call("no session near it in time names this output"),
        (None, Cited::Unasked) => Vec::new(),
    }
}

fn unknown() -> String {
    "still being counted".to_owned()
}

fn bytes(output: &OpenOutput) -> String {
    let bytes = output.view.len() as u64;
    format!("{} ({})", size(bytes), count(bytes, "byte"))
}

/// Returns how much of the output was kept. Of a recorded text alone nobody knows of how much.
fn kept(output: &OpenOutput, preview: &Preview) -> Vec<NamedFact> {
    if output.is_rest_missing() {
        let lines = output.lines().map_or_else(unknown, lines);
        let tokens = tokens(output.view.len() as u64);
        return vec![("model got", format!("{lines}, {}, {tokens} tokens at 4 bytes each", bytes(output)))];
    }
    let kept = |kept: Option<u64>, total: Option<u64>| match (kept, total) {
        (Some(kept), Some(total)) => format!("{} of {}", thousands(kept), thousands(total)),
        (Some(kept), None) => thousands(kept),
        (None, _) => unknown(),
    };
    let lines = kept(preview.kept.lines, preview.total.lines);
    let by = if output.shown_record().is_some() { "`less`" } else { "the agent" };
    let tokens = |bytes| format!("{} at 4 bytes each", tokens(bytes));
    vec![
        ("lines kept", format!("{lines}, as {by} counts")),
        ("bytes kept", kept(preview.kept.bytes, preview.total.bytes)),
        ("tokens", preview.text_bytes.map_or_else(unknown, tokens)),
    ]
}

fn limits(output: &OpenOutput) -> String {
    let limits = output.limits();
    match output.what_if() {
        Some(_) => format!("{limits} (chosen here)"),
        None => format!("{limits} (from {})", output.subject.policy.origin()),
    }
}

/// Says how certain it is that the model got the preview that is shown.
fn certainty(output: &OpenOutput) -> &'static str {
    match output.certainty() {
        Certainty::Recorded if output.recorded.is_some() => "recorded by the agent",
        Certainty::Recorded => "recorded: overspill printed it, and saved how it was cut",
        Certainty::Reconstructed => "reconstructed: a policy of the agent that stored the output makes it",
        Certainty::WouldGet if output.what_if().is_some() => {
            "would get: the policy or its limits were changed here"
        }
        Certainty::WouldGet => "would get: no agent is known to have cut this output",
    }
}

fn record_facts(recorded: &RecordedCall) -> Vec<NamedFact> {
    let mut facts = vec![("compared", describe_check(recorded.check.as_ref()))];
    if let RestOfOutput::Missing(why) = recorded.rest {
        facts.push(("missing", why.to_owned()));
    }
    facts.extend(recorded.facts.iter().cloned());
    facts
}
