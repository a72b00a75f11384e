//! opencode's ids, also used for overspill's own spills (agents.md 2.4): `tool_`, the time in milliseconds times 4096
//! plus a counter, in hexadecimal (of six bytes it wraps every 795 days), and random base62 characters.

use jiff::Timestamp;

const PREFIX: &[u8] = b"tool_";
/// The period, in milliseconds, of the time in a 6-byte id.
pub(crate) const WRAP_MS: i64 = 1 << 36;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The number of bytes that hold an id's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdForm {
    /// 12 hexadecimal digits and 14 random characters; the time wraps.
    Six,
    /// 14 hexadecimal digits and 12 random characters.
    Seven,
    /// 16 hexadecimal digits and 12 random characters: opencode's newest form, and overspill's.
    Eight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    pub form: IdForm,
    /// Milliseconds as written in the name: modulo 2^36 in the 6-byte form, otherwise since 1970.
    pub millis: i64,
}

impl Id {
    /// Returns when the id was created. A 6-byte time stands for several that are 795 days apart: this returns the one
    /// nearest to `near` (the file's mtime). `None` if it is outside the range of a timestamp.
    pub fn time(&self, near: Timestamp) -> Option<Timestamp> {
        let near = near.as_millisecond();
        let millis = match self.form {
            IdForm::Six => {
                let wraps = (near - self.millis + WRAP_MS / 2).div_euclid(WRAP_MS);
                self.millis + wraps.max(0) * WRAP_MS
            }
            IdForm::Seven | IdForm::Eight => self.millis,
        };
        Timestamp::from_millisecond(millis).ok()
    }
}

/// Parses a name of any form. Those of 26 characters after `tool_` are told apart by their counter (small, never 0).
pub fn parse_id(name: &[u8]) -> Option<Id> {
    let body = name.strip_prefix(PREFIX)?;
    if !body.iter().all(u8::is_ascii_alphanumeric) {
        return None;
    }
    let id = |form, digits: usize| Some(Id { form, millis: hex(&body[..digits])? >> 12 });
    match body.len() {
        28 => id(IdForm::Eight, 16),
        26 if !is_counter(&body[9..12]) && is_counter(&body[11..14]) && body.starts_with(b"1") => {
            id(IdForm::Seven, 14).or_else(|| id(IdForm::Six, 12))
        }
        26 => id(IdForm::Six, 12),
        _ => None,
    }
}

fn is_counter(digits: &[u8]) -> bool {
    matches!(digits, [b'0', b'0', b'1'..=b'9' | b'a'..=b'f'])
}

fn hex(digits: &[u8]) -> Option<i64> {
    let is_lower = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    i64::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_lower)?, 16).ok()
}

/// Creates an 8-byte id. The low 12 bits of `counter` distinguish ids of one millisecond.
pub fn new_id(now: Timestamp, counter: u16, random: [u8; 12]) -> String {
    let time = (now.as_millisecond().max(0) << 12) | i64::from(counter & 0xfff);
    let tail = random.map(|byte| char::from(BASE62[usize::from(byte) % 62]));
    format!("tool_{time:016x}{}", String::from_iter(tail))
}

/// Whether `name` is an id of overspill's own store: `^tool_[0-9a-f]{16}[0-9A-Za-z]{12}$`, byte by byte.
pub(crate) fn is_own(name: &[u8]) -> bool {
    matches!(parse_id(name), Some(Id { form: IdForm::Eight, .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn read(name: &str, near: &str) -> (IdForm, String) {
        let id = parse_id(name.as_bytes()).unwrap();
        (id.form, id.time(at(near)).unwrap().to_string())
    }

    #[test]
    fn six_byte_ids_on_both_sides_of_the_wrap() {
        let (form, time) = read("tool_e26cf08d5001AbCdEfGhIjKlMn", "2026-05-14T14:06:03Z");
        assert_eq!((form, time.as_str()), (IdForm::Six, "2026-05-14T14:06:02.965Z"));
        let (form, time) = read("tool_0118bbe93001AbCdEfGhIjKlMn", "2026-08-17T21:06:07Z");
        assert_eq!((form, time.as_str()), (IdForm::Six, "2026-08-17T21:06:06.099Z"));
    }

    #[test]
    fn the_wrap_itself() {
        let (_, time) = read("tool_000000000001AbCdEfGhIjKlMn", "2026-08-14T11:19:00Z");
        assert_eq!(time, "2026-08-14T11:19:55.136Z");
        let (_, time) = read("tool_fffffffff001AbCdEfGhIjKlMn", "2026-08-14T11:20:00Z");
        assert_eq!(time, "2026-08-14T11:19:55.135Z");
    }

    #[test]
    fn seven_and_eight_byte_ids() {
        let now = at("2026-11-21T12:00:00Z").as_millisecond();
        let seven = format!("tool_{:014x}AbCdEfGhIjKl", (now << 12) | 1);
        assert_eq!(read(&seven, "2020-01-01T00:00:00Z"), (IdForm::Seven, "2026-11-21T12:00:00Z".into()));
        let eight = new_id(at("2026-11-21T12:00:00Z"), 1, [61; 12]);
        assert_eq!(eight, format!("tool_{:016x}zzzzzzzzzzzz", (now << 12) | 1));
        assert_eq!(read(&eight, "2020-01-01T00:00:00Z"), (IdForm::Eight, "2026-11-21T12:00:00Z".into()));
        assert!(is_own(eight.as_bytes()) && !is_own(seven.as_bytes()));
    }

    #[test]
    fn a_six_byte_id_that_begins_like_a_seven_byte_one() {
        let millis = at("2026-11-05T00:00:00Z").as_millisecond() % WRAP_MS;
        let name = format!("tool_{:012x}00aBcDeFgHiJkL", (millis << 12) | 1);
        assert!(name.starts_with("tool_1a"), "{name}");
        assert_eq!(read(&name, "2026-11-05T00:00:01Z"), (IdForm::Six, "2026-11-05T00:00:00Z".into()));
    }

    #[test]
    fn other_names_are_not_ids() {
        for name in [
            "tool_",
            "tool_e26cf08d5001",
            "tool_E26cf08d5001AbCdEfGhIjKlMn",
            "x",
            "tool_0118bbe93001AbCdEfGhIjKlM/",
        ] {
            assert_eq!(parse_id(name.as_bytes()), None, "{name}");
        }
        assert_eq!(parse_id(b"tool_ffffffffffffffffAbCdEfGhIjKl"), None);
    }
}
