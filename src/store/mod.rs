//! Directories in which agents keep spills: what they contain, and when each entry will be deleted.
//!
//! What a store looks like is data ([`StoreSpec`]); [`scan`] lists one an [`Entry`] at a time, and opens no file.

mod clean;
pub(crate) mod list;
mod own;
mod root;
mod spec;

pub use crate::base::env::{Env, now};
pub use crate::base::fs::identity::RecordedFile;
pub use clean::delete::{Cleaner, DeleteMode, DeleteOutcome, Reason, delete, sweep};
pub use clean::{
    CleanPlan, CleanRule, DeleteReason, Pending, PendingDelete, PlannedDelete, SkipReason, Trigger,
    clean_plan,
};
pub use list::entry::{Entry, EntryStatus, ListedDir, Origin, first_line};
pub use list::live::{DirWatch, ScanStep, list_and_watch, rest_after};
pub use list::scan::scan;
pub use list::sort::{EntrySums, SortBy, sum};
pub use list::{Listing, RootReport, RootState, entries_at, list, resolve, searched};
pub use own::id::{Id, IdForm, new_id, parse_id};
pub use own::record::{CopyRecord, OutputSize, ProcessStatus, Record, RunRecord};
pub use own::write::{KEPT_ALREADY, NewSpill, UNFINISHED};
pub use own::{KeptIds, OwnStore, own_home};
pub use root::UnsetVariable;
#[cfg(feature = "app")]
pub use spec::LazyStores;
pub use spec::retention::{Basis, Expiry, Retention, Rule, Setting, TimeLeft, apply_limits};
pub use spec::{FileRule, StoreSpec, StoredForm, Stores};

pub(crate) use clean::YOUNG;
pub(crate) use own::record;
pub(crate) use own::write::{next_id, random};
#[cfg(feature = "app")]
pub(crate) use {root::expand, spec::OWN, spec::store_among};

#[cfg(test)]
mod tests;
