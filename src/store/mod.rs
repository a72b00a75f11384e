//! Directories in which agents keep spills: what they contain, and when each entry will be deleted.
//!
//! What a store looks like is data ([`StoreSpec`], from `assets/stores/` and the user's own files); [`scan`] lists one
//! through the descriptors of its directories, an [`Entry`] at a time, and opens no file. The environment ([`Env`]) and
//! the clock are passed in.

mod clean;
pub(crate) mod list;
mod own;
mod root;
mod spec;

pub use crate::base::env::{Env, now};
pub use clean::delete::{Cleaner, DeleteMode, DeleteOutcome, Reason, SweepResult, delete, sweep};
pub use clean::pending::{Pending, PendingDelete};
pub use clean::{CleanPlan, CleanRule, DeleteReason, PlannedDelete, SkipReason, Trigger, clean_plan};
pub use list::entry::{Entry, EntryStatus, ListedDir, Origin, first_line};
pub use list::live::{ScanStep, list_and_watch, rest_after};
pub use list::report::{RootReport, RootState, searched};
pub use list::scan::scan;
pub use list::sort::{EntrySums, SortBy, sum};
pub use list::watch::DirWatch;
pub use list::{Listing, entries_at, has_prefix, list, resolve};
pub use own::id::{Id, IdForm, new_id, parse_id};
pub use own::kept::KeptIds;
pub use own::record::{CopyRecord, Exit, OutputSize, Record, RunRecord};
pub use own::write::{KEPT_ALREADY, NewSpill, UNFINISHED};
pub use own::{OwnError, OwnStore, own_home};
#[cfg(feature = "app")]
pub use spec::LazyStores;
pub use spec::expand::UnsetVariable;
pub use spec::retention::{Basis, Expiry, Retention, Rule, Setting, TimeLeft, apply_limits};
pub use spec::{FileRule, Holds, SpecError, StoreSpec, Stores};

pub(crate) use own::record;
pub(crate) use own::write::{next_id, random};
#[cfg(feature = "app")]
pub(crate) use spec::store_among;

#[cfg(test)]
mod tests;
