//! Directories in which agents keep spills: what is there, and when each entry will be deleted.
//!
//! What a store looks like is data ([`StoreSpec`], from `assets/stores/` and the user's own
//! files); [`scan`] lists one through its directories' descriptors, an [`Entry`] at a time, and
//! opens no file. The environment ([`Env`]) and the clock are passed in.

mod clean;
mod delete;
mod entry;
mod env;
mod expand;
mod id;
mod listing;
mod name;
mod order;
mod own;
mod pattern;
mod pending;
mod retention;
mod root;
mod scan;
mod spec;
mod stat;
mod write;

pub use clean::{Asked, CleanPlan, CleanRule, Doomed, Spared, Why, clean_plan};
pub use delete::{Cleaner, Manner, Outcome, Reason, Swept, delete, sweep};
pub use entry::{Entry, Origin, Place, Status, count_lines, first_line};
pub use env::Env;
pub use expand::Unset;
pub use id::{Form, Id, new_id, parse_id};
pub use listing::{DirWatch, Listing, Resolved, list, resolve};
pub use order::{Filter, GroupBy, SortBy, Sums, group_of, sum, sums_by};
pub(crate) use own::make_dirs;
pub use own::{OwnError, OwnStore, Space, own_home, own_root, space};
pub use pending::{Marked, Pending};
pub use retention::{Basis, Expiry, Left, Retention, Rule, Setting, apply_limits, parse_age};
pub use scan::{RootReport, RootState, scan};
pub use spec::{FileRule, Holds, SpecError, StoreSpec, Stores};
pub use write::{NewSpill, UNFINISHED};
pub(crate) use write::{next_id, random};

#[cfg(test)]
mod tests;
