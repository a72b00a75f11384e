//! What Cline sends of a result: a list as compact JSON in one text, and of every long string the two ends.

use crate::session::agents::{Json, Kind, RecordPlace, RecordSpan, TextPiece, char_len, end_of_string};

/// The most UTF-16 units of one string; longer ones are cut.
const MAX_UNITS: usize = 8000;

/// The most pieces of one result. What takes more is shown as it is recorded.
const MAX_PIECES: usize = 10_000;

#[derive(Default)]
pub(super) struct SentResult {
    pub pieces: Vec<TextPiece>,
    /// The strings that were cut, as they are recorded: each of a member named `result`.
    pub cut: Vec<RecordSpan>,
    pub is_cut: bool,
}

/// Renders a string or a list of objects, or text and images with a text that is cut; `None` for other text and images, and
/// what takes too many pieces.
pub(super) fn render(content: Json, place: RecordPlace) -> Option<SentResult> {
    let is_part = |part: Json| {
        part.get("type").is_some_and(|kind| ["text", "image", "file"].iter().any(|of| kind.is(of)))
    };
    match content.kind() {
        Kind::String => Some(plain(content, place)),
        Kind::Array if !content.items().any(is_part) => compact(content, place),
        _ => parts(content, place),
    }
}

/// Text and images, of which each long text is cut.
fn parts(content: Json, place: RecordPlace) -> Option<SentResult> {
    let mut sent = SentResult::default();
    for part in content.items() {
        match part.get("text").filter(|text| text.kind() == Kind::String) {
            Some(text) => {
                let part = plain(text, place);
                sent.is_cut |= part.is_cut;
                sent.pieces.extend(part.pieces);
            }
            None => sent.pieces.push(TextPiece::Image),
        }
    }
    sent.is_cut.then_some(sent)
}

/// Returns how many bytes an object of a list takes as it is sent; 0 if it would take too many pieces.
pub(super) fn len(object: Json, place: RecordPlace) -> u64 {
    let of_piece = |piece: &TextPiece| match piece {
        TextPiece::Added(text) => text.len() as u64,
        piece => piece.span().map_or(0, |span| span.len()),
    };
    compact(object, place).map_or(0, |sent| sent.pieces.iter().map(of_piece).sum())
}

/// A text that is sent as it is, except that a long one is cut.
fn plain(content: Json, place: RecordPlace) -> SentResult {
    let span = place.span(content);
    let inner = content.raw().get(1..content.raw().len().saturating_sub(1)).unwrap_or_default();
    let Some(ends) = StringEnds::new(inner) else {
        return SentResult { pieces: vec![TextPiece::Json(span)], ..SentResult::default() };
    };
    // The places of a string are those of its quotes.
    let head = span.part(0, ends.head as u64 + 2);
    let rest = (inner.len() - ends.tail) as u64;
    let tail = span.part(ends.tail as u64, rest + 2);
    let half = |half: &str| if half.is_empty() { "" } else { "\u{fffd}" };
    let between = format!("{}{}{}", half(&ends.half_before), notice(ends.removed), half(&ends.half_after));
    let pieces = vec![TextPiece::Json(head), TextPiece::Added(between.into()), TextPiece::Json(tail)];
    SentResult { pieces, is_cut: true, ..SentResult::default() }
}

fn compact(list: Json, place: RecordPlace) -> Option<SentResult> {
    let (bytes, whole) = (list.raw(), place.span(list));
    let span = |start: usize, end: usize| whole.part(start as u64, (end - start) as u64);
    let (mut sent, mut key, mut at) = (SentResult::default(), &b""[..], 0);
    while at < bytes.len() && sent.pieces.len() < MAX_PIECES {
        if bytes[at] != b'"' {
            if !bytes[at].is_ascii_whitespace() {
                push(&mut sent.pieces, span(at, at + 1));
            }
            at += 1;
            continue;
        }
        let end = end_of_string(bytes, at + 1, at + 1)? + 1;
        let (inner, is_key) = (&bytes[at + 1..end - 1], bytes[end..].trim_ascii_start().starts_with(b":"));
        match StringEnds::new(inner).filter(|_| !is_key) {
            None => push(&mut sent.pieces, span(at, end)),
            Some(ends) => {
                push(&mut sent.pieces, span(at, at + 1 + ends.head));
                let notice = notice(ends.removed).replace('\n', "\\n");
                let between = [ends.half_before, notice, ends.half_after].concat();
                sent.pieces.push(TextPiece::Added(between.into()));
                push(&mut sent.pieces, span(at + 1 + ends.tail, end));
                sent.cut.extend((key == b"result").then(|| span(at, end)));
                sent.is_cut = true;
            }
        }
        if is_key {
            key = inner;
        }
        at = end;
    }
    (at >= bytes.len()).then_some(sent)
}

/// Adds a place; one that follows the last goes on with it.
fn push(pieces: &mut Vec<TextPiece>, span: RecordSpan) {
    match pieces.last_mut() {
        Some(TextPiece::Raw(last)) if last.end() == span.start() => {
            *last = last.part(0, last.len() + span.len())
        }
        _ => pieces.push(TextPiece::Raw(span)),
    }
}

fn notice(removed: usize) -> String {
    format!("\n\n...[truncated {removed} chars]...\n\n")
}

/// The two ends of a string, encoded, that are kept of it.
struct StringEnds {
    /// The bytes of the beginning.
    head: usize,
    /// Where the end begins, 0-based.
    tail: usize,
    /// Half of a pair that the cut leaves at the beginning's end, as an escape; empty if it leaves none.
    half_before: String,
    /// The other half of the pair that the cut leaves at the end's beginning.
    half_after: String,
    /// What the notice says was removed, in UTF-16 units.
    removed: usize,
}

impl StringEnds {
    /// Returns the ends of a string without its quotes; `None` if it is short enough.
    fn new(inner: &[u8]) -> Option<Self> {
        // No unit takes less than a byte.
        if inner.len() <= MAX_UNITS {
            return None;
        }
        let units = units_to(inner, usize::MAX).units;
        let over = units.checked_sub(MAX_UNITS).filter(|over| *over > 0)?;
        let room = |removed: usize| MAX_UNITS.saturating_sub(notice(removed).len()) / 2;
        let removed = units - 2 * room(over);
        let kept = room(removed);
        let (head, tail) = (units_to(inner, kept), units_to(inner, units - kept));
        let ([half_before, _], [_, half_after]) = (head.halves, tail.halves);
        let tail = tail.at + if half_after.is_empty() { 0 } else { PAIR_LEN };
        Some(Self { head: head.at, tail, half_before, half_after, removed })
    }
}

struct PlaceInString {
    /// The byte, 0-based.
    at: usize,
    /// The UTF-16 units before it.
    units: usize,
    /// The halves of the character there, as escapes, if the place that was looked for is in its middle; else empty.
    halves: [String; 2],
}

/// The bytes of a character of two UTF-16 units.
const PAIR_LEN: usize = 4;

/// Finds the place after this many UTF-16 units, or the end.
fn units_to(encoded: &[u8], wanted: usize) -> PlaceInString {
    let (mut at, mut units) = (0, 0);
    while at < encoded.len() && units < wanted {
        let (len, of_char) = char_len(&encoded[at..]);
        if units + of_char > wanted {
            return PlaceInString { at, units, halves: halves(&encoded[at..at + len]) };
        }
        at += len;
        units += of_char;
    }
    PlaceInString { at, units, halves: Default::default() }
}

/// Returns the halves of a character as escapes, which is how an agent writes them; empty for one that has none.
fn halves(encoded: &[u8]) -> [String; 2] {
    let whole = std::str::from_utf8(encoded).ok().and_then(|text| text.chars().next());
    let pair = whole.and_then(|whole| <[u16; 2]>::try_from(&*whole.encode_utf16(&mut [0; 2])).ok());
    pair.map(|pair| pair.map(|half| format!("\\u{half:04x}"))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::json::Tape;

    /// Renders a document as one piece of text.
    fn text(document: &str) -> (String, usize) {
        let mut tape = Tape::default();
        let place = RecordPlace::new(0, 0, 0);
        let sent = render(tape.read(document.as_bytes()).unwrap(), place).unwrap();
        let raw = |span: &RecordSpan| &document[span.start() as usize..span.end() as usize];
        let piece = |piece: &TextPiece| match piece {
            TextPiece::Raw(span) => raw(span).to_owned(),
            TextPiece::Json(span) => raw(span)[1..span.len() as usize - 1].to_owned(),
            TextPiece::Added(text) => text.to_string(),
            TextPiece::Image => String::new(),
        };
        (sent.pieces.iter().map(piece).collect(), sent.cut.len())
    }

    /// What the agent does, on a whole string.
    fn naive(text: &str) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        if units.len() <= 8000 {
            return serde_json::to_string(text).unwrap();
        }
        let keep = |removed: usize| (8000 - notice(removed).len()) / 2;
        let removed = units.len() - 2 * keep(units.len() - 8000);
        let kept = keep(removed);
        let encoded = |units: &[u16]| {
            let one = |unit: Result<char, std::char::DecodeUtf16Error>| match unit {
                Ok(char) => serde_json::to_string(&char.to_string()).unwrap().trim_matches('"').to_owned(),
                Err(half) => format!("\\u{:04x}", half.unpaired_surrogate()),
            };
            char::decode_utf16(units.iter().copied()).map(one).collect::<String>()
        };
        let between = notice(removed).replace('\n', "\\n");
        format!("\"{}{between}{}\"", encoded(&units[..kept]), encoded(&units[units.len() - kept..]))
    }

    #[test]
    fn a_list_is_sent_as_compact_json_with_long_strings_cut() {
        let outputs = [
            "a\nb\t\"\\ é".to_owned(),
            "x".repeat(8000),
            "x".repeat(8001),
            "😀".repeat(4001),
            "a\n".to_owned() + &"😀x".repeat(3000),
            "é\n\u{1}".repeat(3000),
            "y".repeat(200_000),
        ];
        for output in &outputs {
            let document =
                serde_json::json!([{"query": "make", "result": output, "success": true, "n": [1, null]}]);
            let (sent, cut) = text(&serde_json::to_string_pretty(&document).unwrap());
            let expected =
                format!(r#"[{{"query":"make","result":{},"success":true,"n":[1,null]}}]"#, naive(output));
            assert!(sent == expected, "{}", output.len());
            assert_eq!(cut, usize::from(output.encode_utf16().count() > 8000));
        }
    }

    #[test]
    fn a_text_is_sent_as_it_is_or_cut() {
        assert_eq!(text("\"a\\nb\"").0, "a\\nb");
        let long = "x".repeat(9000);
        let plain = naive(&long).trim_matches('"').replace("\\n", "\n");
        assert_eq!(text(&format!("\"{long}\"")).0, plain);
        assert_eq!(text("[]").0, "[]");
    }

    #[test]
    fn long_keys_and_the_strings_in_parts_stay() {
        let key = "k".repeat(9000);
        assert_eq!(text(&format!("[{{ \"{key}\" : 1 }}]")).0, format!("[{{\"{key}\":1}}]"));
        let mut tape = Tape::default();
        let parts = tape.read(br#"[{"type":"text","text":"a"}]"#).unwrap();
        assert!(render(parts, RecordPlace::new(0, 0, 0)).is_none());
        // As those of a server's tools.
        let long = "x".repeat(9000);
        let image = r#"{"type":"image","data":"AA=="}"#;
        let document = format!(r#"[{{"type":"text","text":"a"}},{image},{{"type":"text","text":"{long}"}}]"#);
        let cut = naive(&long).trim_matches('"').replace("\\n", "\n");
        assert_eq!(text(&document).0, format!("a{cut}"));
    }
}
