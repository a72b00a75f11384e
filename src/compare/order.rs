//! The orders in which policies are listed.

use std::cmp::Ordering;

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
    /// Most matches of the search first.
    Finds,
    /// Most errors and warnings first.
    Errors,
}

impl Order {
    /// All orders, in the order in which a key goes through them.
    const ALL: [Order; 7] =
        [Order::Name, Order::Best, Order::Lines, Order::Bytes, Order::Tokens, Order::Finds, Order::Errors];

    /// Returns the next order that can be used; the first after the last.
    pub(crate) fn next(self, is_usable: impl Fn(Self) -> bool) -> Self {
        let mut later = Self::ALL.into_iter().skip_while(|order| *order != self).skip(1);
        later.find(|order| is_usable(*order)).unwrap_or_default()
    }

    /// Whether a row has a figure for this order.
    pub(crate) fn has_figure(self, row: &Comparison) -> bool {
        self.figures(row).iter().any(Option::is_some)
    }

    /// Returns what the screen calls it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Order::Name => "name",
            Order::Best => "most kept",
            Order::Lines => "lines",
            Order::Bytes => "bytes",
            Order::Tokens => "tokens",
            Order::Finds => "finds kept",
            Order::Errors => "errors kept",
        }
    }

    /// Returns the figures of a row, the one that counts most first; the smallest comes first.
    fn figures(self, row: &Comparison) -> [Option<u64>; 3] {
        let most = |figure: Option<u64>| figure.map(|figure| u64::MAX - figure);
        match self {
            Order::Name => [None; 3],
            Order::Best => [most(row.finds_kept), most(row.kept_bytes), row.preview_bytes],
            Order::Lines => [most(row.kept_lines), None, None],
            Order::Bytes => [most(row.kept_bytes), None, None],
            Order::Tokens => [row.preview_bytes, None, None],
            Order::Finds => [most(row.finds_kept), None, None],
            Order::Errors => [most(row.errors_kept), None, None],
        }
    }

    /// Compares two rows. A policy that made no preview comes last, whatever the order.
    pub(crate) fn compare(self, a: &Comparison, b: &Comparison) -> Ordering {
        Sorting { by: self, way: Way::Forth }.compare(a, b)
    }
}

/// Which end of an order comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Way {
    /// As the order has it.
    #[default]
    Forth,
    /// The other way round.
    Back,
}

/// How the rows of a comparison are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sorting {
    pub(crate) by: Order,
    pub(crate) way: Way,
}

impl Sorting {
    /// Returns the same order the other way round.
    pub(crate) fn reversed(self) -> Self {
        let way = if self.way == Way::Forth { Way::Back } else { Way::Forth };
        Self { way, ..self }
    }

    /// Describes it: `lines, most first`.
    pub(crate) fn in_words(self) -> String {
        let [forth, back] = match self.by {
            Order::Name => ["A to Z", "Z to A"],
            Order::Tokens => ["fewest first", "most first"],
            Order::Best => ["most first", "least first"],
            _ => ["most first", "fewest first"],
        };
        format!("{}, {}", self.by.as_str(), if self.way == Way::Forth { forth } else { back })
    }

    /// Compares two names of policies.
    pub(crate) fn compare_names(self, a: &str, b: &str) -> Ordering {
        if self.way == Way::Back && self.by == Order::Name { b.cmp(a) } else { a.cmp(b) }
    }

    /// Compares two rows. A policy that made no preview, or has no figure, comes last whichever the way.
    pub(crate) fn compare(self, a: &Comparison, b: &Comparison) -> Ordering {
        let (of_a, of_b) = (self.by.figures(a), self.by.figures(b));
        let lacks =
            |row: &Comparison, figures: [Option<u64>; 3]| (!row.is_ok(), figures.map(|one| one.is_none()));
        let figures = if self.way == Way::Back { of_b.cmp(&of_a) } else { of_a.cmp(&of_b) };
        let lacking = lacks(a, of_a).cmp(&lacks(b, of_b));
        lacking.then(figures).then_with(|| self.compare_names(&a.policy, &b.policy))
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
    fn the_other_way_round_failures_and_rows_without_a_figure_stay_last() {
        let failed = Comparison::failed("0", &std::fmt::Error);
        let none = Comparison { finds_kept: None, ..row("1", (0, 7, 7)) };
        let mut rows = [failed, none, row("a", (1, 9, 9)), row("b", (2, 5, 9)), row("c", (2, 6, 9))];
        let mut sorted = |sorting: Sorting| {
            rows.sort_by(|a, b| sorting.compare(a, b));
            rows.iter().map(|row| row.policy.as_str()).collect::<String>()
        };
        let by = |by| Sorting { by, way: Way::Forth };
        assert_eq!(sorted(by(Order::Finds)), "bca10");
        assert_eq!(sorted(by(Order::Finds).reversed()), "abc10");
        assert_eq!(sorted(by(Order::Bytes).reversed()), "bc1a0");
        assert_eq!(sorted(by(Order::Name).reversed()), "cba10");
        assert_eq!(by(Order::Tokens).in_words(), "tokens, fewest first");
    }

    #[test]
    fn a_key_goes_through_the_orders_that_have_figures() {
        let row = |errors| Comparison { errors_kept: errors, kept_lines: Some(1), ..row("a", (1, 9, 9)) };
        let all = |first: Order| first.next(|order| order.has_figure(&row(Some(1))));
        let orders: Vec<_> =
            std::iter::successors(Some(Order::Name), |order| Some(all(*order))).take(8).collect();
        assert_eq!(orders[..7], Order::ALL);
        assert_eq!(orders[7], Order::Name);
        assert_eq!(Order::Finds.next(|order| order.has_figure(&row(None))), Order::Name);
    }
}
