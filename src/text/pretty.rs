//! Prints JSON with line breaks and indents. Every string and number stays as it is written, also keys that occur twice and
//! bytes that are no text.

use serde::de::IgnoredAny;

/// The printed text is at most about this long, in bytes.
const MAX_LEN: usize = 4 << 20;

/// Containers nested deeper than this are not indented further.
const MAX_DEPTH: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pretty {
    /// The text, without a line feed at its end.
    pub text: Vec<u8>,
    pub extent: JsonExtent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonExtent {
    Whole,
    /// Only its beginning: it was given no more, or it is too long.
    Beginning,
}

/// Prints the JSON value in `bytes`; with [`JsonExtent::Beginning`] they are only its beginning, which may end anywhere.
pub fn pretty(bytes: &[u8], extent: JsonExtent) -> Result<Pretty, serde_json::Error> {
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
    Ok(Pretty { text, extent: if is_all { given } else { JsonExtent::Beginning } })
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
    text.resize(text.len() + 2 * depth.min(MAX_DEPTH), b' ');
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
        assert_eq!(pretty(b"[\"\xff\"]", JsonExtent::Whole).unwrap().text, b"[\n  \"\xff\"\n]");
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
        assert!(deep.text.len() <= MAX_LEN + 100 && deep.extent == JsonExtent::Beginning);
        let long = [&b"["[..], &b"[],".repeat(1 << 20), b"0]"].concat();
        assert!(pretty(&long, JsonExtent::Whole).unwrap().extent == JsonExtent::Beginning);
    }
}
