//! The text of a compressed file: gzip; or the frames of zstd, decoded one after the other, each compared with its checksum.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::DecodeBlockContentError::DecompressBlockError;
use ruzstd::decoding::errors::DecompressBlockError::ExecuteSequencesError;
use ruzstd::decoding::errors::FrameDecoderError::FailedToReadBlockBody;
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
    begun: u64,
    /// Met by the decoder, which still has text from before it.
    fault: Option<FrameFault>,
}

struct Frame {
    stated: Option<u64>,
    has_checksum: bool,
    read: u64,
}

/// How a file begins that is compressed as gzip, RFC 1952, section 2.3.1.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// Returns how a file is compressed, and what reads its text, if it begins as a compressed one does.
pub(super) fn unpacked(file: &File) -> io::Result<Option<(&'static str, Box<dyn Read + Send>)>> {
    let mut start = [0; 4];
    file.read_at(&mut start, 0)?;
    Ok(match start {
        _ if start.starts_with(&GZIP) => {
            Some(("gzip", Box::new(Gunzip(Some(GzDecoder::new(buffered(file.try_clone()?)))))))
        }
        _ if u32::from_le_bytes(start) == MAGIC => Some(("zstd", Box::new(Frames::open(file.try_clone()?)))),
        _ => None,
    })
}

fn buffered(file: File) -> BufReader<File> {
    BufReader::with_capacity(256 << 10, file)
}

struct Gunzip(Option<GzDecoder<BufReader<File>>>);

impl Read for Gunzip {
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
        Self { packed, decoder: FrameDecoder::new(), frame: None, begun: 0, fault: None }
    }

    /// Reads more of the text: nothing only at its end.
    pub(crate) fn decode(&mut self, room: &mut [u8]) -> Result<usize, FrameFault> {
        loop {
            let Some(frame) = &mut self.frame else { if self.begin()? { continue } else { return Ok(0) } };
            while self.fault.is_none()
                && self.decoder.can_collect() < room.len()
                && !self.decoder.is_finished()
            {
                let wanted = room.len() - self.decoder.can_collect();
                let decoded =
                    self.decoder.decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBytes(wanted));
                if let Err(error) = decoded {
                    // Only this fault leaves a part of a damaged block in the window.
                    if matches!(error, FailedToReadBlockBody(DecompressBlockError(ExecuteSequencesError(_))))
                    {
                        return Err(FrameFault::Damaged);
                    }
                    // It gives out its last window of text only once the frame has ended: an empty last block ends it.
                    let _ = self.decoder.decode_blocks(&[1, 0, 0][..], BlockDecodingStrategy::All);
                    self.fault = Some(FrameFault::Damaged);
                    break;
                }
            }
            let read = self.decoder.read(room).map_err(|_| FrameFault::Damaged)?;
            frame.read += read as u64;
            if read > 0 {
                return Ok(read);
            }
            self.fault.map_or(Ok(()), Err)?;
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
        match self.fill(&mut header[..4])? {
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
        if self.fill(room)? == room.len() { Ok(()) } else { Err(FrameFault::Damaged) }
    }

    fn fill(&mut self, room: &mut [u8]) -> Result<usize, FrameFault> {
        let wanted = room.len() as u64;
        let mut rest = room;
        let read = io::copy(&mut (&mut self.packed).take(wanted), &mut rest);
        read.map(|read| read as usize).map_err(|_| FrameFault::Damaged)
    }
}
