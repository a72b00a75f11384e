//! The request that carried a result, made anew from the records message by message.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::session::json::{Json, Kind};
use crate::session::model::{Call, RecordSpan};
use crate::session::transcript::Transcript;

use super::log::{MessageHash, MessageList, message_hash};
use super::message::{MessageFault, MessageRole, blocks, each_message, look, look_at_blob};
use super::results::{NotSentReason, carrier};

#[derive(Clone, Debug)]
pub struct SentRequest {
    pub record: RecordSpan,
    /// The record with the system prompt and the tools, if it is there.
    pub shape: Option<RecordSpan>,
    pub messages: Vec<RequestMessage>,
}

#[derive(Clone, Debug)]
pub enum RequestMessage {
    Missing,
    /// The record that was written for the request, and why it does not prove what that carried.
    Blob(RecordSpan, Option<MessageFault>),
    /// The records of the conversation that the message is made of, as the hash shows.
    Spoken(MessageRole, Vec<RecordSpan>),
}

/// Finds the request that first carried a result, with all messages. Reads so much that a worker should do it.
pub fn request_of(transcript: &Transcript, call: &Call) -> Result<SentRequest, NotSentReason> {
    let carrier = carrier(transcript, call)?;
    let log = &transcript.requests;
    let request = log.request(carrier.request).ok_or(NotSentReason::NotCarried)?;
    let shape =
        look(transcript, request.record, |record, _| Some(record.get("shapeHash").and_then(message_hash)))?;
    let MessageList { missing, known } = log.messages(carrier.request);
    let spoken = spoken_messages(transcript, request.record, &known);
    let message =
        |hash: &MessageHash| spoken.get(hash).cloned().unwrap_or_else(|| blob_message(transcript, hash));
    let missing = std::iter::repeat_n(RequestMessage::Missing, missing);
    Ok(SentRequest {
        record: request.record,
        shape: shape.and_then(|hash| log.shape(&hash)),
        messages: missing.chain(known.iter().map(message)).collect(),
    })
}

/// Finds the messages of these hashes that are records of the conversation, before a request in the same file.
fn spoken_messages(
    transcript: &Transcript,
    request: RecordSpan,
    hashes: &[MessageHash],
) -> HashMap<MessageHash, RequestMessage> {
    let log = &transcript.requests;
    let wanted = hashes.iter().filter(|hash| log.blob(hash).is_none());
    let mut left: HashSet<MessageHash> = wanted.copied().collect();
    let mut found = HashMap::new();
    log.turns(request.source(), &mut |turn| {
        for (role, records) in [(MessageRole::Assistant, &turn.model), (MessageRole::User, &turn.user)] {
            each_message(transcript, role, records, &mut |hash, records| {
                if left.remove(&hash) {
                    found.insert(hash, RequestMessage::Spoken(role, records.to_vec()));
                }
            });
        }
        let mut firsts = [&turn.model, &turn.user].into_iter().filter_map(|records| records.first());
        firsts.all(|first| first.start() < request.start()) && !left.is_empty()
    });
    found
}

fn blob_message(transcript: &Transcript, hash: &MessageHash) -> RequestMessage {
    let Some(blob) = transcript.requests.blob(hash) else { return RequestMessage::Missing };
    RequestMessage::Blob(blob, look_at_blob(transcript, blob, hash, |_, _| Some(())).err())
}

/// Writes a request as one JSON object: its messages, its parameters, its system prompt and tools, each as the records have
/// them; `null` stands for a message that is not there. One record is in memory at a time.
pub fn write_request(transcript: &Transcript, request: &SentRequest, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"messages\":[")?;
    for (n, message) in request.messages.iter().enumerate() {
        out.write_all(if n == 0 { b"" } else { b"," })?;
        write_message(transcript, message, out)?;
    }
    out.write_all(b"]")?;
    for (record, key) in [(Some(request.record), "params"), (request.shape, "shape")] {
        let Some(record) = record else { continue };
        flatten(look(transcript, record, |record, _| Some(write_members(record.get(key), out))))?;
    }
    out.write_all(b"}\n")
}

/// Writes the members of an object behind others; nothing for another value.
fn write_members(object: Option<Json>, out: &mut dyn Write) -> io::Result<()> {
    let members = object.filter(|object| object.kind() == Kind::Object);
    let inside =
        members.and_then(|object| object.raw().get(1..)?.split_last()).map_or(&[][..], |(_, inside)| inside);
    if inside.trim_ascii().is_empty() {
        return Ok(());
    }
    out.write_all(b",")?;
    out.write_all(inside)
}

fn write_message(transcript: &Transcript, message: &RequestMessage, out: &mut dyn Write) -> io::Result<()> {
    match message {
        RequestMessage::Missing => out.write_all(b"null"),
        RequestMessage::Blob(record, _) => {
            flatten(look(transcript, *record, |record, _| Some(out.write_all(record.get("message")?.raw()))))
        }
        RequestMessage::Spoken(role, records) => {
            write!(out, "{{\"role\":\"{}\",\"content\":[", role.as_str())?;
            let mut comma = "";
            for record in records {
                flatten(look(transcript, *record, |record, _| {
                    let mut blocks = blocks(record.path(&["message", "content"])?);
                    Some(blocks.try_for_each(|(before, block, after)| {
                        let comma = std::mem::replace(&mut comma, ",");
                        let pieces = [comma.as_bytes(), before.as_bytes(), block.raw(), after.as_bytes()];
                        pieces.into_iter().try_for_each(|piece| out.write_all(piece))
                    }))
                }))?;
            }
            out.write_all(b"]}")
        }
    }
}

fn flatten(result: Result<io::Result<()>, MessageFault>) -> io::Result<()> {
    result.map_err(io::Error::other)?
}
