//! The text of what is compressed: gzip; or the frames of zstd, decoded one after the other, each compared with its checksum.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window of a frame, in bytes: what `zstd -d` takes without being asked to.
const MAX_WINDOW: u64 = 128 << 20;

/// The largest window with which a decoder can be used again.
const MAX_REUSED: u64 = 100 << 20;
/// The longest header of a frame, in bytes.
const MAX_HEADER: usize = 18;

/// The first bytes of a frame with text.
const MAGIC: u32 = 0xfd2f_b528;

/// The first bytes of a frame without text, of which the last four bits may be any.
const SKIPPED: u32 = 0x184d_2a50;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameFault {
    #[error("is not compressed as zstd")]
    Other,
    #[error(
        "is compressed with a window of over 128 MB; `zstd -d --memory=2GB` makes a copy that can be read"
    )]
    Window,
    #[error("is compressed with a dictionary, which is not known")]
    Dictionary,
    #[error("the compressed file is damaged")]
    Damaged,
    #[error("the compressed file ends too early")]
    Short,
    #[error("the compressed file is damaged: its checksum is another")]
    Checksum,
}

pub(crate) struct Frames<R> {
    packed: R,
    decoder: FrameDecoder,
    frame: Option<Frame>,
    /// How many frames were begun or skipped.
    begun: u64,
}

struct Frame {
    /// How long its header says that its text is.
    stated: Option<u64>,
    has_checksum: bool,
    read: u64,
}

/// How gzip begins, RFC 1952, section 2.3.1.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// What is unpacked, and how it begins.
const FORMS: [(&str, &[u8]); 2] = [("gzip", &GZIP), ("zstd", &MAGIC.to_le_bytes())];

/// Names the form of what begins so, if that is compressed.
pub(super) fn form(start: &[u8]) -> Option<&'static str> {
    FORMS.iter().find(|(_, magic)| start.starts_with(magic)).map(|(name, _)| *name)
}

/// Reads the text of a stream that begins as a compressed one does, and any other as it is.
pub(crate) struct Unpacked<R> {
    /// Of which nothing was read yet.
    stream: Option<R>,
    text: Box<dyn Read + Send>,
}

pub(crate) fn unpacked<R>(stream: R) -> Unpacked<R> {
    Unpacked { stream: Some(stream), text: Box::new(io::empty()) }
}

impl<R: Read + Send + 'static> Read for Unpacked<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let Some(stream) = &mut self.stream else { return self.text.read(room) };
        let mut read = stream.read(room)?;
        // Only what may turn out to be compressed waits for its next byte.
        let is_begun =
            |start: &[u8]| FORMS.iter().any(|(_, magic)| *magic != start && magic.starts_with(start));
        while read > 0
            && is_begun(&room[..read])
            && room.get_mut(read..=read).is_some_and(|next| stream.read_exact(next).is_ok())
        {
            read += 1;
        }
        let (Some(stream), start) = (self.stream.take(), &room[..read]) else { return Ok(read) };
        if form(start).is_none() {
            self.text = Box::new(stream);
            return Ok(read);
        }
        let packed = buffered(Cursor::new(start.to_vec()).chain(stream));
        self.text = match start.starts_with(&GZIP) {
            true => Box::new(Gunzip(Some(GzDecoder::new(packed)))),
            false => Box::new(Frames::new(packed)),
        };
        self.text.read(room)
    }
}

fn buffered<R: Read>(packed: R) -> BufReader<R> {
    BufReader::with_capacity(256 << 10, packed)
}

/// The member that is read; none behind the last.
struct Gunzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let explain = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other(FrameFault::Short),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => io::Error::other(FrameFault::Damaged),
            _ => error,
        };
        while let Some(member) = &mut self.0 {
            let read = member.read(room).map_err(explain)?;
            if read > 0 || room.is_empty() {
                return Ok(read);
            }
            // What is no member is ignored, as `gzip -d` does.
            let packed = member.get_mut();
            let is_more = packed.fill_buf()?.first() == Some(&GZIP[0]);
            self.0 = self.0.take().map(GzDecoder::into_inner).filter(|_| is_more).map(GzDecoder::new);
        }
        Ok(0)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.decode(room).map_err(io::Error::other)
    }
}

impl Frames<BufReader<File>> {
    pub(crate) fn open(file: File) -> Self {
        Self::new(buffered(file))
    }
}

impl<R: Read> Frames<R> {
    pub(crate) fn new(packed: R) -> Self {
        Self { packed, decoder: FrameDecoder::new(), frame: None, begun: 0 }
    }

    /// Reads more of the text: nothing only at its end.
    pub(crate) fn decode(&mut self, room: &mut [u8]) -> Result<usize, FrameFault> {
        loop {
            let Some(frame) = &mut self.frame else { if self.begin()? { continue } else { return Ok(0) } };
            while self.decoder.can_collect() < room.len() && !self.decoder.is_finished() {
                let wanted = room.len() - self.decoder.can_collect();
                let decoded =
                    self.decoder.decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBytes(wanted));
                decoded.map_err(|_| FrameFault::Damaged)?;
            }
            let read = self.decoder.read(room).map_err(|_| FrameFault::Damaged)?;
            frame.read += read as u64;
            if read > 0 {
                return Ok(read);
            }
            let stated = self.decoder.get_checksum_from_data().filter(|_| frame.has_checksum);
            let is_same = stated.is_none_or(|stated| self.decoder.get_calculated_checksum() == Some(stated));
            if !is_same || frame.stated.is_some_and(|stated| stated != frame.read) {
                return Err(FrameFault::Checksum);
            }
            self.frame = None;
        }
    }

    /// Begins the next frame, or skips one without text. Returns whether there was one.
    fn begin(&mut self) -> Result<bool, FrameFault> {
        let mut header = [0; MAX_HEADER];
        let read = io::copy(&mut (&mut self.packed).take(4), &mut &mut header[..]);
        match read.map_err(|_| FrameFault::Damaged)? {
            0 => return Ok(false),
            4 => {}
            _ => return self.no_frame(),
        }
        let magic = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        if magic & !0xf == SKIPPED {
            self.skip()?;
        } else if magic == MAGIC {
            self.begin_text(&mut header)?;
        } else {
            return self.no_frame();
        }
        self.begun += 1;
        Ok(true)
    }

    fn no_frame<T>(&self) -> Result<T, FrameFault> {
        Err(if self.begun > 0 { FrameFault::Damaged } else { FrameFault::Other })
    }

    fn skip(&mut self) -> Result<(), FrameFault> {
        let mut len = [0; 4];
        self.exactly(&mut len)?;
        let len = u64::from(u32::from_le_bytes(len));
        let skipped = io::copy(&mut (&mut self.packed).take(len), &mut io::sink());
        if skipped.is_ok_and(|skipped| skipped == len) { Ok(()) } else { Err(FrameFault::Damaged) }
    }

    /// Reads the rest of a header, as RFC 8878, section 3.1.1.1, describes it.
    fn begin_text(&mut self, header: &mut [u8; MAX_HEADER]) -> Result<(), FrameFault> {
        self.exactly(&mut header[4..5])?;
        let about = header[4];
        let (is_one_segment, is_reserved) = (about & 0x20 != 0, about & 0x08 != 0);
        let window = usize::from(!is_one_segment);
        let dictionary = [0, 1, 2, 4][usize::from(about & 3)];
        let size = [usize::from(is_one_segment), 2, 4, 8][usize::from(about >> 6)];
        let end = 5 + window + dictionary + size;
        self.exactly(&mut header[5..end])?;
        let mut stated = [0; 8];
        stated[..size].copy_from_slice(&header[end - size..end]);
        let stated = u64::from_le_bytes(stated) + if size == 2 { 256 } else { 0 };
        let window = match is_one_segment {
            true => stated,
            false => (8 + u64::from(header[5] & 7)) << (7 + (header[5] >> 3)),
        };
        let names = &header[end - size - dictionary..end - size];
        match () {
            () if is_reserved => return Err(FrameFault::Damaged),
            () if names.iter().any(|byte| *byte != 0) => return Err(FrameFault::Dictionary),
            () if window > MAX_WINDOW => return Err(FrameFault::Window),
            () if window > MAX_REUSED => self.decoder = FrameDecoder::new(),
            () => {}
        }
        self.decoder.reset(&header[..end]).map_err(|_| FrameFault::Damaged)?;
        let stated = (size > 0).then_some(stated);
        self.frame = Some(Frame { stated, has_checksum: about & 0x04 != 0, read: 0 });
        Ok(())
    }

    fn exactly(&mut self, room: &mut [u8]) -> Result<(), FrameFault> {
        self.packed.read_exact(room).map_err(|_| FrameFault::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    /// Gives a piece a read, and fails once there is no more.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let piece = self.0.remove(0);
            let (now, later) = piece.split_at(piece.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            if !later.is_empty() {
                self.0.insert(0, later.to_vec());
            }
            Ok(now.len())
        }
    }

    /// Ends more than once, as pipes and files do.
    fn pieces(of: &[u8], len: usize) -> Pieces {
        Pieces(of.chunks(len).map(<[u8]>::to_vec).chain([Vec::new(), Vec::new()]).collect())
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_stream_is_unpacked_in_whatever_pieces_it_comes() {
        let text = b"all of it\n".repeat(5000);
        let zstd = compress_to_vec(&text[..], CompressionLevel::Fastest);
        for packed in [gzip(&text), zstd, [gzip(&text[..700]), gzip(&text[700..])].concat()] {
            for len in [1, 3, 5, packed.len()] {
                let mut read = Vec::new();
                unpacked(pieces(&packed, len)).read_to_end(&mut read).unwrap();
                assert!(read == text, "pieces of {len} bytes");
            }
        }
    }

    #[test]
    fn any_other_stream_comes_as_it_is_and_waits_for_nothing() {
        let zstd = MAGIC.to_le_bytes();
        for plain in
            [&b""[..], b"x", b"(y/n) ", &GZIP[..1], &GZIP[..2], b"\x1f\x8b\x00", &zstd[..3], b"(\xb5/("]
        {
            for len in [1, plain.len().max(1)] {
                let mut read = Vec::new();
                unpacked(pieces(plain, len)).read_to_end(&mut read).unwrap();
                assert_eq!(read, plain);
            }
        }
        let mut silent = unpacked(Pieces(vec![b"two".to_vec(), b"more".to_vec()]));
        let mut room = [0; 16];
        for piece in ["two", "more"] {
            assert_eq!(silent.read(&mut room).unwrap(), piece.len());
        }
        assert!(silent.read(&mut room).is_err(), "an error of the stream is passed on");
    }

    #[test]
    fn an_interruption_loses_nothing() {
        struct Interrupted<R>(bool, R);
        impl<R: Read> Read for Interrupted<R> {
            fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                self.0 = !self.0;
                if self.0 { Err(io::ErrorKind::Interrupted.into()) } else { self.1.read(room) }
            }
        }
        for stream in [gzip(b"text"), b"(text".to_vec(), GZIP[..2].to_vec()] {
            let mut read = Vec::new();
            unpacked(Interrupted(false, pieces(&stream, 1))).read_to_end(&mut read).unwrap();
            assert_eq!(read, if stream.starts_with(&GZIP) { b"text" } else { &stream[..] });
        }
    }
}
