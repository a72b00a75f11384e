//! Reads one output after the other into memory that is used again; large ones are mapped.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use crate::source::{Identity, MapView, Source};

use super::CorpusOutput;

/// Outputs larger than this, in bytes, are mapped: reading a small file costs less than mapping it.
const MOST_READ: u64 = 4 << 20;

/// Reads outputs; each thread has its own.
#[derive(Debug, Default)]
pub(crate) struct CorpusReader {
    buffer: Vec<u8>,
}

/// The bytes of an output, while they are looked at.
#[derive(Debug)]
pub(crate) enum ReadBytes<'a> {
    /// They were read.
    Read(&'a [u8]),
    /// They are mapped.
    Mapped(MapView),
}

impl Deref for ReadBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            ReadBytes::Read(bytes) => bytes,
            ReadBytes::Mapped(view) => view,
        }
    }
}

/// Why an output cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadFault {
    /// It vanished, or another file took its place, since it was listed: no fault of anyone's.
    Gone,
    /// It is there and cannot be read, for this reason; names the path.
    Failed(String),
}

impl CorpusReader {
    /// Reads an output. An entry must still be the file that was listed, and no link of its own is followed.
    ///
    /// # Errors
    /// It vanished meanwhile, or it cannot be read.
    pub(crate) fn read(&mut self, output: &CorpusOutput) -> Result<ReadBytes<'_>, ReadFault> {
        let opened = match output {
            CorpusOutput::Entry(entry) => entry.open(),
            CorpusOutput::Named(path) => return named(path),
            CorpusOutput::Found(path) => found(path),
        };
        let file = opened.map_err(|error| fault(output, &error))?;
        self.content(&file, output)
    }

    fn content(&mut self, file: &File, output: &CorpusOutput) -> Result<ReadBytes<'_>, ReadFault> {
        self.buffer.clear();
        let read = file.take(MOST_READ + 1).read_to_end(&mut self.buffer);
        read.map_err(|error| fault(output, &error))?;
        if self.buffer.len() as u64 <= MOST_READ {
            return Ok(ReadBytes::Read(&self.buffer));
        }
        let source = Source::glance_at_entry(&output.path());
        let mut source = source.map_err(|error| failed(output, error.to_string()))?;
        source.wait();
        Ok(ReadBytes::Mapped(source.view()))
    }
}

/// Opens a file found in a directory; it follows no link, and never waits for a FIFO's writer.
fn found(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

/// Maps a file that was named, or copies what it streams.
fn named(path: &Path) -> Result<ReadBytes<'static>, ReadFault> {
    let mut source = Source::open(path).map_err(|error| ReadFault::Failed(error.to_string()))?;
    source.wait();
    match source.error() {
        Some(error) => Err(ReadFault::Failed(format!("{}: {error}", path.display()))),
        None => Ok(ReadBytes::Mapped(source.view())),
    }
}

fn fault(output: &CorpusOutput, error: &io::Error) -> ReadFault {
    let now = output.path().symlink_metadata();
    match (output, now) {
        (_, Err(gone)) if gone.kind() == io::ErrorKind::NotFound => ReadFault::Gone,
        (CorpusOutput::Entry(entry), Ok(now)) if !Identity::from(&now).same_file(&entry.identity) => {
            ReadFault::Gone
        }
        _ => failed(output, error.to_string()),
    }
}

fn failed(output: &CorpusOutput, words: String) -> ReadFault {
    let path = output.path();
    let path = path.display().to_string();
    // Some errors name the path themselves.
    ReadFault::Failed(if words.starts_with(&path) { words } else { format!("{path}: {words}") })
}
