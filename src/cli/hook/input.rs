//! Reads what an agent passes to its hook in bounded memory: long strings of the JSON are set aside in temporary files.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use memchr::{memchr, memchr2};

use crate::session::json::Decoder;
use crate::source::{self, MapView};

/// JSON of up to so many bytes is kept as it is: more than any one argument has on Linux (128 KB), so that a command is always whole.
const MAX_WHOLE: usize = 160 << 10;

/// Maximum length of a string that is kept of longer JSON, in encoded bytes.
const MAX_SHORT: usize = 1 << 10;

/// Maximum size of the JSON without its long strings, in bytes.
const MAX_JSON: usize = 256 << 10;

/// Maximum number of bytes of the JSON outside of its strings: parsed, some take a hundred times as much.
const MAX_STRUCTURE: usize = 8 << 10;

/// What stands before a string that no answer depends on, and that may be as long as the output: what the agent displays.
const BEFORE_UNREAD: &[u8] = b"\"returnDisplay\":\"";

/// Maximum number of bytes that are kept of a text: agents wait for their hooks.
pub(super) const MAX_TEXT: usize = 40 << 20;

/// How many bytes are read at once.
const CHUNK: usize = 64 << 10;

/// Begins the string that stands for a long one; its number follows. A text that contains it by chance can only stand for
/// another text of the same event.
const MARK: char = '\0';

/// JSON without its long strings.
#[derive(Debug, Default)]
pub(super) struct ShortJson {
    pub text: Vec<u8>,
    /// The long strings, decoded, in their order; a `None` is not read, or could not be written.
    long: Vec<Option<LongText>>,
    /// The number of bytes outside of strings.
    structure: usize,
}

#[derive(Debug)]
struct LongText {
    file: File,
    len: u64,
}

/// A text that the hook is given.
#[derive(Debug)]
pub(super) struct ToolText {
    content: Content,
    /// Its length in bytes; more than [`MAX_TEXT`] means that only its beginning was kept.
    pub len: u64,
    /// The texts of which it was joined, in bytes.
    pub parts: Vec<Range<u64>>,
}

/// What stands between texts that are joined.
#[derive(Debug, Clone, Copy)]
pub(super) enum Joint {
    LineFeed,
    EmptyLine,
    /// A line feed, unless one ends what stands before it.
    LineEnd,
}

#[derive(Debug)]
enum Content {
    Memory(Vec<u8>),
    File(File),
}

impl ShortJson {
    /// Reads all of `input`; `None` if it is too large.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let (mut json, mut string, mut chunk) = (Self::default(), None, vec![0; CHUNK]);
        loop {
            let read = match input.read(&mut chunk) {
                Ok(0) => return Ok(Some(json)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            json.take(&chunk[..read], &mut string);
            if json.text.len() > MAX_JSON || json.structure > MAX_STRUCTURE {
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
                self.text.extend_from_slice(&bytes[..end]);
                self.structure += end;
                if bytes[end - 1] == b'"' {
                    *string = Some(OpenString::new(self.text.len()));
                }
                bytes = &bytes[end..];
                continue;
            };
            let (end, is_whole) = open.extent(bytes);
            open.push(&bytes[..end], &mut self.text);
            if is_whole {
                if let Some(long) = string.take().and_then(|open| open.long) {
                    let mark = format!("\\u{:04x}{}", u32::from(MARK), self.long.len());
                    self.text.extend_from_slice(mark.as_bytes());
                    self.long.push(long.finish());
                }
                self.text.push(b'"');
            }
            bytes = &bytes[end + usize::from(is_whole)..];
        }
    }

    /// Returns the text that a string of the JSON stands for; `None` if it was not read, or could not be written.
    pub(super) fn text_of(&self, string: &str) -> Option<ToolText> {
        let (content, len) = match number_of(string) {
            None => (Content::Memory(string.into()), string.len() as u64),
            Some(number) => {
                let LongText { file, len } = self.long.get(number)?.as_ref()?;
                (Content::File(file.try_clone().ok()?), *len)
            }
        };
        Some(ToolText { content, len, parts: std::iter::once(0..len).collect() })
    }

    /// Returns the texts that strings of the JSON stand for as one; `None` as [`ShortJson::text_of`].
    pub(super) fn join(&self, strings: &[&str], joint: Joint) -> Option<ToolText> {
        let (mut joined, mut parts) = (TextFile::new(), Vec::new());
        for (number, string) in strings.iter().enumerate() {
            match joint {
                Joint::LineFeed | Joint::EmptyLine if number == 0 => {}
                Joint::EmptyLine => joined.write(b"\n\n"),
                Joint::LineEnd if matches!(joined.last, None | Some(b'\n')) => {}
                Joint::LineFeed | Joint::LineEnd => joined.write(b"\n"),
            }
            let start = joined.len;
            match number_of(string) {
                None => joined.write(string.as_bytes()),
                Some(number) => joined.copy(self.long.get(number)?.as_ref()?)?,
            }
            parts.push(start..joined.len);
        }
        let LongText { file, len } = joined.finish()?;
        Some(ToolText { content: Content::File(file), len, parts })
    }
}

/// Returns the number of the long string that a string stands for, if it does.
fn number_of(string: &str) -> Option<usize> {
    string.strip_prefix(MARK)?.parse().ok()
}

/// A string whose end was not read yet.
struct OpenString {
    /// Where it begins in the JSON that is kept.
    start: usize,
    /// Whether the next byte is escaped.
    is_escaped: bool,
    long: Option<LongWriter>,
}

impl OpenString {
    fn new(start: usize) -> Self {
        Self { start, is_escaped: false, long: None }
    }

    /// Returns how many of these bytes belong to it, and whether the quote that ends it follows them.
    fn extent(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = usize::from(std::mem::take(&mut self.is_escaped));
        while let Some(found) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
            if bytes[at + found] == b'"' {
                return (at + found, true);
            }
            at += found + 2;
            self.is_escaped = at > bytes.len();
        }
        (bytes.len(), false)
    }

    fn push(&mut self, bytes: &[u8], json: &mut Vec<u8>) {
        if let Some(long) = &mut self.long {
            return long.push(bytes);
        }
        json.extend_from_slice(bytes);
        if json.len() > MAX_WHOLE && json.len() - self.start > MAX_SHORT {
            let mut long = LongWriter::new(!json[..self.start].ends_with(BEFORE_UNREAD));
            long.push(&json[self.start..]);
            json.truncate(self.start);
            self.long = Some(long);
        }
    }
}

/// Decodes a string into a temporary file.
struct LongWriter {
    decoder: Decoder,
    /// `None` for a string that is not read.
    text: Option<TextFile>,
}

impl LongWriter {
    fn new(is_read: bool) -> Self {
        Self { decoder: Decoder::default(), text: is_read.then(TextFile::new) }
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Self { decoder, text: Some(text) } = self {
            decoder.push(bytes, &mut |piece| text.take(piece));
        }
    }

    fn finish(self) -> Option<LongText> {
        let mut text = self.text?;
        self.decoder.finish(&mut |piece| text.take(piece));
        text.finish()
    }
}

/// A text that is written to a temporary file, as much of it as has room.
struct TextFile {
    file: io::Result<BufWriter<File>>,
    len: u64,
    last: Option<u8>,
}

impl TextFile {
    fn new() -> Self {
        let file = source::temporary_file().map(|file| BufWriter::with_capacity(CHUNK, file));
        Self { file, len: 0, last: None }
    }

    fn take(&mut self, piece: &str) -> bool {
        self.write(piece.as_bytes());
        true
    }

    fn write(&mut self, bytes: &[u8]) {
        let room = (MAX_TEXT as u64).saturating_sub(self.len) as usize;
        self.len += bytes.len() as u64;
        self.last = bytes.last().copied().or(self.last);
        let written = self.file.as_mut().map(|file| file.write_all(&bytes[..bytes.len().min(room)]));
        if let Ok(Err(error)) = written {
            self.file = Err(error);
        }
    }

    /// Writes what was kept of another text, and counts all of it; `None` if that cannot be read.
    fn copy(&mut self, text: &LongText) -> Option<()> {
        let kept = text.len.min(MAX_TEXT as u64);
        let mut chunk = vec![0; CHUNK];
        for at in (0..kept).step_by(CHUNK) {
            let chunk = &mut chunk[..CHUNK.min((kept - at) as usize)];
            text.file.read_exact_at(chunk, at).ok()?;
            self.write(chunk);
        }
        self.len += text.len - kept;
        Some(())
    }

    fn finish(self) -> Option<LongText> {
        Some(LongText { file: self.file.ok()?.into_inner().ok()?, len: self.len })
    }
}

impl ToolText {
    /// Returns its bytes, with `filler` bytes of text after them.
    pub(super) fn view(&self, filler: usize) -> io::Result<MapView> {
        let more = vec![b'x'; filler];
        match &self.content {
            Content::Memory(text) => MapView::from_bytes(&[&text[..], &more].concat()),
            Content::File(file) => {
                let mut file = file;
                let kept = self.len.min(MAX_TEXT as u64);
                file.set_len(kept)?;
                io::Seek::seek(&mut file, io::SeekFrom::Start(kept))?;
                file.write_all(&more)?;
                MapView::from_file(file)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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

    fn text_of(json: &ShortJson, value: &Value) -> Vec<u8> {
        json.text_of(value.as_str().unwrap()).unwrap().view(0).unwrap().to_vec()
    }

    #[test]
    fn short_strings_stay_and_long_ones_are_set_aside() {
        let long = "a \"quoted\" line \\ with \u{1b}[31mcolour and ü €\n".repeat(40_000);
        let value = json!({ "short": "x\\\"y\"", "long": long, "list": [long, 7, null, "\\"], "end": "z" });
        for read in [
            ShortJson::read(&mut value.to_string().as_bytes()),
            ShortJson::read(&mut Bits(value.to_string().as_bytes(), 0)),
        ] {
            let short = read.unwrap().unwrap();
            let got: Value = serde_json::from_slice(&short.text).unwrap();
            assert_eq!([&got["short"], &got["end"], &got["list"][3]], ["x\\\"y\"", "z", "\\"]);
            assert!(short.text.len() < 1000);
            assert!(text_of(&short, &got["long"]) == long.as_bytes());
            assert!(text_of(&short, &got["list"][0]) == long.as_bytes());
        }
    }

    #[test]
    fn of_a_text_without_end_the_beginning_is_kept() {
        let text = "x".repeat(MAX_TEXT + 5);
        let short = ShortJson::read(&mut format!("[\"{text}\"]").as_bytes()).unwrap().unwrap();
        let got: Value = serde_json::from_slice(&short.text).unwrap();
        let text = short.text_of(got[0].as_str().unwrap()).unwrap();
        assert_eq!(text.len, MAX_TEXT as u64 + 5);
        assert_eq!(text.view(3).unwrap().len(), MAX_TEXT + 3);
        assert_eq!(text.view(0).unwrap().len(), MAX_TEXT, "and again without more");
    }

    #[test]
    fn what_is_too_large_besides_long_strings_is_refused() {
        let list = |items: usize| format!("[{}1]", "1,".repeat(items));
        assert!(ShortJson::read(&mut list(MAX_STRUCTURE / 2 - 2).as_bytes()).unwrap().is_some());
        assert!(ShortJson::read(&mut list(MAX_STRUCTURE / 2).as_bytes()).unwrap().is_none());
    }

    /// A command is read to its end, and what stands after a long text is found.
    #[test]
    fn of_many_strings_those_are_set_aside_that_make_the_json_long() {
        let texts: Vec<String> = (0..40).map(|n| format!("{n}é").repeat(5000)).collect();
        let value = json!({ "command": "x".repeat(128 << 10), "texts": texts, "key": "y".repeat(1000) });
        let short = ShortJson::read(&mut value.to_string().as_bytes()).unwrap().unwrap();
        assert!(short.text.len() < MAX_WHOLE + (4 << 10), "{}", short.text.len());
        let got: Value = serde_json::from_slice(&short.text).unwrap();
        assert_eq!([&got["command"], &got["key"]], [&value["command"], &value["key"]]);
        let strings: Vec<&str> = got["texts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let joined = short.join(&strings, Joint::LineFeed).unwrap();
        assert!(joined.view(0).unwrap()[..] == *texts.join("\n").as_bytes());
        assert_eq!(joined.len, texts.join("\n").len() as u64);
    }

    #[test]
    fn between_texts_that_are_joined_stands_a_line_feed() {
        let join = |joint: Joint| {
            let text = ShortJson::default().join(&["", "a", "b\n", "", "c"], joint).unwrap();
            (String::from_utf8(text.view(0).unwrap().to_vec()).unwrap(), text.parts)
        };
        assert_eq!(join(Joint::LineFeed), ("\na\nb\n\n\nc".to_owned(), vec![0..0, 1..2, 3..5, 6..6, 7..8]));
        assert_eq!(join(Joint::LineEnd), ("a\nb\nc".to_owned(), vec![0..0, 0..1, 2..4, 4..4, 4..5]));
    }

    #[test]
    fn what_an_agent_displays_is_not_written_down() {
        let long = "x".repeat(MAX_JSON);
        let text = format!("{{\"llmContent\":\"{long}\",\"returnDisplay\":\"{long}\"}}");
        let short = ShortJson::read(&mut text.as_bytes()).unwrap().unwrap();
        assert_eq!(short.long.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
    }
}
