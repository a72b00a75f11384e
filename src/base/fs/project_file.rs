//! Files that lie in a project's directory, where anybody may have put them.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::identity::FileStat;
use super::plain_file::{check_owner, no_regular_file};

#[cfg(test)]
mod tests;

/// Checks that a path in a project's directory is a regular file of this user or root, without opening it. The way to the
/// project may go through links; from the project on there must be none, and each directory must be this user's or root's.
///
/// # Errors
/// The path that is not so, and why: the system's error, or a few words.
pub(crate) fn check(project: &Path, path: &Path) -> Result<(), (PathBuf, io::Error)> {
    let mut at = project.to_owned();
    let result = path.strip_prefix(project).map_err(|_| Errno::NOENT.into()).and_then(|names| {
        const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
        let mut dir = openat(CWD, project, DIRECTORY, Mode::empty())?;
        let mut names = names.iter().peekable();
        while let Some(name) = names.next() {
            at.push(name);
            let facts = FileStat::from(statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?);
            check_owner(facts.uid)?;
            let is_last = names.peek().is_none();
            match facts.kind {
                FileType::Directory if !is_last => {
                    dir = openat(&dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
                }
                FileType::RegularFile if is_last => {}
                FileType::Symlink => {
                    return Err(io::Error::other("is a link in a project, and is not followed"));
                }
                _ => return Err(no_regular_file()),
            }
        }
        Ok(())
    });
    result.map_err(|error| (at, error))
}
