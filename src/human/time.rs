//! Parses ages and durations.

use jiff::SignedDuration;

#[cfg(feature = "app")]
use std::time::Duration;

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

/// Parses a number of seconds, or of the unit given as a suffix, as in timeout(1).
#[cfg(feature = "app")]
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
    duration
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("'{text}' is not a duration; write 90, 1.5s, 2m or 1h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

    #[test]
    fn ages() {
        assert_eq!(parse_age("7d"), Some(WEEK));
        assert_eq!(parse_age("50h"), Some(SignedDuration::from_hours(50)));
        for wrong in ["", "d", "7", "-1d", "1.5h", "9223372036854775807w", "7é"] {
            assert_eq!(parse_age(wrong), None, "{wrong}");
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
}
