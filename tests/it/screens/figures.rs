//! The figures on the screens: what is still being counted is marked as such, and ends.

use overspill::internals::document::Class;
use overspill::preview::Catalog;
use ratatui::style::Modifier;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

/// An output that most policies cut, and too large to be counted on the spot.
fn log() -> Vec<u8> {
    let mut log = "src/main.rs:12: error: it does not fit\n".repeat(3_500).into_bytes();
    log.extend(b"the last line");
    log
}

fn is_counting(bench: &Bench) -> bool {
    let seen = &bench.pager().output.made.seen;
    seen.classes(0..seen.len()).any(|(_, class)| class == Class::Own)
}

#[test]
fn every_figure_of_every_policy_ends_up_known() {
    let home = Home::new();
    let path = home.file("build.log", log());
    let mut wrong = Vec::new();
    for name in Catalog::builtin().names() {
        let mut bench = Bench::open((200, 50), &path, policy(name));
        let facts = bench.keys("=").rows().join("\n");
        if is_counting(&bench) || facts.contains("counted") || !facts.contains("lines kept") {
            wrong.push(format!("{name}\n{facts}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_figure_still_being_counted_is_a_dim_ellipsis() {
    let home = Home::new();
    let path = home.file("build.log", log());
    let mut bench = Bench::new((200, 50));
    let rest = bench.start(&path, policy("codex/exec-bytes"));
    assert!(is_counting(&bench));
    let (buffer, _) = bench.draw();
    let ours: Vec<_> = buffer.content.iter().filter(|cell| cell.symbol() == "…").collect();
    assert!(ours.iter().any(|cell| cell.modifier == Modifier::DIM), "{ours:?}");
    bench.carry_out(rest);
    assert!(!is_counting(&bench));
    assert!(
        bench.rows().iter().any(|row| row.contains("original token count: 34129)")),
        "{:?}",
        bench.rows()
    );
}

#[test]
fn a_limit_and_what_is_over_it_are_in_one_form() {
    let home = Home::new();
    let path = home.file("build.log", "x".repeat(12_000));
    let over = |most: u64| {
        let mut policy = policy("opencode/output");
        policy.set_max_size(most).unwrap();
        Bench::open((200, 50), &path, policy).status()
    };
    assert!(over(10_000).contains("the first line alone is 12,000 B, over 10,000 B"), "{}", over(10_000));
    assert!(over(10 << 10).contains("the first line alone is 11.7 KB, over 10 KB"), "{}", over(10 << 10));
}

#[test]
fn a_loss_has_a_minus_in_the_drawer_as_in_the_message() {
    let home = Home::new();
    let mut bench =
        Bench::open((120, 24), &home.file("build.log", "ab\n".repeat(3000)), policy("opencode/output"));
    let rows = bench.keys("l-").rows();
    let has = |words: &str| rows.iter().any(|row| row.contains(words));
    assert!(bench.status().contains("−500 lines") && has("2,000 → 1,500     −500"), "{rows:#?}");
}

#[test]
fn token_counts_always_include_the_notice() {
    let home = Home::new();
    let mut policy = policy("opencode/output");
    policy.set("max_lines", "30").unwrap();
    let mut bench = Bench::open((200, 50), &home.file("build.log", "ab\n".repeat(1000)), policy);
    let tokens = format!("~{}", bench.pager().output.made.seen.len().div_ceil(4));
    assert!(bench.status().contains(&format!("got 30 of 1,000 lines · {tokens} of ~750 tokens")));
    let mut shows = |keys: &str, words: &str| {
        assert!(
            bench.keys(keys).rows().iter().any(|row| row.contains(words)),
            "{words}: {:#?}",
            bench.rows()
        );
    };
    shows("=", &format!("tokens       {tokens} at 4 bytes each"));
    shows("<Esc>l", &format!("{tokens} → {tokens}"));
    shows("p", &format!(" {tokens}  "));
}
