//! Reads the messages of requests from the records, and works out their hashes.

use sha2::{Digest, Sha256};

use crate::session::json::{Json, JsonText, Kind, Tape};
use crate::session::model::RecordSpan;
use crate::session::reader::RecordPlace;
use crate::session::transcript::Transcript;

use super::log::MessageHash;

/// The longest record that is looked at, in bytes: a request may have 32 MB.
const MAX_LOOKED: u64 = 32 << 20;

/// The most records of the user of which each part of the list is tried.
const MAX_TRIED: usize = 8;

/// Why a message cannot be shown to be what a request carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageFault {
    #[error("the records cannot be read")]
    Unreadable,
    #[error("the record of the message is over 32 MB")]
    TooLong,
    #[error("the message in the records does not have the hash that the request names")]
    Mismatch,
}

/// Looks at a record as a whole.
pub fn look<T>(
    transcript: &Transcript,
    record: RecordSpan,
    look: impl FnOnce(Json, RecordPlace) -> Option<T>,
) -> Result<T, MessageFault> {
    if record.len() > MAX_LOOKED {
        return Err(MessageFault::TooLong);
    }
    let bytes = transcript.read(record, MAX_LOOKED).map_err(|_| MessageFault::Unreadable)?;
    let mut tape = Tape::default();
    let value = tape.read(&bytes).map_err(|_| MessageFault::Unreadable)?;
    let place = RecordPlace::new(record.source(), record.row(), record.start());
    look(value, place).ok_or(MessageFault::Unreadable)
}

/// Looks at the message that was written for a request, once it is shown to have this hash.
pub(super) fn look_at_blob<T>(
    transcript: &Transcript,
    record: RecordSpan,
    hash: &MessageHash,
    then: impl FnOnce(Json, RecordPlace) -> Option<T>,
) -> Result<T, MessageFault> {
    look(transcript, record, |record, place| {
        let message = record.get("message")?;
        Some(if is_proven(message, hash) {
            then(message, place).ok_or(MessageFault::Unreadable)
        } else {
            Err(MessageFault::Mismatch)
        })
    })?
}

/// Passes on each message that records can form: the assistant's, all of them; others, any run of them (of a long
/// list, any prefix).
pub(super) fn each_message(
    transcript: &Transcript,
    role: MessageRole,
    records: &[RecordSpan],
    take: &mut dyn FnMut(MessageHash, &[RecordSpan]),
) {
    let is_one = role == MessageRole::Assistant;
    let starts = if is_one || records.len() > MAX_TRIED { 1 } else { records.len() };
    for start in 0..starts {
        let mut hash = Sha256::new_with_prefix(b"{\"content\":[");
        let mut comma = "";
        for (at, record) in records.iter().enumerate().skip(start) {
            let added = look(transcript, *record, |record, _| {
                for (before, block, after) in blocks(record.path(&["message", "content"])?) {
                    hash.update(std::mem::replace(&mut comma, ","));
                    hash.update(before);
                    canonical(block, &mut |piece| hash.update(piece))?;
                    hash.update(after);
                }
                Some(())
            });
            if added.is_err() {
                break;
            }
            if is_one && at + 1 < records.len() {
                continue;
            }
            let whole = hash.clone().chain_update(format!("],\"role\":\"{}\"}}", role.as_str()));
            take(whole.finalize().into(), records.get(start..=at).unwrap_or_default());
        }
    }
}

/// Returns the blocks of a content, each with the text before and after it; a string is one block of text.
pub(super) fn blocks(content: Json) -> impl Iterator<Item = (&'static str, Json, &'static str)> {
    let is_text = content.kind() == Kind::String;
    let text = is_text.then_some(("{\"text\":", content, ",\"type\":\"text\"}"));
    text.into_iter().chain(content.items().map(|block| ("", block, "")))
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MessageRole {
        /// The user, or a tool.
        User => "user",
        Assistant => "assistant",
    }
}

/// Whether this is the SHA-256 of a message's canonical form.
pub fn is_proven(message: Json, hash: &MessageHash) -> bool {
    let mut found = Sha256::new();
    let written = canonical(message, &mut |piece| found.update(piece));
    written.is_some() && found.finalize()[..] == hash[..]
}

/// The longest key that is sorted, in bytes.
const MAX_KEY: usize = 4096;

/// The mark that a request carries for the server's cache. It is not part of a message.
const CACHE_MARK: &str = "cache_control";

/// Hands out a value piece by piece: without space, the keys of objects sorted by UTF-16 units as JavaScript sorts them,
/// strings as `JSON.stringify` writes them, and without `cache_control`. Numbers stay as they are written. Nothing is
/// recursive. Returns `None` if a key is too long to be sorted.
fn canonical(value: Json, take: &mut dyn FnMut(&[u8])) -> Option<()> {
    let mut open: Vec<Container> = Vec::new();
    let mut next = Some(value);
    loop {
        match next.take() {
            Some(value) => match value.kind() {
                Kind::String => string(value.text(), take),
                Kind::Bare => take(value.raw()),
                Kind::Array => {
                    take(b"[");
                    let rest = Box::new(value.items().map(|item| (None, item)));
                    open.push(Container { rest, is_begun: false, end: b"]" });
                }
                Kind::Object => {
                    take(b"{");
                    let rest = members(value)?.into_iter().map(|member| (Some(member.key), member.value));
                    open.push(Container { rest: Box::new(rest), is_begun: false, end: b"}" });
                }
            },
            None => {
                let Some(container) = open.last_mut() else { return Some(()) };
                let Some((key, value)) = container.rest.next() else {
                    take(container.end);
                    open.pop();
                    continue;
                };
                if std::mem::replace(&mut container.is_begun, true) {
                    take(b",");
                }
                if key.is_some() {
                    string(key, take);
                    take(b":");
                }
                next = Some(value);
            }
        }
    }
}

struct Container<'a> {
    /// What is left of it; the members of an object have keys.
    rest: Box<dyn Iterator<Item = (Option<JsonText<'a>>, Json<'a>)> + 'a>,
    /// Whether a value of it was handed out.
    is_begun: bool,
    end: &'static [u8],
}

struct Member<'a> {
    /// The key in UTF-16 units, by which members are sorted.
    order: Vec<u16>,
    key: JsonText<'a>,
    value: Json<'a>,
}

fn string(text: Option<JsonText>, take: &mut dyn FnMut(&[u8])) {
    take(b"\"");
    text.into_iter().for_each(|text| text.stringified(take));
    take(b"\"");
}

/// Returns the members of an object in order. The last of equal keys counts. `None` if a key is too long.
fn members(object: Json) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    for (key, value) in object.members().filter(|(key, _)| !key.is(CACHE_MARK)) {
        let decoded = key.to_text(MAX_KEY);
        if decoded.is_cut {
            return None;
        }
        members.push(Member { order: decoded.text.encode_utf16().collect(), key, value });
    }
    members.reverse();
    members.sort_by(|a, b| a.order.cmp(&b.order));
    members.dedup_by(|later, first| later.order == first.order);
    Some(members)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::session::json::Tape;

    use super::*;

    fn written(text: &str) -> String {
        let (mut tape, mut bytes) = (Tape::default(), Vec::new());
        canonical(tape.read(text.as_bytes()).unwrap(), &mut |piece| bytes.extend_from_slice(piece)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn keys_are_sorted_and_space_is_left_out() {
        let text = r#" { "b" : [ 1 , "x\/y", {} , [] ], "a": {"d": null, "c": -2.50e1} } "#;
        assert_eq!(written(text), r#"{"a":{"c":-2.50e1,"d":null},"b":[1,"x/y",{},[]]}"#);
    }

    #[test]
    fn cache_marks_are_left_out_everywhere() {
        let text = r#"{"cache_control":1,"a":[{"cache\u005fcontrol":{},"b":2}]}"#;
        assert_eq!(written(text), r#"{"a":[{"b":2}]}"#);
    }

    #[test]
    fn keys_are_sorted_by_utf16_units_and_the_last_duplicate_counts() {
        assert_eq!(written(r#"{"\uffff":1,"😀":2,"a":3,"a":4}"#), "{\"a\":4,\"😀\":2,\"\u{ffff}\":1}");
    }

    #[test]
    fn deep_nesting_takes_no_stack() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(written(&deep), deep);
    }

    #[test]
    fn a_key_that_is_too_long_is_refused() {
        let text = format!("{{\"{}\":1}}", "k".repeat(MAX_KEY + 1));
        let mut tape = Tape::default();
        assert_eq!(canonical(tape.read(text.as_bytes()).unwrap(), &mut |_| {}), None);
    }

    proptest! {
        #[test]
        fn compact_json_of_serde_is_canonical(
            entries in proptest::collection::btree_map("[a-z\"\\\\]{0,4}", "[\\x00-\\x1f\\x20-\\x7e€😀]{0,12}", 0..6),
        ) {
            // Maps of serde_json are sorted, and it escapes the same characters.
            let text = serde_json::to_string(&entries).unwrap();
            prop_assert_eq!(written(&text), text.clone());
            let spaced = serde_json::to_string_pretty(&entries).unwrap();
            prop_assert_eq!(written(&spaced), text);
        }

        #[test]
        fn any_bytes_are_written_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut tape = Tape::default();
            if let Ok(value) = tape.read(&bytes) {
                let _ = canonical(value, &mut |_| {});
            }
        }
    }
}
