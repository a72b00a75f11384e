//! Ends a session: removes its directory and the spills in it.

use std::io;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Dir, unlinkat};
use rustix::io::Errno;

use crate::store::Env;

use super::dir::{DirError, open_private, remove};
use super::location::{LocationError, is_spill, session_dir, session_name};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedSession {
    pub path: PathBuf,
    pub files: u64,
    pub bytes: u64,
    /// Names that were left, and with them the directory: not overspill's, or still being written.
    pub left: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum EndError {
    #[error("{0}")]
    Name(#[from] LocationError),
    #[error("{}: there is no such session", .0.display())]
    NoSession(PathBuf),
    /// The directory is not private, or the system's error; it names the path.
    #[error("{0}")]
    Io(io::Error),
}

impl From<DirError> for EndError {
    fn from(error: DirError) -> EndError {
        EndError::Io(error.into())
    }
}

/// Removes a session's directory and the spills in it, one file at a time. Files that are not named like a session's
/// spill, do not belong to the user, or are still being written are left.
pub fn end_session(name: &str, env: &Env) -> Result<EndedSession, EndError> {
    let path = session_dir(env, &session_name(name)?);
    let dir = match open_private(&path, env) {
        Err(error) if error.raw() == Some(Errno::NOENT) => return Err(EndError::NoSession(path)),
        dir => dir?,
    };
    let failed = |error| DirError::Io(path.clone(), error);
    let mut ended = EndedSession { path: path.clone(), ..EndedSession::default() };
    for found in Dir::read_from(&dir).map_err(failed)? {
        let found = found.map_err(failed)?;
        let name = found.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let text = name.to_str().unwrap_or_default();
        let is_ours = is_spill(text.strip_prefix(".tmp-").unwrap_or(text));
        match is_ours.then(|| remove(&dir, name, env)).flatten() {
            Some(bytes) => {
                ended.files += 1;
                ended.bytes += bytes;
            }
            None => ended.left.push(name.to_string_lossy().into_owned()),
        }
    }
    if ended.left.is_empty() {
        unlinkat(CWD, &path, AtFlags::REMOVEDIR).map_err(failed)?;
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::capture::Location;
    use crate::preview::Stream;

    fn begun(env: &Env) -> crate::store::NewSpill {
        let place = Location::for_agent("go-opencode/bash", None, Some("s1"), env, crate::base::env::now());
        place.unwrap().begin(Stream::Stdout).unwrap()
    }

    fn home() -> (tempfile::TempDir, Env) {
        let home = tempfile::tempdir().unwrap();
        let env = Env::hermetic(home.path()).with_var("TMPDIR", home.path());
        (home, env)
    }

    #[test]
    fn its_directory_goes_with_its_spills() {
        let (home, env) = home();
        begun(&env).finish(false).unwrap();
        let ended = end_session("s1", &env).unwrap();
        assert_eq!((ended.files, ended.left.len()), (1, 0));
        assert!(!home.path().join("opencode-s1").exists());
        assert!(matches!(end_session("s1", &env), Err(EndError::NoSession(_))));
    }

    #[test]
    fn foreign_and_unfinished_files_stay() {
        let (home, env) = home();
        let writing = begun(&env);
        let dir = home.path().join("opencode-s1");
        fs::write(dir.join("notes.txt"), "x").unwrap();
        symlink("/etc/passwd", dir.join("bash-1-stdout.txt")).unwrap();
        let mut left = end_session("s1", &env).unwrap().left;
        left.sort();
        let temporary = writing.temporary_path().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(left, [temporary.as_str(), "bash-1-stdout.txt", "notes.txt"]);
    }

    #[test]
    fn a_spill_s_name_is_exact() {
        for name in ["bash-17-stdout.txt", "bash-17-stderr.txt"] {
            assert!(is_spill(name), "{name}");
        }
        for name in ["bash--stdout.txt", "bash-1x-stdout.txt", "bash-17-stdout.txt.bak", "x"] {
            assert!(!is_spill(name), "{name}");
        }
    }
}
