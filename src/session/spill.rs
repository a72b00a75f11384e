//! The spills that results name: whether they are still there. A path in the records is a claim, and nothing is opened.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::find::is_hidden;
use super::model::{Call, Citation};

/// What is at the path that a result names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpillState {
    /// A regular file, of the size that the records claim if they claim one.
    Here(PathBuf),
    /// Something else: a file of another size or owner, a link, a directory.
    Other(PathBuf),
    Gone,
}

impl SpillState {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Here(_) => "here",
            Self::Other(_) => "other",
            Self::Gone => "gone",
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Here(path) => Some(path),
            Self::Other(_) | Self::Gone => None,
        }
    }
}

/// Looks for the first spill of a call that is there; `None` if it names none. `records` is the file with the call: where
/// a home directory was copied, a spill is looked for in the copy, too. `uid` owns the files that count.
pub fn state_of(call: &Call, records: &Path, uid: u32) -> Option<SpillState> {
    let states = call.cites.iter().map(|cite| look_for(cite, records, uid));
    states.min_by_key(|state| match state {
        SpillState::Here(_) => 0,
        SpillState::Other(_) => 1,
        SpillState::Gone => 2,
    })
}

/// Looks for the file of a claim. `records` and `uid` are as for [`state_of`].
pub fn look_for(cite: &Citation, records: &Path, uid: u32) -> SpillState {
    let places = [Some(cite.path.clone()), in_copy(&cite.path, records)];
    let found = places.into_iter().flatten().filter(|path| path.is_absolute());
    let looks = found.filter_map(|path| path.symlink_metadata().ok().map(|meta| (path, meta)));
    let mut other = None;
    for (path, meta) in looks {
        let is_same = cite.bytes.is_none_or(|bytes| bytes == meta.len());
        if meta.is_file() && is_same && (meta.uid() == uid || meta.uid() == 0) {
            return SpillState::Here(path);
        }
        other = Some(path);
    }
    other.map_or(SpillState::Gone, SpillState::Other)
}

/// Whether a file lies in the agent's own directory, the hidden one that holds the records, and no link leads from there to
/// where no directory above the records is.
pub fn is_beside(path: &Path, records: &Path) -> bool {
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    let Some(root) =
        records.ancestors().find(|dir| is_hidden(dir)).filter(|root| is_plain && path.starts_with(root))
    else {
        return false;
    };
    let Ok(real) = path.canonicalize() else { return false };
    let above = records.ancestors().skip(1).take_while(|dir| dir.starts_with(root));
    above.filter_map(|dir| dir.canonicalize().ok()).any(|dir| real.starts_with(dir))
}

/// Returns the place of a cited file in a copy of the agent's directory: the path below a hidden directory, taken from the
/// directory of that name that holds the records.
fn in_copy(cited: &Path, records: &Path) -> Option<PathBuf> {
    let names: Vec<&OsStr> = cited
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    if cited.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let hidden = names.iter().position(|name| name.as_encoded_bytes().starts_with(b"."))?;
    let root = records.ancestors().find(|dir| dir.file_name() == Some(names[hidden]))?;
    let copy = names[hidden + 1..].iter().fold(root.to_owned(), |path, name| path.join(name));
    (copy != cited).then_some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn citing(path: &Path, bytes: Option<u64>) -> Call {
        let mut call = Call::new("1", 0, 0);
        call.cites = vec![Citation { path: path.to_owned(), bytes }];
        call
    }

    #[test]
    fn a_spill_is_here_gone_or_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let spill = dir.path().join("b1.txt");
        std::fs::write(&spill, "12345").unwrap();
        let uid = dir.path().metadata().unwrap().uid();
        let state = |path: &Path, bytes| state_of(&citing(path, bytes), Path::new("/log"), uid);
        assert_eq!(state(&spill, Some(5)), Some(SpillState::Here(spill.clone())));
        assert_eq!(state(&spill, None), Some(SpillState::Here(spill.clone())));
        assert_eq!(state(&spill, Some(6)), Some(SpillState::Other(spill.clone())));
        assert_eq!(state(dir.path(), None), Some(SpillState::Other(dir.path().to_owned())));
        assert_eq!(state(&dir.path().join("no"), None), Some(SpillState::Gone));
        assert_eq!(state(Path::new("b1.txt"), None), Some(SpillState::Gone), "relative");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&spill, &link).unwrap();
        assert_eq!(state(&link, None), Some(SpillState::Other(link)));
        assert_eq!(state_of(&Call::new("1", 0, 0), Path::new("/log"), uid), None);
    }

    #[test]
    fn files_in_the_agents_directory_are_beside_the_records() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for dir in [".claude/projects/p/s", ".ssh", "moved/p/s"] {
            std::fs::create_dir_all(at(dir)).unwrap();
        }
        for file in
            [".claude/projects/p/s.jsonl", ".claude/projects/p/s/b1.txt", ".ssh/id", "moved/p/s/b1.txt"]
        {
            std::fs::write(at(file), "").unwrap();
        }
        let records = at(".claude/projects/p/s.jsonl");
        assert!(is_beside(&at(".claude/projects/p/s/b1.txt"), &records));
        assert!(!is_beside(&at(".ssh/id"), &records));
        assert!(!is_beside(&at(".claude/../.ssh/id"), &records));
        assert!(!is_beside(Path::new("/etc/passwd"), Path::new("/etc/s.jsonl")), "no hidden directory");
        symlink(at(".ssh"), at(".claude/projects/p/out")).unwrap();
        assert!(!is_beside(&at(".claude/projects/p/out/id"), &records), "a link leads out");
        // A person may have moved the directory of the records.
        symlink(at("moved"), at(".claude/elsewhere")).unwrap();
        let records = at(".claude/elsewhere/p/s.jsonl");
        assert!(is_beside(&at(".claude/elsewhere/p/s/b1.txt"), &records));
    }

    #[test]
    fn a_spill_is_found_in_a_copy_of_the_home_directory() {
        let dir = tempfile::tempdir().unwrap();
        let spill = dir.path().join(".claude/projects/p/b1.txt");
        std::fs::create_dir_all(spill.parent().unwrap()).unwrap();
        std::fs::write(&spill, "12345").unwrap();
        let uid = dir.path().metadata().unwrap().uid();
        let records = dir.path().join(".claude/projects/p/s.jsonl");
        let cited = Path::new("/home/nobody/.claude/projects/p/b1.txt");
        assert_eq!(state_of(&citing(cited, Some(5)), &records, uid), Some(SpillState::Here(spill)));
        let out = Path::new("/home/nobody/.claude/../b1.txt");
        assert_eq!(state_of(&citing(out, None), &records, uid), Some(SpillState::Gone));
    }
}
