//! Formats numbers for people: thousands, sizes, ages.

use std::time::Duration;

use jiff::{
    Timestamp, Zoned,
    civil::{Date, Time},
    tz::TimeZone,
};

use super::{parse_age, thousands};

/// A fact in words, with its name.
pub(crate) type NamedFact = (&'static str, String);

/// Formats bytes in powers of 1024 with one decimal: `48.1 KB`. Whole numbers have none: `50 KB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

/// Formats a limit in bytes so that the documented figure is recognizable: `50 KB` if it is whole, else `30,000 B`.
pub(crate) fn limit(bytes: u64) -> String {
    const UNITS: [(u32, &str); 3] = [(30, "GB"), (20, "MB"), (10, "KB")];
    let whole = UNITS.iter().find(|(power, _)| bytes > 0 && bytes.is_multiple_of(1 << power));
    let (power, unit) = whole.copied().unwrap_or((0, "B"));
    format!("{} {unit}", thousands(bytes >> power))
}

/// Formats a limit in a unit with its name: `50 KB` for whole KB in `bytes`, else `30,000 UTF-16 units`.
pub(crate) fn limit_in(number: u64, unit: &str) -> String {
    match unit {
        "bytes" => limit(number),
        unit => count(number, unit.strip_suffix('s').unwrap_or(unit)),
    }
}

/// Estimates tokens at 4 bytes each: `~12k`.
pub(crate) fn tokens(bytes: u64) -> String {
    let tokens = bytes.div_ceil(4);
    match tokens {
        0..1000 => format!("~{tokens}"),
        1000..10_000 => format!("~{:.1}k", tokens as f64 / 1000.0).replace(".0k", "k"),
        10_000..999_500 => format!("~{}k", (tokens + 500) / 1000),
        _ => format!("~{:.1}M", tokens as f64 / 1e6).replace(".0M", "M"),
    }
}

/// Formats a duration in its largest unit: `40 s`, `12 min`, `10 h`, `6 d`.
pub(crate) fn span(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Formats the time left, rounded up: of days to the hour, `6 d 23 h`, unless they are a hundred.
pub(crate) fn span_left(seconds: u64) -> String {
    let hours = seconds.div_ceil(3_600);
    match (hours / 24, hours % 24) {
        (2..100, 1..) => format!("{} d {} h", hours / 24, hours % 24),
        (2.., _) => format!("{} d", hours.div_ceil(24)),
        _ if seconds >= 7_200 => span(hours * 3_600),
        _ if seconds >= 120 => span(seconds.div_ceil(60) * 60),
        _ => span(seconds),
    }
}

/// Formats a number with its noun: `1 line`, `2 lines`.
pub(crate) fn count(number: u64, word: &str) -> String {
    format!("{} {word}{}", thousands(number), if number == 1 { "" } else { "s" })
}

pub(crate) fn lines(number: u64) -> String {
    count(number, "line")
}

/// Parses a number of seconds, or of the unit given as a suffix, as in timeout(1).
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => f64::NAN,
    };
    let number = digits.parse::<f64>().map(|number| number * seconds);
    let duration = number.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|time| !time.is_zero()).ok_or_else(|| {
        format!("'{text}' is not a duration; write 90, 1.5s, 2m or 1h, or leave it out for no limit")
    })
}

/// Parses an age as lists show it (`2 h`, `3d`), the last such time of day (`14:30:05`), or a day (`2026-11-24`).
/// Returns the end of the minute, second or day; `None` if it is none of them.
pub(crate) fn parse_time(text: &str, now: &Zoned) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(age) = parse_age(&text.replace(' ', "").replace("min", "m")) {
        return now.timestamp().checked_sub(age).ok();
    }
    let end = if let Ok(day) = text.parse::<Date>() {
        day.at(23, 59, 59, 999_999_999)
    } else {
        let hour = if text.find(':') == Some(1) { "0" } else { "" };
        let time: Time = format!("{hour}{text}").parse().ok()?;
        let end = if text.matches(':').count() == 1 { time.with().second(59) } else { time.with() };
        let end = end.subsec_nanosecond(999_999_999).build().ok()?;
        let day = if time <= now.time() { now.date() } else { now.date().yesterday().ok()? };
        day.to_datetime(end)
    };
    Some(end.to_zoned(now.time_zone().clone()).ok()?.timestamp())
}

pub(crate) fn local_time(at: Timestamp, format: &str) -> String {
    at.to_zoned(TimeZone::system()).strftime(format).to_string()
}

pub(crate) fn utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        let all = [0, 1023, 1024, 51_200, 49_255, 1_048_570, 9 << 30].map(size);
        assert_eq!(all, ["0 B", "1023 B", "1 KB", "50 KB", "48.1 KB", "1 MB", "9 GB"]);
    }

    #[test]
    fn limits_are_as_documented() {
        let bytes = [0, 1023, 1024, 10_000, 40_000, 51_200, 1 << 20, 1025 << 10, 3 << 30].map(limit);
        assert_eq!(
            bytes,
            ["0 B", "1,023 B", "1 KB", "10,000 B", "40,000 B", "50 KB", "1 MB", "1,025 KB", "3 GB"]
        );
        let named = [(51_200, "bytes"), (30_000, "UTF-16 units"), (1, "chars"), (80, "cells")];
        let named = named.map(|(number, unit)| limit_in(number, unit));
        assert_eq!(named, ["50 KB", "30,000 UTF-16 units", "1 char", "80 cells"]);
    }

    #[test]
    fn tokens_are_rough() {
        assert_eq!([0, 5, 51_200, 6_000, 40_000_000].map(tokens), ["~0", "~2", "~13k", "~1.5k", "~10M"]);
        assert_eq!([999_499, 999_500, 1_000_000].map(|n| tokens(4 * n)), ["~999k", "~1M", "~1M"]);
    }

    #[test]
    fn spans_are_in_one_unit() {
        assert_eq!([0, 119, 120, 36_000, 86_400 * 6].map(span), ["0 s", "119 s", "2 min", "10 h", "6 d"]);
    }
}
