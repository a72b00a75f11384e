//! What most agents write: the `content` of a message (a string, or parts with text and images), members, and times.

use std::borrow::Cow;
use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memchr::memmem;

use super::id::{RecordId, id_of_bytes, record_id};
use super::json::{Json, Kind, Tape};
use super::model::{ShownLines, TextPiece, TextPieces};
use super::reader::RecordPlace;

/// The longest id or name that is taken over, and how much of a path, of a title, or of a text with a notice, in bytes. Some
/// gateways write a signature of 1 KiB into the id of a call.
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

/// Returns about the last bytes of a content's last text, at most `most`; empty if there is none.
pub fn text_end(content: Json, most: usize) -> String {
    let last = texts(content).last().and_then(|text| text.text());
    last.map(|text| text.ending(most)).unwrap_or_default()
}

/// Returns the last line of a content's last text, of at most 1 KiB; empty if there is none.
pub fn last_line(content: Json) -> String {
    text_end(content, 1024).lines().next_back().unwrap_or_default().to_owned()
}

/// Whether `is_notice` holds for a line of a content. Decodes only texts with `words`, which JSON must not escape.
pub fn has_line(content: Json, words: &str, is_notice: impl Fn(&str) -> bool) -> bool {
    let has_words = |text: &Json| memmem::find(text.raw(), words.as_bytes()).is_some();
    let has_notice =
        |text: Json| text.text().is_some_and(|text| text.to_text(usize::MAX).text.lines().any(&is_notice));
    texts(content).filter(has_words).any(has_notice)
}

/// What readers ask of an object: members that are short, of a certain kind, or not there.
impl<'a> Json<'a> {
    pub fn name(&self, key: &str) -> Option<String> {
        self.get(key)?.short(MAX_TEXT)
    }

    /// Returns a member that is a name, without a copy if it stands there as it is; empty if there is none.
    pub fn word(&self, key: &str) -> Cow<'a, str> {
        self.get(key).and_then(|word| word.short_text(MAX_TEXT)).unwrap_or_default()
    }

    pub fn id(&self, key: &str) -> Option<RecordId> {
        self.get(key)?.as_id()
    }

    /// Returns a string that is an id, as its number.
    pub fn as_id(&self) -> Option<RecordId> {
        match self.text()?.ascii() {
            Some(id) => Some(id_of_bytes(id)),
            None => self.short(MAX_TEXT).map(|id| record_id(&id)),
        }
    }

    /// Returns the beginning of a member that is a path or a title.
    pub fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.text().map(|text| text.to_text(MAX_TEXT).text)
    }

    pub fn time(&self, key: &str) -> Option<Timestamp> {
        self.get(key).and_then(time)
    }

    /// Returns a member that is a whole number and fits.
    pub fn number<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        self.get(key)?.int()?.try_into().ok()
    }

    pub fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(|value| value.bool()) == Some(true)
    }

    pub fn has(&self, key: &str, text: &str) -> bool {
        self.get(key).is_some_and(|value| value.is(text))
    }

    pub fn is_type(&self, kind: &str) -> bool {
        self.has("type", kind)
    }

    pub fn list(&self, key: &str) -> impl Iterator<Item = Self> + use<'a> {
        self.list_at(&[key])
    }

    pub fn list_at(&self, path: &[&str]) -> impl Iterator<Item = Self> + use<'a> {
        self.path(path).into_iter().flat_map(|list| list.items())
    }
}

/// Returns the path in a notice: what follows `before` in the line that comes after `beginning`.
pub fn cited(notice: &str, beginning: &str, before: &str) -> Option<String> {
    let line = notice.strip_prefix(beginning)?.lines().next()?;
    Some(line.split_once(before)?.1.to_owned())
}

/// Returns what stands between the beginning and the end of a text.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

/// Returns the number that a line consists of after its beginning, as an exit status.
pub fn number_after(line: &str, beginning: &str) -> Option<i32> {
    line.strip_prefix(beginning)?.parse().ok()
}

/// Returns how many lines of a file some arguments ask for, 0 for all from a line on; `None` if they name no window.
/// Starting at the first line (0 or 1) is no window.
pub fn asked_lines(arguments: Json) -> Option<u32> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| arguments.number::<u32>(key));
    let start = number(&["offset", "start_line", "line_offset"]);
    let up_to = number(&["end_line"]).map(|end| end.saturating_sub(start.unwrap_or(1).saturating_sub(1)));
    number(&["limit", "n_lines"]).or(up_to).or(start.filter(|start| *start > 1).map(|_| 0))
}

/// Returns how many lines some arguments ask for, as in [`asked_lines`], that stand as JSON in a string.
pub fn asked_lines_in(arguments: Option<Json>) -> Option<u32> {
    let text = arguments?.short_text(MAX_TEXT)?;
    asked_lines(Tape::default().read(text.as_bytes()).ok()?)
}

/// Returns what is shown of a file by a notice such as `Showing lines 1-506 of 4001`.
pub fn shown_lines(notice: &str) -> Option<ShownLines> {
    line_range(notice.split_once("Showing lines ")?.1)
}

/// Reads `1-506 of 4001`, or what is known of it.
pub fn line_range(text: &str) -> Option<ShownLines> {
    let (first, rest) = text.split_once('-')?;
    let mut numbers =
        rest.split(" of ").map(|text| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    let (last, total): (u32, Option<u32>) = (numbers.next()??, numbers.next().flatten());
    let count = last.checked_sub(first.parse().ok()?)?.checked_add(1)?;
    Some(ShownLines { count, is_end: total.is_some_and(|total| last >= total) })
}

pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The longest time as text, in bytes.
const MAX_TIME: usize = 64;

/// Reads a time: text as in `2026-11-22T05:50:17.123Z`, or a number of seconds or milliseconds since 1970.
pub fn time(value: Json) -> Option<Timestamp> {
    let common = value.text().and_then(|text| text.ascii().and_then(utc));
    common.or_else(|| match value.short_text(MAX_TIME) {
        Some(text) => text.parse().ok(),
        None => timestamp(value.float()?),
    })
}

/// Reads the form that most agents write, `2026-11-22T05:50:17.123Z`, in a third of the time that any form takes: every
/// record has a time.
fn utc(text: &[u8]) -> Option<Timestamp> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let marks = [4, 7, 10, 13, 16, 19, 23].map(|at| text[at]);
    if marks != *b"--T::.Z" {
        return None;
    }
    let number = |range: Range<usize>| {
        text[range].iter().try_fold(0, |number: i16, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i16::from(digit - b'0'))
        })
    };
    let small = |start: usize| number(start..start + 2).map(|number| number as i8);
    let nanoseconds = i32::from(number(20..23)?) * 1_000_000;
    let (year, month, day) = (number(0..4)?, small(5)?, small(8)?);
    let time = DateTime::new(year, month, day, small(11)?, small(14)?, small(17)?, nanoseconds);
    TimeZone::UTC.to_timestamp(time.ok()?).ok()
}

/// Reads a time without a zone, as in `2026-11-22T20:58:49.157886`: in the zone of this machine.
pub fn local_time(text: &str) -> Option<Timestamp> {
    let time: DateTime = text.parse().ok()?;
    time.to_zoned(TimeZone::system()).ok().map(|time| time.timestamp())
}

/// Reads a number of seconds or milliseconds since 1970. The two differ by size for any year from 1971 to 5138.
pub fn timestamp(value: f64) -> Option<Timestamp> {
    let milliseconds = if value.abs() < 1e11 { value * 1000.0 } else { value };
    let in_range = milliseconds.is_finite() && milliseconds.abs() < 2.5e14;
    in_range.then(|| Timestamp::from_millisecond(milliseconds.round() as i64).ok())?
}

#[cfg(test)]
mod tests {
    use super::super::model::Call;
    use super::*;

    fn read(text: &str) -> Option<String> {
        time(Tape::default().read(text.as_bytes()).unwrap()).map(|time| time.to_string())
    }

    #[test]
    fn every_clock_is_read() {
        let expected = Some("2026-11-22T05:50:17Z".to_owned());
        for text in ["\"2026-11-22T05:50:17Z\"", "1795326617", "1795326617000", "1795326617.0"] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(read("1795326617.59").as_deref(), Some("2026-11-22T05:50:17.59Z"));
    }

    #[test]
    fn the_fast_path_for_times_agrees_with_the_general_parser() {
        for text in [
            "2026-11-22T05:50:17.123Z",
            "2024-02-29T23:59:59.999Z",
            "1969-12-31T00:00:00.001Z",
            "0001-01-01T00:00:00.000Z",
            "9999-12-30T21:00:00.000Z",
        ] {
            assert_eq!(utc(text.as_bytes()), text.parse().ok(), "{text}");
            assert!(utc(text.as_bytes()).is_some(), "{text}");
        }
        for text in ["2026-11-22T05:50:60.000Z", "2026-02-30T05:50:17.123Z", "2026-11-22t05:50:17.123z"] {
            assert_eq!(utc(text.as_bytes()), None, "{text}");
            let json = format!("\"{text}\"");
            let found = time(Tape::default().read(json.as_bytes()).unwrap());
            assert_eq!(found, text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn a_window_smaller_than_requested_is_incomplete() {
        let less = |arguments: &str, notice: &str| {
            let mut tape = Tape::default();
            let asked_lines = asked_lines(tape.read(arguments.as_bytes()).unwrap());
            Call { asked_lines, ..Call::default() }.gives_less(shown_lines(notice))
        };
        let told = "[Showing lines 11-510 of 4001. Use offset=511 to continue.]";
        for arguments in [r#"{"path":"/x"}"#, r#"{"limit":501}"#, r#"{"start_line":11,"end_line":511}"#] {
            assert!(less(arguments, told), "{arguments}");
        }
        for arguments in [r#"{"offset":11}"#, r#"{"offset":11,"limit":500}"#, r#"{"end_line":500}"#] {
            assert!(!less(arguments, told), "{arguments}");
        }
        let end = "Showing lines 3001-4001 of 4001 total lines.";
        assert!(!less(r#"{"offset":3001,"limit":2000}"#, end), "the file ends before the limit");
        assert!(less("{}", "more") && !less(r#"{"limit":500}"#, "more"), "it is not told how much");
    }

    #[test]
    fn other_values_are_not_times() {
        for text in ["\"yesterday\"", "null", "1e300", "-1e300", "{}", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
