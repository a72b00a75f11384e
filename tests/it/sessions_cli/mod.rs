//! The commands that read agents' own records, as a script runs them.

mod call;
mod changing;
mod named;
mod open;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::records::{SESSION, claude, result_of, root, use_of, whole};

/// Returns what `ls -lR` would show of a directory: names, sizes, times, and the bytes of small files.
fn picture(dir: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        if meta.is_dir() {
            found.extend(picture(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, meta.len(), meta.modified().unwrap(), bytes));
        }
    }
    found.sort();
    found
}
