//! The order in which policies are listed.

use std::cmp::{Ordering, Reverse};

use super::Comparison;

impl Comparison {
    /// Compares two rows: most matches first, then most bytes kept, then the shortest preview. A policy that made no
    /// preview comes last.
    pub(crate) fn cmp_by_kept(&self, other: &Self) -> Ordering {
        let key = |row: &Self| {
            let most = |figure: Option<u64>| (figure.is_none(), Reverse(figure));
            let least = (row.preview_bytes.is_none(), row.preview_bytes);
            (!row.is_ok(), most(row.finds_kept), most(row.kept_bytes), least)
        };
        key(self).cmp(&key(other)).then_with(|| self.policy.cmp(&other.policy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(policy: &str, (finds, bytes, size): (u64, u64, u64)) -> Comparison {
        Comparison {
            status: "ok".to_owned(),
            finds_kept: Some(finds),
            kept_bytes: Some(bytes),
            preview_bytes: Some(size),
            ..Comparison::failed(policy, &std::fmt::Error)
        }
    }

    #[test]
    fn the_most_matches_come_first_and_failures_last() {
        let failed = Comparison::failed("0", &std::fmt::Error);
        let mut rows =
            [failed, row("a", (1, 9, 9)), row("b", (2, 5, 9)), row("c", (2, 6, 9)), row("d", (2, 6, 8))];
        rows.sort_by(Comparison::cmp_by_kept);
        assert_eq!(rows.each_ref().map(|row| row.policy.as_str()), ["d", "c", "b", "a", "0"]);
    }
}
