//! The clocks of the agents: text with and without a zone, seconds, milliseconds.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::json::Json;

/// The longest time as text, in bytes.
const LONGEST: usize = 64;

/// Reads a time: text as in `2026-11-22T05:50:17.123Z`, or a number of seconds or milliseconds since 1970.
pub fn time(value: Json) -> Option<Timestamp> {
    match value.short(LONGEST) {
        Some(text) => text.parse().ok(),
        None => number(value.float()?),
    }
}

/// Reads a time without a zone, as in `2026-11-22T20:58:49.157886`: in the zone of this machine.
pub fn local(text: &str) -> Option<Timestamp> {
    let time: DateTime = text.parse().ok()?;
    time.to_zoned(TimeZone::system()).ok().map(|time| time.timestamp())
}

/// Reads a number of seconds or milliseconds since 1970; which of the two its size tells, for any year from 1971 to 5138.
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
    fn what_is_no_time_is_none() {
        for text in ["\"yesterday\"", "null", "1e300", "-1e300", "{}", "true"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
