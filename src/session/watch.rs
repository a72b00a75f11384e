//! Notices that files or directories may have changed, for the price of a stat each.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::fs::identity::Identity;

/// A change within this time before a look may be followed by another one that leaves the same time behind, since file
/// systems' clocks tick coarsely.
const TICK: Duration = Duration::from_millis(100);

/// What some paths looked like.
#[derive(Clone, Debug, Default)]
pub struct PathWatch {
    seen: Option<Vec<Option<Identity>>>,
}

impl PathWatch {
    /// Whether something may have changed since the last look; true at the first. For directories: whether names came or
    /// went.
    pub fn has_changed(&mut self, paths: &[PathBuf]) -> bool {
        let looks: Vec<_> = paths.iter().map(|path| std::fs::metadata(path).ok()).collect();
        let is_old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > TICK);
        let is_settled = looks.iter().flatten().all(|meta| meta.modified().map_or(true, is_old));
        let now = looks.iter().map(|meta| meta.as_ref().map(Identity::from)).collect();
        let has_changed = self.seen.as_ref() != Some(&now);
        self.seen = is_settled.then_some(now);
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn only_what_has_settled_counts_as_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let paths = [dir.path().join("a"), dir.path().join("none")];
        let aged = |seconds| {
            let time = SystemTime::now() - Duration::from_secs(seconds);
            File::options().append(true).open(&paths[0]).unwrap().set_modified(time).unwrap();
        };
        fs::write(&paths[0], "1").unwrap();
        let mut watch = PathWatch::default();
        assert!(watch.has_changed(&paths) && watch.has_changed(&paths), "just written");
        aged(9);
        assert!(watch.has_changed(&paths) && !watch.has_changed(&paths) && !watch.has_changed(&paths));
        aged(8);
        assert!(watch.has_changed(&paths) && !watch.has_changed(&paths));
        fs::remove_file(&paths[0]).unwrap();
        assert!(watch.has_changed(&paths) && !watch.has_changed(&paths));
    }
}
