//! Notices that files or directories may have changed, for the price of a stat each; and sessions that are read anew then.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::base::fs::identity::Identity;

use super::json::{Json, Tape};
use super::reader::{OpenedSession, ReadProgress, RecordPlace, SessionFile, SessionResult};
use super::record::FileRecords;
use super::transcript::Transcript;

/// A change within this time before a look may be followed by another one that leaves the same time behind, since file
/// systems' clocks tick coarsely.
const TICK: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, Default)]
pub struct PathWatch {
    seen: Option<Vec<Option<Identity>>>,
}

impl PathWatch {
    /// Whether something may have changed since the last look; true at the first. Of directories only names count.
    pub fn has_changed(&mut self, paths: &[PathBuf]) -> bool {
        let looks: Vec<_> = paths.iter().map(|path| std::fs::metadata(path).ok()).collect();
        let is_old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > TICK);
        let is_settled = looks.iter().flatten().all(|meta| meta.modified().map_or(true, is_old));
        let now = looks.iter().map(|meta| meta.as_ref().map(Identity::from)).collect();
        let has_changed = self.seen.as_ref() != Some(&now);
        self.seen = is_settled.then_some(now);
        has_changed
    }
}

/// Returns the paths by which a change of a session is noticed, of which this was read before.
pub type WatchedPaths = dyn Fn(&SessionFile, &Transcript) -> Vec<PathBuf> + Send;

/// Reads a session into a transcript that has its facts so far.
pub type ReadSession = dyn Fn(&SessionFile, &dyn ReadProgress, &mut Transcript) -> SessionResult<()> + Send;

/// A session whose records may change in any place: if any did, all are read again and compared.
pub struct WatchedSession {
    file: SessionFile,
    paths: Box<WatchedPaths>,
    read: Box<ReadSession>,
    watch: PathWatch,
    transcript: Transcript,
    /// Whether a reading was given up or failed, after which all counts as changed.
    is_torn: bool,
}

impl WatchedSession {
    /// Reads a session of an agent; fails if the records cannot be read, or reading was given up.
    pub fn open(
        agent: &'static str,
        file: &SessionFile,
        paths: Box<WatchedPaths>,
        read: Box<ReadSession>,
        progress: &dyn ReadProgress,
    ) -> SessionResult<Box<dyn OpenedSession>> {
        let (file, watch, transcript) = (file.clone(), PathWatch::default(), Transcript::new(agent));
        let mut session = Self { file, paths, read, watch, transcript, is_torn: false };
        session.refresh(progress)?;
        Ok(Box::new(session))
    }
}

impl OpenedSession for WatchedSession {
    fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn refresh(&mut self, progress: &dyn ReadProgress) -> SessionResult<bool> {
        if !self.watch.has_changed(&(self.paths)(&self.file, &self.transcript)) && !self.is_torn {
            return Ok(false);
        }
        let was_torn = std::mem::replace(&mut self.is_torn, true);
        let mut transcript = Transcript::new(self.transcript.agent);
        transcript.facts = self.file.facts.clone();
        (self.read)(&self.file, progress, &mut transcript)?;
        self.is_torn = false;
        transcript.derive_fates();
        let before = std::mem::replace(&mut self.transcript, transcript);
        let states = |of: &Transcript| of.sources.iter().map(|source| source.seen()).collect::<Vec<_>>();
        Ok(was_torn
            || states(&before) != states(&self.transcript)
            || before.unread != self.transcript.unread
            || before.calls != self.transcript.calls)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordUse {
    /// Its kind is known, and the transcript holds places in it.
    Kept,
    Known,
    Unknown,
}

/// Reads a record that has a file of its own, and counts it.
pub fn read_record(
    path: PathBuf,
    out: &mut Transcript,
    read: impl FnOnce(Json, RecordPlace, &mut Transcript) -> RecordUse,
) {
    out.unread.records += 1;
    let (found, mut tape) = (FileRecords::whole(path, false).ok(), Tape::default());
    let record = found.as_ref().and_then(|(_, bytes)| tape.read(bytes).ok());
    let Some((record, (records, _))) = record.zip(found.as_ref()) else {
        out.unread.broken += 1;
        return;
    };
    let source = out.sources.len() as u32;
    let used = read(record, RecordPlace::new(source, 0, 0), out);
    out.unread.known += u64::from(used != RecordUse::Unknown);
    if used == RecordUse::Kept {
        out.add_source(Arc::new(records.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_file_written_just_now_still_counts_as_changed() {
        let dir = tempfile::tempdir().unwrap();
        let paths = [dir.path().join("a"), dir.path().join("none")];
        let aged = |seconds| {
            let time = SystemTime::now() - Duration::from_secs(seconds);
            File::options().append(true).open(&paths[0]).unwrap().set_modified(time).unwrap();
        };
        fs::write(&paths[0], "1").unwrap();
        let mut watch = PathWatch::default();
        assert!(watch.has_changed(&paths) && watch.has_changed(&paths), "just written");
        aged(9);
        assert!(watch.has_changed(&paths) && !watch.has_changed(&paths) && !watch.has_changed(&paths));
        aged(8);
        assert!(watch.has_changed(&paths) && !watch.has_changed(&paths));
        fs::remove_file(&paths[0]).unwrap();
        assert!(watch.has_changed(&paths) && !watch.has_changed(&paths));
    }
}
