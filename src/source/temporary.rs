//! Temporary storage for streams: an unlinked file in a directory with enough room.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::fs::room::RoomWatch;

/// Where to go if the temporary directory is missing or full.
const OTHERS: [&str; 2] = ["/var/tmp", "/tmp"];

/// Creates an unlinked file of mode 0600 in the system's temporary directory, or else in another one with enough room.
/// If none has enough, the first one where it can be created is used.
///
/// # Errors
/// If it cannot be created in any directory: the system's error for the temporary directory, with the remedy.
pub(crate) fn file() -> io::Result<File> {
    // A relative one would depend on the directory in which overspill is started.
    let given = Some(std::env::temp_dir()).filter(|dir| dir.is_absolute());
    in_one_of(&given.into_iter().chain(OTHERS.map(PathBuf::from)).collect::<Vec<_>>())
}

fn in_one_of(dirs: &[PathBuf]) -> io::Result<File> {
    let (mut full, mut first_fault) = (None, None);
    for dir in dirs {
        match tempfile::tempfile_in(dir) {
            Ok(file) if RoomWatch::default().check(&file, 0).is_ok() => return Ok(file),
            Ok(file) => full = full.or(Some(file)),
            Err(error) => first_fault = first_fault.or(Some(no_file_in(dir, error))),
        }
    }
    full.ok_or_else(|| first_fault.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

fn no_file_in(dir: &Path, error: io::Error) -> io::Error {
    let words =
        format!("no temporary file in {}: {error}; set TMPDIR to a directory with room", dir.display());
    io::Error::new(error.kind(), words)
}

/// Adds the remedy to an error of writing to such a file, if the disk is nearly full.
pub(super) fn with_remedy(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::StorageFull => io::Error::new(
            io::ErrorKind::StorageFull,
            "the temporary directory's disk is nearly full; set TMPDIR to a directory with room",
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_missing_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("none");
        assert!(in_one_of(&[missing.clone(), dir.path().to_owned()]).is_ok());
        let error = in_one_of(&[missing.clone(), "/proc".into()]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let words = error.to_string();
        assert!(words.contains(missing.to_str().unwrap()) && words.contains("set TMPDIR"), "{words}");
    }
}
