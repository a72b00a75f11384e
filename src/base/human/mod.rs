//! Numbers, sizes, ages and durations, as people read and write them.

#[cfg(feature = "app")]
mod figure;

use jiff::SignedDuration;

#[cfg(feature = "app")]
pub(crate) use figure::{
    NamedFact, count, limit, limit_in, lines, local_time, parse_duration, parse_time, size, span, span_left,
    tokens, utc,
};

/// Formats `8432` as `8,432`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size as typed: a plain number is in the policy's unit, one with a suffix is in bytes (`50k` is 51,200).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypedSize {
    pub number: u64,
    pub in_bytes: bool,
}

impl std::str::FromStr for TypedSize {
    type Err = String;

    /// Parses `51200`, `50k`, `50KB`, `50KiB` or `1m`: suffixes are powers of 1024.
    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(split);
        let usage =
            || format!("'{text}' is not a size; write 51200, 50k, 50KB, 50KiB or 1m (powers of 1024)");
        let large = || format!("it is too large; the largest is {}", u64::MAX);
        let number: u64 = digits.parse().map_err(|_| if digits.is_empty() { usage() } else { large() })?;
        let power = match suffix.to_ascii_lowercase().as_str() {
            "" => return Ok(Self { number, in_bytes: false }),
            "b" => 0,
            "k" | "kb" | "kib" => 1,
            "m" | "mb" | "mib" => 2,
            "g" | "gb" | "gib" => 3,
            "t" | "tb" | "tib" => 4,
            _ => return Err(usage()),
        };
        let number = number.checked_mul(1 << (10 * power)).ok_or_else(large)?;
        Ok(Self { number, in_bytes: true })
    }
}

/// Parses an age: a whole number and one of `s m h d w`, as in `7d`. `None` if it is not one.
pub fn parse_age(text: &str) -> Option<SignedDuration> {
    let unit = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    let count: i64 = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    count.checked_mul(unit).map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use jiff::{Timestamp, Zoned};

    use super::*;

    const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

    #[test]
    fn thousands_are_separated() {
        let all = [0, 12, 999, 1000, 8432, 1_234_567].map(thousands);
        assert_eq!(all, ["0", "12", "999", "1,000", "8,432", "1,234,567"]);
    }

    #[test]
    fn ages() {
        assert_eq!(parse_age("7d"), Some(WEEK));
        assert_eq!(parse_age("50h"), Some(SignedDuration::from_hours(50)));
        for wrong in ["", "d", "7", "-1d", "1.5h", "9223372036854775807w", "7é"] {
            assert_eq!(parse_age(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parses_a_time_as_an_age_a_time_of_day_or_a_date() {
        let now: Zoned = "2026-11-24T09:00:00+01:00[Europe/Berlin]".parse().unwrap();
        for (text, expected) in [
            ("2 h", "2026-11-24T07:00:00"),
            ("5 min", "2026-11-24T08:55:00"),
            (" 3d ", "2026-11-21T09:00:00"),
            ("08:30", "2026-11-24T08:30:59.999999999"),
            ("08:30:05", "2026-11-24T08:30:05.999999999"),
            ("9:00", "2026-11-24T09:00:59.999999999"),
            ("14:30", "2026-11-23T14:30:59.999999999"),
            ("2026-11-22", "2026-11-22T23:59:59.999999999"),
            ("24:00", ""),
            ("2026-02-30", ""),
            ("yesterday", ""),
            ("", ""),
        ] {
            let local = |at: Timestamp| at.to_zoned(now.time_zone().clone()).datetime().to_string();
            assert_eq!(parse_time(text, &now).map_or(String::new(), local), expected, "{text}");
        }
    }

    #[test]
    fn times_are_as_timeout_takes_them() {
        let seconds = |text: &str| parse_duration(text).map(|time| time.as_secs_f64());
        assert_eq!(
            ["90", "1.5s", "2m", "1h", "1d"].map(seconds),
            [90.0, 1.5, 120.0, 3600.0, 86_400.0].map(Ok)
        );
        for text in ["", "s", "-1", "0", "1w", "1e400", "nan"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn suffixes_are_powers_of_1024() {
        let size = |text: &str| text.parse::<TypedSize>().map(|size| (size.number, size.in_bytes));
        assert_eq!(size("51200"), Ok((51_200, false)));
        for text in ["50k", "50K", "50KB", "50KiB", "50kb"] {
            assert_eq!(size(text), Ok((51_200, true)), "{text}");
        }
        assert_eq!(size("1m"), Ok((1 << 20, true)));
        for text in ["", "k", "1.5k", "50x", "-1", "99999999999999999999", "99999999999g"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
