//! Prints JSON with line breaks and indents. Every string and number stays as it is written.

/// The printed text is at most about this long, in bytes.
const MOST: usize = 4 << 20;

/// Containers nested deeper than this are not indented further.
const DEEPEST: usize = 40;

/// Indented JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pretty {
    /// The text, without a line feed at its end.
    pub text: Vec<u8>,
    /// Whether all of the JSON is in it.
    pub extent: JsonExtent,
}

/// How much of the JSON was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonExtent {
    /// All of it.
    Whole,
    /// Only its beginning: it was given no more, or it is too long.
    Beginning,
}

/// Why bytes are not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson {
    /// The byte at which it shows, 0-based.
    pub at: usize,
    /// What is wrong there.
    pub why: &'static str,
}

/// Prints the JSON value in `bytes`; with [`JsonExtent::Beginning`] they are only its beginning, which may end anywhere.
///
/// # Errors
/// It is not JSON.
pub fn pretty(bytes: &[u8], extent: JsonExtent) -> Result<Pretty, NotJson> {
    let mut printer = Printer { bytes, at: 0, text: Vec::new(), open: Vec::new() };
    match (printer.print(), extent) {
        (Ok(()), _) => Ok(Pretty { text: printer.text, extent: JsonExtent::Whole }),
        (Err(Stop::Full), _) | (Err(Stop::End), JsonExtent::Beginning) => {
            Ok(Pretty { text: printer.text, extent: JsonExtent::Beginning })
        }
        (Err(Stop::End), JsonExtent::Whole) => Err(NotJson { at: bytes.len(), why: "it ends too early" }),
        (Err(Stop::Wrong(why)), _) => Err(NotJson { at: printer.at, why }),
    }
}

enum Stop {
    /// The bytes end before the value does.
    End,
    /// Enough has been printed.
    Full,
    Wrong(&'static str),
}

/// What comes next.
enum Next {
    Value,
    /// The first member of a container, or its end.
    First,
    Member,
    /// A comma, or the end of a container.
    Rest,
}

struct Printer<'a> {
    bytes: &'a [u8],
    at: usize,
    text: Vec<u8>,
    /// The closing brackets of the open containers.
    open: Vec<u8>,
}

impl Printer<'_> {
    fn print(&mut self) -> Result<(), Stop> {
        let mut next = Next::Value;
        loop {
            self.skip_space();
            next = match next {
                Next::Value => self.value()?,
                Next::First if self.open.last() == self.bytes.get(self.at) => self.close(),
                Next::First | Next::Member => self.member()?,
                Next::Rest => {
                    let Some(closing) = self.open.last().copied() else {
                        let is_all = self.at == self.bytes.len();
                        return if is_all { Ok(()) } else { Err(Stop::Wrong("something follows the value")) };
                    };
                    match self.peek()? {
                        b',' => {
                            self.take(1);
                            Next::Member
                        }
                        byte if byte == closing => {
                            self.new_line(self.open.len() - 1)?;
                            self.close()
                        }
                        _ => return Err(Stop::Wrong("a comma or a closing bracket is missing")),
                    }
                }
            };
        }
    }

    fn peek(&self) -> Result<u8, Stop> {
        self.bytes.get(self.at).copied().ok_or(Stop::End)
    }

    fn skip_space(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    /// Prints the next bytes as they are.
    fn take(&mut self, count: usize) {
        let end = (self.at + count).min(self.bytes.len());
        self.text.extend_from_slice(&self.bytes[self.at..end]);
        self.at = end;
    }

    fn new_line(&mut self, depth: usize) -> Result<(), Stop> {
        if self.text.len() > MOST {
            return Err(Stop::Full);
        }
        self.text.push(b'\n');
        self.text.resize(self.text.len() + 2 * depth.min(DEEPEST), b' ');
        Ok(())
    }

    fn close(&mut self) -> Next {
        self.open.pop();
        self.take(1);
        Next::Rest
    }

    fn value(&mut self) -> Result<Next, Stop> {
        match self.peek()? {
            opening @ (b'{' | b'[') => {
                self.open.push(if opening == b'{' { b'}' } else { b']' });
                self.take(1);
                return Ok(Next::First);
            }
            b'"' => self.string()?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => return Err(Stop::Wrong("no value starts here")),
        }
        Ok(Next::Rest)
    }

    /// Begins a line for a member, and prints an object's key.
    fn member(&mut self) -> Result<Next, Stop> {
        let first = self.peek()?;
        self.new_line(self.open.len())?;
        if self.open.last() == Some(&b'}') {
            if first != b'"' {
                return Err(Stop::Wrong("a key in quotes is missing"));
            }
            self.string()?;
            self.skip_space();
            if self.peek()? != b':' {
                return Err(Stop::Wrong("a colon is missing"));
            }
            self.take(1);
            self.text.push(b' ');
        }
        Ok(Next::Value)
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Stop> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word) {
            self.take(word.len());
            Ok(())
        } else if word.starts_with(rest) {
            Err(Stop::End)
        } else {
            Err(Stop::Wrong("no value starts here"))
        }
    }

    fn string(&mut self) -> Result<(), Stop> {
        let mut len = 1;
        let stop = loop {
            match self.bytes.get(self.at + len) {
                None => break Some(Stop::End),
                Some(b'"') => break None,
                Some(b'\\') => match self.escape(self.at + len + 1) {
                    Ok(escape) => len += 1 + escape,
                    Err(stop) => break Some(stop),
                },
                Some(..0x20) => break Some(Stop::Wrong("a control character is in a string")),
                Some(_) => len += 1,
            }
        };
        match stop {
            Some(stop) => {
                self.take(len);
                Err(stop)
            }
            None => {
                self.take(len + 1);
                Ok(())
            }
        }
    }

    /// Returns the length of the escape after the backslash before `at`.
    fn escape(&self, at: usize) -> Result<usize, Stop> {
        match self.bytes.get(at).ok_or(Stop::End)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(1),
            b'u' => {
                let digits = self.bytes.get(at + 1..at + 5).ok_or(Stop::End)?;
                let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
                if is_hex { Ok(5) } else { Err(Stop::Wrong("an escape in a string is not one of JSON's")) }
            }
            _ => Err(Stop::Wrong("an escape in a string is not one of JSON's")),
        }
    }

    fn number(&mut self) -> Result<(), Stop> {
        if self.peek()? == b'-' {
            self.take(1);
        }
        if self.peek()? == b'0' {
            self.take(1);
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.take(1);
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.take(1);
            if matches!(self.peek()?, b'+' | b'-') {
                self.take(1);
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Stop> {
        let rest = &self.bytes[self.at..];
        match rest.iter().take_while(|byte| byte.is_ascii_digit()).count() {
            0 if rest.is_empty() => Err(Stop::End),
            0 => Err(Stop::Wrong("a digit is missing")),
            count => {
                self.take(count);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(json: &str) -> String {
        let pretty = pretty(json.as_bytes(), JsonExtent::Whole).unwrap();
        assert_eq!(pretty.extent, JsonExtent::Whole);
        String::from_utf8(pretty.text).unwrap()
    }

    #[test]
    fn members_stand_on_lines_of_their_own() {
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
    }

    #[test]
    fn what_is_not_json_is_placed() {
        let cases: &[(&str, usize, &str)] = &[
            ("", 0, "it ends too early"),
            ("[1", 2, "it ends too early"),
            ("hello", 0, "no value starts here"),
            ("[1,]", 3, "no value starts here"),
            ("{\"a\" 1}", 5, "a colon is missing"),
            ("{a:1}", 1, "a key in quotes is missing"),
            ("[1 2]", 3, "a comma or a closing bracket is missing"),
            ("[}", 1, "no value starts here"),
            ("01", 1, "something follows the value"),
            ("1 2", 2, "something follows the value"),
            ("-x", 1, "a digit is missing"),
            ("\"a\nb\"", 2, "a control character is in a string"),
            ("\"\\x\"", 1, "an escape in a string is not one of JSON's"),
            ("trux", 0, "no value starts here"),
        ];
        for (text, at, why) in cases {
            assert_eq!(pretty(text.as_bytes(), JsonExtent::Whole), Err(NotJson { at: *at, why }), "{text:?}");
        }
    }

    #[test]
    fn a_beginning_is_printed_as_far_as_it_goes() {
        let whole = r#"{"key":[true,-1.5e3,"a\u00e9"],"more":null}"#;
        let all = printed(whole);
        for end in 0..whole.len() {
            let part = pretty(&whole.as_bytes()[..end], JsonExtent::Beginning).unwrap();
            let text = String::from_utf8(part.text).unwrap();
            assert!(all.starts_with(text.trim_end()), "{text:?}");
            assert_eq!(part.extent, JsonExtent::Beginning);
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = pretty(&vec![b'['; 1 << 20], JsonExtent::Beginning).unwrap();
        assert!(deep.text.len() <= MOST + 100 && deep.extent == JsonExtent::Beginning);
        assert!(pretty(&vec![b'['; 1 << 20], JsonExtent::Whole).unwrap().extent == JsonExtent::Beginning);
    }
}
