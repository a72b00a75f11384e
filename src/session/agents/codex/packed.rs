//! Rollouts that Codex compressed: decoded into a private copy, which is deleted as soon as it is open.

use std::fs::{File, Permissions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;

use crate::session::reader::{GLANCE, OpenedSession, ReadProgress, SessionError};
use crate::session::record::open_regular;
use crate::session::transcript::Transcript;

/// The longest rollout that is decoded, in bytes.
const MOST_DECODED: u64 = 2 << 30;

/// How many bytes are decoded at once.
const CHUNK: usize = 256 << 10;

/// The first bytes of what is compressed so.
const MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Whether a file is a compressed rollout, by its name and its first bytes.
pub(super) fn is_rollout(path: &Path, head: &[u8]) -> bool {
    path.to_string_lossy().ends_with(".jsonl.zst") && head.starts_with(MAGIC)
}

/// Whether a path is that of a compressed rollout.
pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst")
}

/// Returns at most 64 KiB of a rollout, of the first bytes of the file: nothing if these are not all of it, for the decoder
/// holds back what later bytes may refer to.
pub(super) fn head(packed: &[u8]) -> Vec<u8> {
    let (mut text, mut part) = (Vec::new(), vec![0; 4096]);
    let Ok(mut decoder) = StreamingDecoder::new(packed) else { return text };
    while let Ok(read @ 1..) = decoder.read(&mut part) {
        text.extend_from_slice(part.get(..read).unwrap_or_default());
        if text.len() >= GLANCE {
            break;
        }
    }
    text.truncate(GLANCE);
    text
}

/// A rollout that was decoded.
struct PackedSession {
    rollout: Box<dyn OpenedSession>,
}

impl OpenedSession for PackedSession {
    fn transcript(&self) -> &Transcript {
        self.rollout.transcript()
    }

    /// Codex writes to no rollout that it compressed.
    fn refresh(&mut self, _: &dyn ReadProgress) -> Result<bool, SessionError> {
        Ok(false)
    }
}

/// Decodes a rollout, and reads it.
///
/// # Errors
/// The file cannot be read or decoded, is too long, or reading was given up.
pub(super) fn open(
    path: &Path,
    progress: &dyn ReadProgress,
    read: &dyn Fn(PathBuf) -> Result<Box<dyn OpenedSession>, SessionError>,
) -> Result<Box<dyn OpenedSession>, SessionError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::Interrupted => SessionError::GivenUp,
        _ => SessionError::Unreadable { path: path.to_owned(), why: error.to_string() },
    };
    let directory = tempfile::Builder::new()
        .prefix("overspill-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()
        .map_err(unreadable)?;
    let copy = directory.path().join("rollout.jsonl");
    decode(path, &copy, progress).map_err(unreadable)?;
    let rollout = read(copy)?;
    // The map outlives the name, so that nothing is left behind however overspill ends.
    drop(directory);
    Ok(Box::new(PackedSession { rollout }))
}

fn decode(path: &Path, copy: &Path, progress: &dyn ReadProgress) -> io::Result<()> {
    let (file, meta) = open_regular(path)?;
    let (mut packed, total) = (BufReader::with_capacity(CHUNK, file), meta.len());
    let mut out = BufWriter::with_capacity(CHUNK, File::create_new(copy)?);
    let (mut part, mut written) = (vec![0; CHUNK], 0);
    // There may be several frames, one after the other.
    while !packed.fill_buf()?.is_empty() {
        let mut decoder =
            StreamingDecoder::new(&mut packed).map_err(|_| io::Error::other("is not compressed as zstd"))?;
        loop {
            let read =
                decoder.read(&mut part).map_err(|_| io::Error::other("the compressed rollout is damaged"))?;
            written += read as u64;
            if read == 0 {
                break;
            }
            if written > MOST_DECODED {
                return Err(io::Error::other(
                    "is compressed, and over 2 GB long; `zstd -d` makes a copy that can be read",
                ));
            }
            if !progress.step(written.min(total), total) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            out.write_all(part.get(..read).unwrap_or_default())?;
        }
    }
    out.flush()
}
