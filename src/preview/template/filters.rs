//! The filters of templates: arithmetic that passes `…` on, and the agents' formats for sizes.

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind};

use crate::base::human;

use super::scope;

/// Filters that give a number. A template may use these three kinds alone: overspill's own filters, and those of minijinja
/// that cannot turn little into much.
pub(super) const OF_NUMBERS: &[&str] = &["int", "length"];

/// Filters that give the operand, an argument, or a part of one.
pub(super) const OF_PARTS: &[&str] = &["abs", "d", "default", "first", "last", "max", "min"];

/// Filters that give a text no longer than operand and arguments together, except for [`MAX_WIDTH`].
#[rustfmt::skip]
pub(super) const OF_TEXTS: &[&str] = &[
    "basename", "claude_size", "commas", "copilot_size", "digits", "fixed", "hermes_size", "kb", "minus", "one_decimal",
    "one_decimal_even", "over", "pad", "pi_size", "plus", "round_kb", "sibling", "string", "thousands", "times", "trim",
];

/// Maximum number of characters to which a number is padded.
pub(super) const MAX_WIDTH: u64 = 100;

pub(super) fn names() -> Vec<&'static str> {
    let mut names = [OF_NUMBERS, OF_PARTS, OF_TEXTS].concat();
    names.sort_unstable();
    names
}

pub(crate) fn add_to(environment: &mut Environment) {
    environment.add_filter("plus", |value: &Value, by: &Value| apply2(value, by, u64::saturating_add));
    environment.add_filter("minus", |value: &Value, by: &Value| apply2(value, by, u64::saturating_sub));
    environment.add_filter("times", |value: &Value, by: &Value| apply2(value, by, u64::saturating_mul));
    environment.add_filter("over", |value: &Value, by: &Value| apply2(value, by, |a, b| a / b.max(1)));
    environment.add_filter("commas", |value: &Value| apply(value, human::thousands));
    environment.add_filter("pi_size", |value: &Value| apply(value, pi_size));
    environment.add_filter("claude_size", |value: &Value| apply(value, claude_size));
    environment.add_filter("kb", |value: &Value| apply(value, |bytes| format!("{}KB", bytes / 1024)));
    environment.add_filter("round_kb", |value: &Value| apply(value, |n| ((n + KB / 2) / KB).to_string()));
    environment.add_filter("hermes_size", |value: &Value| apply(value, |size| kb_or_mb(size, half_even)));
    environment.add_filter("copilot_size", |value: &Value| apply(value, |size| kb_or_mb(size, half_up)));
    environment.add_filter("basename", |path: String| path.rsplit('/').next().unwrap_or("").to_owned());
    environment.add_filter("sibling", |path: String, name: String| match path.rfind('/') {
        Some(slash) => format!("{}/{name}", &path[..slash]),
        None => name,
    });
    environment.add_filter("fixed", fixed);
    environment.add_filter("thousands", |value: &Value| apply(value, thousands));
    environment.add_filter("one_decimal", |value: &Value, by: u64| apply(value, |n| half_up(n, by)));
    environment.add_filter("one_decimal_even", |value: &Value, by: u64| apply(value, |n| half_even(n, by)));
    environment.add_filter("digits", |value: &Value, most: u64| {
        let width = width(most)?;
        apply(value, |n| format!("{n:0width$}"))
    });
    environment.add_filter("pad", |value: &Value, most: u64| {
        let width = width(most)?;
        apply(value, |n| format!("{n:>width$}"))
    });
    environment.add_test("known", |value: &Value| !is_waiting(value));
}

fn number(value: &Value) -> Result<u64, Error> {
    let number = i128::try_from(value.clone())
        .map_err(|_| Error::new(ErrorKind::InvalidOperation, format!("`{value}` is not a whole number")))?;
    Ok(u64::try_from(number.max(0)).unwrap_or(u64::MAX))
}

fn width(most: u64) -> Result<usize, Error> {
    let wrong = || format!("a number is filled up to {MAX_WIDTH} characters at most, not {most}");
    let fits = (most <= MAX_WIDTH).then(|| most.try_into().ok()).flatten();
    fits.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, wrong()))
}

fn is_waiting(value: &Value) -> bool {
    value.as_str().is_some_and(scope::is_waiting)
}

fn apply(value: &Value, write: impl FnOnce(u64) -> String) -> Result<Value, Error> {
    if is_waiting(value) { Ok(value.clone()) } else { Ok(Value::from(write(number(value)?))) }
}

fn apply2(value: &Value, by: &Value, reckon: impl FnOnce(u64, u64) -> u64) -> Result<Value, Error> {
    if is_waiting(value) || is_waiting(by) {
        return Ok(if is_waiting(value) { value.clone() } else { by.clone() });
    }
    Ok(Value::from(reckon(number(value)?, number(by)?)))
}

/// Formats a decimal number with a fixed number of decimals, halves rounded up: JavaScript's `toFixed`.
pub(crate) fn fixed(value: &str, decimals: usize) -> Result<String, Error> {
    const EXACT: usize = 40;
    if decimals >= EXACT {
        let words = format!("a number has fewer than {EXACT} decimals, not {decimals}");
        return Err(Error::new(ErrorKind::InvalidOperation, words));
    }
    let wrong = || Error::new(ErrorKind::InvalidOperation, format!("`{value}` is not a decimal number"));
    let number = value.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(wrong)?;
    let digits = format!("{number:.EXACT$}");
    let cut = digits.len() - EXACT + decimals;
    let is_up = digits.as_bytes().get(cut).is_some_and(|digit| *digit >= b'5');
    let scaled: u128 = digits[..cut].replace('.', "").parse().map_err(|_| wrong())?;
    let scaled = format!("{:0width$}", scaled + u128::from(is_up), width = decimals + 1);
    let (whole, part) = scaled.split_at(scaled.len() - decimals);
    Ok(if decimals == 0 { whole.to_owned() } else { format!("{whole}.{part}") })
}

/// Formats numbers as droid does: `30k`, `999`; the remainder of a thousand is dropped.
fn thousands(number: u64) -> String {
    if number >= 1000 { format!("{}k", number / 1000) } else { number.to_string() }
}

/// Formats `number / by` with one decimal, halves rounded up, as JavaScript's `toFixed(1)`; `by` is a power of 2.
fn half_up(number: u64, by: u64) -> String {
    let by = u128::from(by.max(1));
    tenths((u128::from(number) * 20 + by) / (2 * by))
}

/// Formats `number / by` with one decimal, halves rounded to even, as Rust's `{:.1}` and Python do.
fn half_even(number: u64, by: u64) -> String {
    let (scaled, by) = (u128::from(number) * 10, u128::from(by.max(1)));
    let (whole, rest) = (scaled / by, scaled % by);
    let up = rest * 2 > by || (rest * 2 == by && whole % 2 == 1);
    tenths(whole + u128::from(up))
}

fn tenths(tenths: u128) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

const KB: u64 = 1024;
const MB: u64 = 1024 * KB;
const GB: u64 = 1024 * MB;

/// pi's `formatSize`: `512B`, `50.0KB`, `1.2MB`.
fn pi_size(bytes: u64) -> String {
    match bytes {
        0..KB => format!("{bytes}B"),
        KB..MB => format!("{}KB", half_up(bytes, KB)),
        _ => format!("{}MB", half_up(bytes, MB)),
    }
}

/// hermes-agent's and Copilot CLI's: `97.7 KB`, `1.0 MB`. The two round halves differently.
fn kb_or_mb(size: u64, round: impl Fn(u64, u64) -> String) -> String {
    if size < MB { format!("{} KB", round(size, KB)) } else { format!("{} MB", round(size, MB)) }
}

/// Claude Code's: `512 bytes`, `64.8KB`, `200KB`, `1.2MB`, `1.5GB`.
fn claude_size(bytes: u64) -> String {
    let (by, name) = match bytes {
        0..KB => return format!("{bytes} bytes"),
        KB..MB => (KB, "KB"),
        MB..GB => (MB, "MB"),
        _ => (GB, "GB"),
    };
    let size = half_up(bytes, by);
    format!("{}{name}", size.strip_suffix(".0").unwrap_or(&size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_each_agent_writes_them() {
        assert_eq!(
            [pi_size(1023), pi_size(1024), pi_size(51200), pi_size(1048575)],
            ["1023B", "1.0KB", "50.0KB", "1024.0KB"]
        );
        assert_eq!(pi_size(1048576), "1.0MB");
        assert_eq!(
            [claude_size(66382), claude_size(228_894), claude_size(204_800)],
            ["64.8KB", "223.5KB", "200KB"]
        );
        assert_eq!(claude_size(512), "512 bytes");
    }

    #[test]
    fn rounds_an_exact_half_up_as_javascript_or_to_even() {
        assert_eq!([half_up(256, 1024), half_even(256, 1024)], ["0.3", "0.2"]);
        assert_eq!([half_up(768, 1024), half_even(768, 1024)], ["0.8", "0.8"]);
        let sizes = [20.25, 22.25, 26.25, 73.25, 20.75, 1280.0].map(|kb| (kb * 1024.0) as u64);
        let of_copilot = ["20.3 KB", "22.3 KB", "26.3 KB", "73.3 KB", "20.8 KB", "1.3 MB"];
        assert_eq!(sizes.map(|size| kb_or_mb(size, half_up)), of_copilot);
        let of_hermes = ["20.2 KB", "22.2 KB", "26.2 KB", "73.2 KB", "20.8 KB", "1.2 MB"];
        assert_eq!(sizes.map(|size| kb_or_mb(size, half_even)), of_hermes);
    }

    #[test]
    fn a_decimal_number_is_rounded_as_it_is_stored() {
        let of = |text: &str, decimals| fixed(text, decimals).unwrap();
        assert_eq!([of("0", 3), of("1.2345", 3), of("0.25", 1)], ["0.000", "1.234", "0.3"]);
        assert_eq!([of("9.96", 1), of("12", 0), of("0.5", 0)], ["10.0", "12", "1"]);
        assert!(fixed("x", 1).is_err());
    }
}
