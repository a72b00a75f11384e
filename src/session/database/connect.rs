//! Connections that a hostile file cannot keep busy, make large, or lead elsewhere.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::session::reader::ReadProgress;

use super::DatabaseError;
use super::files::{FileState, states};

/// The longest value that is read, in bytes.
pub(super) const MAX_VALUE: i32 = 16 << 20;

/// The longest statement of a schema, in bytes.
const MAX_STATEMENT: i32 = 1 << 20;

/// How long to wait for an agent that is writing.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long one look at a database may take at least, and at most, and how many bytes of it buy a second more.
const LOOK: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(30)];
const BYTES_A_SECOND: u64 = 16 << 20;

/// How many steps of SQLite's machine lie between two looks at the clock. A step may load a value of the greatest length.
const STEPS: i32 = 200;

/// Opens with the parameters of a URI, in which some characters of a path mean something else.
pub(super) fn read_only(path: &Path, parameters: &str) -> Result<Connection, DatabaseError> {
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
pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, DatabaseError> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_STATEMENT)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// The names of the tables that agents' sessions are in, in lower case. A reader of another one adds it here.
const TABLES: &str = "'sessions', 'messages', 'session', 'message', 'part', 'session_v2', 'session_message', 'transcript_events'";

/// Checks that no table of an agent's is a view, a virtual table, or has computed columns: reading them runs what the file
/// says.
///
/// # Errors
/// One is. Of other tables nothing is read.
pub(super) fn check_plain(connection: &Connection) -> Result<(), DatabaseError> {
    // SQLite itself refuses a schema in which a name or a kind is not that of the statement.
    let named =
        format!("FROM sqlite_schema AS s WHERE type IN ('table', 'view') AND lower(name) IN ({TABLES})");
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
    state: Vec<FileState>,
    since: Instant,
    time: Duration,
}

/// The databases that were looked at, by path. Those that take too long are not tried again until they change.
static SPENT: Mutex<BTreeMap<PathBuf, TimeSpent>> = Mutex::new(BTreeMap::new());

/// Whether the looks at a database as it is now took longer together than `time` and half of what has passed since: many
/// short looks, one for each of its sessions, take long as well.
pub(super) fn is_slow(path: &Path, time: Duration) -> bool {
    let spent = SPENT.lock().unwrap_or_else(PoisonError::into_inner);
    spent.get(path).is_some_and(|spent| {
        spent.time > time.saturating_add(spent.since.elapsed() / 2) && spent.state == states(path)
    })
}

/// Adds the time of a look at a database.
pub(super) fn spend(path: &Path, time: Duration) {
    let mut spent = SPENT.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Does some work on a connection, which ends when it is not wanted any more, or takes longer than `time`.
///
/// # Errors
/// What `work` fails with, or why it was ended.
pub(super) fn bounded<T>(
    (path, connection): (&Path, &Connection),
    time: Duration,
    progress: &dyn ReadProgress,
    work: impl FnOnce(&Connection) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    let begun = Instant::now();
    let (wanted, end) = (progress.wanted(), begun + time);
    let is_given_up = move || wanted.as_ref().is_some_and(|wanted| !wanted());
    let is_over = is_given_up.clone();
    let is_over = move || is_over() || Instant::now() >= end;
    connection.progress_handler(STEPS, Some(is_over))?;
    let done = work(connection);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    let is_given_up = is_given_up();
    let is_too_slow = matches!(done, Err(DatabaseError::TooSlow)) && !is_given_up;
    spend(path, if is_too_slow { Duration::MAX } else { begun.elapsed() });
    match done {
        Err(DatabaseError::TooSlow) if is_given_up => Err(DatabaseError::GivenUp),
        done => done,
    }
}
