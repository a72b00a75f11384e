//! Lists several stores at once, and finds the entry for a typed id.

pub(crate) mod entry;
pub(crate) mod live;
pub(crate) mod name;
pub(crate) mod report;
pub(crate) mod scan;
pub(crate) mod sort;
pub(crate) mod watch;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::{Entry, Env, RootReport, StoreSpec, Stores, apply_limits};

#[derive(Debug, Default)]
pub struct Listing {
    /// The entries, in no particular order; their expiry includes the limits on count and total size.
    pub entries: Vec<Entry>,
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
}

/// Lists `stores` completely.
pub fn list<'a>(stores: impl IntoIterator<Item = &'a Arc<StoreSpec>>, env: &Env, now: Timestamp) -> Listing {
    let mut listing = Listing::default();
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

/// Whether an entry's id begins with `typed`. The empty string is the prefix of no id.
pub fn has_prefix(entry: &Entry, typed: &[u8]) -> bool {
    !typed.is_empty() && entry.id_bytes().starts_with(typed)
}

/// Returns the entries whose id is `typed`, or else begins with it.
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
            if has_prefix(&entry, typed) {
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

/// Returns the entries at these paths, as far as stores hold them, until `goes_on` says no.
pub fn entries_at(
    paths: &HashSet<&Path>,
    stores: &Stores,
    env: &Env,
    now: Timestamp,
    goes_on: &dyn Fn() -> bool,
) -> HashMap<PathBuf, Entry> {
    let names: HashSet<_> = paths.iter().filter_map(|path| path.file_name()).collect();
    let holders: Vec<_> = paths.iter().filter_map(|path| Some(stores.store_of(path, env)?.0)).collect();
    let mut found = HashMap::new();
    for spec in stores.specs.iter().filter(|spec| holders.iter().any(|holder| Arc::ptr_eq(holder, spec))) {
        scan::scan(spec, env, now, &mut |entry| {
            if names.contains(entry.name()) && paths.contains(&*entry.path()) {
                found.insert(entry.path(), entry);
            }
            if goes_on() && found.len() < paths.len() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
    }
    found
}
