//! Reads an agent's file and writes it whole or not at all: links in a project are refused, others are followed and kept.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::base::fs::plain_file;

#[derive(Debug)]
pub(crate) struct AgentFile {
    /// Where it is, behind links.
    pub path: PathBuf,
    /// Where it is if it is itself no link.
    pub named: PathBuf,
    project: Option<PathBuf>,
    /// What stands before the text: [`MARK`] or nothing.
    mark: &'static str,
    pub text: Option<String>,
}

/// A byte order mark, as some editors write it: no part of the text.
const MARK: &str = "\u{feff}";

impl AgentFile {
    pub(crate) fn read(path: &Path, project: Option<&Path>) -> io::Result<Self> {
        let directory = path.parent().and_then(|directory| fs::canonicalize(directory).ok());
        let named = directory.zip(path.file_name()).map(|(directory, name)| directory.join(name));
        let named = named.unwrap_or_else(|| path.to_owned());
        let is_link = project.is_none() && path.is_symlink();
        let real = || fs::canonicalize(path).map_err(|error| plain_file::explain(path, error));
        let path = if is_link { real()? } else { path.to_owned() };
        let text = text_at(&path, project)?;
        let mut file = Self { path, named, project: project.map(Path::to_owned), mark: "", text };
        let whole = plain_file::read(&file.path).or_else(|_| plain_file::read(&file.backup_path()));
        file.mark = if whole.is_ok_and(|text| text.starts_with(MARK)) { MARK } else { "" };
        Ok(file)
    }

    pub(crate) fn backup(&self) -> io::Result<Option<String>> {
        text_at(&self.backup_path(), Some(self.path.parent().unwrap_or(&self.path)))
    }

    pub(crate) fn backup_path(&self) -> PathBuf {
        let mut path = OsString::from(&self.path);
        path.push(".before-overspill");
        path.into()
    }

    /// Keeps what was read beside the file, for its owner alone; fails if something is there.
    fn back_up(&self) -> io::Result<()> {
        let path = self.backup_path();
        if path.symlink_metadata().is_ok() {
            let name = path.file_name().unwrap_or_default().display();
            let words = "is there already, from an earlier setup or of your own; move it away";
            return Err(io::Error::other(format!("{name} {words}")));
        }
        self.text.as_ref().map_or(Ok(()), |text| self.put(&path, text, 0o600))
    }

    pub(crate) fn remove_backup(&self) -> io::Result<()> {
        match fs::remove_file(self.backup_path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes the text, or removes the file; fails if the file is no longer what was read. That is kept if it is to be.
    pub(crate) fn write(&self, text: Option<&str>, is_kept: bool) -> io::Result<()> {
        if text_at(&self.path, self.project.as_deref())? != self.text {
            return Err(io::Error::other("has changed meanwhile, and is left as it is; try again"));
        }
        let mode = fs::metadata(&self.path).ok().map(|meta| meta.mode() & 0o7777);
        if mode.is_some_and(|mode| mode & 0o200 == 0) {
            return Err(io::Error::other("is read-only; `chmod u+w` lets it be changed"));
        }
        if is_kept {
            self.back_up()?;
        }
        let Some(text) = text else { return fs::remove_file(&self.path) };
        let new = if self.project.is_some() { 0o644 } else { 0o600 };
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        self.put(&self.path, text, mode.unwrap_or(new))
    }

    fn put(&self, path: &Path, text: &str, mode: u32) -> io::Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        let write = || {
            let mut file = tempfile::Builder::new().prefix(".overspill-").tempfile_in(directory)?;
            write!(file, "{}{text}", self.mark)?;
            file.as_file().set_permissions(Permissions::from_mode(mode))?;
            file.as_file().sync_all()?;
            file.persist(path).map(drop).map_err(|error| error.error)
        };
        // The error itself names the temporary file.
        write().map_err(|error| io::Error::other(format!("cannot write in its directory: {}", error.kind())))
    }
}

/// Reads a file of this user without its mark; `None` if there is none.
fn text_at(path: &Path, project: Option<&Path>) -> io::Result<Option<String>> {
    let checked = project
        .map_or(Ok(()), |project| plain_file::check_in_project(project, path).map_err(|(_, error)| error));
    match checked.and_then(|()| plain_file::read(path)) {
        Ok(text) if fs::metadata(path)?.uid() == rustix::process::geteuid().as_raw() => {
            Ok(Some(text.trim_start_matches(MARK).to_owned()))
        }
        Ok(_) => Err(io::Error::other("belongs to another user, and is not changed")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::AgentFile;

    #[test]
    fn an_error_does_not_name_the_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gone/settings.json");
        let error = AgentFile::read(&path, None).unwrap().put(&path, "{}", 0o600).unwrap_err();
        assert_eq!(error.to_string(), "cannot write in its directory: entity not found");
    }
}
