//! Reads one output after the other into memory that is used again; large ones are mapped.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Deref;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

use crate::source::{Identity, MapView, OpenError, Snapshot, Source, ViewSupply, await_write, stdin};
use crate::text::supply::{OwnBytes, Supply};

use super::CorpusOutput;

/// Outputs larger than this, in bytes, are mapped: reading a small file costs less than mapping it.
const MAX_READ: u64 = 4 << 20;
pub(crate) const STDIN: &str = "/dev/stdin";

/// Reads outputs; each thread has its own.
#[derive(Debug, Default)]
pub(crate) struct CorpusReader {
    buffer: Vec<u8>,
    /// A second reading, with which the first is compared.
    other: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum OutputBytes<'a> {
    Read(&'a Vec<u8>),
    Mapped(RefCell<&'a mut Source>, MapView),
}

impl OutputBytes<'_> {
    /// Returns copies of the bytes, to search in.
    pub(crate) fn supply(&self) -> Box<dyn Supply + '_> {
        match self {
            OutputBytes::Read(bytes) => Box::new(OwnBytes::from(*bytes)),
            OutputBytes::Mapped(_, view) => Box::new(ViewSupply::from(view)),
        }
    }

    /// Whether all that was seen so far is of one content.
    pub(crate) fn is_steady(&self) -> bool {
        match self {
            OutputBytes::Read(_) => true,
            OutputBytes::Mapped(source, view) => {
                source.borrow_mut().is_still(view.generation()).unwrap_or(false)
            }
        }
    }
}

impl Deref for OutputBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            OutputBytes::Read(bytes) => bytes,
            OutputBytes::Mapped(_, view) => view,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadFault {
    /// It vanished, or another file took its place, since it was listed: no fault of anyone's.
    Gone,
    /// It is there and cannot be read, for this reason; names the path.
    Failed(String),
    /// What was read of it is not of one content, for this reason; names the path.
    Unsteady(String),
}

impl CorpusReader {
    /// Opens an output, and returns what `look` returns for it, which is of one content: if it was cut or rewritten
    /// meanwhile, `look` is called once more, unless `again` refuses. An entry must still be the file that was listed,
    /// and no link of its own is followed.
    pub(crate) fn look<T>(
        &mut self,
        output: &CorpusOutput,
        again: &mut dyn FnMut() -> bool,
        look: &mut dyn FnMut(OutputBytes) -> T,
    ) -> Result<T, ReadFault> {
        let opened = match output {
            CorpusOutput::Named(_) => None,
            CorpusOutput::Entry(entry) => Some(entry.open()),
            CorpusOutput::Found(path) => {
                // It follows no link, and never waits for a FIFO's writer.
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                Some(open(path, flags, Mode::empty()).map(File::from).map_err(io::Error::from))
            }
        };
        let path = output.path();
        let mut source = match opened.transpose().map_err(|error| fault(output, error))? {
            None => open_named(&path)?,
            Some(file) if self.read_small(&file).map_err(|error| fault(output, error))? => {
                return Ok(look(OutputBytes::Read(&self.buffer)));
            }
            Some(_) => {
                Source::open_entry_unlocked(&path).map_err(|error| failed(&path, error.to_string()))?
            }
        };
        source.wait();
        if let Some(error) = source.error() {
            return Err(failed(&path, error.to_string()));
        }
        let looked = source.read_steadily(again, &mut |source| {
            let view = source.view();
            look(OutputBytes::Mapped(RefCell::new(source), view))
        });
        looked.map_err(|error| ReadFault::Unsteady(format!("{}: {error}", path.display())))
    }

    /// Reads a small file that keeps one content, bytes appended to it aside; returns false for any other.
    fn read_small(&mut self, file: &File) -> io::Result<bool> {
        let before = file.metadata()?;
        if before.len() > MAX_READ {
            return Ok(false);
        }
        await_write(file);
        read_beginning(file, before.len(), &mut self.buffer)?;
        let (before, after) = (Snapshot::from(&before), Snapshot::from(&file.metadata()?));
        if before.identity == after.identity && after.until_traced().is_none() {
            return Ok(true);
        }
        read_beginning(file, self.buffer.len() as u64, &mut self.other)?;
        Ok(self.other == self.buffer)
    }
}

/// Reads the first `len` bytes of a file, or as many as it has, and takes no more memory than that needs.
fn read_beginning(file: &File, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
    into.clear();
    into.try_reserve_exact(len as usize)?;
    (&*file).rewind()?;
    file.take(len).read_to_end(into).map(drop)
}

fn open_named(path: &Path) -> Result<Source, ReadFault> {
    if path == Path::new(STDIN) {
        stdin().map_err(|error| ReadFault::Failed(format!("standard input: {error}")))?;
    }
    let fault = |message: String| ReadFault::Failed(message.replacen(STDIN, "standard input", 1));
    Source::open_unpacked(path).map_err(|error| fault(error.to_string()))
}

fn fault(output: &CorpusOutput, error: io::Error) -> ReadFault {
    let now = output.path().symlink_metadata();
    match (output, now) {
        (_, Err(gone)) if gone.kind() == io::ErrorKind::NotFound => ReadFault::Gone,
        (CorpusOutput::Entry(entry), Ok(now)) if !Identity::from(&now).same_file(&entry.identity) => {
            ReadFault::Gone
        }
        _ => ReadFault::Failed(OpenError::new(&output.path(), error).to_string()),
    }
}

fn failed(path: &Path, words: String) -> ReadFault {
    let path = path.display().to_string();
    // Some errors name the path themselves.
    ReadFault::Failed(if words.starts_with(&path) { words } else { format!("{path}: {words}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_read_buffer_does_not_grow_for_large_outputs() {
        let dir = tempfile::tempdir().unwrap();
        let capacity = |len: u64| {
            let path = dir.path().join("output");
            File::create(&path).unwrap().set_len(len).unwrap();
            let mut reader = CorpusReader::default();
            let read = reader.look(&CorpusOutput::Found(path), &mut || false, &mut |bytes| bytes.len());
            assert_eq!(read.unwrap() as u64, len);
            reader.buffer.capacity() as u64
        };
        assert_eq!(capacity(MAX_READ + 1), 0);
        for len in [0, 100, MAX_READ] {
            assert!(capacity(len) <= len + 64, "{len}");
        }
    }
}
