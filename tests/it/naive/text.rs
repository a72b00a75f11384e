//! The documents' terms as plain code: text, pieces, units, points, sizes, lossy slices.

/// What JavaScript's and Rust's lossy decoders make of the bytes: one U+FFFD a maximal bad subpart.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What Go's JSON encoder makes of the bytes: one U+FFFD for *each* bad byte.
pub fn go_text(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for _ in chunk.invalid() {
            out.push('\u{fffd}');
        }
    }
    out
}

/// `split("\n")`: n line feeds make n + 1 pieces; empty text is one piece.
pub fn pieces(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

/// The same on raw bytes, for the Go agents.
pub fn raw_pieces(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|b| *b == b'\n').collect()
}

/// Pieces, but that the empty one after a final line feed is none (and empty text has none).
pub fn pieces_without_last_empty(text: &str) -> Vec<&str> {
    let mut all = pieces(text);
    if all.last() == Some(&"") {
        all.pop();
    }
    all
}

pub fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

pub fn unit_len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// UTF-16 units back to text; a lone surrogate becomes U+FFFD.
pub fn from_units(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

pub fn first_units(text: &str, n: usize) -> String {
    from_units(&text.encode_utf16().take(n).collect::<Vec<_>>())
}

/// `text.slice(-n)`, where `slice(-0)` is the whole text.
pub fn js_slice_last_units(text: &str, n: usize) -> String {
    let all = units(text);
    if n == 0 || n >= all.len() { text.to_string() } else { from_units(&all[all.len() - n..]) }
}

/// What JavaScript's `trim()` and `\s` take for white space: not U+0085, but the BOM.
pub fn js_space(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}'
    )
}

pub fn js_trim(text: &str) -> &str {
    text.trim_matches(js_space)
}

/// Half a surrogate pair at the end of a cut goes.
pub fn drop_half_at_end(units: &mut Vec<u16>) {
    if units.last().is_some_and(|u| (0xd800..0xdc00).contains(u)) {
        units.pop();
    }
}

/// Half a surrogate pair at the start of a cut goes.
pub fn drop_half_at_start(units: &mut Vec<u16>) {
    if units.first().is_some_and(|u| (0xdc00..0xe000).contains(u)) {
        units.remove(0);
    }
}

pub fn points(text: &str) -> Vec<char> {
    text.chars().collect()
}

pub fn from_points(points: &[char]) -> String {
    points.iter().collect()
}

pub fn point_len(text: &str) -> usize {
    text.chars().count()
}

/// The longest whole-character start of `text` that has at most `max` bytes.
pub fn prefix_bytes(text: &str, max: usize) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() + c.len_utf8() > max {
            break;
        }
        out.push(c);
    }
    out
}

/// The longest whole-character end of `text` that has at most `max` bytes.
pub fn suffix_bytes(text: &str, max: usize) -> String {
    let mut out: Vec<char> = Vec::new();
    let mut bytes = 0;
    for c in text.chars().rev() {
        if bytes + c.len_utf8() > max {
            break;
        }
        bytes += c.len_utf8();
        out.insert(0, c);
    }
    out.into_iter().collect()
}

/// Python's splitlines(keepends=True).
pub fn py_splitlines(text: &str) -> Vec<String> {
    let ends = "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}";
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        line.push(ch);
        if ch == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        if ends.contains(ch) {
            lines.push(std::mem::take(&mut line));
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

pub fn count_lf(text: &str) -> usize {
    text.matches('\n').count()
}

/// `8,432`: English thousands separators.
pub fn commas(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// `(n / divisor).toFixed(1)` in JavaScript: an exact half goes up.
pub fn js_fixed1(n: usize, divisor: usize) -> String {
    let tenths = (20 * n + divisor) / (2 * divisor);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// pi's formatSize (`agents.md` 4.1).
pub fn pi_size(n: usize) -> String {
    if n < 1024 {
        format!("{n}B")
    } else if n < 1024 * 1024 {
        format!("{}KB", js_fixed1(n, 1024))
    } else {
        format!("{}MB", js_fixed1(n, 1024 * 1024))
    }
}

/// A streaming decoder fed in reads of `chunk` bytes: the text of each read, and the bytes of an
/// unfinished character that are still held back after the last.
pub fn decode_reads(bytes: &[u8], chunk: usize) -> (Vec<String>, Vec<u8>) {
    let mut texts = Vec::new();
    let mut held: Vec<u8> = Vec::new();
    for read in bytes.chunks(chunk) {
        held.extend_from_slice(read);
        let mut text = String::new();
        let mut at = 0;
        let rest = loop {
            let Err(e) = std::str::from_utf8(&held[at..]) else {
                text.push_str(std::str::from_utf8(&held[at..]).unwrap());
                break Vec::new();
            };
            let good = at + e.valid_up_to();
            text.push_str(std::str::from_utf8(&held[at..good]).unwrap());
            match e.error_len() {
                None => break held[good..].to_vec(),
                Some(bad) => {
                    text.push('\u{fffd}');
                    at = good + bad;
                }
            }
        };
        held = rest;
        texts.push(text);
    }
    (texts, held)
}

/// The same, but that a leading BOM is dropped.
pub fn decode_stream(bytes: &[u8], chunk: usize) -> (Vec<String>, Vec<u8>) {
    let (mut texts, held) = decode_reads(bytes, chunk);
    if let Some(first) = texts.iter_mut().find(|text| !text.is_empty())
        && let Some(without) = first.strip_prefix('\u{feff}')
    {
        *first = without.to_string();
    }
    (texts, held)
}

/// The last `max` bytes of `line`, the start moved forward to a UTF-8 start byte.
pub fn last_bytes_from_boundary(line: &str, max: usize) -> String {
    let mut start = line.len().saturating_sub(max);
    while start < line.len() && !line.is_char_boundary(start) {
        start += 1;
    }
    line[start..].to_string()
}

#[test]
fn worked_check_of_the_decoders() {
    let bytes = b"ab\xffcd\xf0\x9f\x98\n";
    assert_eq!(lossy(bytes), "ab\u{fffd}cd\u{fffd}\n");
    assert_eq!(go_text(bytes), "ab\u{fffd}cd\u{fffd}\u{fffd}\u{fffd}\n");
}

#[test]
fn sizes_and_separators() {
    assert_eq!(commas(8432), "8,432");
    assert_eq!(commas(1234567), "1,234,567");
    assert_eq!(commas(999), "999");
    assert_eq!(pi_size(1023), "1023B");
    assert_eq!(pi_size(51200), "50.0KB");
    assert_eq!(pi_size(1280), "1.3KB");
    assert_eq!(pi_size(1024 * 1024 - 1), "1024.0KB");
    assert_eq!(pi_size(1024 * 1024), "1.0MB");
}

#[test]
fn streaming_decoder_splits_and_holds() {
    let (texts, held) = decode_stream("\u{feff}é漢".as_bytes(), 2);
    assert_eq!(texts.concat(), "é漢");
    assert!(held.is_empty());
    let (texts, held) = decode_stream(b"a\xf0\x9f\x98", 3);
    assert_eq!((texts, held), (vec!["a".to_string(), String::new()], b"\xf0\x9f\x98".to_vec()));
    let (texts, _) = decode_stream(b"\xf0\x9fa", 2);
    assert_eq!(texts, ["".to_string(), "\u{fffd}a".to_string()]);
}
