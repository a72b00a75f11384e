//! The request that carried a result, made anew from the records message by message.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::session::json::{Json, Kind};
use crate::session::model::{Call, RecordSpan};
use crate::session::transcript::Transcript;

use super::log::{MessageHash, message_hash};
use super::message::{Blocks, MessageFault, MessageRole, each_message, is_proven, look};
use super::results::{NotSent, carriers};

#[derive(Clone, Debug)]
pub struct SentRequest {
    pub record: RecordSpan,
    /// The record with the system prompt and the tools, if it is there.
    pub shape: Option<RecordSpan>,
    pub messages: Vec<RequestMessage>,
}

#[derive(Clone, Debug)]
pub struct RequestMessage {
    pub role: MessageRole,
    pub proof: MessageProof,
    place: MessagePlace,
}

#[derive(Clone, Debug)]
enum MessagePlace {
    Nowhere,
    /// The record that was written for the request.
    Blob(RecordSpan),
    Records(Vec<RecordSpan>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageProof {
    /// It is in the records, with this hash.
    Proven,
    /// What the records have in its place is another message, or cannot be read.
    Unproven(MessageFault),
    Missing,
}

/// Finds the request that first carried a result, with all messages. Reads so much that a worker should do it.
pub fn request_of(transcript: &Transcript, call: &Call) -> Result<SentRequest, NotSent> {
    let carriers = carriers(transcript, call)?;
    let carrier = carriers.first().ok_or(NotSent::NotCarried)?;
    let log = &transcript.requests;
    let request = log.request(carrier.request).ok_or(NotSent::NotCarried)?;
    let shape =
        look(transcript, request.record, |record, _| Some(record.get("shapeHash").and_then(message_hash)))?;
    let hashes = log.messages(carrier.request);
    let spoken = spoken_messages(transcript, request.record, &hashes);
    let message = |hash: &Option<MessageHash>| {
        let Some(hash) = hash else { return RequestMessage::MISSING };
        spoken.get(hash).cloned().unwrap_or_else(|| blob_message(transcript, hash))
    };
    Ok(SentRequest {
        record: request.record,
        shape: shape.and_then(|hash| log.shape(&hash)),
        messages: hashes.iter().map(message).collect(),
    })
}

/// Finds the messages of these hashes that are records of the conversation, before a request in the same file.
fn spoken_messages(
    transcript: &Transcript,
    request: RecordSpan,
    hashes: &[Option<MessageHash>],
) -> HashMap<MessageHash, RequestMessage> {
    let log = &transcript.requests;
    let wanted = hashes.iter().flatten().filter(|hash| log.blob(hash).is_none());
    let mut left: HashSet<MessageHash> = wanted.copied().collect();
    let mut found = HashMap::new();
    log.turns(request.source(), &mut |turn| {
        for (role, records) in [(MessageRole::Assistant, &turn.model), (MessageRole::User, &turn.user)] {
            each_message(transcript, role, records, &mut |hash, records| {
                if left.remove(&hash) {
                    let place = MessagePlace::Records(records.to_vec());
                    found.insert(hash, RequestMessage { role, proof: MessageProof::Proven, place });
                }
            });
        }
        let mut firsts = [&turn.model, &turn.user].into_iter().filter_map(|records| records.first());
        firsts.all(|first| first.start() < request.start()) && !left.is_empty()
    });
    found
}

impl RequestMessage {
    const MISSING: Self =
        Self { role: MessageRole::Other, proof: MessageProof::Missing, place: MessagePlace::Nowhere };
}

fn blob_message(transcript: &Transcript, hash: &MessageHash) -> RequestMessage {
    let Some(blob) = transcript.requests.blob(hash) else { return RequestMessage::MISSING };
    let found = look(transcript, blob, |record, _| {
        let message = record.get("message")?;
        Some((MessageRole::read(message), is_proven(message, hash)))
    });
    let (role, proof) = match found {
        Ok((role, true)) => (role, MessageProof::Proven),
        Ok((role, false)) => (role, MessageProof::Unproven(MessageFault::Mismatch)),
        Err(fault) => (MessageRole::Other, MessageProof::Unproven(fault)),
    };
    RequestMessage { role, proof, place: MessagePlace::Blob(blob) }
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
    match &message.place {
        MessagePlace::Nowhere => out.write_all(b"null"),
        MessagePlace::Blob(record) => {
            flatten(look(transcript, *record, |record, _| Some(out.write_all(record.get("message")?.raw()))))
        }
        MessagePlace::Records(records) => {
            write!(out, "{{\"role\":\"{}\",\"content\":[", message.role.as_str())?;
            let mut blocks = Blocks::default();
            for record in records {
                flatten(look(transcript, *record, |record, _| {
                    let content = record.path(&["message", "content"])?;
                    let mut written = Ok(());
                    blocks.each(content, &mut |piece| {
                        if written.is_ok() {
                            written = out.write_all(piece.raw());
                        }
                    });
                    Some(written)
                }))?;
            }
            out.write_all(b"]}")
        }
    }
}

fn flatten(result: Result<io::Result<()>, MessageFault>) -> io::Result<()> {
    result.map_err(io::Error::other)?
}
