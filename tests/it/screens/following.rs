//! Following in the list of stored outputs: new ones come in on top, and the newest stays selected.

use overspill::internals::tui::app::{Effect, OutputsEvent};
use overspill::internals::tui::screen::Link;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::screens::SIZES;
use crate::screens::stores::Stocked;

/// A strip beside or below a working agent.
const STRIP: (u16, u16) = (60, 6);

impl Stocked {
    /// Has an output come in that is younger than those with a larger number.
    fn comes(&mut self, number: u64, content: &[u8]) -> &mut Self {
        self.entry("opencode", &format!("tool_c8d4f08d5{number:03}AbCdEfGhIjKlMn"), content, number);
        let effects = self.bench.update(OutputsEvent::Changed);
        self.bench.carry_out(effects);
        self
    }

    /// Starts with one output.
    fn with_one(size: (u16, u16)) -> Self {
        let mut stocked = Self::new(size).shown();
        stocked.comes(50, b"output 50.");
        stocked
    }

    fn title(&self) -> String {
        self.bench.rows().remove(0)
    }

    /// Whether it follows, and the row under the cursor shows this.
    fn follows_on(&self, text: &str) -> bool {
        let is_chosen = |row: &String| row.starts_with('▌') && row.contains(text);
        assert!(self.bench.rows().iter().any(is_chosen), "{text}: {:#?}", self.bench.rows());
        self.title().contains("   FOLLOW   ")
    }
}

fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("following_{name}_{width}x{height}"), bench.screen());
    });
}

#[test]
fn following_shows_new_outputs_at_every_size() {
    for size in SIZES.into_iter().chain([STRIP]) {
        let follow = |bench: &mut Bench| {
            let effects = bench.act(|app, effects| app.go_to(Link::Stores(None), effects));
            bench.carry_out(effects);
            bench.keys("F");
        };
        let mut empty = Bench::new(size);
        follow(&mut empty);
        keep("waiting", &empty);
        let mut stocked = Stocked::new(size);
        follow(&mut stocked.bench);
        stocked.comes(9, b"$ cargo build\n").comes(8, &test_log(8432));
        keep("outputs", &stocked.bench);
    }
}

#[test]
fn following_selects_the_newest_until_the_cursor_moves() {
    let mut stocked = Stocked::with_one(STRIP);
    assert!(!stocked.comes(49, b"output 49.").follows_on("output 50."), "it does not follow by itself");
    assert!({
        stocked.bench.keys("F");
        stocked.follows_on("output 49.")
    });
    assert!(stocked.bench.status().contains("new outputs come in on top; F or a move stops"));
    for number in (40..=48).rev() {
        let text = format!("output {number}.");
        assert!(stocked.comes(number, text.as_bytes()).follows_on(&text));
    }
    stocked.bench.keys("j");
    assert!(!stocked.comes(39, b"output 39.").follows_on("output 41."));
    for stops in ["F", "<^c>", "<Esc>"] {
        stocked.bench.keys("F");
        assert!(stocked.follows_on("output 39."));
        stocked.bench.keys(stops);
        assert!(!stocked.follows_on("output 39."));
    }
    assert!(!stocked.bench.asked.iter().any(|effect| matches!(effect, Effect::Quit(_))));
}

#[test]
fn following_and_another_sort_order_exclude_each_other() {
    let mut stocked = Stocked::with_one(SIZES[0]);
    stocked.comes(60, b"the largest of all, output 60.");
    stocked.bench.keys("sbF");
    assert!(stocked.follows_on("output 50."));
    assert!(
        stocked.bench.status().contains("sorted newest first: new outputs come"),
        "{}",
        stocked.bench.status()
    );
    assert!(stocked.title().contains("sort: when, newest first"), "{}", stocked.title());
    stocked.bench.keys("sb");
    assert!(!stocked.comes(49, b"49").follows_on("output 50."));
}

#[test]
fn following_under_a_filter_selects_each_new_match() {
    let mut stocked = Stocked::with_one(SIZES[0]);
    stocked.bench.keys("F/lost<Enter>");
    assert!(stocked.bench.rows().join("").contains("nothing matches “lost” yet; Esc shows all"));
    let log = test_log(8432);
    assert!(stocked.comes(49, &log).comes(48, b"nothing lost\n").follows_on("23%"));
    assert!(stocked.comes(47, &[b"output 47.\n", &log[..]].concat()).follows_on("output 47."));
    stocked.bench.keys("<Esc>");
    assert!(stocked.comes(46, b"output 46.").follows_on("output 46."));
}

#[test]
fn an_output_opens_at_its_first_lost_error_and_leaving_returns() {
    let home = Home::new();
    let log = test_log(8432);
    let path = home.file("build.log", &log);
    let mut stocked = Stocked::with_one(SIZES[0]);
    stocked.bench.keys("F");
    stocked.comes(49, &log);
    for (back, newer) in [("<Esc>", None), ("q", Some(48))] {
        stocked.bench.keys("<Enter>");
        let effects = stocked.bench.open_requested(&path, policy("opencode/output"));
        stocked.bench.carry_out(effects);
        let rows = stocked.bench.rows();
        assert!(rows.iter().any(|row| row.starts_with("8421 ┊ error")), "{rows:#?}");
        if let Some(number) = newer {
            stocked.comes(number, b"while an output is open");
        }
        stocked.bench.keys(back);
        assert_eq!(stocked.follows_on("ok   unit_1"), newer.is_none());
    }
    stocked.bench.asked.clear();
    stocked.bench.keys("<Enter>");
    let requests = stocked.bench.asked.iter();
    let places = requests.filter_map(|effect| match effect {
        Effect::Open(request) => Some(request.start.place.clone()),
        _ => None,
    });
    assert_eq!(places.collect::<Vec<_>>(), [None], "only while it follows");
}
