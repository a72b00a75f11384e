//! The list of new outputs: as they come, and what keys do in it.

use std::path::PathBuf;

use overspill::corpus::{ErrorsLost, WatchNews, WatchedGot, WatchedOutput};
use overspill::store::{Entry, Env, list};
use overspill::tui::app::Effect;
use overspill::tui::screen::Link;

use crate::common::bench::{Bench, looked_at, policy};
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::screens::SIZES;

/// The screens of `overspill watch`, and outputs to report.
struct Watching {
    bench: Bench,
    entry: Entry,
    _dir: tempfile::TempDir,
}

impl Watching {
    fn start(size: (u16, u16)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut bench = Bench::new(size);
        bench.env = Env::hermetic(dir.path());
        let store = dir.path().join(".local/share/opencode/tool-output");
        std::fs::create_dir_all(&store).unwrap();
        std::fs::write(store.join("tool_e26cf08d5001AbCdEfGhIjKlMn"), "x").unwrap();
        let entry = list(&looked_at(), &bench.env, bench.now).entries.pop().unwrap();
        let effects = bench.act(|app, effects| app.go_to(Link::Watch, effects));
        bench.carry_out(effects);
        Self { bench, entry, _dir: dir }
    }

    fn news(&mut self, news: WatchNews) -> &mut Self {
        let effects = self.bench.update(news);
        self.bench.carry_out(effects);
        self
    }

    fn listed(&mut self, directories: usize) -> &mut Self {
        let there =
            (1..=directories).map(|n| ("opencode".into(), PathBuf::from(format!("/home/u/store-{n}"))));
        self.news(WatchNews::Listed { there: there.collect(), absent: 30 })
    }

    /// Reports an output of which the model got so many of 8,432 lines, and lost so many of its errors.
    fn output(&mut self, kept: u64, lost: u64, text: &str) -> &mut Self {
        let got = if kept < 8432 { WatchedGot::Lines { kept, total: 8432 } } else { WatchedGot::All };
        let output = WatchedOutput {
            time: "14:02:31".into(),
            entry: self.entry.clone(),
            got,
            certainty: Some(overspill::preview::Certainty::Reconstructed),
            kept_lines: Some(kept),
            removed_lines: Some(8432 - kept),
            errors: Some(ErrorsLost { all: lost.max(5), lost }),
            warnings: Some(ErrorsLost { all: 9, lost: 9 }),
            first_lost: (lost > 0).then(|| text.to_owned()),
            first_line: text.to_owned(),
            open_at: (lost > 0).then_some(8421),
        };
        self.news(WatchNews::Output(Box::new(output)))
    }

    fn some(&mut self) -> &mut Self {
        self.output(2000, 3, "  error[E0308]: \x1b[31mmismatched types\x1b[0m \u{202e} in src/main.rs");
        self.output(8432, 0, "\x1b]0;owned\x07$ cargo build");
        self.output(
            0,
            12,
            "\tFAILED tests/\u{65e5}\u{672c}\u{8a9e}.py::test_of_a_long_name - AssertionError: assert 1 == 2",
        )
    }

    /// Returns the row under the cursor, of those of the list.
    fn chosen(&self) -> String {
        let rows = self.bench.rows();
        rows.into_iter().find(|row| row.starts_with('\u{258c}')).unwrap_or_default()
    }

    fn title(&self) -> String {
        self.bench.rows().remove(0)
    }
}

fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("watch_{name}_{width}x{height}"), bench.screen());
    });
}

/// A strip beside or below a working agent.
const STRIP: (u16, u16) = (60, 6);

#[test]
fn new_outputs_are_listed_at_every_size() {
    for size in SIZES.into_iter().chain([STRIP]) {
        let mut watching = Watching::start(size);
        keep("waiting", &watching.listed(3).bench);
        keep("outputs", &watching.some().bench);
    }
}

#[test]
fn many_directories_leave_room_for_the_words() {
    let mut watching = Watching::start(SIZES[0]);
    assert!(watching.bench.rows().join("").contains("listing the stores"));
    let rows = watching.listed(40).bench.rows();
    let at =
        |words: &str| rows.iter().position(|row| row.contains(words)).unwrap_or_else(|| panic!("{rows:#?}"));
    assert!(at("Waiting for new outputs in these") < at("store-1"));
    assert!(at("store-1") < at("and 2") && at("and 2") < at("30 more will be watched once they exist"));
    let rows = watching.listed(0).bench.rows().join("");
    assert!(rows.contains("no agent has a store here yet"), "{rows}");
}

#[test]
fn the_newest_is_selected_unless_one_has_moved_up() {
    let mut watching = Watching::start(STRIP);
    for number in 1..=9 {
        watching.output(8432, 0, &format!("output {number}."));
        assert!(watching.chosen().contains(&format!("output {number}.")), "{}", watching.chosen());
        assert!(watching.title().ends_with("following"), "{}", watching.title());
    }
    watching.bench.keys("k");
    watching.output(8432, 0, "output 10.").output(8432, 0, "output 11.");
    assert!(watching.chosen().contains("output 8."), "{}", watching.chosen());
    assert!(watching.title().ends_with("3 newer"), "{}", watching.title());
    for keys in ["F", "G"] {
        watching.bench.keys("gj");
        assert!(watching.chosen().contains("output 2."), "{}", watching.chosen());
        watching.bench.keys(keys);
        assert!(watching.chosen().contains("output 11."), "{keys}: {}", watching.chosen());
        assert!(watching.title().ends_with("following"), "{}", watching.title());
    }
    watching.output(8432, 0, "output 12.");
    assert!(watching.chosen().contains("output 12."), "{}", watching.chosen());
}

#[test]
fn an_output_opens_at_the_first_lost_error_and_esc_or_q_goes_back() {
    let home = Home::new();
    let path = home.file("build.log", test_log(8432));
    for back in ["<Esc>", "q"] {
        let mut watching = Watching::start(SIZES[0]);
        watching.some();
        watching.bench.keys("k<Enter>");
        assert!(watching.bench.opened().is_some_and(|path| *path == watching.entry.path()));
        watching.bench.asked.clear();
        watching.bench.keys("G<Enter>");
        let effects = watching.bench.open_requested(&path, policy("opencode/output"));
        watching.bench.carry_out(effects);
        let rows = watching.bench.rows();
        assert!(rows.iter().any(|row| row.starts_with("8421 \u{250a} error")), "{rows:#?}");
        watching.output(8432, 0, "while an output is open");
        watching.bench.keys(back);
        assert!(watching.chosen().contains("FAILED"), "the row that was opened: {}", watching.chosen());
        assert!(watching.title().contains("1 newer"), "{}", watching.title());
        watching.bench.keys("Sq");
        assert!(watching.title().starts_with(" Watch"), "{}", watching.title());
        watching.bench.asked.clear();
        watching.bench.keys("q");
        assert!(matches!(watching.bench.asked[..], [Effect::Quit(_)]), "{:?}", watching.bench.asked);
    }
}

#[test]
fn what_cannot_be_read_is_reported_and_the_path_copied() {
    let mut watching = Watching::start(SIZES[0]);
    watching.some().news(WatchNews::Fault("/a/b: cannot be read: Permission denied".into()));
    assert!(watching.bench.status().contains("/a/b: cannot be read"), "{}", watching.bench.status());
    watching.bench.keys("y");
    assert!(watching.bench.asked.iter().any(|effect| matches!(effect, Effect::Copy(_))));
}

#[test]
fn an_endless_day_keeps_the_newest_outputs() {
    let mut watching = Watching::start(SIZES[0]);
    for number in 1..=10_005 {
        watching.output(8432, 0, &format!("output {number}."));
        if number == 10_000 {
            watching.bench.keys("5k");
        }
    }
    assert!(watching.chosen().contains("output 9995."), "the same row: {}", watching.chosen());
    assert!(watching.title().contains("10,005 outputs"), "{}", watching.title());
    watching.bench.keys("g");
    assert!(watching.chosen().contains("output 6."), "{}", watching.chosen());
}
