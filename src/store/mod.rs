//! Directories in which agents keep spills: what is there, and when each entry will be deleted.
//!
//! What a store looks like is data ([`StoreSpec`], from `assets/stores/` and the user's own
//! files); [`scan`] lists one through its directories' descriptors, an [`Entry`] at a time, and
//! opens no file. The environment ([`Env`]) and the clock are passed in.

mod clean;
pub(crate) mod list;
mod own;
mod root;
mod spec;

pub use clean::{clean_plan, Asked, CleanPlan, CleanRule, Doomed, Spared, Why};
pub use clean::delete::{delete, sweep, Cleaner, Manner, Outcome, Reason, Swept};
pub use clean::pending::{Marked, Pending};
pub use crate::env::Env;
pub use list::{list, resolve, DirWatch, Listing, Resolved};
pub use list::entry::{count_lines, first_line, Entry, Origin, Place, Status};
pub use list::scan::{scan, RootReport, RootState};
pub use list::sort::{group_of, sum, sums_by, Filter, GroupBy, SortBy, Sums};
pub use own::{own_home, own_root, space, OwnError, OwnStore, Space};
pub use own::id::{new_id, parse_id, Form, Id};
pub use own::write::{NewSpill, UNFINISHED};
pub use spec::{FileRule, Holds, SpecError, StoreSpec, Stores};
pub use spec::expand::Unset;
pub use spec::retention::{apply_limits, parse_age, Basis, Expiry, Left, Retention, Rule, Setting};

pub(crate) use own::make_dirs;
pub(crate) use own::write::{next_id, random};

#[cfg(test)]
mod tests;
