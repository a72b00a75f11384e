//! The form of a JSON value by which Claude Code hashes the messages of its requests: compact, keys sorted.

use sha2::{Digest, Sha256};

use crate::session::json::{Json, JsonText, Kind};

use super::log::MessageHash;

/// The longest key that is sorted, in bytes.
const MAX_KEY: usize = 4096;

/// The mark that a request carries for the server's cache. It is not part of a message.
const CACHE_MARK: &str = "cache_control";

/// A value holds a key that is too long to be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyTooLong;

/// Hands out a value piece by piece: without space, the keys of objects sorted by UTF-16 units as JavaScript sorts them,
/// strings as `JSON.stringify` writes them, and without `cache_control`. Numbers stay as they are written. Nothing is
/// recursive.
///
/// # Errors
/// A key is over 4 KiB.
pub(super) fn canonical(value: Json, take: &mut dyn FnMut(&[u8])) -> Result<(), KeyTooLong> {
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
                let Some(container) = open.last_mut() else { return Ok(()) };
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

/// Returns the SHA-256 of a value's canonical form.
pub(super) fn hash_of(value: Json) -> Result<MessageHash, KeyTooLong> {
    let mut hash = Sha256::new();
    canonical(value, &mut |piece| hash.update(piece))?;
    Ok(hash.finalize().into())
}

/// A container that was begun.
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

/// Returns the members of an object in order. Of several with one key, the last counts.
fn members(object: Json) -> Result<Vec<Member>, KeyTooLong> {
    let mut members = Vec::new();
    for (key, value) in object.members().filter(|(key, _)| !key.is(CACHE_MARK)) {
        let decoded = key.to_text(MAX_KEY);
        if decoded.is_cut {
            return Err(KeyTooLong);
        }
        members.push(Member { order: decoded.text.encode_utf16().collect(), key, value });
    }
    members.reverse();
    members.sort_by(|a, b| a.order.cmp(&b.order));
    members.dedup_by(|later, first| later.order == first.order);
    Ok(members)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::json::Tape;

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
        assert_eq!(canonical(tape.read(text.as_bytes()).unwrap(), &mut |_| {}), Err(KeyTooLong));
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
