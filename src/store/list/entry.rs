//! One spill in a store, as listed: nothing of its content is known.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{Mode, OFlags};

use crate::fs::stat::timestamp;
use crate::source::{Buffer, Identity};
use crate::store::own::id::parse_id;
use crate::store::root::Root;
use crate::store::spec::OWN;
use crate::store::spec::pattern::PathFacts;
use crate::store::{Expiry, FileRule, Holds, Left, Rule, StoreSpec};

use super::name::FileName;

/// A directory that holds entries, as it was when listed.
#[derive(Debug)]
pub struct ListedDir {
    /// Its path.
    pub path: PathBuf,
    /// The root that it lies under.
    pub(crate) root: Root,
    /// Device and inode of the directory itself.
    pub(crate) identity: Identity,
    /// Device of the store's root: an entry on another one is on another mount.
    pub(crate) root_dev: u64,
    /// The age at which its store's entries go, as set.
    pub(crate) after: Option<SignedDuration>,
    /// The store that it belongs to.
    pub store: Arc<StoreSpec>,
}

/// What keeps an entry from being an ordinary one. All but `Ok` are never deleted in bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryStatus {
    /// A regular file of the user's, with one name.
    Ok,
    /// A spill whose writer has not finished: still at it, or killed.
    Unfinished,
    /// A symbolic link; never followed.
    SymbolicLink,
    /// A directory, FIFO, socket or device with a spill's name.
    NotAFile,
    /// It has other names as well.
    HardLinked,
    /// Another user's.
    ForeignOwner,
    /// Mounted from elsewhere.
    OtherMount,
    /// Its time of modification is over five minutes in the future.
    FutureTime,
    /// It could not be asked about: the system's number for the reason.
    Unreadable(u16),
}

impl EntryStatus {
    /// The reason, in words.
    pub fn words(self) -> Cow<'static, str> {
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

/// What is told of an entry by where it lies, shared by all of which the same is told.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The directory that holds it.
    pub place: Arc<ListedDir>,
    /// Whose it is; the name in that agent's policies.
    pub agent: Arc<str>,
    /// Which tool's output, where path or store tell.
    pub tool: Option<Arc<str>>,
    /// The session, where the path tells.
    pub session: Option<Arc<str>>,
    /// The project, where the path tells.
    pub project: Option<Arc<str>>,
    /// The id, where a directory above the file is called by it.
    pub(crate) id: Option<Arc<str>>,
}

/// One spill in a store. Names come from the file system: clean them before they reach a terminal.
/// There may be millions, so it holds nothing that its origin or its name can tell.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) origin: Arc<Origin>,
    pub(crate) name: FileName,
    /// Which bytes of the name are the id, where they are.
    pub(crate) id_at: Option<(u8, u8)>,
    /// Which file it is, in what state; its size in bytes.
    pub identity: Identity,
    /// When its store's rule deletes it.
    pub expires: Expiry,
    /// By which rule.
    pub rule: Rule,
    /// What is unusual about it.
    pub status: EntryStatus,
    /// Permission bits, 0 to 0o7777.
    pub mode: u32,
    /// User number of the owner.
    pub owner: u32,
}

impl Entry {
    /// What is told of it by where it lies.
    pub fn origin(&self) -> &Arc<Origin> {
        &self.origin
    }

    /// The directory that holds it.
    pub fn place(&self) -> &ListedDir {
        &self.origin.place
    }

    /// Its file name.
    pub fn name(&self) -> &OsStr {
        self.name.as_os_str()
    }

    /// What it is called: the `id` that the store's pattern reads off the path, else the name.
    pub fn id(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.id_bytes())
    }

    /// The same byte for byte: two names that are not UTF-8 may look alike.
    pub fn id_bytes(&self) -> &[u8] {
        let name = self.name.as_bytes();
        let at = |(start, end): (u8, u8)| name.get(usize::from(start)..usize::from(end));
        match (self.id_at.and_then(at), &self.origin.id) {
            (Some(id), _) => id,
            (None, Some(id)) => id.as_bytes(),
            (None, None) => name,
        }
    }

    /// Whose it is; the name in that agent's policies.
    pub fn agent(&self) -> &str {
        &self.origin.agent
    }

    /// Which tool's output, where path, store or the record of the run tell.
    pub fn tool(&self) -> Option<&str> {
        self.origin.tool.as_deref()
    }

    /// The session, where the path tells.
    pub fn session(&self) -> Option<&str> {
        self.origin.session.as_deref()
    }

    /// The project, where the path tells.
    pub fn project(&self) -> Option<&str> {
        self.origin.project.as_deref()
    }

    /// The session, or else the project.
    pub fn whose(&self) -> Option<&str> {
        self.session().or(self.project())
    }

    /// Learns its tool from elsewhere; what path or store tell stays.
    pub fn learn_tool(&mut self, tool: &str) {
        if self.origin.tool.is_none() {
            Arc::make_mut(&mut self.origin).tool = Some(tool.into());
        }
    }

    /// Time of modification.
    pub fn modified(&self) -> Timestamp {
        timestamp(self.identity.modified)
    }

    /// When its id was made, where that tells.
    pub fn made(&self) -> Option<Timestamp> {
        parse_id(self.id().as_bytes())?.time(self.modified())
    }

    /// The whole path.
    pub fn path(&self) -> PathBuf {
        self.place().path.join(self.name())
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.identity.size
    }

    /// The store that it lies in.
    pub fn store(&self) -> &StoreSpec {
        &self.place().store
    }

    /// What the file holds.
    pub fn holds(&self) -> Holds {
        self.kind().map_or(Holds::Raw, |kind| kind.holds)
    }

    /// The policies that may have made it, the likeliest first.
    pub fn policies(&self) -> &[String] {
        self.kind().map_or(&[], |kind| &kind.policies)
    }

    /// Opens its file for reading, if it is still what was listed. Follows no link, never blocks.
    ///
    /// # Errors
    /// What the system says, or that it has changed.
    pub fn open(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let dir = self.place().root.open_below(&self.place().path).map_err(io::Error::other)?;
        let file = File::from(rustix::fs::openat(dir, self.name(), flags, Mode::empty())?);
        let meta = file.metadata()?;
        if meta.is_file() && Identity::from(&meta).same_file(&self.identity) {
            Ok(file)
        } else {
            Err(io::Error::other("not what was listed"))
        }
    }

    /// Whether it lies in overspill's own store.
    pub fn is_own(&self) -> bool {
        self.store().agent == OWN
    }

    fn kind(&self) -> Option<&FileRule> {
        self.store().file_rule(self.name.as_bytes(), &mut PathFacts::default())
    }

    /// Age by time of modification; negative if that lies in the future.
    pub fn age(&self, now: Timestamp) -> SignedDuration {
        now.duration_since(self.modified())
    }

    /// The same, unless that is known to tell nothing: where it lies in the future, or could not be asked.
    pub fn known_age(&self, now: Timestamp) -> Option<SignedDuration> {
        let is_known = !matches!(self.status, EntryStatus::FutureTime | EntryStatus::Unreadable(_));
        is_known.then(|| self.age(now))
    }

    /// The age that deletion goes by: of id time and mtime the younger.
    pub fn safe_age(&self, now: Timestamp) -> SignedDuration {
        let youngest = self.made().map_or(self.modified(), |made| made.max(self.modified()));
        now.duration_since(youngest)
    }

    /// Its expiry seen from `now`.
    pub fn left(&self, now: Timestamp) -> Left {
        self.expires.left(now)
    }

    /// Whether group or others have any right to it.
    pub fn exposed(&self) -> bool {
        self.mode & 0o077 != 0
    }
}

/// The first line of an entry's file, without its line feed, at most 4 KiB: raw bytes, to be
/// cleaned before they are shown.
///
/// # Errors
/// As for [`Entry::open`].
pub fn first_line(entry: &Entry) -> io::Result<Vec<u8>> {
    const MOST: u64 = 4 << 10;
    let mut line = Vec::new();
    entry.open()?.take(MOST).read_to_end(&mut line)?;
    line.truncate(memchr::memchr(b'\n', &line).unwrap_or(line.len()));
    Ok(line)
}

/// Counts an entry's lines as the screens number them: a last one without line feed counts too.
///
/// # Errors
/// As for [`Entry::open`].
pub fn count_lines(entry: &Entry) -> io::Result<u64> {
    const PIECE: usize = 256 << 10;
    let (file, mut buffer) = (entry.open()?, Buffer::default());
    let (mut at, mut lines, mut last) = (0, 0, b'\n');
    loop {
        let piece = buffer.read_file(&file, at, PIECE)?;
        lines += bytecount::count(piece, b'\n') as u64;
        last = piece.last().copied().unwrap_or(last);
        at += piece.len() as u64;
        if piece.len() < PIECE {
            return Ok(lines + u64::from(last != b'\n'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_entries_take_no_more_than_128_megabytes() {
        assert!(size_of::<Entry>() <= 128, "{} bytes", size_of::<Entry>());
    }
}
