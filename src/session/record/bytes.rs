//! The bytes of a log by place, whether it is compressed as zstd or not; and a search for some of them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::{SeekFrom, seek};

use crate::base::fs::identity::Identity;
use crate::base::lock;
use crate::source::Frames;

use super::{fill, open_regular, same};

/// How many bytes of a log are searched, or decoded, at once.
const CHUNK: usize = 256 << 10;

#[derive(Clone)]
pub(super) enum LogBytes {
    Plain(Arc<File>),
    Packed(Arc<Mutex<PackedText>>),
}

impl LogBytes {
    /// Takes a log that is compressed; `None` if its name does not say so.
    pub(super) fn packed(path: &Path, file: File, seen: Identity) -> Option<Self> {
        is_packed(path).then(|| Self::Packed(Arc::new(Mutex::new(PackedText::new(path, file, seen)))))
    }

    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::Packed(text) => lock(text).fault().map(str::to_owned),
        }
    }

    /// Fills `room` from a place in the log. Returns how many bytes there were; fewer only at the end.
    pub(super) fn fill(&self, start: u64, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => fill(file, start, room),
            Self::Packed(text) => lock(text).fill(start, room),
        }
    }

    /// Returns the first place from `at` on that is in no hole of the file; `end` if there is none. A hole has no line feed.
    pub(super) fn after_hole(&self, at: u64, end: u64) -> u64 {
        let Self::Plain(file) = self else { return at };
        match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.clamp(at, end.max(at)),
            Err(rustix::io::Errno::NXIO) => end.max(at),
            Err(_) => at,
        }
    }
}

impl std::fmt::Debug for LogBytes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if matches!(self, Self::Plain(_)) { "Plain" } else { "Packed" })
    }
}

/// A search for any of some names in logs.
pub struct LogSearch {
    /// None if they are more than a pattern takes: any log may hold one of them.
    names: Option<Regex>,
    /// A piece of a log, with room for the start of a name before it.
    room: Vec<u8>,
}

impl LogSearch {
    pub fn new<'a>(names: impl Iterator<Item = &'a OsStr>) -> Self {
        let names: Vec<String> = names.map(|name| regex::escape(&name.to_string_lossy())).collect();
        let longest = names.iter().map(String::len).max().unwrap_or(0);
        let names = RegexBuilder::new(&names.join("|")).size_limit(usize::MAX).build().ok();
        Self { names, room: vec![0; CHUNK + longest] }
    }

    /// Whether a log can be read and holds one of the names, outside of holes, as long as `wanted` says to go on.
    pub fn is_in(&mut self, path: &Path, wanted: &mut dyn FnMut() -> bool) -> bool {
        let Self { names, room } = self;
        let Ok((file, meta)) = open_regular(path) else { return false };
        let bytes = LogBytes::Plain(Arc::new(file));
        let overlap = room.len() - CHUNK;
        let (mut at, mut kept) = (0, 0);
        while wanted() {
            let left = usize::try_from(meta.len().saturating_sub(at)).unwrap_or(usize::MAX);
            let want = left.min(room.len() - kept);
            let Ok(read) = bytes.fill(at, &mut room[kept..kept + want]) else { return false };
            let filled = kept + read;
            if names.as_ref().is_none_or(|names| names.is_match(&room[..filled])) {
                return true;
            }
            if read < want || read == left {
                return false;
            }
            at += read as u64;
            let next = bytes.after_hole(at, meta.len());
            kept = if next > at { 0 } else { overlap.min(filled) };
            room.copy_within(filled - kept..filled, 0);
            at = next;
        }
        false
    }
}

/// How many bytes of the text are kept at least, and how many are decoded before older ones are given up.
const KEPT: usize = 16 << 20;
const MAX_KEPT: usize = 2 * KEPT;

/// The longest text that is decoded, in bytes; of a file that grows by more than this factor, less. Records of
/// agents grow tenfold, malicious ones thirty thousandfold.
const MAX_TEXT: u64 = 2 << 30;
const MAX_SMALL: u64 = 16 << 20;
const MAX_GROWTH: u64 = 128;

pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst")
}

/// Unpacks at most `most` bytes of a file or its beginning; tells whether nothing was wrong with them. Before a fault, it
/// yields what can be read.
pub fn unpack(packed: &[u8], most: usize) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let read = Frames::new(packed).take(most as u64).read_to_end(&mut text);
    (text, read.is_ok())
}

pub(super) struct PackedText {
    path: PathBuf,
    seen: Identity,
    frames: Frames<io::BufReader<File>>,
    /// The last bytes that were decoded, and where they begin in the text.
    kept: Vec<u8>,
    start: u64,
    /// Whether the text was decoded from its beginning on a second time.
    is_again: bool,
    /// The whole text, once it was gone back to again.
    copy: Option<File>,
    /// Where the text ends, and why there if it goes on.
    end: Option<(u64, Option<String>)>,
}

impl PackedText {
    fn new(path: &Path, file: File, seen: Identity) -> Self {
        let (frames, kept) = (Frames::open(file), Vec::new());
        Self { path: path.to_owned(), seen, frames, kept, start: 0, is_again: false, copy: None, end: None }
    }

    /// Says why the text ends before that of the whole file; `None` if it does not.
    fn fault(&self) -> Option<&str> {
        self.end.as_ref()?.1.as_deref()
    }

    /// Fills `room` from a place in the text. Returns how many bytes there were; fewer only at the end.
    pub(super) fn fill(&mut self, start: u64, room: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        for part in room.chunks_mut(CHUNK) {
            let read = self.fill_part(start + filled as u64, part)?;
            filled += read;
            if read < part.len() {
                break;
            }
        }
        Ok(filled)
    }

    fn fill_part(&mut self, start: u64, part: &mut [u8]) -> io::Result<usize> {
        if start < self.start && self.copy.is_none() {
            self.go_back()?;
        }
        if let Some(copy) = &self.copy {
            return fill(copy, start, part);
        }
        while self.decoded_end() < start + part.len() as u64 && self.decode()? > 0 {}
        let from = usize::try_from(start - self.start).unwrap_or(usize::MAX);
        let kept = self.kept.get(from..).unwrap_or_default();
        let len = kept.len().min(part.len());
        part[..len].copy_from_slice(&kept[..len]);
        Ok(len)
    }

    fn decoded_end(&self) -> u64 {
        self.start + self.kept.len() as u64
    }

    /// Decodes a piece more. Returns how many bytes that was; none only at the end.
    fn decode(&mut self) -> io::Result<usize> {
        let at = self.decoded_end();
        if self.end.as_ref().is_some_and(|(end, _)| at >= *end) {
            return Ok(0);
        }
        if self.kept.len() + CHUNK > MAX_KEPT {
            let old = self.kept.len() - KEPT;
            self.kept.drain(..old);
            self.start += old as u64;
        }
        let before = self.kept.len();
        let longest = MAX_TEXT.min(MAX_SMALL.max(self.seen.size.saturating_mul(MAX_GROWTH)));
        let room = CHUNK.min(usize::try_from(longest.saturating_sub(at)).unwrap_or(usize::MAX));
        self.kept.resize(before + room.max(1), 0);
        let read = self.frames.decode(&mut self.kept[before..]);
        let more = *read.as_ref().unwrap_or(&0);
        self.kept.truncate(before + if room == 0 { 0 } else { more });
        note_decoded(more);
        let why = match read {
            Ok(0) => None,
            Ok(_) if room == 0 => Some(format!(
                "only the first {} MB of its text are read, for it is far longer than it should be; `zstd -d` makes a copy that can be read",
                at >> 20
            )),
            Ok(read) => return Ok(read),
            Err(fault) if at == 0 => return Err(io::Error::other(fault.to_string())),
            Err(fault) => Some(format!("{fault}; {at} bytes of its text were read")),
        };
        self.end.get_or_insert((at, why));
        Ok(0)
    }

    /// Begins anew; the second time by making a copy.
    fn go_back(&mut self) -> io::Result<()> {
        self.frames = Frames::open(same(&self.path, &self.seen)?);
        self.kept.clear();
        self.start = 0;
        if !std::mem::replace(&mut self.is_again, true) {
            return Ok(());
        }
        let mut copy = crate::source::temporary_file()?;
        while self.decode()? > 0 {
            copy.write_all(&self.kept)?;
            self.start += self.kept.len() as u64;
            self.kept.clear();
        }
        self.copy = Some(copy);
        Ok(())
    }
}

#[cfg(test)]
thread_local! {
    /// How many bytes this thread has decoded.
    static DECODED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn note_decoded(_bytes: usize) {
    #[cfg(test)]
    DECODED.set(DECODED.get() + _bytes);
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::super::open_regular;
    use super::*;

    const BLOCK: usize = 128 << 10;

    /// A frame of blocks of one byte each, 128 KiB long, with a window that the header names as 2 to the power of `log`.
    fn frame(blocks: usize, log: u8) -> Vec<u8> {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3];
        for n in 0..blocks {
            let header = (BLOCK as u32) << 3 | 1 << 1 | u32::from(n + 1 == blocks);
            frame.extend(&header.to_le_bytes()[..3]);
            frame.push(n as u8);
        }
        frame
    }

    fn skippable(len: u32) -> Vec<u8> {
        let mut frame = (SKIPPABLE + 3).to_le_bytes().to_vec();
        frame.extend(len.to_le_bytes());
        frame.resize(frame.len() + len as usize, 7);
        frame
    }

    const SKIPPABLE: u32 = 0x184d_2a50;

    fn text_of(packed: &[u8]) -> (tempfile::NamedTempFile, PackedText) {
        let mut log = tempfile::NamedTempFile::new().unwrap();
        log.write_all(packed).unwrap();
        let (file, meta) = open_regular(log.path()).unwrap();
        let text = PackedText::new(log.path(), file, Identity::from(&meta));
        (log, text)
    }

    /// Reads all of a text, and says what is wrong with it.
    fn read(packed: &[u8]) -> (Vec<u8>, Option<String>) {
        let (_log, mut text) = text_of(packed);
        let mut all = vec![0; 1 << 20];
        match text.fill(0, &mut all) {
            Ok(len) => (all[..len].to_vec(), text.fault().map(str::to_owned)),
            Err(error) => (Vec::new(), Some(error.to_string())),
        }
    }

    /// Decodes all of a file, and says what is wrong with it.
    fn decoded(packed: &[u8]) -> (Vec<u8>, Option<String>) {
        let (mut frames, mut all, mut room) = (Frames::new(packed), Vec::new(), [0; 700]);
        loop {
            match frames.decode(&mut room) {
                Ok(0) => return (all, None),
                Ok(read) => all.extend_from_slice(&room[..read]),
                Err(fault) => return (all, Some(fault.to_string())),
            }
        }
    }

    #[test]
    fn every_kind_of_damage_is_reported() {
        let lines: String = (0..40).map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", n * n)).collect();
        let (one, two) = lines.split_at(lines.len() / 3);
        let pack = |text: &str| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        let packed = [pack(one), skippable(5), pack(two), skippable(0)].concat();
        assert_eq!(read(&packed), (lines.clone().into_bytes(), None));
        for bit in 0..packed.len() * 8 {
            let mut flipped = packed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let (text, fault) = decoded(&flipped);
            assert!(fault.is_some() || text == lines.as_bytes(), "bit {bit} of {}", packed.len() * 8);
        }
        for len in 1..packed.len() {
            let (text, fault) = decoded(&packed[..len]);
            let is_between = [one.len(), lines.len()].contains(&text.len());
            assert!(fault.is_some() || is_between, "{len} of {} bytes", packed.len());
        }
        let mut wrong = packed.clone();
        wrong[pack(one).len() - 1] ^= 1;
        let words = format!("the compressed file is damaged: its checksum is another; {} bytes", one.len());
        assert!(read(&wrong).1.is_some_and(|fault| fault.starts_with(&words)));
    }

    #[test]
    fn a_window_over_128_mb_is_refused_before_it_is_allocated() {
        assert_eq!(read(&frame(1, 27)), (vec![0; BLOCK], None));
        for log in [28, 31, 41] {
            assert!(read(&frame(1, log)).1.is_some_and(|words| words.contains("window of over 128 MB")));
        }
    }

    #[test]
    fn only_the_beginning_of_a_decompression_bomb_is_decoded() {
        let (_log, mut text) = text_of(&frame(1 << 13, 20));
        let (before, mut room, mut at) = (DECODED.get(), vec![0; 1 << 20], 0);
        while let Ok(read @ 1..) = text.fill(at, &mut room) {
            at += read as u64;
            assert!(text.kept.len() <= MAX_KEPT);
        }
        assert_eq!(at, MAX_SMALL, "of a gigabyte");
        assert!(DECODED.get() - before <= MAX_SMALL as usize + CHUNK);
        assert!(text.fault().is_some_and(|words| words.contains("only the first 16 MB of its text")));
        assert_eq!(unpack(&frame(1 << 13, 20), 1000), (vec![0; 1000], true));
    }

    #[test]
    fn a_cut_frame_yields_its_beginning() {
        let packed = frame(40, 20);
        let (whole, is_sound) = unpack(&packed, usize::MAX);
        assert_eq!((whole.len(), is_sound), (40 * BLOCK, true));
        let (text, is_sound) = unpack(&packed[..packed.len() - 1], usize::MAX);
        assert!(!is_sound && !text.is_empty() && whole.starts_with(&text), "{} bytes", text.len());
    }

    #[test]
    fn a_text_is_decoded_at_most_three_times() {
        let blocks = 40 << 20 >> 17;
        // A file of such a size may hold as much text.
        let (_log, mut text) = text_of(&[skippable(1 << 20), frame(blocks, 20)].concat());
        let before = DECODED.get();
        let mut look = |block: usize| {
            let mut byte = [0];
            assert_eq!(text.fill((block * BLOCK + 9) as u64, &mut byte).unwrap(), 1);
            assert_eq!(byte[0], block as u8);
            (DECODED.get() - before).div_ceil(blocks * BLOCK)
        };
        assert_eq!(look(blocks - 1), 1);
        assert_eq!(look(blocks - 9), 1, "still kept");
        assert_eq!((look(3), look(9), look(blocks - 1)), (2, 2, 2));
        for block in (0..blocks).rev() {
            assert!(look(block) <= 3);
        }
    }
}
