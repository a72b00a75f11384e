//! Whole listings: several stores at once, and the entry that a typed id means.

use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Entry, Env, RootReport, StoreSpec, apply_limits, scan};

/// Everything in some stores.
#[derive(Debug, Default)]
pub struct Listing {
    /// The entries, limits by count and total size already in their expiry; in no order.
    pub entries: Vec<Entry>,
    /// For each store its roots, and what became of them.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
}

/// Lists `stores` to the end.
pub fn list<'a>(stores: impl IntoIterator<Item = &'a Arc<StoreSpec>>, env: &Env, now: Timestamp) -> Listing {
    let mut listing = Listing::default();
    for store in stores {
        let entries = &mut listing.entries;
        let roots = scan(store, env, now, &mut |entry| {
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
pub enum Resolved {
    /// Just this entry.
    One(Box<Entry>),
    /// All of these begin so: at least two.
    Several(Vec<Entry>),
    /// None does.
    None,
}

/// The entries whose id is `typed`, or else begins with it.
pub fn resolve<'a>(
    typed: &str,
    stores: impl IntoIterator<Item = &'a Arc<StoreSpec>>,
    env: &Env,
    now: Timestamp,
) -> Resolved {
    let mut found = Vec::new();
    for store in stores {
        scan(store, env, now, &mut |entry| {
            if !typed.is_empty() && entry.id.starts_with(typed) {
                found.push(entry);
            }
            ControlFlow::Continue(())
        });
    }
    if found.iter().any(|entry| entry.id == typed) {
        found.retain(|entry| entry.id == typed);
    }
    found.sort_by(|a, b| (&a.id, &a.agent).cmp(&(&b.id, &b.agent)));
    match found.len() {
        0 => Resolved::None,
        1 => Resolved::One(Box::new(found.remove(0))),
        _ => Resolved::Several(found),
    }
}
