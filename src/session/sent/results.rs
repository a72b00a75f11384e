//! The result of a call by the best evidence: as a request carried it, if one in the records did and its hash shows it.

use crate::session::content::pieces;
use crate::session::fate::ContextChange;
use crate::session::id::record_id;
use crate::session::json::{Json, Kind};
use crate::session::model::{Call, CallResult, Evidence, RecordSpan};
use crate::session::reader::RecordPlace;
use crate::session::transcript::Transcript;

use super::log::MessageHash;
use super::message::{MessageFault, MessageRole, each_message, look, look_at_blob};

/// The most messages that are looked at for one call.
const MAX_BLOBS: usize = 16;

/// The most records of the user, as of parallel calls, that are looked at together.
const MAX_TOGETHER: usize = 32;

/// The longest that they may be together, in bytes.
const MAX_TOGETHER_LEN: u64 = 32 << 20;

#[derive(Clone, Debug)]
pub struct BestResult {
    /// What the model got first: `sent`, or as the agent's history holds it.
    pub first: Option<CallResult>,
    pub not_sent: Option<NotSentReason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSentReason {
    #[error("no request is in the records")]
    NoRequests,
    #[error("no request in the records carried the result")]
    NotCarried,
    /// The message cannot be read, or is another than the request carried.
    #[error(transparent)]
    Message(#[from] MessageFault),
}

/// Returns the result of a call by the best evidence. Reads the message that carried it.
pub fn best(transcript: &Transcript, call: &Call) -> BestResult {
    match sent_result(transcript, call) {
        Ok(first) => BestResult { first: Some(first), not_sent: None },
        Err(why) => BestResult { first: call.result.clone(), not_sent: Some(why) },
    }
}

/// A message with the result, and the first request that carried it.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    pub request: u32,
    pub hash: MessageHash,
    /// The record that was written for the request; `None` if the message is made of the conversation's records.
    blob: Option<RecordSpan>,
}

/// Returns the message with the result of a call that was sent first.
pub(super) fn carrier(transcript: &Transcript, call: &Call) -> Result<Carrier, NotSentReason> {
    let log = &transcript.requests;
    if log.is_empty() {
        return Err(NotSentReason::NoRequests);
    }
    let mut found = Vec::new();
    for (hash, blob) in log.blobs_of(call.thread, &call.id).take(MAX_BLOBS) {
        let request = log.first_request(&hash);
        found.extend(request.map(|request| Carrier { request, hash, blob: Some(blob) }));
    }
    let own = call.first().and_then(|first| first.record);
    for hash in own.into_iter().flat_map(|own| own_hashes(transcript, own)) {
        let request = log.first_request(&hash);
        found.extend(request.map(|request| Carrier { request, hash, blob: None }));
    }
    found.into_iter().min_by_key(|carrier| carrier.request).ok_or(NotSentReason::NotCarried)
}

/// Returns the hashes of the messages that records of the conversation may form with this one of a result; reads them.
pub fn own_hashes(transcript: &Transcript, own: RecordSpan) -> Vec<MessageHash> {
    let turn = transcript.requests.turn_of(own);
    let around = turn.map(|turn| turn.user).filter(|records| is_short(records)).unwrap_or_else(|| vec![own]);
    let mut hashes = Vec::new();
    each_message(transcript, MessageRole::User, &around, &mut |hash, records| {
        hashes.extend(Some(hash).filter(|_| records.contains(&own)));
    });
    hashes
}

/// Whether records are few and short enough to be read for each call in them.
fn is_short(records: &[RecordSpan]) -> bool {
    let bytes = records.iter().fold(0, |bytes: u64, record| bytes.saturating_add(record.len()));
    records.len() <= MAX_TOGETHER && bytes <= MAX_TOGETHER_LEN
}

fn sent_result(transcript: &Transcript, call: &Call) -> Result<CallResult, NotSentReason> {
    let carrier = carrier(transcript, call)?;
    let result = |message: Json, place: RecordPlace, record| {
        let content = block_of(message, &call.id)?.get("content");
        Some(CallResult {
            evidence: Evidence::Sent,
            pieces: content.map(|content| pieces(content, place)).unwrap_or_default(),
            at: transcript.requests.request(carrier.request).and_then(|request| request.at),
            context: call.first().map(|first| first.context).unwrap_or_default(),
            record: Some(record),
        })
    };
    let found = match carrier.blob {
        Some(blob) => {
            look_at_blob(transcript, blob, &carrier.hash, |message, place| result(message, place, blob))
        }
        None => {
            let own = call.first().and_then(|first| first.record).ok_or(MessageFault::Unreadable)?;
            look(transcript, own, |record, place| result(record.get("message")?, place, own))
        }
    };
    Ok(found?)
}

fn block_of<'a>(message: Json<'a>, id: &str) -> Option<Json<'a>> {
    let mut blocks = message.get("content")?.items();
    blocks.find(|block| block.is_type("tool_result") && block.has("tool_use_id", id))
}

/// What the agent appends to results, and takes for no part of them.
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// What stands in the place of a result that the agent took out of its requests.
const STAND_INS: [&str; 3] = [
    "[Old tool result content cleared]",
    "[Result removed: a later call of this tool withdrew it, and it no longer applies.]",
    "[Result removed: it no longer applies.]",
];

/// The longest text that is looked at for such a sentence, in bytes: two marks of the agent's may stand before it.
const MAX_STAND_IN: usize = 512;

/// A result as a request carried it first, without the reminders after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstForm {
    len: usize,
    digest: u64,
}

impl FirstForm {
    /// Takes the text of a result, as [`text_of`] returns it.
    pub fn new(text: &str) -> Self {
        let mut own = text.trim_end();
        while let Some(start) = own.strip_suffix(REMINDER.1).and_then(|rest| rest.rfind(REMINDER.0)) {
            own = own.get(..start).unwrap_or_default().trim_end();
        }
        Self { len: own.len(), digest: record_id(own) }
    }

    /// Returns what was done to the result that another request carries in this form: it is whole, cleared or replaced.
    /// `named` are the sentences that the records name, besides the known ones.
    pub fn compare(&self, text: &str, named: &[String]) -> ContextChange {
        let is_reminder = |rest: &str| {
            let rest = rest.trim();
            rest.is_empty() || rest.starts_with(REMINDER.0) && rest.ends_with(REMINDER.1)
        };
        let parts = text.split_at_checked(self.len);
        if parts.is_some_and(|(own, rest)| record_id(own) == self.digest && is_reminder(rest)) {
            return ContextChange::Restore;
        }
        let own = text.get(..Self::new(text).len).unwrap_or_default();
        let mut stand_ins = STAND_INS.into_iter().chain(named.iter().map(String::as_str));
        let mut is_cleared =
            || own.len() <= MAX_STAND_IN && stand_ins.any(|sentence| own.ends_with(sentence));
        if is_cleared() { ContextChange::Clear } else { ContextChange::Replace }
    }
}

/// Returns the texts of a result's content, joined; U+FFFC stands for each image.
pub fn text_of(content: Json) -> String {
    let of = |text: Option<Json>| match text.and_then(|text| text.text()) {
        Some(text) => text.to_text(usize::MAX).text,
        None => "\u{fffc}".to_owned(),
    };
    match content.kind() {
        Kind::String => of(Some(content)),
        _ => content.items().map(|part| of(part.get("text"))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_after_a_result_change_nothing() {
        let first = FirstForm::new("out  \n");
        let reminded = "out  \n\n\n<system-reminder>\na <system-reminder> b\n</system-reminder>\n\n<system-reminder>c</system-reminder>";
        assert_eq!([first.compare("out", &[]), first.compare(reminded, &[])], [ContextChange::Restore; 2]);
        assert_eq!(FirstForm::new(reminded).compare(reminded, &[]), ContextChange::Restore);
        assert_eq!(
            FirstForm::new("out\n<system-reminder>c</system-reminder>").compare("out", &[]),
            ContextChange::Restore
        );
        assert_eq!(
            first.compare("out <system-reminder>c</system-reminder> more", &[]),
            ContextChange::Replace
        );
    }

    #[test]
    fn a_stand_in_is_distinguished_from_a_result_that_quotes_it() {
        let sentence = "[Old tool result content cleared]";
        let reminded = format!("{sentence}\n\n<system-reminder>x</system-reminder>");
        let first = FirstForm::new("é");
        assert_eq!([first.compare(sentence, &[]), first.compare(&reminded, &[])], [ContextChange::Clear; 2]);
        assert_eq!(FirstForm::new(sentence).compare(&reminded, &[]), ContextChange::Restore);
        assert_eq!(first.compare(&format!("{}{sentence}", "x".repeat(600)), &[]), ContextChange::Replace);
        assert_eq!(first.compare("<persisted-output>Tool result saved to: /x", &[]), ContextChange::Replace);
        let own = ["[It was here]".to_owned()];
        assert_eq!(first.compare("[It was here]", &own), ContextChange::Clear, "by the records");
    }
}
