//! The text of a log that is compressed as zstd; and a search for some bytes of a log.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::{SeekFrom, seek};

use crate::base::fs::room::RoomWatch;
use crate::source::{Frames, with_remedy};

use super::{fill, open_regular};

/// How many bytes of a log are searched, or decoded, at once.
const CHUNK: usize = 256 << 10;

/// Returns the first place from `at` on that is in no hole of the file; `end` if there is none. A hole has no line feed.
pub(super) fn after_hole(file: &File, at: u64, end: u64) -> u64 {
    match seek(file, SeekFrom::Data(at)) {
        Ok(data) => data.clamp(at, end.max(at)),
        Err(rustix::io::Errno::NXIO) => end.max(at),
        Err(_) => at,
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
        let room = vec![0; CHUNK + names.iter().map(String::len).max().unwrap_or(0)];
        Self { names: RegexBuilder::new(&names.join("|")).size_limit(usize::MAX).build().ok(), room }
    }

    /// Whether a log can be read and holds one of the names, outside of holes, as long as `is_wanted` says to go on.
    pub fn is_in(&mut self, path: &Path, is_wanted: &mut dyn FnMut() -> bool) -> bool {
        let Self { names, room } = self;
        let Ok((file, meta)) = open_regular(path) else { return false };
        let overlap = room.len() - CHUNK;
        let (mut at, mut kept) = (0, 0);
        while is_wanted() {
            let left = usize::try_from(meta.len().saturating_sub(at)).unwrap_or(usize::MAX);
            let want = left.min(room.len() - kept);
            let Ok(read) = fill(&file, at, &mut room[kept..kept + want]) else { return false };
            let filled = kept + read;
            if names.as_ref().is_none_or(|names| names.is_match(&room[..filled])) {
                return true;
            }
            if read < want || read == left {
                return false;
            }
            at += read as u64;
            let next = after_hole(&file, at, meta.len());
            kept = if next > at { 0 } else { overlap.min(filled) };
            room.copy_within(filled - kept..filled, 0);
            at = next;
        }
        false
    }
}

/// Decodes up to `MAX_GROWTH` times the file's size, at least `MAX_SMALL`, at most `MAX_TEXT` bytes. Agents' records
/// grow tenfold, malicious ones 30,000-fold.
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

/// The text of a compressed log: a copy, in a file without a name.
#[derive(Debug)]
pub(super) struct UnpackedLog {
    pub text: Arc<File>,
    pub len: u64,
    /// Why the text ends before that of the whole file; `None` if it does not.
    pub fault: Option<String>,
}

impl UnpackedLog {
    /// Decodes a file of `size` bytes, as long as `is_wanted` says to go on.
    pub(super) fn new(packed: File, size: u64, is_wanted: &dyn Fn() -> bool) -> io::Result<Self> {
        let (mut frames, mut copy) = (Frames::open(packed), crate::source::temporary_file()?);
        let (mut room, mut len, mut fault) = (vec![0; CHUNK], 0, None);
        let mut disk = RoomWatch::default();
        let longest = MAX_TEXT.min(MAX_SMALL.max(size.saturating_mul(MAX_GROWTH)));
        while is_wanted() {
            let left = usize::try_from(longest - len).unwrap_or(usize::MAX).min(CHUNK);
            let decoded = frames.decode(&mut room[..left.max(1)]).map_err(io::Error::other);
            let copied = decoded.and_then(|read| {
                disk.check(&copy, len).map_err(with_remedy)?;
                copy.write_all(&room[..read]).map(|()| read).map_err(with_remedy)
            });
            match copied {
                Ok(0) => break,
                Ok(read) if left > 0 => {
                    len += read as u64;
                    continue;
                }
                Ok(_) => {
                    fault = Some(format!(
                        "only the first {} MB of its text are read, for it is far longer than it should be; `zstd -d` makes a copy that can be read",
                        len >> 20
                    ));
                }
                Err(why) if len == 0 => return Err(why),
                Err(why) => fault = Some(format!("{why}; {len} bytes of its text were read")),
            }
            break;
        }
        Ok(Self { text: Arc::new(copy), len, fault })
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

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

    fn unpacked(packed: &[u8]) -> io::Result<UnpackedLog> {
        let mut log = tempfile::tempfile().unwrap();
        log.write_all(packed).unwrap();
        std::io::Seek::rewind(&mut log).unwrap();
        UnpackedLog::new(log, packed.len() as u64, &|| true)
    }

    /// Reads all of a text, and says what is wrong with it.
    fn read(packed: &[u8]) -> (Vec<u8>, Option<String>) {
        match unpacked(packed) {
            Ok(UnpackedLog { text, len, fault }) => (super::super::read(&text, 0..len).unwrap(), fault),
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
        let text = unpacked(&frame(1 << 13, 20)).unwrap();
        assert_eq!(text.len, MAX_SMALL, "of a gigabyte");
        assert!(text.fault.is_some_and(|words| words.contains("only the first 16 MB of its text")));
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
    fn decompression_stops_when_no_longer_wanted() {
        let asked = std::cell::Cell::new(0);
        let mut log = tempfile::tempfile().unwrap();
        log.write_all(&frame(40, 20)).unwrap();
        std::io::Seek::rewind(&mut log).unwrap();
        let is_wanted = || asked.replace(asked.get() + 1) < 3;
        assert_eq!(UnpackedLog::new(log, 40, &is_wanted).unwrap().len, 3 * CHUNK as u64);
    }
}
