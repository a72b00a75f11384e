//! Tests dates, when an era applies, and which outputs a warning is for.

use super::*;

fn date(text: &str) -> Date {
    Date::try_from(text.to_owned()).unwrap()
}

fn edge(text: &str) -> Option<Edge> {
    Some(Edge { version: None, date: (!text.is_empty()).then(|| date(text)) })
}

fn era(from: Option<&str>, until: Option<&str>) -> Era {
    Era { from: from.and_then(edge), until: until.and_then(edge), ..Era::default() }
}

fn day(text: &str) -> civil::Date {
    text.parse().unwrap()
}

#[test]
fn dates_are_years_months_or_days() {
    for text in ["2026", "2026-08", "2024-02-29"] {
        assert_eq!(date(text).to_string(), text);
    }
    assert_eq!((date("2026").first(), date("2026").last()), (day("2026-01-01"), day("2026-12-31")));
    assert_eq!((date("2024-02").first(), date("2024-02").last()), (day("2024-02-01"), day("2024-02-29")));
    assert_eq!(
        (date("2026-08-14").first(), date("2026-08-14").last()),
        (day("2026-08-14"), day("2026-08-14"))
    );
}

#[test]
fn invalid_dates_are_refused() {
    for text in [
        "",
        "26",
        "2026-13",
        "2026-00",
        "2026-02-29",
        "2026-8",
        "2026-08-1",
        "2026-08-14-1",
        "+202",
        "2026-",
        "v1",
    ] {
        let error = Date::try_from(text.to_owned()).unwrap_err();
        assert!(error.contains("is not a date"), "{text}: {error}");
    }
}

#[test]
fn a_month_holds_from_its_first_day_to_its_last() {
    let era = era(Some("2026-02"), Some("2026-08"));
    for (text, holds) in
        [("2026-01-31", false), ("2026-02-01", true), ("2026-08-31", true), ("2026-09-01", false)]
    {
        assert_eq!(era.holds_at(day(text)), holds, "{text}");
    }
}

#[test]
fn an_unknown_date_excludes_no_day() {
    assert!(era(None, None).holds_at(day("1999-01-01")));
    assert!(era(Some(""), Some("")).holds_at(day("1999-01-01")));
    assert!(era(None, Some("2026")).holds_at(day("1999-01-01")));
    assert!(!era(None, Some("2026")).holds_at(day("2027-01-01")));
}

#[test]
fn the_later_of_two_matching_eras_ranks_first() {
    let (old, new) = (era(Some("2026-02"), Some("2026-08")), era(Some("2026-08"), None));
    let best = |text: &str| if old.rank(day(text)) < new.rank(day(text)) { "old" } else { "new" };
    assert_eq!([best("2026-07-31"), best("2026-08-01"), best("2026-09-01")], ["old", "new", "new"]);
    let (night, after) = (era(Some("2025-12-07"), Some("2025-12-07")), era(Some("2025-12-07"), None));
    assert!(after.rank(day("2025-12-07")) < night.rank(day("2025-12-07")));
}

#[test]
fn if_no_era_holds_all_rank_equal() {
    let (old, new) = (era(None, Some("2026-03")), era(Some("2026-05"), None));
    assert!(old.rank(day("2026-04-09")) == new.rank(day("2026-04-09")));
}

#[test]
fn an_era_in_words() {
    let full = Edge { version: Some("2.1.45".into()), date: Some(date("2026-02")) };
    let seen = Edge { version: Some("2.1.330".into()), date: None };
    let era = Era { from: Some(full), until: edge("2026-08"), seen: Some(seen), of: None };
    assert_eq!(era.to_string(), "from 2.1.45 (2026-02) until 2026-08, seen in 2.1.330");
    assert_eq!(Era::default().to_string(), "");
    assert_eq!(self::era(Some("2025-12-07"), Some("2025-12-07")).to_string(), "only 2025-12-07");
    assert_eq!(self::era(Some("2026"), Some("")).to_string(), "from 2026");
}

#[test]
fn a_version_is_compared_by_its_numbers() {
    let edge = |version: &str| Some(Edge { version: Some(version.into()), date: None });
    let era = Era { from: edge("2.1.45"), until: edge("2.1.231"), ..Era::default() };
    let holds = |version: &str| era.holds_for(version);
    assert_eq!(holds("2.1.45"), Some(true));
    assert_eq!(holds("2.1.9"), Some(false));
    assert_eq!(holds("2.1.330"), Some(false));
    assert_eq!(holds("v2.1.100-beta"), Some(true));
    assert_eq!(Era { from: edge("2"), ..Era::default() }.holds_for("1.9"), Some(false));
    assert_eq!(Era::default().holds_for("1"), None);
}

fn warning(over: Option<u64>, unended: bool) -> Warning {
    Warning { over, unended, short: None, text: "t".into() }
}

#[test]
fn a_warning_without_a_size_applies_to_any_cut() {
    let cut = Extent { bytes: 1, last: Some(b'\n'), cut: true };
    assert!(warning(None, false).holds(cut));
    assert!(!warning(None, false).holds(Extent { cut: false, ..cut }));
}

#[test]
fn a_warning_with_a_size_applies_above_it_cut_or_not() {
    let at = |bytes| Extent { bytes, last: None, cut: false };
    assert!(!warning(Some(10), false).holds(at(10)));
    assert!(warning(Some(10), false).holds(at(11)));
}

#[test]
fn a_warning_of_both_policy_and_store_appears_once() {
    let extent = Extent { bytes: 11, last: None, cut: true };
    let (once, other) = (warning(None, false), Warning { text: "other".into(), ..warning(Some(10), false) });
    let (policy, store) = ([once.clone()], [once, other]);
    let texts: Vec<&str> =
        Warning::applying(&policy, &store, extent).iter().map(|warning| warning.text.as_str()).collect();
    assert_eq!(texts, ["t", "other"]);
    let whole = Warning::applying(&policy, &store, Extent { bytes: 1, cut: false, ..extent });
    assert_eq!(whole.len(), 1, "the store's alone");
}

#[test]
fn a_warning_about_an_unfinished_line_needs_the_last_byte() {
    let ending = |last| Extent { bytes: 11, last, cut: true };
    assert!(warning(Some(10), true).holds(ending(Some(b'x'))));
    assert!(!warning(Some(10), true).holds(ending(Some(b'\n'))));
    assert!(!warning(None, true).holds(ending(None)));
}
