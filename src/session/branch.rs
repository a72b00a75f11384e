//! Which records of a conversation are on the branch that lives: a tree by parents, in which one leaf counts.

use std::collections::HashSet;

/// An id of a record: a UUID as a number.
pub type RecordId = u128;

/// Reads a UUID. Another text gets a number of its own, of its last 16 bytes.
pub fn record_id(text: &str) -> RecordId {
    let (mut id, mut digits) = (0, 0);
    for byte in text.bytes().filter(|byte| *byte != b'-') {
        digits += 1;
        if let Some(digit) = char::from(byte).to_digit(16) {
            id = id << 4 | RecordId::from(digit);
        }
    }
    if digits == 32 {
        return id;
    }
    text.bytes().fold(1, |id: RecordId, byte| id.rotate_left(8) ^ RecordId::from(byte))
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
    pub fn living(&mut self) -> HashSet<RecordId> {
        // Keeps the order of equal ones.
        self.parents.sort_by_key(|(id, _)| *id);
        let newest = self.last.map(|last| self.up_from(last)).unwrap_or_default();
        match self.leaf.filter(|leaf| self.parent(*leaf).is_some()) {
            Some(leaf) if !newest.contains(&leaf) => self.up_from(leaf),
            _ => newest,
        }
    }

    fn up_from(&self, from: RecordId) -> HashSet<RecordId> {
        let mut branch = HashSet::new();
        let mut at = Some(from);
        // A record that is its own ancestor ends the way.
        while let Some(id) = at.filter(|id| branch.insert(*id)) {
            at = self.parent(id);
        }
        branch
    }

    fn parent(&self, id: RecordId) -> Option<RecordId> {
        let after = self.parents.partition_point(|(other, _)| *other <= id);
        let (found, parent) = self.parents.get(after.checked_sub(1)?)?;
        (*found == id).then_some(*parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(records: &[(u128, Option<u128>)], leaf: Option<u128>) -> Vec<u128> {
        let mut branches = Branches::default();
        records.iter().for_each(|(id, parent)| branches.add(*id, *parent));
        leaf.into_iter().for_each(|leaf| branches.set_leaf(leaf));
        let mut living: Vec<_> = branches.living().into_iter().collect();
        living.sort_unstable();
        living
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
        assert_eq!(record_id("00000000-0000-0000-0000-0000000000ff"), 255);
        assert_ne!(record_id("a"), record_id("b"));
        assert_ne!(record_id(""), record_id("a"));
    }
}
