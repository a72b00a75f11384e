//! Private copies of databases with the logs that agents left behind.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};

use crate::session::record::open_regular;

use super::DatabaseError;
use super::connect::connect;
use super::files::{FileState, beside, length, states};

/// The largest log, and the largest database with its log, that are copied, in bytes.
const MAX_LOG: u64 = 64 << 20;
const MAX_COPIED: u64 = 512 << 20;

/// How often to copy again what changed while it was copied.
const TRIES: usize = 4;

/// The copy that was made last.
#[derive(Debug)]
struct LastCopy {
    path: PathBuf,
    of: Vec<FileState>,
    connection: Arc<Mutex<Connection>>,
}

static LAST_COPY: Mutex<Option<LastCopy>> = Mutex::new(None);

/// Returns a copy of a database with its log taken in: the last one, if nothing changed since.
pub(super) fn private_copy(path: &Path) -> Result<Arc<Mutex<Connection>>, DatabaseError> {
    let mut last = LAST_COPY.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Copies a database and its log into a private directory, and opens the copy, which takes the log in. Then the directory
/// is deleted: what is open stays readable.
fn copy(path: &Path) -> Result<(Connection, Vec<FileState>), DatabaseError> {
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
