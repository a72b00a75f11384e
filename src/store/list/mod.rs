//! Whole listings: several stores at once, and the entry that a typed id means.

pub(crate) mod entry;
pub(crate) mod name;
pub(crate) mod report;
pub(crate) mod scan;
pub(crate) mod sort;

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use crate::source::{Identity, Stamp};

use super::{Entry, Env, RootReport, StoreSpec, apply_limits};

/// Everything in some stores.
#[derive(Debug, Default)]
pub struct Listing {
    /// The entries, limits by count and total size already in their expiry; in no order.
    pub entries: Vec<Entry>,
    /// For each store its roots, and what became of them.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
}

impl Listing {
    /// Tells when any of its directories has changed, appeared or gone.
    pub fn watch(&self) -> DirWatch {
        DirWatch::new(self.reports.iter().flat_map(|(_, roots)| roots))
    }
}

/// Tells whether directories have changed since they were listed: one stat each.
#[derive(Clone, Debug, Default)]
pub struct DirWatch {
    dirs: Vec<(PathBuf, Option<Stamp>)>,
}

impl DirWatch {
    /// Of the directories behind these reports.
    pub fn new<'a>(reports: impl IntoIterator<Item = &'a RootReport>) -> DirWatch {
        let dirs = reports.into_iter().flat_map(|report| report.dirs.iter().cloned()).collect();
        DirWatch { dirs }
    }

    /// Looks once; true if an entry may have come or gone since the last look.
    pub fn check_once(&mut self) -> bool {
        let mut changed = false;
        for (path, seen) in &mut self.dirs {
            let now = std::fs::metadata(&path).ok().map(|meta| Identity::from(&meta).modified);
            changed |= now != *seen;
            *seen = now;
        }
        changed
    }
}

/// Lists `stores` to the end.
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

/// What a typed id means.
#[derive(Debug)]
pub enum IdMatch {
    /// Just this entry.
    One(Box<Entry>),
    /// All of these begin so: at least two.
    Several(Vec<Entry>),
    /// None does.
    None,
}

/// The entries whose id is `typed`, or else begins with it.
pub fn resolve<'a>(
    typed: impl AsRef<OsStr>,
    stores: impl IntoIterator<Item = &'a Arc<StoreSpec>>,
    env: &Env,
    now: Timestamp,
) -> IdMatch {
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
    if found.iter().any(|entry| entry.id_bytes() == typed) {
        found.retain(|entry| entry.id_bytes() == typed);
    }
    found.sort_by(|a, b| (&a.id(), a.agent()).cmp(&(&b.id(), b.agent())));
    match found.len() {
        0 => IdMatch::None,
        1 => IdMatch::One(Box::new(found.remove(0))),
        _ => IdMatch::Several(found),
    }
}
