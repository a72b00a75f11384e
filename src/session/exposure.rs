//! Whether other users of the machine can read a session: agents write down keys and private text.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The bits of a mode by which others may read a file and search a directory: those of the group, and of everybody.
const OTHERS: [(u32, u32); 2] = [(0o040, 0o010), (0o004, 0o001)];

/// Tells which files others can read; looks at the directories above once for the files of one directory.
#[derive(Clone, Debug, Default)]
pub struct Exposure {
    dir: Option<PathBuf>,
    /// Whether the group and everybody can reach the files of the directory.
    is_reached: [bool; 2],
}

impl Exposure {
    /// Whether the group or everybody can read a file: by its own mode, and by those of all directories above it.
    pub fn is_open_to_others(&mut self, file: &Path) -> bool {
        let Some(mode) = mode(file) else { return false };
        let may_read = OTHERS.map(|(read, _)| mode & read != 0);
        if may_read == [false; 2] {
            return false;
        }
        let dir = file.parent().unwrap_or(file);
        if self.dir.as_deref() != Some(dir) {
            let modes = dir.ancestors().filter(|dir| !dir.as_os_str().is_empty()).map(mode_of);
            let shared = modes.fold(u32::MAX, |shared, mode| shared & mode);
            *self = Self {
                dir: Some(dir.to_owned()),
                is_reached: OTHERS.map(|(_, search)| shared & search != 0),
            };
        }
        may_read.into_iter().zip(self.is_reached).any(|(may_read, is_reached)| may_read && is_reached)
    }
}

/// Returns the directory to be closed: the agent's own, the hidden one above the file, else the one that holds the file.
pub fn directory_to_close(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|dir| is_hidden(dir)).or_else(|| file.parent()).map(Path::to_owned)
}

/// Whether a directory is an agent's own, or another one that is hidden.
pub fn is_hidden(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn mode(path: &Path) -> Option<u32> {
    path.metadata().ok().map(|meta| meta.mode())
}

/// A directory that cannot be looked at counts as closed.
fn mode_of(dir: &Path) -> u32 {
    mode(dir).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_open_if_it_and_all_directories_above_are() {
        // Below a directory that is open to all, as the directory for temporary files is.
        let top = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        let dir = top.path().join(".agent");
        let file = dir.join("s.jsonl");
        fs::create_dir(&dir).unwrap();
        fs::write(&file, "").unwrap();
        let with = |of_dir, of_file| {
            fs::set_permissions(&dir, Permissions::from_mode(of_dir)).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(of_file)).unwrap();
            Exposure::default().is_open_to_others(&file)
        };
        let is_below_open = top.path().ancestors().skip(1).all(|dir| mode_of(dir) & 0o001 != 0);
        assert_eq!(with(0o755, 0o644), is_below_open);
        assert!(!with(0o700, 0o644) && !with(0o755, 0o600) && !with(0o710, 0o604));
        assert_eq!(directory_to_close(&file), Some(dir));
        assert!(!Exposure::default().is_open_to_others(&top.path().join("none")));
    }
}
