//! A spill in a store, as listed; its content has not been read.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::base::fs::directory::open_file;
use crate::base::fs::identity::timestamp;
use crate::source::Identity;
use crate::store::own::id::parse_id;
use crate::store::root::Root;
use crate::store::spec::OWN;
use crate::store::spec::pattern::PathFacts;
use crate::store::{
    CopyRecord, Expiry, FileRule, RecordedFile, Retention, Rule, StoreSpec, StoredForm, TimeLeft,
};
use crate::text::ansi;
use crate::text::label::SafeText;
use crate::text::utf16::{ByteOrder, LineText};

#[derive(Debug)]
pub struct ListedDir {
    pub path: PathBuf,
    pub(crate) root: Root,
    /// Device and inode of the directory itself.
    pub(crate) identity: Identity,
    /// Device of the store's root: an entry on a different one is on another mount.
    pub(crate) root_dev: u64,
    /// The store's rule, as the user has set it.
    pub(crate) retention: Arc<Retention>,
    pub store: Arc<StoreSpec>,
}

/// Whether an entry is an ordinary file. All but `Ok` are never deleted in bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryStatus {
    /// A regular file of the user with a single name.
    Ok,
    /// A spill that is still being written, or whose writer was killed.
    Unfinished,
    /// A symbolic link; never followed.
    SymbolicLink,
    /// A directory, FIFO, socket or device with a spill's name.
    NotAFile,
    HardLinked,
    ForeignOwner,
    OtherMount,
    /// Its modification time is over five minutes in the future.
    FutureTime,
    /// Its metadata could not be read: the system's error number.
    Unreadable(u16),
}

impl EntryStatus {
    pub fn describe(self) -> Cow<'static, str> {
        let words = match self {
            EntryStatus::Ok => "ok",
            EntryStatus::Unfinished => "unfinished",
            EntryStatus::SymbolicLink => "symbolic link",
            EntryStatus::NotAFile => "not a file",
            EntryStatus::HardLinked => "hard link",
            EntryStatus::ForeignOwner => "another owner",
            EntryStatus::OtherMount => "another mount",
            EntryStatus::FutureTime => "time in the future",
            EntryStatus::Unreadable(reason) => {
                return io::Error::from_raw_os_error(reason.into()).to_string().into();
            }
        };
        words.into()
    }
}

/// The facts that follow from an entry's location, shared by all entries with the same facts.
#[derive(Clone, Debug)]
pub struct Origin {
    pub place: Arc<ListedDir>,
    pub agent: Arc<str>,
    pub tool: Option<Arc<str>>,
    pub session: Option<Arc<str>>,
    pub project: Option<Arc<str>>,
    pub(crate) id: Option<Arc<str>>,
    /// The record of a kept copy; agent, tool, session and project are then those of its original.
    pub(crate) copy: Option<Arc<CopyRecord>>,
}

/// A spill in a store. Escape names. There may be millions, so what origin or name tells is not stored again.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) origin: Arc<Origin>,
    pub(crate) name: FileName,
    /// The byte range of the id in the name, if it is there.
    pub(crate) id_at: Option<(u8, u8)>,
    /// Which file it is, in which state; includes its size in bytes.
    pub identity: Identity,
    pub expires: Expiry,
    pub rule: Rule,
    pub status: EntryStatus,
    /// Permission bits, 0 to 0o7777.
    pub mode: u32,
    pub owner: u32,
}

impl Entry {
    pub fn place(&self) -> &ListedDir {
        &self.origin.place
    }

    pub fn name(&self) -> &OsStr {
        self.name.as_os_str()
    }

    /// Returns what lists call it: its command, or else its first line, or else its id.
    pub fn called(&self, known: [SafeText; 2]) -> SafeText {
        let id = || SafeText::from_bytes(self.id_bytes());
        known.into_iter().find(|words| !words.is_empty()).unwrap_or_else(id)
    }

    /// Returns the `id` that the store's pattern finds in the path, or else the name.
    pub fn id(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.id_bytes())
    }

    /// Same as [`Entry::id`] in raw bytes: two names that are not UTF-8 may look alike.
    pub fn id_bytes(&self) -> &[u8] {
        let name = self.name.as_bytes();
        let at = |(start, end): (u8, u8)| name.get(usize::from(start)..usize::from(end));
        match (self.id_at.and_then(at), &self.origin.id) {
            (Some(id), _) => id,
            (None, Some(id)) => id.as_bytes(),
            (None, None) => name,
        }
    }

    pub fn agent(&self) -> &str {
        &self.origin.agent
    }

    /// Returns the tool, if path, store or the record of the run says so.
    pub fn tool(&self) -> Option<&str> {
        self.origin.tool.as_deref()
    }

    pub fn session(&self) -> Option<&str> {
        self.origin.session.as_deref()
    }

    pub fn project(&self) -> Option<&str> {
        self.origin.project.as_deref()
    }

    pub fn learn_tool(&mut self, tool: &str) {
        if self.origin.tool.is_none() {
            Arc::make_mut(&mut self.origin).tool = Some(tool.into());
        }
    }

    pub fn modified(&self) -> Timestamp {
        timestamp(self.identity.modified)
    }

    pub fn made(&self) -> Option<Timestamp> {
        parse_id(self.id().as_bytes())?.time(self.modified())
    }

    pub fn path(&self) -> PathBuf {
        self.place().path.join(self.name())
    }

    /// Whether it is at this path; mostly the name already says that it is not.
    pub fn is_at(&self, path: &Path) -> bool {
        path.file_name() == Some(self.name()) && self.path() == path
    }

    pub fn copy(&self) -> Option<&Arc<CopyRecord>> {
        self.origin.copy.as_ref()
    }

    /// Returns the path that notices print: that of its original if it is a kept copy, otherwise its own.
    pub fn saved_as(&self) -> String {
        self.copy().map_or_else(|| self.path().to_string_lossy().into_owned(), |copy| copy.original.clone())
    }

    pub fn size(&self) -> u64 {
        self.identity.size
    }

    pub fn store(&self) -> &StoreSpec {
        &self.place().store
    }

    pub fn holds(&self) -> StoredForm {
        let kind = || self.kind().map_or(StoredForm::Raw, |kind| kind.holds);
        self.copy().map_or_else(kind, |copy| copy.holds)
    }

    /// Opens its file for reading; fails if it is not the file that was listed. Follows no link, never blocks.
    pub fn open(&self) -> io::Result<File> {
        let dir = self.place().root.open_below(&self.place().path).map_err(io::Error::other)?;
        let file = open_file(dir, self.name())?;
        let meta = file.metadata()?;
        if meta.is_file() && Identity::from(&meta).same_file(&self.identity) {
            Ok(file)
        } else {
            Err(io::Error::other("changed since it was listed"))
        }
    }

    pub fn is_own(&self) -> bool {
        self.store().agent == OWN
    }

    /// Whether an agent stored it, or the original of which it is a kept copy.
    pub fn is_of_agent(&self) -> bool {
        !self.is_own() || self.copy().is_some()
    }

    /// Returns how agents' records know it.
    pub fn recorded_file(&self) -> RecordedFile {
        let own = || RecordedFile { path: self.saved_as().into(), ..RecordedFile::default() };
        self.copy().map_or_else(own, |copy| copy.recorded_file(self.path()))
    }

    /// Whether the user keeps it in overspill's own store, so that no cleaning deletes it.
    pub fn is_kept(&self) -> bool {
        self.rule == Rule::Kept
    }

    pub(crate) fn kind(&self) -> Option<&FileRule> {
        self.store().file_rule(self.name.as_bytes(), &mut PathFacts::default())
    }

    pub fn age(&self, now: Timestamp) -> SignedDuration {
        now.duration_since(self.modified())
    }

    /// The age, unless it is known to be meaningless: the time is in the future, or the file could not be queried.
    pub fn known_age(&self, now: Timestamp) -> Option<SignedDuration> {
        let is_known = !matches!(self.status, EntryStatus::FutureTime | EntryStatus::Unreadable(_));
        is_known.then(|| self.age(now))
    }

    /// Returns the age used for deletion: the younger by id time and mtime.
    pub fn safe_age(&self, now: Timestamp) -> SignedDuration {
        let youngest = self.made().map_or(self.modified(), |made| made.max(self.modified()));
        now.duration_since(youngest)
    }

    pub fn left(&self, now: Timestamp) -> TimeLeft {
        self.expires.left(now)
    }

    /// Whether group or others have any permission. A symbolic link's own mode gives none.
    pub fn exposed(&self) -> bool {
        self.status != EntryStatus::SymbolicLink && self.mode & 0o077 != 0
    }
}

/// Returns the first line, of its first 4 KiB, as a terminal without colours would leave it.
pub fn first_line(entry: &Entry) -> io::Result<SafeText> {
    const MAX_LINE: u64 = 4 << 10;
    let mut line = Vec::new();
    entry.open()?.take(MAX_LINE).read_to_end(&mut line)?;
    line.truncate(memchr::memchr(b'\n', &line).unwrap_or(line.len()));
    let text = LineText::new(&line, ByteOrder::detect(&line), 0);
    Ok(SafeText::from_bytes(&ansi::printed(text.bytes())))
}

/// Maximum length in bytes of a name that is stored inline. The ids of all agents are shorter.
const SHORT: usize = 38;

#[derive(Clone)]
pub(crate) enum FileName {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<OsStr>),
}

impl FileName {
    pub(crate) fn as_os_str(&self) -> &OsStr {
        match self {
            FileName::Short { len, bytes } => OsStr::from_bytes(&bytes[..usize::from(*len)]),
            FileName::Long(name) => name,
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.as_os_str().as_bytes()
    }
}

impl From<&OsStr> for FileName {
    fn from(name: &OsStr) -> FileName {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            None => FileName::Long(name.into()),
            Some(start) => {
                start.copy_from_slice(name.as_bytes());
                FileName::Short { len: name.len() as u8, bytes }
            }
        }
    }
}

impl fmt::Debug for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_os_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_entries_take_no_more_than_128_megabytes() {
        assert!(size_of::<Entry>() <= 128, "{} bytes", size_of::<Entry>());
    }

    #[test]
    fn a_file_name_of_any_length_round_trips() {
        for len in [0, 1, SHORT - 1, SHORT, SHORT + 1, 255] {
            let name = vec![0xFF; len];
            assert_eq!(FileName::from(OsStr::from_bytes(&name)).as_bytes(), name);
        }
        assert!(size_of::<FileName>() <= 40);
    }
}
