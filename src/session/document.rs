//! A session in one JSON document, which the agent writes anew as a whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::{Change, Source};

use super::json::{Json, Tape};
use super::reader::{OpenedSession, ReadProgress, RecordPlace, SessionError};
use super::record::{LONGEST_RECORD, MappedRecords};
use super::transcript::Transcript;

/// Reads a document, and counts its records in [`Transcript::unread`]. `path` is its file.
pub type ReadDocument = fn(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript);

/// A session in one document of at most 256 MiB.
pub struct DocumentSession {
    path: PathBuf,
    source: Source,
    read: ReadDocument,
    transcript: Transcript,
}

impl DocumentSession {
    /// Reads the document at `path`.
    ///
    /// # Errors
    /// It cannot be opened, or reading was given up.
    pub fn open(
        agent: &'static str,
        path: &Path,
        read: ReadDocument,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        let (source, transcript) = (Source::open(path)?, Transcript::new(agent));
        let mut session = Self { path: path.to_owned(), source, read, transcript };
        session.read_whole(progress)?;
        Ok(Box::new(session))
    }

    fn read_whole(&mut self, progress: &dyn ReadProgress) -> Result<(), SessionError> {
        let view = self.source.view();
        if !progress.step(0, view.len() as u64) {
            return Err(SessionError::GivenUp);
        }
        let mut out = Transcript::new(self.transcript.agent);
        let source = out.add_source(Arc::new(MappedRecords::new(self.path.clone(), view.clone())));
        let mut tape = Tape::default();
        let bytes = if view.len() > LONGEST_RECORD { &[][..] } else { &view[..] };
        match tape.read(bytes) {
            Ok(document) => {
                let place = RecordPlace { source, row: 0, start: 0 };
                (self.read)(document, place, &self.path, &mut out);
            }
            // Half of it, while the agent writes; or something else.
            Err(_) => {
                out.unread.records += 1;
                out.unread.broken += 1;
            }
        }
        self.transcript = out;
        Ok(())
    }
}

impl OpenedSession for DocumentSession {
    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn refresh(&mut self, progress: &dyn ReadProgress) -> Result<bool, SessionError> {
        if self.source.refresh() == Change::Same {
            return Ok(false);
        }
        self.source = Source::open(&self.path)?;
        self.read_whole(progress)?;
        Ok(true)
    }
}

/// Reads the members of a document that come before a long one, from its start: what a list shows without the rest.
/// `take` gets an object with those members; it is not called if the start has no such member.
pub fn before_member<T>(head: &[u8], long: &str, take: impl FnOnce(Json) -> T) -> Option<T> {
    // In a string the quotes would have backslashes before them.
    let at = memchr::memmem::find(head, format!("\"{long}\"").as_bytes())?;
    let start = head[..at].trim_ascii_end();
    let mut whole = start.strip_suffix(b",").unwrap_or(start).to_vec();
    whole.push(b'}');
    let mut tape = Tape::default();
    tape.read(&whole).ok().map(take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_document_is_read() {
        let id = |head: &str| {
            before_member(head.as_bytes(), "history", |start| start.get("id").and_then(|id| id.int()))
        };
        assert_eq!(id("{\"id\": 1,\n \"history\": [{\"half"), Some(Some(1)));
        assert_eq!(id("{\"t\": \"a \\\"history\\\" b\", \"id\": 2, \"history\": []}"), Some(Some(2)));
        assert_eq!(id("{\"history\": []}"), Some(None));
        assert_eq!(id("{\"id\": 1}"), None);
        assert_eq!(id("[1, {\"history\""), None);
    }
}
