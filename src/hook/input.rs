//! Reads what an agent passes to its hook in bounded memory: long strings of the JSON are set aside in one temporary file.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use memchr::memchr;

use crate::base::fs::read_some;
use crate::session::json::{Decoder, Json, JsonText, end_of_string};
use crate::source::{self, MapView};

/// JSON of up to so many bytes is kept as it is: more than any one argument has on Linux (128 KB), so that a command is always whole.
const MAX_WHOLE: usize = 160 << 10;

/// Maximum length of a string that is kept of longer JSON, in encoded bytes: more than a key has that is read.
const MAX_SHORT: usize = 64;

/// Maximum size of the JSON without its long strings, in bytes: several thousand texts, however short.
const MAX_JSON: usize = 512 << 10;

/// Maximum number of bytes of the JSON outside of its strings: indexed, each takes eight at most.
const MAX_STRUCTURE: usize = 128 << 10;

/// What precedes the text that the agent displays: no answer depends on it, and it may be as long as the output.
const BEFORE_UNREAD: &[u8] = b"\"returnDisplay\":\"";

/// Maximum number of bytes that are kept of a text: agents wait for their hooks.
pub(super) const MAX_TEXT: usize = 40 << 20;

/// No text begins farther than this in the temporary file, in bytes.
const MAX_START: u64 = 2 * MAX_TEXT as u64;

/// Maximum size of the input in bytes, and maximum number of pieces of a text: escapes, and what lies between them.
const MAX_INPUT: usize = 256 << 20;
const MAX_PIECES: u32 = 4 << 20;

/// How many bytes are read at once, and where a text that is looked through begins: mapped memory begins at a page.
const CHUNK: usize = 64 << 10;

/// Marks a string that stands for a long one, whose number follows. JSON holds this byte only as an escape.
const MARK: char = '\0';

#[derive(Debug, Default)]
pub(super) struct ShortJson {
    pub bytes: Vec<u8>,
    /// The long strings in their order; a `None` is not read, or could not be written.
    long: Vec<Option<StoredText>>,
    structure: usize,
    /// The temporary file, made when it is first needed; `None` if it cannot be made.
    file: OnceCell<Option<Arc<File>>>,
}

/// Where a decoded text is in the temporary file, and its length in bytes: of over [`MAX_TEXT`] the beginning is there.
#[derive(Debug, Clone, Copy)]
struct StoredText {
    at: u64,
    len: u64,
}

pub(super) struct ToolText {
    content: Content,
    /// Its length in bytes; more than [`MAX_TEXT`] means that only its beginning was kept.
    pub len: u64,
    /// The texts of which it was joined, in bytes.
    pub parts: Vec<Range<u64>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Separator {
    LineFeed,
    EmptyLine,
    /// A line feed, unless one ends what stands before it.
    LineEnd,
}

enum Content {
    Memory(String),
    File(Arc<File>, u64),
}

impl ShortJson {
    /// Returns `None` if it is too large.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let (mut json, mut string, mut chunk, mut all) = (Self::default(), None, vec![0; CHUNK], 0);
        loop {
            let read = read_some(input, &mut chunk)?;
            if read == 0 {
                return Ok(Some(json));
            }
            json.take(&chunk[..read], &mut string);
            all += read;
            if json.bytes.len() > MAX_JSON || json.structure > MAX_STRUCTURE || all > MAX_INPUT {
                // An agent may take it amiss if what it writes is not read.
                io::copy(input, &mut io::sink())?;
                return Ok(None);
            }
        }
    }

    /// Takes in the next bytes; `string` is the one that they begin in, if they do.
    fn take(&mut self, mut bytes: &[u8], string: &mut Option<OpenString>) {
        while !bytes.is_empty() {
            let Some(open) = string else {
                let end = memchr(b'"', bytes).map_or(bytes.len(), |quote| quote + 1);
                self.bytes.extend_from_slice(&bytes[..end]);
                self.structure += end;
                if bytes[end - 1] == b'"' {
                    *string = Some(OpenString { start: self.bytes.len(), is_escaped: false, long: None });
                }
                bytes = &bytes[end..];
                continue;
            };
            let (end, is_whole) = open.extent(bytes);
            open.push(&bytes[..end], self);
            if is_whole {
                if let Some(long) = string.take().and_then(|open| open.long) {
                    let _ = write!(self.bytes, "{MARK}{}", self.long.len());
                    self.long.push(long.and_then(TextWriter::finish));
                }
                self.bytes.push(b'"');
            }
            bytes = &bytes[end + usize::from(is_whole)..];
        }
    }

    /// Returns a string of the JSON that is no result, such as a command or a path; `None` for another value.
    pub(super) fn string(&self, value: Json) -> Option<String> {
        let text = self.text_of(value.text()?).filter(|text| text.len <= MAX_WHOLE as u64)?;
        String::from_utf8(text.view(0).ok()?.to_vec()).ok()
    }

    /// Returns the text that a string of the JSON stands for; `None` if it was not read, or could not be written.
    pub(super) fn text_of(&self, string: JsonText) -> Option<ToolText> {
        let (content, len) = match self.stored(string) {
            None => {
                let text = string.to_text(usize::MAX).text;
                let len = text.len() as u64;
                (Content::Memory(text), len)
            }
            Some(text) => {
                let StoredText { at, len } = text?;
                if !at.is_multiple_of(CHUNK as u64) {
                    return self.join(&[string], Separator::LineEnd);
                }
                (Content::File(Arc::clone(self.file()?), at), len)
            }
        };
        Some(ToolText { content, len, parts: std::iter::once(0..len).collect() })
    }

    /// Returns the texts that strings of the JSON stand for as one; `None` as [`ShortJson::text_of`].
    pub(super) fn join(&self, strings: &[JsonText], separator: Separator) -> Option<ToolText> {
        let (mut joined, mut parts) = (TextWriter::new(self, CHUNK)?, Vec::new());
        for (number, string) in strings.iter().enumerate() {
            match separator {
                Separator::LineFeed | Separator::EmptyLine if number == 0 => {}
                Separator::EmptyLine => joined.write(b"\n\n"),
                Separator::LineEnd if matches!(joined.last, None | Some(b'\n')) => {}
                Separator::LineFeed | Separator::LineEnd => joined.write(b"\n"),
            }
            let start = joined.text.len;
            match self.stored(*string) {
                None => joined.write(string.to_text(usize::MAX).text.as_bytes()),
                Some(text) => joined.copy(self.file()?, text?)?,
            }
            parts.push(start..joined.text.len);
        }
        let StoredText { at, len } = joined.finish()?;
        Some(ToolText { content: Content::File(Arc::clone(self.file()?), at), len, parts })
    }

    fn stored(&self, string: JsonText) -> Option<Option<StoredText>> {
        let number: usize = string.plain()?.strip_prefix(MARK)?.parse().ok()?;
        self.long.get(number).copied()
    }

    fn file(&self) -> Option<&Arc<File>> {
        self.file.get_or_init(|| source::temporary_file().ok().map(Arc::new)).as_ref()
    }
}

struct OpenString {
    start: usize,
    is_escaped: bool,
    /// For a long string, its decoder into the temporary file; `Some(None)` if it is not read, or cannot be written.
    long: Option<Option<TextWriter>>,
}

impl OpenString {
    /// Returns how many of these bytes belong to it, and whether the quote that ends it follows them.
    fn extent(&mut self, bytes: &[u8]) -> (usize, bool) {
        let first = usize::from(self.is_escaped);
        let end = end_of_string(bytes, first, first);
        let slashes = bytes[first..].iter().rev().take_while(|byte| **byte == b'\\').count();
        self.is_escaped = end.is_none() && slashes % 2 == 1;
        (end.unwrap_or(bytes.len()), end.is_some())
    }

    fn push(&mut self, bytes: &[u8], json: &mut ShortJson) {
        if let Some(long) = &mut self.long {
            return long.iter_mut().for_each(|long| long.decode(bytes));
        }
        json.bytes.extend_from_slice(bytes);
        if json.bytes.len() > MAX_WHOLE && json.bytes.len() - self.start > MAX_SHORT {
            let is_read = !json.bytes[..self.start].ends_with(BEFORE_UNREAD);
            let mut long = is_read.then(|| TextWriter::new(json, 1)).flatten();
            long.iter_mut().for_each(|long| long.decode(&json.bytes[self.start..]));
            json.bytes.truncate(self.start);
            self.long = Some(long);
        }
    }
}

struct TextWriter {
    file: io::Result<BufWriter<Arc<File>>>,
    text: StoredText,
    last: Option<u8>,
    decoder: Decoder,
    pieces: u32,
}

impl TextWriter {
    /// Begins a text at the next multiple of so many bytes.
    fn new(json: &ShortJson, multiple: usize) -> Option<Self> {
        let mut file = Arc::clone(json.file()?);
        let end = file.seek(SeekFrom::End(0)).ok()?;
        let at = file.seek(SeekFrom::Start(end.next_multiple_of(multiple as u64))).ok()?;
        let file = Ok(BufWriter::with_capacity(CHUNK, file));
        let (text, decoder) = (StoredText { at, len: 0 }, Decoder::default());
        (at <= MAX_START).then_some(Self { file, text, decoder, last: None, pieces: 0 })
    }

    fn decode(&mut self, bytes: &[u8]) {
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.push(bytes, &mut |piece| self.take(piece));
        self.decoder = decoder;
    }

    fn take(&mut self, piece: &str) -> bool {
        self.write(piece.as_bytes());
        self.pieces += 1;
        self.pieces < MAX_PIECES
    }

    fn write(&mut self, bytes: &[u8]) {
        let room = (MAX_TEXT as u64).saturating_sub(self.text.len) as usize;
        self.text.len += bytes.len() as u64;
        self.last = bytes.last().copied().or(self.last);
        let written = self.file.as_mut().map(|file| file.write_all(&bytes[..bytes.len().min(room)]));
        if let Ok(Err(error)) = written {
            self.file = Err(error);
        }
    }

    /// Writes what was kept of another text, and counts all of it; `None` if that cannot be read.
    fn copy(&mut self, file: &File, text: StoredText) -> Option<()> {
        let kept = text.len.min(MAX_TEXT as u64);
        let mut chunk = vec![0; CHUNK.min(kept as usize)];
        for at in (0..kept).step_by(CHUNK) {
            let chunk = &mut chunk[..CHUNK.min((kept - at) as usize)];
            file.read_exact_at(chunk, text.at + at).ok()?;
            self.write(chunk);
        }
        self.text.len += text.len - kept;
        Some(())
    }

    fn finish(mut self) -> Option<StoredText> {
        std::mem::take(&mut self.decoder).finish(&mut |piece| self.take(piece));
        self.file.ok()?.into_inner().ok()?;
        Some(self.text).filter(|_| self.pieces < MAX_PIECES)
    }
}

impl ToolText {
    /// Returns its bytes, with `filler` bytes of text after them; those overwrite the texts that follow in the file.
    pub(super) fn view(&self, filler: usize) -> io::Result<MapView> {
        let more = vec![b'x'; filler];
        match &self.content {
            Content::Memory(text) => MapView::from_bytes(&[text.as_bytes(), &more].concat()),
            Content::File(file, at) => {
                let end = at + self.len.min(MAX_TEXT as u64);
                file.write_all_at(&more, end)?;
                MapView::from_file_range(file, *at..end + filler as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::session::json::Tape;

    use super::*;

    /// Gives the bytes one, two, three .. at a time.
    struct Bits<'a>(&'a [u8], usize);

    impl Read for Bits<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 7 + 1;
            let len = self.1.min(room.len()).min(self.0.len());
            room[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    fn read(text: &[u8]) -> ShortJson {
        ShortJson::read(&mut &*text).unwrap().unwrap()
    }

    fn text_of(json: &ShortJson, value: Json) -> Vec<u8> {
        json.text_of(value.text().unwrap()).unwrap().view(0).unwrap().to_vec()
    }

    #[test]
    fn short_strings_stay_and_long_ones_are_set_aside() {
        let long = "a \"quoted\" line \\ with \u{1b}[31mcolour and ü €\n".repeat(40_000);
        let value = json!({ "short": "x\\\"y\"", "long": long, "list": [long, 7, null, "\\"], "end": "z" });
        for read in [
            ShortJson::read(&mut value.to_string().as_bytes()),
            ShortJson::read(&mut Bits(value.to_string().as_bytes(), 0)),
        ] {
            let (short, mut tape) = (read.unwrap().unwrap(), Tape::default());
            assert!(short.bytes.len() < 1000);
            let root = tape.read(&short.bytes).unwrap();
            let list: Vec<Json> = root.object("list").items().collect();
            let strings = [root.object("short"), root.object("end"), list[3]];
            assert_eq!(strings.map(|value| short.string(value).unwrap()), ["x\\\"y\"", "z", "\\"]);
            assert!(text_of(&short, root.object("long")) == long.as_bytes());
            assert!(text_of(&short, list[0]) == long.as_bytes());
        }
    }

    #[test]
    fn keeps_only_the_beginning_of_a_text_over_the_limit() {
        let text = "x".repeat(MAX_TEXT + 5);
        let (short, mut tape) = (read(format!("\"{text}\"").as_bytes()), Tape::default());
        let text = short.text_of(tape.read(&short.bytes).unwrap().text().unwrap()).unwrap();
        assert_eq!(text.len, MAX_TEXT as u64 + 5);
        assert_eq!(text.view(3).unwrap().len(), MAX_TEXT + 3);
        assert_eq!(text.view(0).unwrap().len(), MAX_TEXT, "and again without more");
    }

    #[test]
    fn refuses_json_that_is_too_large_without_its_long_strings() {
        let list = |items: usize| format!("[{}1]", "1,".repeat(items));
        assert!(ShortJson::read(&mut list(MAX_STRUCTURE / 2 - 2).as_bytes()).unwrap().is_some());
        assert!(ShortJson::read(&mut list(MAX_STRUCTURE / 2).as_bytes()).unwrap().is_none());
        let keys = |keys: usize| {
            format!("{{{}\"\":1}}", "\"a key of some forty bytes, a short one\":1,".repeat(keys))
        };
        assert!(ShortJson::read(&mut keys(MAX_JSON / 43).as_bytes()).unwrap().is_some());
        assert!(ShortJson::read(&mut keys(MAX_JSON / 42).as_bytes()).unwrap().is_none());
    }

    /// A command is read to its end, what stands after a long text is found, and one file is enough.
    #[test]
    fn sets_strings_aside_until_the_json_is_short_enough() {
        let texts: Vec<String> = (0..8_000).map(|n| format!("{n}é").repeat(1 + n % 40)).collect();
        let path = "y".repeat(1000);
        let value = json!({ "command": "x".repeat(128 << 10), "texts": texts, "path": path });
        let (short, mut tape) = (read(value.to_string().as_bytes()), Tape::default());
        assert!(short.bytes.len() < MAX_JSON, "{}", short.bytes.len());
        let root = tape.read(&short.bytes).unwrap();
        assert_eq!(short.string(root.object("command")).unwrap().len(), 128 << 10);
        assert_eq!(short.string(root.object("path")).unwrap(), path);
        let strings: Vec<JsonText> = root.object("texts").items().filter_map(|text| text.text()).collect();
        let joined = short.join(&strings, Separator::LineFeed).unwrap();
        assert!(joined.view(0).unwrap()[..] == *texts.join("\n").as_bytes());
        assert_eq!(joined.len, texts.join("\n").len() as u64);
        assert_eq!(text_of(&short, root.object("texts").items().last().unwrap()), texts[7_999].as_bytes());
        let Content::File(file, _) = joined.content else { panic!("it is long") };
        assert!(Arc::ptr_eq(&file, short.file().unwrap()), "all texts are in one file");
    }

    /// The file has an end: a text that would begin beyond it is not read, and is not taken for a shorter one.
    #[test]
    fn keeps_the_first_of_too_many_long_texts() {
        let text = format!("\"{}\"", "x".repeat(MAX_TEXT));
        let (short, mut tape) = (read(format!("[{text},{text},{text},{text}]").as_bytes()), Tape::default());
        let texts: Vec<JsonText> =
            tape.read(&short.bytes).unwrap().items().filter_map(|text| text.text()).collect();
        assert_eq!(
            [0, 1, 2, 3].map(|number| short.stored(texts[number]).unwrap().is_some()),
            [true, true, true, false]
        );
    }

    #[test]
    fn joins_texts_with_a_line_feed() {
        let join = |separator| {
            let strings = ["", "a", r"b\n", "", "c"].map(|text| JsonText { encoded: text.as_bytes() });
            let text = ShortJson::default().join(&strings, separator).unwrap();
            (String::from_utf8(text.view(0).unwrap().to_vec()).unwrap(), text.parts)
        };
        assert_eq!(
            join(Separator::LineFeed),
            ("\na\nb\n\n\nc".to_owned(), vec![0..0, 1..2, 3..5, 6..6, 7..8])
        );
        assert_eq!(join(Separator::LineEnd), ("a\nb\nc".to_owned(), vec![0..0, 0..1, 2..4, 4..4, 4..5]));
    }

    #[test]
    fn does_not_store_text_that_the_agent_only_displays() {
        let long = "x".repeat(MAX_JSON);
        let short = read(format!("{{\"llmContent\":\"{long}\",\"returnDisplay\":\"{long}\"}}").as_bytes());
        assert_eq!(short.long.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
    }

    /// Each piece takes time: agents wait for their hooks.
    #[test]
    fn ignores_a_text_with_too_many_escapes() {
        let is_read = |escapes: u32| {
            let short = read(format!("\"{}\"", "\\n".repeat(escapes as usize)).as_bytes());
            let mut tape = Tape::default();
            short.text_of(tape.read(&short.bytes).unwrap().text().unwrap()).is_some()
        };
        assert_eq!([MAX_PIECES - 1, MAX_PIECES, MAX_PIECES + 9].map(is_read), [true, false, false]);
    }

    proptest! {
        #[test]
        fn a_string_ends_at_the_first_quote_that_is_not_escaped(text in r#"(x|\\|"|\\"){0,40}"#, size in 1..9_usize) {
            let (mut open, mut at) = (OpenString { start: 0, is_escaped: false, long: None }, 0);
            let mut chunks = text.as_bytes().chunks(size);
            let end = chunks.find_map(|chunk| {
                let (len, is_whole) = open.extent(chunk);
                at += len;
                is_whole.then_some(at)
            });
            let mut escaped = false;
            let is_end = |byte: &u8| {
                let is = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                is
            };
            let found = text.bytes().collect::<Vec<_>>().iter().position(is_end);
            prop_assert_eq!(end, found);
        }
    }
}
