//! Which records of a conversation are on the branch that lives: a tree by parents, in which one leaf counts.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// An id of a record, as a number of this process: of a million ids two are taken for one once in 37 million times.
pub type RecordId = u64;

/// Returns the number of an id. Nobody can write ids that have the same, since the numbers are others in each process.
pub fn record_id(text: &str) -> RecordId {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEYS.hash_one(text)
}

/// The tree of one conversation. A list takes half the memory of a map, and is put in order only to be asked.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// Records with their parents; one without a parent has itself. Of equal ones the last counts.
    parents: Vec<(RecordId, RecordId)>,
    last: Option<RecordId>,
    leaf: Option<RecordId>,
}

impl Branches {
    /// Adds a record, after those before it in the log.
    pub fn add(&mut self, id: RecordId, parent: Option<RecordId>) {
        self.parents.push((id, parent.unwrap_or(id)));
        self.last = Some(id);
    }

    /// Notes the leaf that the agent itself names; the record may follow later.
    pub fn set_leaf(&mut self, id: RecordId) {
        self.leaf = Some(id);
    }

    /// Returns the record that was added last.
    pub fn last(&self) -> Option<RecordId> {
        self.last
    }

    /// Returns the records of the branch that ends at the last record; or, if the agent named a leaf since from which that
    /// one does not descend, at the leaf.
    pub fn living(&mut self) -> LivingBranch {
        self.parents.shrink_to_fit();
        // Keeps the order of equal ones.
        self.parents.sort_by_key(|(id, _)| *id);
        let newest = self.last.map(|last| self.up_from(last)).unwrap_or_default();
        match self.leaf.filter(|leaf| self.place(*leaf).is_some()) {
            Some(leaf) if !newest.contains(&leaf) => self.up_from(leaf),
            _ => newest,
        }
    }

    fn up_from(&self, from: RecordId) -> LivingBranch {
        let mut is_on = vec![false; self.parents.len()];
        let (mut at, mut root) = (Some(from), None);
        while let Some(id) = at {
            let place = self.place(id);
            // A record that was left out ends the way, and so does one that is its own ancestor.
            root = place.is_none().then_some(id);
            at = place
                .filter(|place| !std::mem::replace(&mut is_on[*place], true))
                .map(|place| self.parents[place].1);
        }
        let ids = self.parents.iter().zip(&is_on).filter(|(_, is_on)| **is_on).map(|((id, _), _)| *id);
        let count = is_on.iter().filter(|is_on| **is_on).count();
        let mut branch = Vec::with_capacity(count);
        branch.extend(ids);
        LivingBranch { ids: branch, root }
    }

    /// Returns the place of a record among those in order.
    fn place(&self, id: RecordId) -> Option<usize> {
        let after = self.parents.partition_point(|(other, _)| *other <= id);
        let place = after.checked_sub(1)?;
        (self.parents.get(place)?.0 == id).then_some(place)
    }
}

/// The records of the branch that lives.
#[derive(Clone, Debug, Default)]
pub struct LivingBranch {
    /// In order.
    ids: Vec<RecordId>,
    /// The record at which the branch begins, if that is not in the log.
    root: Option<RecordId>,
}

impl LivingBranch {
    /// Whether a record is on the branch.
    pub fn contains(&self, id: &RecordId) -> bool {
        self.root == Some(*id) || self.ids.binary_search(id).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(records: &[(RecordId, Option<RecordId>)], leaf: Option<RecordId>) -> Vec<RecordId> {
        let mut branches = Branches::default();
        records.iter().for_each(|(id, parent)| branches.add(*id, *parent));
        leaf.into_iter().for_each(|leaf| branches.set_leaf(leaf));
        let living = branches.living();
        (0..20).filter(|id| living.contains(id)).collect()
    }

    #[test]
    fn the_last_branch_lives() {
        let forked = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1))];
        assert_eq!(tree(&forked, None), [1, 4]);
        assert_eq!(tree(&forked, Some(3)), [1, 2, 3], "the leaf that the agent named");
        assert_eq!(tree(&forked, Some(1)), [1, 4], "the log went on after the leaf");
        assert_eq!(tree(&forked, Some(9)), [1, 4], "an unknown leaf");
    }

    #[test]
    fn of_equal_records_the_last_counts() {
        assert_eq!(tree(&[(1, None), (3, None), (2, Some(1)), (2, Some(3))], None), [2, 3]);
    }

    #[test]
    fn circles_end() {
        assert_eq!(tree(&[(1, Some(2)), (2, Some(1))], None), [1, 2]);
        assert_eq!(tree(&[(1, Some(1))], None), [1]);
        assert!(tree(&[], None).is_empty());
    }

    #[test]
    fn any_text_is_an_id() {
        assert_eq!(record_id("7f"), record_id("7f"));
        assert_ne!(record_id("a"), record_id("b"));
        assert_ne!(record_id(""), record_id("a"));
    }
}
