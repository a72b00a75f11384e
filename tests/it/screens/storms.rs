//! Bar 32: hundreds of sizes, pastes and keys in every pop-up: no panic, a sane state, and Esc closes it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use overspill::internals::tui::app::Event;
use overspill::internals::tui::popup::prompt::Prompt;

use super::random::{assert_safe, key};
use super::stores::Stocked;
use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::common::rng::Rng;
use crate::common::samples::build_log;

/// A pop-up: the keys that open it, how many times Esc closes it, and whether it takes typed text.
type PopUp = (&'static str, usize, bool);

const OF_PAGER: [PopUp; 9] = [
    ("h", 1, false),
    ("=", 1, false),
    ("l", 1, false),
    ("l5", 2, true),
    ("lp", 2, false),
    ("/", 1, true),
    ("?", 1, true),
    (":", 1, true),
    ("o", 1, true),
];
const OF_STORES: [PopUp; 3] = [("h", 1, false), ("/", 1, true), ("X", 1, false)];

const SIZES: usize = 40;
const KEYS: usize = 1000;
const PASTE: usize = 200 << 10;
/// Maximum length of a typed line in bytes.
const MAX_LINE: usize = 4096;

fn is_up(bench: &Bench) -> bool {
    bench.app.layers().next().is_some() || bench.app.output().is_some_and(|pager| pager.drawer.is_open())
}

/// Does something in each freshly opened pop-up, which must stay open. Then Esc closes it.
fn in_each(which: impl Fn(&PopUp) -> bool, storm: impl Fn(&mut Bench, &mut Rng)) {
    let home = Home::new();
    let path = home.file("build.log", build_log(300));
    let mut stocked = Stocked::with_entries((80, 24)).shown();
    for pop_up in OF_PAGER.iter().filter(|pop_up| which(pop_up)) {
        let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
        weather(&mut bench, pop_up, &storm);
    }
    for pop_up in OF_STORES.iter().filter(|pop_up| which(pop_up)) {
        weather(&mut stocked.bench, pop_up, &storm);
    }
}

fn weather(bench: &mut Bench, &(keys, escapes, _): &PopUp, storm: impl Fn(&mut Bench, &mut Rng)) {
    let before = bench.rows();
    bench.keys(keys);
    assert!(is_up(bench), "{keys} opens nothing");
    storm(bench, &mut Rng(0x9e37_79b9_7f4a_7c15));
    assert!(is_up(bench), "{keys} was left by itself");
    for _ in 0..escapes {
        bench.keys("<Esc>");
    }
    assert!(!is_up(bench), "Esc does not leave {keys}");
    bench.resize((80, 24)).keys("h<Esc>");
    assert_eq!(bench.rows(), before, "{keys}");
}

/// Checks that typed text is bounded, and that what is drawn fits the terminal.
#[track_caller]
fn assert_sane(bench: &Bench) {
    let (buffer, _) = bench.draw();
    assert_eq!((buffer.area.width, buffer.area.height), bench.app.canvas.size);
    assert_safe(&buffer);
    let in_prompt = bench.layer::<Prompt>().map(|prompt| prompt.text().len());
    let in_drawer = bench.app.output().and_then(|pager| pager.drawer.typed.as_ref().map(String::len));
    let typed = [in_prompt, in_drawer];
    assert!(typed.into_iter().flatten().all(|length| length <= MAX_LINE), "{typed:?}");
}

#[test]
fn a_storm_of_sizes_in_every_pop_up() {
    in_each(
        |_| true,
        |bench, rng| {
            for n in 0..SIZES {
                // Every other one has hardly any room.
                let (width, height) = if n % 2 == 0 { (301, 101) } else { (30, 8) };
                bench.resize((rng.below(width) as u16, rng.below(height) as u16));
                assert_sane(bench);
            }
        },
    );
}

#[test]
fn a_large_paste_into_every_pop_up() {
    in_each(
        |_| true,
        |bench, _| {
            for text in ["x", "\u{1b}[200~\u{202e}q\r\n", "日本語\t", "e\u{301}", "9"] {
                let effects = bench.update(Event::Paste(text.repeat(PASTE / text.len())));
                bench.carry_out(effects);
                assert_sane(bench);
            }
        },
    );
}

#[test]
fn a_key_held_down_types_no_more_than_a_line() {
    in_each(
        |&(_, _, one_types)| one_types,
        |bench, _| {
            let effects = bench.update(Event::Paste("9".repeat(MAX_LINE - 20)));
            bench.carry_out(effects);
            for _ in 0..40 {
                let effects = bench.update(Event::Key(KeyEvent::new(KeyCode::Char('9'), KeyModifiers::NONE)));
                bench.carry_out(effects);
            }
            assert_sane(bench);
        },
    );
}

/// Presses random keys, each once or held down for a while.
fn flood(bench: &mut Bench, rng: &mut Rng) {
    let mut left = KEYS;
    while left > 0 {
        let (pressed, times) = (key(rng), rng.choose(&[1, 1, 1, 1, 50]).min(left));
        for _ in 0..times {
            let effects = bench.update(Event::Key(pressed));
            bench.carry_out(effects);
        }
        left -= times;
        if rng.below(20) == 0 {
            assert_sane(bench);
        }
    }
}

#[test]
fn a_flood_of_keys_in_every_pop_up() {
    let home = Home::new();
    let path = home.file("build.log", build_log(300));
    for (seed, (keys, ..)) in (1..).zip(OF_PAGER.into_iter().chain(OF_STORES)) {
        let mut stocked = Stocked::with_entries((80, 24)).shown();
        let mut opened = Bench::open((80, 24), &path, policy("opencode/output"));
        let bench = if seed <= OF_PAGER.len() { &mut opened } else { &mut stocked.bench };
        bench.keys(keys);
        flood(bench, &mut Rng(0x9e37_79b9_7f4a_7c15 ^ seed as u64));
        assert_sane(bench);
        // A mark may be pending, and something may be half typed in the drawer.
        bench.keys("<Esc><Esc><Esc>");
        assert!(!is_up(bench), "{keys}");
        bench.keys("h");
        assert!(is_up(bench), "{keys}: keys are no longer heard");
    }
}
