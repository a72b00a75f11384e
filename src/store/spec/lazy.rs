//! Stores that are read when they are first asked for: to open a file takes only those that it may be in.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::store::Env;
use crate::store::root::expand_root;

use super::{StoreSpec, Stores};

/// The built-in stores, and the user's own once these are added.
#[derive(Clone, Debug, Default)]
pub struct LazyStores {
    all: OnceLock<Stores>,
    /// Those around the directory that was asked for first: the one of the output that is opened.
    first: OnceLock<(PathBuf, Vec<Arc<StoreSpec>>)>,
}

impl Deref for LazyStores {
    type Target = Stores;

    fn deref(&self) -> &Stores {
        self.all.get_or_init(Stores::builtin)
    }
}

impl LazyStores {
    /// Adds the user's own descriptions, as [`Stores::load_dir`] does, and returns what is wrong with them. Reads nothing if
    /// there is no directory of them.
    pub(crate) fn load_any(&mut self, directory: &Path) -> Vec<String> {
        if let Ok(false) = directory.try_exists() {
            return Vec::new();
        }
        // The stores remember all faults themselves.
        self.change(|stores| drop(stores.load_dir(directory)));
        self.faults().map(str::to_owned).collect()
    }

    pub fn change(&mut self, change: impl FnOnce(&mut Stores)) {
        let mut stores = self.all.take().unwrap_or_else(Stores::builtin);
        change(&mut stores);
        self.all = OnceLock::from(stores);
    }

    /// Returns the stores that can contain a file in `directory` (absolute): for each file there, [`super::store_among`] them
    /// gives what [`Stores::store_of`] does.
    pub(crate) fn around(&self, directory: &Path, env: &Env) -> Vec<Arc<StoreSpec>> {
        let is_below = |root: &str| expand_root(root, env).is_ok_and(|root| directory.starts_with(root));
        let can_hold = |spec: &Arc<StoreSpec>| spec.roots.iter().any(|root| is_below(root));
        if let Some(stores) = self.all.get() {
            return stores.specs.iter().filter(|spec| can_hold(spec)).cloned().collect();
        }
        let read = || {
            let read = Stores::from_builtin(|builtin| builtin.roots.iter().any(|root| is_below(root)));
            read.specs.into_iter().filter(can_hold).collect()
        };
        let (first, specs) = self.first.get_or_init(|| (directory.to_owned(), read()));
        if first == directory { specs.clone() } else { read() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_directory_is_a_fault_and_a_missing_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("stores");
        let mut stores = LazyStores::default();
        assert!(stores.load_any(&directory).is_empty() && stores.all.get().is_none());
        std::os::unix::fs::symlink(&directory, &directory).unwrap();
        assert_eq!(stores.load_any(&directory).len(), 1);
    }

    #[test]
    fn a_file_is_in_the_same_store_whether_or_not_all_are_read() {
        let env = Env::hermetic(Path::new("/home/me")).with_var("PWD", "/home/me/work");
        let read = LazyStores::default();
        assert!(read.specs.len() > 20);
        let names = |stores: &LazyStores, directory: &str| {
            let specs = stores.around(Path::new(directory), &env).into_iter();
            specs.map(|spec| spec.name.clone()).collect::<Vec<_>>()
        };
        for spec in &read.specs {
            for root in spec.roots(&env).into_iter().flatten() {
                let directory = root.join("deep").display().to_string();
                let unread = LazyStores::default();
                assert_eq!(names(&unread, &directory), names(&read, &directory), "{directory}");
                assert!(names(&read, &directory).contains(&spec.name), "{directory}");
                assert!(unread.all.get().is_none(), "{directory}");
            }
        }
        assert!(names(&read, "/home/me/work").is_empty());
    }
}
