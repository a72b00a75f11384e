//! The clocks of the agents: text with and without a zone, seconds, milliseconds.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::json::Json;

/// The longest time as text, in bytes.
const MAX_LEN: usize = 64;

/// Reads a time: text as in `2026-11-22T05:50:17.123Z`, or a number of seconds or milliseconds since 1970.
pub fn time(value: Json) -> Option<Timestamp> {
    let common = value.text().and_then(|text| text.ascii().and_then(utc));
    common.or_else(|| match value.short_text(MAX_LEN) {
        Some(text) => text.parse().ok(),
        None => number(value.float()?),
    })
}

/// Reads the form that most agents write, `2026-11-22T05:50:17.123Z`, in a third of the time that any form takes: every
/// record has one.
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
pub fn local(text: &str) -> Option<Timestamp> {
    let time: DateTime = text.parse().ok()?;
    time.to_zoned(TimeZone::system()).ok().map(|time| time.timestamp())
}

/// Reads a number of seconds or milliseconds since 1970. The two differ by size for any year from 1971 to 5138.
pub fn number(value: f64) -> Option<Timestamp> {
    let milliseconds = if value.abs() < 1e11 { value * 1000.0 } else { value };
    let in_range = milliseconds.is_finite() && milliseconds.abs() < 2.5e14;
    in_range.then(|| Timestamp::from_millisecond(milliseconds.round() as i64).ok())?
}

#[cfg(test)]
mod tests {
    use super::super::json::Tape;
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
    fn the_common_form_reads_the_same_as_any_other() {
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
    fn other_values_are_not_times() {
        for text in ["\"yesterday\"", "null", "1e300", "-1e300", "{}", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
