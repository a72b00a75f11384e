//! Which records of a conversation are on the living branch: a tree by parents, in which one leaf counts.

use std::collections::BTreeMap;

use super::id::{IdMap, RecordId};

/// How far back [`Branches::recent`] looks.
const MAX_RECENT: usize = 4096;

/// How many records are looked at for each at most, to find out when branches were left.
const MAX_LOOKS: usize = 16;

/// The tree of one conversation.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    /// The records, in their order. Of equal ones the last counts.
    ids: Vec<RecordId>,
    /// The parent of each; one without a parent has itself.
    parents: Vec<RecordId>,
    /// The leaf that the agent itself names; the record may follow later.
    pub leaf: Option<RecordId>,
    /// The numbers of the records before which some could not be read.
    gaps: Vec<u32>,
}

impl Branches {
    /// Adds a record, after those before it in the log. Returns its number, from 0.
    pub fn add(&mut self, id: RecordId, parent: Option<RecordId>) -> u32 {
        let number = self.ids.len() as u32;
        self.ids.push(id);
        self.parents.push(parent.unwrap_or(id));
        number
    }

    /// Notes that records could not be read before the next one. Where a parent is missing, the branch goes on with the last
    /// record before them.
    pub fn add_gap(&mut self) {
        self.gaps.push(self.next());
    }

    pub fn last(&self) -> Option<RecordId> {
        self.ids.last().copied()
    }

    pub fn next(&self) -> u32 {
        self.ids.len() as u32
    }

    pub fn id(&self, number: u32) -> Option<RecordId> {
        self.ids.get(number as usize).copied()
    }

    /// Returns the number of one of the last 4,096 records.
    pub fn recent(&self, id: RecordId) -> Option<u32> {
        let recent = self.ids.iter().rev().take(MAX_RECENT);
        let back = recent.take_while(|other| **other != id).count();
        let number = self.ids.len().checked_sub(back + 1).filter(|_| back < MAX_RECENT)?;
        Some(number as u32)
    }

    pub fn shrink(&mut self) {
        self.ids.shrink_to_fit();
        self.parents.shrink_to_fit();
    }

    /// Returns the branch that ends at the last record, or at a leaf named since from which that does not descend.
    pub fn living(&self) -> LivingBranch {
        let branch = self.living_at(self.last());
        let leaf = self.leaf.filter(|leaf| branch.number(*leaf).is_some() && !branch.contains(leaf));
        if leaf.is_some() { self.living_at(leaf) } else { branch }
    }

    /// Returns the branch that ends at a record, wherever the log goes on; one of no record without it.
    pub fn living_at(&self, leaf: Option<RecordId>) -> LivingBranch {
        let (numbers, is_on) = (self.ids.iter().copied().zip(0..).collect(), vec![false; self.ids.len()]);
        let mut branch = LivingBranch { numbers, is_on, root: None };
        leaf.into_iter().for_each(|leaf| self.go_up(leaf, &mut branch));
        if branch.numbers.len() < self.ids.len() {
            branch.is_on = self.ids.iter().map(|id| branch.contains(id)).collect();
        }
        branch
    }

    /// Returns for each record the next one that does not follow it, with which its branch was left last; `None` if its branch
    /// was not left. Looks at 16 records for each at most: in a log that goes to and fro more often, some count as not left.
    pub fn left_at(&self, living: &LivingBranch) -> Vec<Option<u32>> {
        let parent = |of: u32| {
            let parent = self.parents.get(of as usize)?;
            let before = of.checked_sub(1).filter(|before| self.id(*before) == Some(*parent));
            before.or_else(|| living.number(*parent)).filter(|parent| *parent < of)
        };
        let (mut left, mut budget) = (vec![None; self.ids.len()], MAX_LOOKS * self.ids.len());
        for next in 1..self.next() {
            let (mut old, mut new) = (Some(next - 1), parent(next));
            // The parent of a record has the lower number.
            while let Some(at) = old.filter(|_| old != new && budget > 0) {
                budget -= 1;
                if new.is_some_and(|new| new > at) {
                    new = new.and_then(parent);
                } else {
                    left[at as usize] = Some(next);
                    old = parent(at);
                }
            }
        }
        left
    }

    /// Returns the calls whose results are on branches that were left, by the record with which they were, as
    /// [`Branches::left_at`] finds it; by `u32::MAX` if there is none. `results` are the records and their calls.
    pub fn left_calls(
        &self,
        living: &LivingBranch,
        results: impl Iterator<Item = (u32, u32)>,
    ) -> BTreeMap<u32, Vec<u32>> {
        let mut left: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut off = results.filter(|(record, _)| !living.contains_number(*record)).peekable();
        let left_at = off.peek().map(|_| self.left_at(living)).unwrap_or_default();
        for (record, call) in off {
            let next = left_at.get(record as usize).copied().flatten();
            left.entry(next.unwrap_or(u32::MAX)).or_default().push(call);
        }
        left
    }

    fn before_gap(&self, number: u32) -> Option<u32> {
        let gap = self.gaps.partition_point(|gap| *gap <= number).checked_sub(1)?;
        self.gaps.get(gap)?.checked_sub(1)
    }

    fn go_up(&self, from: RecordId, branch: &mut LivingBranch) {
        let has_copies = branch.numbers.len() < self.ids.len();
        let (mut at, mut next) = (from, branch.number(from));
        // A record that was left out ends the way, and so does one that is its own ancestor.
        while let Some(number) = next.filter(|number| !branch.contains_number(*number)) {
            branch.is_on[number as usize] = true;
            at = self.parents[number as usize];
            // Nearly every record follows the one before it.
            let before = number.checked_sub(1).filter(|before| !has_copies && self.id(*before) == Some(at));
            let before_gap = || self.before_gap(number).filter(|_| self.id(number) != Some(at));
            next = before.or_else(|| branch.number(at)).or_else(before_gap);
        }
        branch.root = Some(at);
    }
}

#[derive(Clone, Debug, Default)]
pub struct LivingBranch {
    /// The number of each record of the conversation, of equal ones that of the last.
    numbers: IdMap<u32>,
    /// By the number of a record.
    is_on: Vec<bool>,
    /// The record at which the branch begins, which may not be in the log.
    root: Option<RecordId>,
}

impl LivingBranch {
    pub fn contains(&self, id: &RecordId) -> bool {
        self.root == Some(*id) || self.number(*id).is_some_and(|number| self.contains_number(number))
    }

    pub fn contains_number(&self, number: u32) -> bool {
        self.is_on.get(number as usize) == Some(&true)
    }

    /// Returns the numbers of the records on it, in order.
    pub fn path(&self) -> Vec<u32> {
        (0..).zip(&self.is_on).filter_map(|(number, is_on)| is_on.then_some(number)).collect()
    }

    pub fn number(&self, id: RecordId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    fn tree(records: &[(RecordId, Option<RecordId>)], leaf: Option<RecordId>) -> Vec<RecordId> {
        let mut branches = Branches::default();
        for (id, parent) in records {
            branches.add(*id, *parent);
        }
        branches.leaf = leaf;
        let living = branches.living();
        (0..20).filter(|id| living.contains(id)).collect()
    }

    #[test]
    fn the_last_record_determines_the_living_branch() {
        let forked = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1))];
        assert_eq!(tree(&forked, None), [1, 4]);
        assert_eq!(tree(&forked, Some(3)), [1, 2, 3], "the leaf that the agent named");
        assert_eq!(tree(&forked, Some(1)), [1, 4], "the log went on after the leaf");
        assert_eq!(tree(&forked, Some(9)), [1, 4], "an unknown leaf");
    }

    #[test]
    fn a_branch_ends_at_the_next_record_outside_it() {
        let mut branches = Branches::default();
        for (id, parent) in
            [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1)), (5, Some(4)), (6, Some(1)), (7, None)]
        {
            branches.add(id, parent);
        }
        let left = branches.left_at(&branches.living());
        assert_eq!(left, [Some(6), Some(3), Some(3), Some(5), Some(5), Some(6), None]);
        branches.add(8, Some(3));
        branches.add(9, Some(1));
        let left = branches.left_at(&branches.living());
        assert_eq!(left[..3], [Some(6), Some(8), Some(8)], "left again");
    }

    #[test]
    fn the_last_record_with_an_id_counts() {
        assert_eq!(tree(&[(1, None), (3, None), (2, Some(1)), (2, Some(3))], None), [2, 3]);
    }

    #[test]
    fn a_branch_goes_on_before_records_that_could_not_be_read() {
        let living = |has_gap: bool| {
            let mut branches = Branches::default();
            branches.add(1, None);
            branches.add(2, Some(1));
            if has_gap {
                branches.add_gap();
            }
            // Of the one that is missing.
            branches.add(4, Some(3));
            branches.add(5, Some(4));
            branches.living().path()
        };
        assert_eq!([living(true), living(false)], [vec![0, 1, 2, 3], vec![2, 3]]);
    }

    #[test]
    fn circular_parents_end() {
        assert_eq!(tree(&[(1, Some(2)), (2, Some(1))], None), [1, 2]);
        assert_eq!(tree(&[(1, Some(1))], None), [1]);
        assert!(tree(&[], None).is_empty());
    }

    proptest! {
        #[test]
        fn ancestors_agree_with_a_naive_walk_over_a_parent_map(
            records in vec((0u64..12, option::of(0u64..12)), 0..30),
            leaf in option::of(0u64..12),
        ) {
            let parents: HashMap<RecordId, Option<RecordId>> = records.iter().copied().collect();
            let up = |from: RecordId| {
                let (mut on, mut at) = (BTreeSet::new(), Some(from));
                while let Some(id) = at {
                    at = on.insert(id).then(|| parents.get(&id).copied().flatten()).flatten();
                }
                on
            };
            let newest = records.last().map(|(id, _)| up(*id)).unwrap_or_default();
            let expected = match leaf.filter(|leaf| parents.contains_key(leaf) && !newest.contains(leaf)) {
                Some(leaf) => up(leaf),
                None => newest,
            };
            prop_assert_eq!(tree(&records, leaf), expected.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn a_record_is_found_by_its_number(records in vec((0u64..40, option::of(0u64..40)), 0..30)) {
            let mut branches = Branches::default();
            let numbers: Vec<u32> = records.iter().map(|(id, parent)| branches.add(*id, *parent)).collect();
            let living = branches.living();
            for (id, _) in &records {
                let last = records.iter().rposition(|(other, _)| other == id).map(|number| number as u32);
                prop_assert_eq!((branches.recent(*id), living.number(*id)), (last, last));
            }
            prop_assert_eq!((branches.recent(99), living.number(99)), (None, None));
            for (number, (id, _)) in numbers.into_iter().zip(&records) {
                prop_assert_eq!(living.contains_number(number), living.contains(id));
            }
        }
    }
}
