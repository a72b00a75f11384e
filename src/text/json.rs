//! JSON with indents: how long it is as JavaScript prints it, and its own text with line breaks.

use serde::de::IgnoredAny;

use crate::text::units;

/// Maximum nesting depth: deeper text does not count as JSON, so that memory stays small.
const MAX_DEPTH: usize = 100_000;

/// Returns the UTF-16 units of `JSON.stringify(JSON.parse(text), null, 2)`, where `text` is the lossy decoding of
/// `bytes`, and how many bytes were read; no units if it is not JSON. Reads once and keeps no copy. A key that occurs
/// twice in an object is counted twice (JavaScript keeps the last).
pub fn indented_units(bytes: &[u8]) -> (Option<u64>, usize) {
    let mut reader = Reader { bytes, at: 0, units: 0 };
    (read(&mut reader), reader.at)
}

fn read(reader: &mut Reader) -> Option<u64> {
    // What closes each container.
    let mut open: Vec<u8> = Vec::new();
    loop {
        reader.skip_space();
        if let Some(end) = reader.value(open.len() as u64)? {
            (open.len() < MAX_DEPTH).then_some(())?;
            open.push(end);
            continue;
        }
        loop {
            reader.skip_space();
            let Some(end) = open.last().copied() else {
                return (reader.at == reader.bytes.len()).then_some(reader.units);
            };
            let depth = open.len() as u64;
            match reader.next()? {
                b',' => {
                    reader.units += 1;
                    reader.begin_member(end, depth)?;
                    break;
                }
                byte if byte == end => {
                    open.pop();
                    reader.units += 2 + 2 * (depth - 1);
                }
                _ => return None,
            }
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    units: u64,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a value; or the opening of a non-empty container, whose end it returns, up to the value of its first member.
    fn value(&mut self, depth: u64) -> Option<Option<u8>> {
        match self.peek()? {
            b'[' => self.open(b']', depth),
            b'{' => self.open(b'}', depth),
            b'"' => self.string().map(|()| None),
            b't' => self.word(b"true").map(|()| None),
            b'f' => self.word(b"false").map(|()| None),
            b'n' => self.word(b"null").map(|()| None),
            _ => self.number().map(|()| None),
        }
    }

    fn open(&mut self, end: u8, depth: u64) -> Option<Option<u8>> {
        self.at += 1;
        self.skip_space();
        if self.peek()? == end {
            self.at += 1;
            self.units += 2;
            return Some(None);
        }
        self.units += 1;
        self.begin_member(end, depth + 1)?;
        Some(Some(end))
    }

    /// Counts the new line for a member of a container with this end, and reads an object's key.
    fn begin_member(&mut self, end: u8, depth: u64) -> Option<()> {
        self.units += 1 + 2 * depth;
        if end == b'}' {
            self.skip_space();
            self.string()?;
            self.skip_space();
            (self.next()? == b':').then_some(())?;
            self.units += 2;
        }
        Some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes[self.at..].starts_with(word).then_some(())?;
        self.at += word.len();
        self.units += word.len() as u64;
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        (self.next()? == b'"').then_some(())?;
        self.units += 2;
        // Set after an escaped high surrogate, which waits for its low one.
        let mut is_high = false;
        loop {
            let byte = self.peek()?;
            if byte == b'\\' {
                self.at += 1;
                is_high = self.escape(is_high)?;
                continue;
            }
            self.units += if is_high { 6 } else { 0 };
            is_high = false;
            match byte {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                ..0x20 => return None,
                _ => {
                    let element = units::element(self.bytes, self.at);
                    self.units += element.units();
                    self.at += element.len;
                }
            }
        }
    }

    /// Reads an escape after its backslash. Returns whether it is a high surrogate, which is counted with what follows.
    fn escape(&mut self, is_high: bool) -> Option<bool> {
        let lone = if is_high { 6 } else { 0 };
        let cost = match self.next()? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'/' => 1,
            b'u' => {
                let digits = self.bytes.get(self.at..self.at + 4)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
                self.at += 4;
                match code {
                    0xD800..0xDC00 => {
                        self.units += lone;
                        return Some(true);
                    }
                    0xDC00..0xE000 if is_high => {
                        self.units += 2;
                        return Some(false);
                    }
                    0xDC00..0xE000 => 6,
                    8 | 9 | 10 | 12 | 13 | 34 | 92 => 2,
                    ..0x20 => 6,
                    _ => 1,
                }
            }
            _ => return None,
        };
        self.units += lone + cost;
        Some(false)
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.next()? {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).ok()?;
        self.units += number_units(text.parse().ok()?);
        Some(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Option<()> {
        let start = self.at;
        self.digits();
        (self.at > start).then_some(())
    }
}

/// Returns the length of a number as JavaScript prints it: `null` if it is infinite.
fn number_units(number: f64) -> u64 {
    if number.is_infinite() {
        return 4;
    }
    if number == 0.0 {
        return 1;
    }
    let shortest = format!("{:e}", number.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits = mantissa.len() as i64 - i64::from(mantissa.contains('.'));
    // ECMAScript's Number::toString: the decimal point follows `point` digits.
    let point = exponent.parse::<i64>().unwrap_or(0) + 1;
    let len = match point {
        1..=21 if digits <= point => point,
        1..=21 => digits + 1,
        -5..=0 => 2 - point + digits,
        _ => {
            let exponent = (point - 1).unsigned_abs().to_string().len() as i64;
            digits + i64::from(digits > 1) + 2 + exponent
        }
    };
    len as u64 + u64::from(number < 0.0)
}

/// The printed text is at most about this long, in bytes.
const MAX_LEN: usize = 4 << 20;

/// Containers nested deeper than this are not indented further.
const MAX_INDENTED: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonExtent {
    Whole,
    /// Only its beginning: it was given no more, or it is too long.
    Beginning,
}

/// Prints the JSON value in `bytes`; with [`JsonExtent::Beginning`] they are only its beginning, which may end anywhere.
/// Every string and number stays as it is written, also keys that occur twice and bytes that are no text. Returns the text,
/// without a line feed at its end, and how much of the value it is.
pub fn pretty(bytes: &[u8], extent: JsonExtent) -> Result<(Vec<u8>, JsonExtent), serde_json::Error> {
    let given = match serde_json::from_slice::<IgnoredAny>(bytes) {
        Ok(_) => JsonExtent::Whole,
        // For the parser, a number without digits at the end of the bytes is an error, not an early end.
        Err(error)
            if extent == JsonExtent::Beginning && (error.is_eof() || error.column() >= bytes.len()) =>
        {
            extent
        }
        Err(error) => return Err(error),
    };
    let (text, is_all) = indented(bytes);
    Ok((text, if is_all { given } else { JsonExtent::Beginning }))
}

/// Returns JSON, or the beginning of some, with indents, and whether that is not too long to be all of it.
fn indented(bytes: &[u8]) -> (Vec<u8>, bool) {
    let (mut text, mut depth, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        if text.len() > MAX_LEN {
            return (text, false);
        }
        let token = &bytes[at..at + token_len(&bytes[at..])];
        at += token.len();
        match token[0] {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'}' | b']' => {
                depth = usize::saturating_sub(depth, 1);
                if !matches!(text.last(), Some(b'{' | b'[')) {
                    new_line(&mut text, depth);
                }
            }
            _ if matches!(text.last(), Some(b'{' | b'[' | b',')) => new_line(&mut text, depth),
            _ => {}
        }
        text.extend_from_slice(token);
        match token[0] {
            b'{' | b'[' => depth += 1,
            b':' => text.push(b' '),
            _ => {}
        }
    }
    (text, true)
}

/// Returns the length of a string with its quotes; anything else goes byte by byte.
fn token_len(bytes: &[u8]) -> usize {
    if bytes[0] != b'"' {
        return 1;
    }
    let mut at = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if bytes[at + found] == b'"' {
            return at + found + 1;
        }
        at += found + 2;
    }
    bytes.len()
}

fn new_line(text: &mut Vec<u8>, depth: usize) {
    text.push(b'\n');
    text.resize(text.len() + 2 * depth.min(MAX_INDENTED), b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are what a JavaScript engine printed.
    #[test]
    fn json_lengths_are_those_of_javascript() {
        let cases: &[(&str, &str)] = &[
            ("[]", "[]"),
            (" {} ", "{}"),
            ("[1,[2,{}],\"a\"]", "[\n  1,\n  [\n    2,\n    {}\n  ],\n  \"a\"\n]"),
            (
                "{\"a\":{\"b\":null},\"c\":[true]}",
                "{\n  \"a\": {\n    \"b\": null\n  },\n  \"c\": [\n    true\n  ]\n}",
            ),
            (r#""\u00e9\/\u0001\n""#, "\"é/\\u0001\\n\""),
            (r#""\ud83d\ude00\ud83d""#, "\"😀\\ud83d\""),
            (
                "[1.0,1e5,-0,1e21,1e-7,1.5e300,1e999,0.000001,123456789012345680000]",
                "[\n  1,\n  100000,\n  0,\n  1e+21,\n  1e-7,\n  1.5e+300,\n  null,\n  0.000001,\n  123456789012345680000\n]",
            ),
            ("\"😀é\"", "\"😀é\""),
        ];
        for (text, printed) in cases {
            let units = printed.encode_utf16().count() as u64;
            assert_eq!(indented_units(text.as_bytes()).0, Some(units), "{text}");
        }
    }

    #[test]
    fn invalid_json_has_no_length() {
        for text in [
            "",
            "[1,]",
            "{\"a\" 1}",
            "01",
            "1 2",
            "[1",
            "\"a\nb\"",
            "\"\\x\"",
            "nul",
            "\u{feff}1",
            "-",
            "1.",
            "[}",
        ] {
            assert_eq!(indented_units(text.as_bytes()).0, None, "{text}");
        }
        let deep = vec![b'['; MAX_DEPTH + 1];
        assert_eq!(indented_units(&deep).0, None);
    }

    fn printed(json: &str) -> String {
        let (text, extent) = pretty(json.as_bytes(), JsonExtent::Whole).unwrap();
        assert_eq!(extent, JsonExtent::Whole);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn prints_each_json_member_on_its_own_line() {
        assert_eq!(
            printed(r#" {"a" : [1,{}, [ ]],"b":{"c":null}} "#),
            "{\n  \"a\": [\n    1,\n    {},\n    []\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}"
        );
        assert_eq!(printed("true"), "true");
    }

    #[test]
    fn strings_numbers_and_repeated_keys_stay_as_written() {
        let text = r#"[1.0,1E5,-0,123456789012345678901234567890,"é\u00e9\/\ud83d",1e999]"#;
        assert_eq!(printed(text).split_whitespace().collect::<String>(), text);
        assert_eq!(printed(r#"{"a":1,"a":2}"#), "{\n  \"a\": 1,\n  \"a\": 2\n}");
        assert_eq!(pretty(b"[\"\xff\"]", JsonExtent::Whole).unwrap().0, b"[\n  \"\xff\"\n]");
    }

    #[test]
    fn invalid_json_is_reported_with_its_place() {
        let cases: &[(&str, usize, &str)] = &[
            ("", 0, "EOF while parsing a value"),
            ("[1", 2, "EOF while parsing a list"),
            ("hello", 1, "expected value"),
            ("[1,]", 4, "expected value"),
            ("{\"a\" 1}", 6, "expected `:`"),
            ("{a:1}", 2, "key must be a string"),
            ("[1 2]", 4, "expected `,` or `]`"),
            ("[}", 2, "expected value"),
            ("01", 2, "invalid number"),
            ("1 2", 3, "trailing characters"),
            ("-x", 2, "invalid number"),
            ("\"a\nb\"", 2, "control character (\\u0000-\\u001F) found while parsing a string"),
            ("\"\\x\"", 3, "invalid escape"),
            ("trux", 4, "expected ident"),
        ];
        for (text, column, why) in cases {
            let error = pretty(text.as_bytes(), JsonExtent::Whole).unwrap_err();
            assert_eq!(
                (error.column(), error.to_string().starts_with(why)),
                (*column, true),
                "{text:?}: {error}"
            );
        }
    }

    #[test]
    fn prints_incomplete_json_as_far_as_it_goes() {
        let whole = r#"{"key":[true,-1.5e3,"a\u00e9"],"more":null}"#;
        let all = printed(whole);
        for end in 0..whole.len() {
            let (text, extent) = pretty(&whole.as_bytes()[..end], JsonExtent::Beginning).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(all.starts_with(text.trim_end()), "{text:?}");
            assert_eq!(extent, JsonExtent::Beginning);
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let (text, extent) = pretty(&vec![b'['; 1 << 20], JsonExtent::Beginning).unwrap();
        assert!(text.len() <= MAX_LEN + 100 && extent == JsonExtent::Beginning);
        let long = [&b"["[..], &b"[],".repeat(1 << 20), b"0]"].concat();
        assert!(pretty(&long, JsonExtent::Whole).unwrap().1 == JsonExtent::Beginning);
    }
}
