//! Claude Code's records of its requests, of 2.1.300 on: lists of hashes, and the messages that no other record holds.

use crate::session::json::Json;
use crate::session::reader::RecordPlace;
use crate::session::sent::log::{MessageHash, RequestFacts, RequestLog, message_hash};

/// Reads a request, and returns its number.
pub(super) fn request(record: Json, place: RecordPlace, log: &mut RequestLog) -> Option<u32> {
    let facts = RequestFacts {
        id: record.id("id").unwrap_or_default(),
        base: record.id("base"),
        keep: record.number("keep").unwrap_or(0),
        at: record.time("timestamp"),
    };
    // A hash that cannot be read keeps its place, and stands for no message.
    let tail = record.list("tail");
    let tail = tail.map(|hash| hash_of(Some(hash)).unwrap_or_default());
    log.add_request(&facts, place.span(record), tail)
}

/// Reads a message that was written for a request.
pub(super) fn blob(record: Json, thread: u32, place: RecordPlace, log: &mut RequestLog) {
    let Some(hash) = hash_of(record.get("hash")) else { return };
    let blocks = record.list_at(&["message", "content"]);
    let results = blocks.filter(|block| block.is_type("tool_result"));
    let ids: Vec<String> = results.filter_map(|block| block.name("tool_use_id")).collect();
    log.add_blob(hash, place.span(record), ids.iter().map(|id| (thread, id.as_str())));
}

/// Reads the system prompt and the tools of requests.
pub(super) fn shape(record: Json, place: RecordPlace, log: &mut RequestLog) {
    if let Some(hash) = hash_of(record.get("shapeHash")) {
        log.add_shape(hash, place.span(record));
    }
}

pub(super) fn hash_of(text: Option<Json>) -> Option<MessageHash> {
    message_hash(&text?.short(64)?)
}
