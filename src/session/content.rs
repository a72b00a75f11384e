//! The `content` of a message, as most agents write it: a string, or a list of parts with text and images.

use std::borrow::Cow;

use jiff::Timestamp;
use memchr::memmem;

use super::clock;
use super::id::{RecordId, id_of_bytes};
use super::json::{Json, Kind};
use super::model::{TextPiece, TextPieces};
use super::reader::RecordPlace;

/// The longest id, kind or name that is taken over, in bytes.
pub const MAX_NAME: usize = 256;

/// The longest path or title that is taken over, and how much of a text is looked at for a notice, in bytes.
pub const MAX_TEXT: usize = 4096;

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
    text_start(content, MAX_TEXT)
}

/// Returns the texts of a content.
pub fn texts<'a>(content: Json<'a>) -> impl Iterator<Item = Json<'a>> {
    let whole = Some(content).filter(|content| content.kind() == Kind::String);
    whole.into_iter().chain(content.items().filter_map(|part| part.get("text")))
}

/// Returns the first bytes of a content's first text, at most `most`; empty if there is none.
pub fn text_start(content: Json, most: usize) -> String {
    let first = texts(content).next().and_then(|text| text.text());
    first.map(|text| text.to_text(most).text).unwrap_or_default()
}

/// Returns the first 4 KiB of a content's first text, as a title; `None` if it is empty.
pub fn title(content: Option<Json>) -> Option<String> {
    content.map(first_text).filter(|words| !words.is_empty())
}

/// Returns the first 4 KiB of a string; empty for another value.
pub fn start_of(text: Json) -> String {
    text.text().map(|text| text.to_text(MAX_TEXT).text).unwrap_or_default()
}

/// Returns about the last bytes of a content's last text, at most `most`; empty if there is none.
pub fn text_end(content: Json, most: usize) -> String {
    let last = texts(content).last().and_then(|text| text.text());
    last.map(|text| text.ending(most)).unwrap_or_default()
}

/// Returns the last line of a content's last text, of at most 1 KiB; empty if there is none.
pub fn last_line(content: Json) -> String {
    text_end(content, 1024).lines().next_back().unwrap_or_default().to_owned()
}

/// Whether a content has a line that `is_notice` knows. Only one with these words can be, which JSON writes as they are.
pub fn has_line(content: Json, words: &str, is_notice: impl Fn(&str) -> bool) -> bool {
    let has_words = |text: &Json| memmem::find(text.raw(), words.as_bytes()).is_some();
    let has_notice =
        |text: Json| text.text().is_some_and(|text| text.to_text(usize::MAX).text.lines().any(&is_notice));
    texts(content).filter(has_words).any(has_notice)
}

/// What readers ask of an object: members that are short, of a certain kind, or not there.
impl<'a> Json<'a> {
    /// Returns a member that is a name or an id.
    pub fn name(&self, key: &str) -> Option<String> {
        self.get(key)?.short(MAX_NAME)
    }

    /// Returns a member that is a name, without a copy if it stands there as it is; empty if there is none.
    pub fn word(&self, key: &str) -> Cow<'a, str> {
        self.get(key).and_then(|word| word.short_text(MAX_NAME)).unwrap_or_default()
    }

    /// Returns a member that is an id, as its number.
    pub fn id(&self, key: &str) -> Option<RecordId> {
        self.get(key)?.short_bytes(MAX_NAME).map(|id| id_of_bytes(&id))
    }

    /// Returns a member that is a path or a title.
    pub fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.short(MAX_TEXT)
    }

    /// Returns a member that is a time.
    pub fn time(&self, key: &str) -> Option<Timestamp> {
        self.get(key).and_then(clock::time)
    }

    /// Returns a member that is a whole number and fits.
    pub fn number<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        self.get(key)?.int()?.try_into().ok()
    }

    /// Whether a member is true.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(|value| value.bool()) == Some(true)
    }

    /// Whether a member is this text.
    pub fn has(&self, key: &str, text: &str) -> bool {
        self.get(key).is_some_and(|value| value.is(text))
    }

    pub fn is_type(&self, kind: &str) -> bool {
        self.has("type", kind)
    }

    /// Returns the items of a member that is a list.
    pub fn list(&self, key: &str) -> impl Iterator<Item = Self> + use<'a> {
        self.list_at(&[key])
    }

    /// Returns the items of a list below the keys of `path`.
    pub fn list_at(&self, path: &[&str]) -> impl Iterator<Item = Self> + use<'a> {
        self.path(path).into_iter().flat_map(|list| list.items())
    }
}

/// Returns the path in a notice: what follows `before` in the line that comes after `beginning`.
pub fn cited(notice: &str, beginning: &str, before: &str) -> Option<String> {
    let line = notice.strip_prefix(beginning)?.lines().next()?;
    Some(line.split_once(before)?.1.to_owned())
}

/// Returns the number that a line consists of after its beginning, as an exit status.
pub fn number_after(line: &str, beginning: &str) -> Option<i32> {
    line.strip_prefix(beginning)?.parse().ok()
}

/// Whether a part of a notice is a number, digit by digit.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
