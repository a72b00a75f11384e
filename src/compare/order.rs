//! The orders in which policies are listed.

use std::cmp::{Ordering, Reverse};

use super::Comparison;

/// By what the rows of a comparison are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Order {
    /// By name.
    #[default]
    Name,
    /// Most matches first, then most bytes kept, then the shortest preview.
    Best,
    /// Most lines kept first.
    Lines,
    /// Most bytes kept first.
    Bytes,
    /// Fewest tokens first.
    Tokens,
}

impl Order {
    /// All orders, in the order in which a key goes through them.
    const ALL: [Order; 5] = [Order::Name, Order::Best, Order::Lines, Order::Bytes, Order::Tokens];

    /// Returns the next order; the first after the last.
    pub(crate) fn next(self) -> Self {
        let at = Self::ALL.iter().position(|order| *order == self).unwrap_or(0);
        Self::ALL.get(at + 1).copied().unwrap_or_default()
    }

    /// Returns what the screen calls it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Order::Name => "name",
            Order::Best => "most kept",
            Order::Lines => "lines",
            Order::Bytes => "bytes",
            Order::Tokens => "tokens",
        }
    }

    /// Compares two rows. A policy that made no preview comes last, whatever the order.
    pub(crate) fn compare(self, a: &Comparison, b: &Comparison) -> Ordering {
        let rank = |row: &Comparison| match self {
            Order::Name => (Reverse(None), Reverse(None), None),
            Order::Best => (Reverse(row.finds_kept), Reverse(row.kept_bytes), row.preview_bytes),
            Order::Lines => (Reverse(row.kept_lines), Reverse(None), None),
            Order::Bytes => (Reverse(row.kept_bytes), Reverse(None), None),
            Order::Tokens => (Reverse(None), Reverse(None), row.preview_bytes),
        };
        let whole = |row| (!Comparison::is_ok(row), rank(row));
        whole(a).cmp(&whole(b)).then_with(|| a.policy.cmp(&b.policy))
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
        rows.sort_by(|a, b| Order::Best.compare(a, b));
        assert_eq!(rows.each_ref().map(|row| row.policy.as_str()), ["d", "c", "b", "a", "0"]);
        rows.sort_by(|a, b| Order::Tokens.compare(a, b));
        assert_eq!(rows.each_ref().map(|row| row.policy.as_str()), ["d", "a", "b", "c", "0"]);
    }

    #[test]
    fn a_key_goes_through_all_orders() {
        let orders: Vec<_> =
            std::iter::successors(Some(Order::Name), |order| Some(order.next())).take(6).collect();
        assert_eq!((orders[0], orders[5]), (Order::Name, Order::Name));
        assert!(Order::ALL.iter().all(|order| orders.contains(order)));
    }
}
