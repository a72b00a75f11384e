//! Lists several stores at once, says what became of each of their roots, and finds the entry for a typed id.

pub(crate) mod entry;
pub(crate) mod live;
pub(crate) mod scan;
pub(crate) mod sort;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::source::FileTime;
use crate::text::label::SafeText;

use super::{Entry, Env, KeptIds, StoreSpec, Stores, UnsetVariable, apply_limits};

#[derive(Debug, Default)]
pub struct Listing {
    /// The entries, in no particular order; their expiry includes the limits on count and total size.
    pub entries: Vec<Entry>,
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    pub now: Timestamp,
    /// What the user keeps; nothing until it is read.
    pub kept: KeptIds,
}

impl Listing {
    pub fn roots(&self) -> impl Iterator<Item = &RootReport> {
        self.reports.iter().flat_map(|(_, roots)| roots)
    }

    pub fn unlisted(&self) -> impl Iterator<Item = String> {
        self.roots().flat_map(RootReport::unlisted)
    }
}

pub fn list<'a>(stores: impl IntoIterator<Item = &'a Arc<StoreSpec>>, env: &Env, now: Timestamp) -> Listing {
    let mut listing = Listing { now, ..Listing::default() };
    for store in stores {
        let entries = &mut listing.entries;
        let roots = scan::scan(store, env, now, &mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        });
        listing.reports.push((Arc::clone(store), roots));
    }
    apply_limits(&mut listing.entries, now);
    listing
}

/// Returns the entries whose id is `typed`, or else begins with it; none for the empty string.
pub fn resolve<'a>(
    typed: impl AsRef<OsStr>,
    stores: impl IntoIterator<Item = &'a Arc<StoreSpec>>,
    env: &Env,
    now: Timestamp,
) -> Vec<Entry> {
    let typed = typed.as_ref().as_bytes();
    let mut found = Vec::new();
    for store in stores {
        scan::scan(store, env, now, &mut |entry| {
            if !typed.is_empty() && entry.id_bytes().starts_with(typed) {
                found.push(entry);
            }
            ControlFlow::Continue(())
        });
    }
    let is_whole = |entry: &Entry| entry.id_bytes() == typed;
    if found.iter().any(is_whole) {
        found.retain(is_whole);
    }
    found.sort_by(|a, b| (&a.id(), a.agent()).cmp(&(&b.id(), b.agent())));
    found
}

/// Returns the entries at these paths, as far as stores hold them, until `is_wanted` says no.
pub fn entries_at(
    paths: &HashSet<&Path>,
    stores: &Stores,
    env: &Env,
    now: Timestamp,
    is_wanted: &dyn Fn() -> bool,
) -> HashMap<PathBuf, Entry> {
    let names: HashSet<_> = paths.iter().filter_map(|path| path.file_name()).collect();
    let holders: Vec<_> = paths.iter().filter_map(|path| Some(stores.store_of(path, env)?.0)).collect();
    let mut found = HashMap::new();
    for spec in stores.specs.iter().filter(|spec| holders.iter().any(|holder| Arc::ptr_eq(holder, spec))) {
        scan::scan(spec, env, now, &mut |entry| {
            if names.contains(entry.name()) && paths.contains(&*entry.path()) {
                found.insert(entry.path(), entry);
            }
            if is_wanted() && found.len() < paths.len() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
    }
    found
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootReport {
    /// The root's path, or its pattern where a variable is not set.
    pub root: PathBuf,
    pub state: RootState,
    pub entries: u64,
    pub bytes: u64,
    /// Directories under it that could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// The directories that were listed, or looked for in vain, with their times of modification.
    pub(crate) dirs: Vec<(PathBuf, Option<FileTime>)>,
}

impl RootReport {
    fn new(root: PathBuf, state: RootState) -> Self {
        Self { root, state, entries: 0, bytes: 0, unreadable: Vec::new(), dirs: Vec::new() }
    }

    /// Says which directories could not be listed, the root itself or some below, each with the reason; not safe to print.
    pub fn unlisted(&self) -> impl Iterator<Item = String> {
        let root = if let RootState::Unreadable(why) = &self.state { Some((&self.root, why)) } else { None };
        let below = self.unreadable.iter().map(|(path, why)| (path, why));
        root.into_iter().chain(below).map(|(path, why)| format!("{}: cannot be read: {why}", path.display()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootState {
    Listed,
    Stopped,
    Absent,
    Unset(UnsetVariable),
    Unreadable(String),
}

impl RootState {
    fn describe(&self) -> &str {
        match self {
            Self::Absent => "not there",
            Self::Listed | Self::Stopped => "empty",
            Self::Unset(_) => "its variable is not set",
            Self::Unreadable(reason) => reason,
        }
    }
}

/// Returns a heading, then at most `room` directories (at least one), those that exist first.
pub fn searched(heading: &str, reports: &[(Arc<StoreSpec>, Vec<RootReport>)], room: usize) -> Vec<SafeText> {
    let mut looked: Vec<(bool, String)> = reports
        .iter()
        .flat_map(|(store, roots)| {
            // Where programs keep their data on macOS, and nowhere else.
            let is_foreign = |report: &&RootReport| {
                !cfg!(target_os = "macos")
                    && report.state == RootState::Absent
                    && report.root.to_string_lossy().contains("/Library/Application Support/")
            };
            roots.iter().filter(move |report| !is_foreign(report)).map(|report| {
                let root = SafeText::from_bytes(report.root.as_os_str().as_encoded_bytes());
                let words = format!("{:<13} {root} ({})", store.agent, report.state.describe());
                (report.state == RootState::Absent, words)
            })
        })
        .collect();
    looked.sort();
    looked.dedup();
    let more = looked.len().saturating_sub(room.max(1));
    looked.truncate(room.max(1));
    let mut words = vec![heading.to_owned(), String::new()];
    words.extend(looked.into_iter().map(|(_, words)| words));
    if more > 0 {
        words.push(format!("and {more} more: `overspill stores --all` lists all"));
    }
    words.into_iter().map(SafeText::from).collect()
}
