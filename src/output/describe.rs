//! What the model got of an output, by which limits, and what else is known of it, in words and figures.

use crate::base::human::{NamedFact, count, limit_in, lines, size, thousands, tokens};
use crate::base::provenance::Certainty;
use crate::compare::{describe_excess, lines_as_numbered};
use crate::document::scroll::Fate;
use crate::preview::{Direction, LimitHit, Policy, Preview, Status, Unit};
use crate::session::examine::RestOfOutput;
use crate::session::spill::CitingCall;
use crate::session::verdict::describe_check;
use crate::text::filter::Share;
use crate::text::index::BLOCK;

use super::recorded::CallSearch;
use super::{OpenOutput, Side};

impl OpenOutput {
    /// Describes the limits in force: `head · max 2,000 lines, 50 KB`.
    pub fn limits(&self) -> String {
        let direction = self.policy().direction().map(|direction| direction.as_str().to_owned());
        let limits = Some(describe_limits(self.policy())).filter(|limits| !limits.is_empty());
        let limits = limits.map(|limits| format!("max {limits}"));
        direction.into_iter().chain(limits).collect::<Vec<_>>().join(" · ")
    }

    /// Describes what the model gains or loses compared with the limits at the start: `−105 lines, +65 B`.
    pub(crate) fn difference(&self) -> Option<String> {
        let (first, now) = (self.first_preview.as_ref()?, self.made.preview.as_ref().ok()?);
        let [was, is] = [first, now].map(|preview| self.lines_as_numbered(preview)[0]);
        let lines = describe_change(was?, is?, lines);
        let bytes =
            describe_change(first.kept.bytes?, now.kept.bytes?, |bytes| format!("{} B", thousands(bytes)));
        let parts: Vec<String> = lines.into_iter().chain(bytes).collect();
        Some(if parts.is_empty() { "nothing gained or lost".to_owned() } else { parts.join(", ") })
    }

    /// Returns the limit that cut: of a record, if a policy is proven to make the same.
    pub(crate) fn limit_hit(&self) -> Option<LimitHit> {
        match self.shown_record() {
            Some(recorded) => Some(recorded.equal()?.cut_by()?.0),
            None => self.made.preview.as_ref().ok()?.truncated_by,
        }
    }

    /// Describes why the policy cut: `over 50 KB`; `None` of a record that does not tell.
    pub(crate) fn reason(&self) -> Option<String> {
        let by_policy = || self.shown_record().is_none().then(|| "by the policy".into());
        self.limit_hit().and_then(|hit| describe_excess((hit, self.policy().limit(hit)))).or_else(by_policy)
    }

    /// Describes in a few words what the model saw: `cut: over 2,000 lines`.
    pub(crate) fn verdict(&self) -> String {
        match &self.made.preview {
            _ if self.is_awaited() => "planning…".into(),
            _ if !self.has_preview() => "not planned".into(),
            Ok(preview) if self.shown_record().is_some() => match self.recorded.as_ref().map(|of| &of.rest) {
                Some(RestOfOutput::Missing(why)) => format!("cut · {why}"),
                Some(rest @ RestOfOutput::Unknown) => rest.why_text_only().unwrap_or_default().into(),
                _ if preview.truncated => "cut".into(),
                _ => "nothing cut".into(),
            },
            Err(refusal) => refusal.clone(),
            Ok(Preview { status: Status::Crashed(words), .. }) => format!("the agent crashes here: {words}"),
            Ok(_) if self.view.is_empty() && self.fault.is_some() => "cannot be read".into(),
            Ok(_) if self.view.is_empty() => "empty".into(),
            Ok(preview) if !preview.truncated => "nothing cut".into(),
            Ok(_) => format!("cut: {}", self.reason().unwrap_or_default()),
        }
    }

    /// Describes the same in a sentence with figures. Returns versions from the longest to the shortest.
    pub(crate) fn share_kept(&self) -> Vec<String> {
        let preview = match &self.made.preview {
            _ if !self.has_preview() => return vec!["no preview was made".into()],
            Err(refusal) => return vec![refusal.clone()],
            Ok(Preview { status: Status::Crashed(words), .. }) => {
                return vec![format!("the agent crashes on this output: {words}")];
            }
            Ok(preview) => preview,
        };
        if let Some(found) = self.made.differences.as_ref().filter(|found| !found.is_empty()) {
            return vec![found.describe(self.recorded.as_ref())];
        }
        if let Some(words) = self.alone(preview) {
            return words;
        }
        if self.view.is_empty() {
            let got = if self.made.seen.is_empty() { "no text" } else { "only what the agent adds" };
            let empty = || format!("the output is empty: the model {} {got}", self.certainty().verb());
            return vec![self.fault.as_ref().map_or_else(empty, |why| format!("cannot be read: {why}"))];
        }
        if !preview.truncated {
            let (whole, bytes) = (self.all_of_it(), self.total_bytes(preview));
            let got = preview.text_bytes.map_or("…".into(), tokens);
            return vec![format!("{whole} · {} · {got} tokens", size(bytes)), whole];
        }
        if preview.kept.bytes == Some(0) {
            return vec![self.nothing_kept()];
        }
        self.share(preview)
    }

    /// Describes a recorded text of which the rest is missing: how long it is, and why there is no more.
    fn alone(&self, preview: &Preview) -> Option<Vec<String>> {
        let why = self.missing_rest()?;
        let bytes = tokens(self.total_bytes(preview));
        let verb = self.certainty().verb();
        let got = match self.lines() {
            Some(n) => format!("the model {verb} {} · {bytes} tokens", lines(n)),
            None => format!("the model {verb} {bytes} tokens"),
        };
        Some(vec![format!("{got} · {why}"), got])
    }

    fn share(&self, preview: &Preview) -> Vec<String> {
        let figure = |value: Option<u64>| value.map_or("…".into(), thousands);
        let [kept, total] = self.lines_as_numbered(preview).map(figure);
        let lines = format!("{} {kept} of {total} lines", self.certainty().verb());
        let total = self.total_bytes(preview);
        let got = preview.text_bytes.map_or("…".into(), tokens);
        // With its notice, a text that lost little is longer than the output.
        let whole = match preview.text_bytes.is_some_and(|bytes| bytes > total) {
            true => String::new(),
            false => format!(" of {}", tokens(total)),
        };
        vec![format!("{lines} · {got}{whole} tokens"), lines]
    }

    pub(crate) fn lines_as_numbered(&self, preview: &Preview) -> [Option<u64>; 2] {
        lines_as_numbered(preview, &self.view, self.lines())
    }

    /// Returns how much the model got of an output that was cut, in percent; `None` if that is not known, or it got nothing.
    pub(crate) fn percent_kept(&self) -> Option<u64> {
        let preview =
            self.made.preview.as_ref().ok().filter(|preview| preview.truncated && !self.is_awaited())?;
        let kept = preview.kept.bytes.filter(|kept| *kept > 0 && !self.is_rest_missing())?;
        let total = self.total_bytes(preview);
        (total > 0).then(|| (kept * 100 / total).min(99))
    }

    /// Returns the length of the output as the policy counts it; while that is not known, of the file.
    fn total_bytes(&self, preview: &Preview) -> u64 {
        preview.total.bytes.unwrap_or(self.view.len() as u64)
    }

    fn all_of_it(&self) -> String {
        let verb = self.certainty().verb();
        match self.lines() {
            Some(0) => "the output is empty".to_owned(),
            Some(1) => format!("the model {verb} the one line"),
            Some(n) => format!("the model {verb} all {}", lines(n)),
            None => format!("the model {verb} all of it"),
        }
    }

    /// Explains why nothing was kept: if the first line taken did not fit, says how long it is.
    fn nothing_kept(&self) -> String {
        let (Some(LimitHit::Size(_)), Some(most)) = (self.limit_hit(), self.policy().max_size()) else {
            return format!("nothing kept: {}", self.reason().as_deref().unwrap_or("not recorded why"));
        };
        let (which, length) = self.first_taken();
        let is_whole = most.is_multiple_of(1024) || self.policy().unit() != Unit::Bytes;
        let shown = |length: u64| if is_whole { size(length) } else { format!("{} B", thousands(length)) };
        let length = length.map_or(String::new(), |length| format!("{}, ", shown(length as u64)));
        format!("nothing kept: the {which} line alone is {length}over {}", describe_size(self.policy(), most))
    }

    /// Returns which line the policy takes first, and its length in bytes if that can be found without reading far.
    fn first_taken(&self) -> (&'static str, Option<usize>) {
        let (reader, bytes) = (self.reader(Side::Spill, None), &self.view[..]);
        let (which, end, length) = if self.policy().direction() == Some(Direction::Tail) {
            let end = bytes.len() - usize::from(bytes.last() == Some(&b'\n'));
            ("last", end, end - reader.line_start(end as u64) as usize)
        } else {
            ("first", bytes.len(), reader.line_end(0) as usize)
        };
        // Where lines are not counted yet, a long one may go on.
        let is_known = length < BLOCK || end <= BLOCK || self.index.is_complete();
        (which, is_known.then_some(length))
    }

    pub(crate) fn heading(&self) -> &'static str {
        if self.is_read_view() { "Read tool gives" } else { self.certainty().heading() }
    }

    /// Returns what stands beside the heading of the preview on a wide screen; empty if nothing.
    pub(crate) fn preview_heading(&self) -> &'static str {
        match &self.made.preview {
            Ok(_) if self.is_rest_missing() => "as recorded",
            Ok(preview) if preview.truncated => "",
            Err(_) if !self.has_preview() => "unknown",
            Ok(_) => "all of it",
            Err(_) => "the agent refuses",
        }
    }

    /// Returns the heading of Spill: its lines, as `less` counts them, and its size.
    pub(crate) fn spill_heading(&self) -> String {
        let bytes = size(self.view.len() as u64);
        let bytes = if self.is_text_only() { format!("{bytes}: the recorded text again") } else { bytes };
        match self.lines() {
            Some(n) => format!("{}, {bytes}", lines(n)),
            None => format!("{bytes}, counting lines {}%", self.counted_percent()),
        }
    }

    /// Describes what ends above a row of Spill, or begins.
    pub(crate) fn describe_cut(&self, fate: Fate) -> String {
        match fate {
            Fate::Lost => {
                self.reason().map_or("lost from here".into(), |why| format!("lost from here: {why}"))
            }
            Fate::Kept => format!("the model {} what follows", self.certainty().verb()),
        }
    }

    pub(crate) fn describe_end(&self, side: Side) -> String {
        match (side, &self.made.preview) {
            (Side::Spill, _) => "end of the file".into(),
            (Side::Preview, _) if !self.has_preview() => "no preview yet".into(),
            (Side::Preview, Ok(preview)) if !preview.truncated && !self.is_rest_missing() => {
                format!("end: {}", self.all_of_it())
            }
            (Side::Preview, _) => format!("end of what the model {}", self.certainty().verb()),
        }
    }

    /// Describes a line of the output, its fate, and why, in versions from the longest to the shortest: `line 6,330 of 6,344 ·
    /// lost: over 50 KB`.
    pub(crate) fn describe_line(&self, offset: usize, got: Share) -> Vec<String> {
        let number = match self.line_number(offset) {
            Some(line) => thousands(line),
            None => format!("~{}", thousands(self.about_line_at(offset as u64) + 1)),
        };
        let (total, counting) = match self.lines() {
            Some(total) => (format!(" of {}", thousands(total)), String::new()),
            None => (String::new(), format!(" · counting lines, {}%", self.counted_percent())),
        };
        let verb = self.certainty().verb();
        let fate = match got {
            _ if !self.has_preview() => String::new(),
            Share::Whole => format!(" · model {verb} it"),
            Share::Some => format!(" · model {verb} a part"),
            Share::None => " · lost".to_owned(),
        };
        let reason = self.reason().filter(|_| self.has_preview() && got != Share::Whole);
        let why = reason.map(|reason| format!(": {reason}"));
        let line = format!("line {number}");
        let full = format!("{line}{total}{fate}");
        // The reason is worth more than how many lines there are.
        let with_reason = why.as_ref().map(|why| format!("{line}{fate}{why}"));
        let why = why.unwrap_or_default();
        let shorter = [format!("{full}{counting}"), format!("{line}{fate}")];
        [format!("{full}{why}{counting}")].into_iter().chain(with_reason).chain(shorter).collect()
    }

    /// Returns why what the model got of this output may have been another text, in few words.
    pub(crate) fn caveat(&self) -> Option<&str> {
        self.warnings().into_iter().find_map(|warning| warning.short.as_deref())
    }

    /// Whether the model may have got another part of this output, which no record tells.
    pub(crate) fn may_vary(&self) -> bool {
        self.caveat().is_some() && self.certainty() != Certainty::Recorded
    }

    pub(crate) fn call(&self) -> Option<&CitingCall> {
        match (&self.recorded, &self.call_search) {
            (Some(recorded), _) => Some(&recorded.call),
            (None, CallSearch::Found(call)) => Some(call),
            (None, _) => None,
        }
    }

    pub(crate) fn facts(&self) -> Vec<NamedFact> {
        let mut facts = call_facts(self);
        let packed = self.packed.map(|(form, bytes)| format!(" ({form}, {} compressed)", size(bytes)));
        facts.push(("file", format!("{}{}", self.subject.path(), packed.unwrap_or_default())));
        facts.extend(self.fault.iter().map(|fault| ("fault", fault.clone())));
        if !self.is_rest_missing() {
            facts.push(("size", bytes(self)));
            facts.extend(self.utf16().map(|order| ("text", order.as_str().to_owned())));
            facts.push(("lines", self.lines().map_or_else(unknown, lines)));
        }
        let policy = self.policy();
        facts.push(("certainty", certainty(self).to_owned()));
        // Another policy of the agent's did not make what was recorded.
        if self.shown_record().is_none_or(|recorded| recorded.policy.is_some()) {
            facts.extend([
                ("policy", policy.name().to_owned()),
                ("limits", format!("{} (from {})", self.limits(), self.subject.policy.origin())),
                ("versions", policy.version().to_owned()),
                ("known from", format!("{} · {}", policy.source(), policy.confidence().describe())),
            ]);
        }
        facts.push(("verdict", self.verdict()));
        let read = self.made.preview.as_ref().ok().filter(|_| self.fault.is_none() || !self.view.is_empty());
        facts.extend(read.map(|preview| kept(self, preview)).unwrap_or_default());
        facts.extend(self.warnings().iter().map(|warning| ("warning", warning.text.clone())));
        facts
    }
}

/// Formats the limits of a policy: `2,000 lines, 50 KB`.
pub(crate) fn describe_limits(policy: &Policy) -> String {
    let size = policy.max_size().map(|size| describe_size(policy, size));
    policy.max_lines().map(lines).into_iter().chain(size).collect::<Vec<_>>().join(", ")
}

/// Formats a value of a policy's size limit: `50 KB`, `30,000 UTF-16 units`.
pub(crate) fn describe_size(policy: &Policy, size: u64) -> String {
    limit_in(size, policy.unit().describe())
}

/// Describes by how much `to` differs from `from`; `None` if it does not.
fn describe_change(from: u64, to: u64, words: impl Fn(u64) -> String) -> Option<String> {
    match to.checked_sub(from) {
        Some(0) => None,
        Some(more) => Some(format!("+{}", words(more))),
        None => Some(format!("−{}", words(from - to))),
    }
}

fn call_facts(output: &OpenOutput) -> Vec<NamedFact> {
    let call = |words: &str| vec![("call", words.to_owned())];
    match (&output.recorded, &output.call_search) {
        (Some(recorded), _) => {
            let missing = output.missing_rest().map(|why| ("missing", why.to_owned()));
            let compared = ("compared", describe_check(recorded.check.as_ref()));
            [compared].into_iter().chain(missing).chain(recorded.facts.iter().cloned()).collect()
        }
        (None, CallSearch::Found(cited)) => {
            vec![
                ("session", cited.file.id.clone()),
                ("call", cited.call.clone()),
                ("command", cited.command.clone()),
            ]
        }
        (None, CallSearch::Running) => call("being looked for…"),
        (None, CallSearch::NoneFound) => call("no session near it in time names this output"),
        (None, CallSearch::NotStarted) => Vec::new(),
    }
}

fn unknown() -> String {
    "still being counted".to_owned()
}

fn bytes(output: &OpenOutput) -> String {
    let bytes = output.view.len() as u64;
    format!("{} ({})", size(bytes), count(bytes, "byte"))
}

/// Returns how much of the output was kept. A recorded text alone has no known total.
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
    let is_recorded = output.shown_record().is_some();
    let [by, by_bytes] = if is_recorded { [", as `less` counts", ""] } else { [", as the agent counts"; 2] };
    let tokens = |bytes| format!("{} at 4 bytes each", tokens(bytes));
    vec![
        ("lines kept", format!("{lines}{by}")),
        ("bytes kept", kept(preview.kept.bytes, preview.total.bytes) + by_bytes),
        ("tokens", preview.text_bytes.map_or_else(unknown, tokens)),
    ]
}

fn certainty(output: &OpenOutput) -> &'static str {
    match output.certainty() {
        Certainty::Recorded if output.recorded.is_some() => "recorded by the agent",
        Certainty::Recorded => "recorded: overspill printed it, and saved how it was cut",
        Certainty::Reconstructed => "reconstructed: a policy of the agent that stored the output makes it",
        Certainty::WouldGet if output.what_if().is_some() => {
            "would get: the policy or its limits were changed"
        }
        Certainty::WouldGet => "would get: no agent is known to have cut this output",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_signs() {
        let change = |from, to| describe_change(from, to, lines);
        assert_eq!(change(2000, 3500).as_deref(), Some("+1,500 lines"));
        assert_eq!(change(3500, 2000).as_deref(), Some("−1,500 lines"));
        assert_eq!(change(2, 1).as_deref(), Some("−1 line"));
        assert_eq!(change(1, 1), None);
    }
}
