//! Files and private copies of databases, and connections that a hostile file cannot keep busy, make large, or divert.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::base::fs::identity::Identity;
use crate::base::fs::plain_file;
use crate::base::lock;
use crate::session::record::{fill, open_regular};

use super::{Database, DatabaseError, Result, TRIES};

/// The longest value that is read, in bytes.
pub(super) const MAX_VALUE: i32 = 16 << 20;
/// The longest statement of a schema, in bytes.
const MAX_STATEMENT: i32 = 1 << 20;
/// How long to wait for an agent that is writing.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long one look at a database may take at least, and at most, and how many bytes of it buy a second more.
const LOOK: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];
const BYTES_A_SECOND: u64 = 16 << 20;

/// Opens with the parameters of a URI, in which some characters of a path mean something else.
pub(super) fn read_only(path: &Path, parameters: &str) -> Result<Connection> {
    let mut uri = "file:".to_owned();
    for byte in std::path::absolute(path)?.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' | 0..=32 | 127..=255 => uri.push_str(&format!("%{byte:02X}")),
            byte => uri.push(char::from(*byte)),
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect(Path::new(&format!("{uri}?{parameters}")), flags)
}

/// Opens a database; nothing that its file brings along may run.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_STATEMENT)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Checks that none of these tables is a view, virtual or computed: reading such runs what the file says.
pub(super) fn check_plain(connection: &Connection, tables: &[&str]) -> Result<()> {
    let names = tables.join("', '");
    // SQLite itself refuses a schema in which a name or a kind is not that of the statement.
    let named =
        format!("FROM sqlite_schema AS s WHERE type IN ('table', 'view') AND lower(name) IN ('{names}')");
    let others =
        format!("SELECT 1 {named} AND (type <> 'table' OR substr(sql, 1, 13) IS NOT 'CREATE TABLE ')");
    let computed =
        format!("SELECT 1 {named} AND EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name) WHERE hidden <> 0)");
    for sql in [others, computed] {
        if connection.prepare(&sql)?.exists([])? {
            return Err(DatabaseError::Computed);
        }
    }
    Ok(())
}

/// The time that looks at a database took together, as long as it does not change.
struct TimeSpent {
    state: FileStates,
    since: Instant,
    time: Duration,
}

/// The databases that were looked at, by path. Those that take too long are not tried again until they change.
static SPENT: Mutex<BTreeMap<PathBuf, TimeSpent>> = Mutex::new(BTreeMap::new());

/// Whether all reads of a database since its last change took longer than `time` plus half the time since the first:
/// one short read per session adds up.
pub(super) fn is_slow(path: &Path, time: Duration) -> bool {
    let spent = lock(&SPENT);
    spent.get(path).is_some_and(|spent| {
        spent.time > time.saturating_add(spent.since.elapsed() / 2) && spent.state == states(path)
    })
}

pub(super) fn spend(path: &Path, time: Duration) {
    let mut spent = lock(&SPENT);
    let state = states(path);
    match spent.get_mut(path) {
        Some(spent) if spent.state == state => spent.time = spent.time.saturating_add(time),
        _ => drop(spent.insert(path.to_owned(), TimeSpent { state, since: Instant::now(), time })),
    }
}

/// Returns how long one read of a database of this many bytes may take.
pub(super) fn time_for(bytes: u64) -> Duration {
    LOOK[0].saturating_add(Duration::from_secs(bytes / BYTES_A_SECOND)).min(LOOK[1])
}

/// What the names of the files beside a database add to its own: the log, its index, and the journal of a transaction.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The first bytes of a journal whose transaction is not finished.
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The states of a database, its log and its journal, by which a change is noticed; nothing of one that is missing.
pub(super) type FileStates = [Option<Identity>; 3];

pub(super) fn states(path: &Path) -> FileStates {
    Database::files(path).map(|path| fs::metadata(path).ok().as_ref().map(Identity::from))
}

pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

pub(super) fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|meta| meta.len())
}

/// Checks that a database can be opened without blocking, and that no transaction is unfinished: SQLite would take
/// it back by writing, and a journal may name any file to be deleted then. Opens but the journal: to close a file takes away
/// the locks on it that this process has.
pub(super) fn check(path: &Path) -> Result<()> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("is not a regular file").into());
    }
    let is_other = |path: PathBuf| fs::metadata(path).is_ok_and(|meta| !meta.is_file());
    if let Some(ending) = BESIDE.into_iter().find(|ending| is_other(beside(path, ending))) {
        return Err(io::Error::other(format!("its {ending} is not a regular file")).into());
    }
    match open_regular(&beside(path, "-journal")) {
        Ok((journal, _)) => {
            let mut head = [0; JOURNAL_MAGIC.len()];
            fill(&journal, 0, &mut head)?;
            if head == JOURNAL_MAGIC { Err(DatabaseError::Unfinished) } else { Ok(()) }
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Checks a database that lies in a project, which may be anybody's work: it and what is beside it must be regular files of
/// this user or root, reached from the project on without a link.
///
/// # Errors
/// The first that is not, and why; `None` if there is no such database.
pub fn check_database_in_project(project: &Path, path: &Path) -> Result<(), Option<String>> {
    let is_missing =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    for ending in [""].into_iter().chain(BESIDE) {
        match plain_file::check_in_project(project, &beside(path, ending)) {
            Err((_, error)) if is_missing(&error) && ending.is_empty() => return Err(None),
            Err((at, error)) if !is_missing(&error) => {
                return Err(Some(format!("{}: {error}", at.display())));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The largest log, and the largest database with its log, that are copied, in bytes.
const MAX_LOG: u64 = 64 << 20;
const MAX_COPIED: u64 = 512 << 20;

#[derive(Debug)]
struct LastCopy {
    path: PathBuf,
    of: FileStates,
    connection: Arc<Mutex<Connection>>,
}

static LAST_COPY: Mutex<Option<LastCopy>> = Mutex::new(None);

/// Returns a copy of a database with its log taken in: the last one, if nothing changed since.
pub(super) fn private_copy(path: &Path) -> Result<Arc<Mutex<Connection>>> {
    let mut last = lock(&LAST_COPY);
    let now = states(path);
    if let Some(copy) = last.as_ref().filter(|copy| copy.path == path && copy.of == now) {
        return Ok(Arc::clone(&copy.connection));
    }
    let log = length(&beside(path, "-wal")).unwrap_or(0);
    if log > MAX_LOG || length(path).unwrap_or(0).saturating_add(log) > MAX_COPIED {
        return Err(DatabaseError::TooLarge);
    }
    *last = None;
    let (connection, of) = copy(path)?;
    let connection = Arc::new(Mutex::new(connection));
    *last = Some(LastCopy { path: path.to_owned(), of, connection: Arc::clone(&connection) });
    Ok(connection)
}

/// Copies a database and its log into a private directory, opens the copy, and deletes the directory.
fn copy(path: &Path) -> Result<(Connection, FileStates)> {
    let directory = tempfile::Builder::new()
        .prefix("overspill-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()?;
    let copy = directory.path().join("copy.db");
    for _ in 0..TRIES {
        let before = states(path);
        copy_file(path, &copy)?;
        copy_file(&beside(path, "-wal"), &beside(&copy, "-wal"))?;
        if before == states(path) {
            let connection = connect(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            // One file, into which the log is taken.
            connection.pragma_update(None, "locking_mode", "exclusive")?;
            connection.pragma_update(None, "journal_mode", "delete")?;
            return Ok((connection, before));
        }
    }
    Err(DatabaseError::Changing)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let (from, meta) = open_regular(from)?;
    io::copy(&mut io::Read::take(&from, meta.len().min(MAX_COPIED)), &mut File::create(to)?)?;
    Ok(())
}
