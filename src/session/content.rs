//! The `content` of a message, as most agents write it: a string, or a list of parts with text and images.

use memchr::memmem;

use super::json::{Json, Kind};
use super::model::{TextPiece, TextPieces};
use super::reader::RecordPlace;

/// The longest id, kind or name that is taken over, in bytes.
pub const LONGEST_NAME: usize = 256;

/// The longest path or title that is taken over, and how much of a text is looked at for a notice, in bytes.
pub const LONGEST_TEXT: usize = 4096;

/// Returns the text of a content. A part without `text` counts as an image.
pub fn pieces(content: Json, place: RecordPlace) -> TextPieces {
    if content.kind() == Kind::String {
        return TextPieces::from_iter([TextPiece::Json(place.span(content))]);
    }
    let part = |part: Json| match part.get("text").filter(|text| text.kind() == Kind::String) {
        Some(text) => TextPiece::Json(place.span(text)),
        None => TextPiece::Image,
    };
    content.items().map(part).collect()
}

/// Returns the first 4 KiB of a content's first text, in which a notice frames it; empty if there is none.
pub fn first_text(content: Json) -> String {
    first_words(content, LONGEST_TEXT)
}

/// Returns the first bytes of a content's first text, at most `most`; empty if there is none.
pub fn first_words(content: Json, most: usize) -> String {
    let first = match content.kind() {
        Kind::String => Some(content),
        _ => content.items().find_map(|part| part.get("text")),
    };
    first.and_then(|text| text.text()).map(|text| text.to_text(most).text).unwrap_or_default()
}

/// Returns the first 4 KiB of a string; empty for another value.
pub fn start_of(text: Json) -> String {
    text.text().map(|text| text.to_text(LONGEST_TEXT).text).unwrap_or_default()
}

/// Returns the last line of a content's last text, of at most 1 KiB; empty if there is none.
pub fn last_line(content: Json) -> String {
    let last = match content.kind() {
        Kind::String => Some(content),
        _ => content.items().filter_map(|part| part.get("text")).last(),
    };
    let ending = last.and_then(|text| text.text()).map(|text| text.ending(1024)).unwrap_or_default();
    ending.lines().next_back().unwrap_or_default().to_owned()
}

/// Whether a content has a line that `is_notice` knows. Only one with these words can be, which JSON writes as they are.
pub fn has_line(content: Json, words: &str, is_notice: impl Fn(&str) -> bool) -> bool {
    let has_words = |text: &Json| memmem::find(text.raw(), words.as_bytes()).is_some();
    let has_notice =
        |text: Json| text.text().is_some_and(|text| text.to_text(usize::MAX).text.lines().any(&is_notice));
    match content.kind() {
        Kind::String => has_words(&content) && has_notice(content),
        _ => content.items().filter_map(|part| part.get("text")).filter(has_words).any(has_notice),
    }
}

/// Returns a member that is a name or an id.
pub fn name(record: Json, key: &str) -> Option<String> {
    record.get(key)?.short(LONGEST_NAME)
}

/// Returns a member that is a path or a title.
pub fn text(record: Json, key: &str) -> Option<String> {
    record.get(key)?.short(LONGEST_TEXT)
}

/// Whether a member is this text.
pub fn is(record: Json, key: &str, text: &str) -> bool {
    record.get(key).is_some_and(|value| value.is(text))
}

pub fn is_type(record: Json, kind: &str) -> bool {
    is(record, "type", kind)
}

/// Whether a member is true.
pub fn flag(record: Json, key: &str) -> bool {
    record.get(key).and_then(|value| value.bool()) == Some(true)
}

/// Returns the items of a member that is a list.
pub fn items<'a>(record: Json<'a>, key: &str) -> impl Iterator<Item = Json<'a>> + use<'a> {
    record.get(key).into_iter().flat_map(|list| list.items())
}

/// Returns an exit status.
pub fn exit_code(value: Option<Json>) -> Option<i32> {
    value?.int()?.try_into().ok()
}
