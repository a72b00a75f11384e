//! What became of listing a store's root.

use std::path::PathBuf;
use std::sync::Arc;

use crate::source::Stamp;
use crate::store::{StoreSpec, UnsetVariable};
use crate::text::label::SafeText;

/// What was found at one of a store's roots.
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
    pub(crate) dirs: Vec<(PathBuf, Option<Stamp>)>,
}

impl RootReport {
    /// Says which directories could not be listed, the root itself or some below, each with the reason; not safe to print.
    pub fn unlisted(&self) -> impl Iterator<Item = String> {
        let root = match &self.state {
            RootState::Unreadable(why) => Some((self.root.as_path(), why.as_str())),
            _ => None,
        };
        let below = self.unreadable.iter().map(|(path, why)| (path.as_path(), why.as_str()));
        root.into_iter().chain(below).map(|(path, why)| format!("{}: cannot be read: {why}", path.display()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootState {
    Listed,
    /// Listing was stopped by the receiver.
    Stopped,
    Absent,
    Unset(UnsetVariable),
    Unreadable(String),
}

pub(super) fn report(root: PathBuf, state: RootState) -> RootReport {
    RootReport { root, state, entries: 0, bytes: 0, unreadable: Vec::new(), dirs: Vec::new() }
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
            roots.iter().map(|report| {
                let root = SafeText::from_bytes(report.root.as_os_str().as_encoded_bytes());
                (
                    report.state == RootState::Absent,
                    format!("{:<13} {root} ({})", store.agent, report.state.describe()),
                )
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
