//! The current line: the one that is marked is the one on which keys act.

use overspill::internals::tui::app::Effect;
use overspill::internals::tui::widget::canvas::Canvas;
use overspill::internals::tui::widget::layout::{self, Side};
use overspill::internals::tui::widget::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

/// Lines of words that each name their line, some of them longer than a screen is wide.
fn lines() -> Vec<String> {
    let long = |n: usize| if n % 9 == 4 { 90 } else { 3 };
    let word = |n: usize, k: usize| if n % 400 == 7 { format!("error:{n}.{k}") } else { format!("{n}.{k}") };
    (1..3000).map(|n| (1..=long(n)).map(|k| word(n, k)).collect::<Vec<_>>().join(" ")).collect()
}

fn open(size: (u16, u16)) -> Bench {
    let home = Home::new();
    Bench::open(size, &home.file("build.log", lines().join("\n") + "\n"), policy("opencode/output"))
}

/// A row that bears the mark: the text beside its gutter, and whether the mark is loud.
#[derive(Debug, PartialEq)]
struct MarkedRow {
    y: u16,
    text: String,
    is_loud: bool,
}

/// Returns the rows of a pane in whose gutter a cell other than the sign is set off.
fn marked(bench: &Bench, buffer: &Buffer, side: Side) -> Vec<MarkedRow> {
    let panes = layout::pager(buffer.area, bench.pager().focus(), bench.app.canvas.size.0 >= 140);
    let Some(pane) = [panes.preview, panes.spill][side as usize] else { return Vec::new() };
    let headed = u16::from(panes.between.is_some());
    let pane = Rect { y: pane.y + headed, height: pane.height - headed, ..pane };
    let gutter = bench.pager().output.gutter(side);
    let set_off = |x: u16, y: u16, by: Modifier| buffer[(x, y)].modifier.intersects(by);
    let row = |y: u16| {
        let edge = pane.x..pane.x + if side == Side::Preview { 1 } else { gutter - 2 };
        let is_marked = edge.clone().any(|x| set_off(x, y, Modifier::BOLD | Modifier::REVERSED));
        let text: String = (pane.x + gutter..pane.right()).map(|x| buffer[(x, y)].symbol()).collect();
        let is_loud =
            edge.clone().any(|x| set_off(x, y, Modifier::BOLD) && set_off(x, y, Modifier::REVERSED));
        is_marked.then(|| MarkedRow { y, text: text.trim().to_owned(), is_loud })
    };
    (pane.y..pane.bottom()).filter_map(row).collect()
}

/// Returns the only row that is marked, in the pane with the focus.
#[track_caller]
fn mark(bench: &Bench) -> MarkedRow {
    let (buffer, focus) = (bench.draw().0, bench.pager().focus());
    assert_eq!(marked(bench, &buffer, focus.other()), [], "only the pane with the focus has a mark");
    let mut rows = marked(bench, &buffer, focus);
    assert_eq!(rows.len(), 1, "{rows:?} {:?}", bench.rows());
    rows.remove(0)
}

/// Returns the text copied last.
fn copied(bench: &Bench) -> String {
    let Some(Effect::Copy(text)) = bench.asked.last() else { panic!("{:?}", bench.asked.last()) };
    text.clone()
}

/// Checks that all keys act on the line that is marked.
#[track_caller]
fn check(bench: &mut Bench, lines: &[String]) {
    let marked = mark(bench);
    let answer = bench.keys("J").status().replace(',', "");
    bench.keys("v");
    let Some(Effect::Edit { line: number, .. }) = bench.asked.last() else {
        panic!("{:?}", bench.asked.last())
    };
    let (number, line) = (*number, &lines[*number as usize - 1]);
    if bench.pager().focus() == Side::Spill {
        assert!(answer.contains(&format!("line {number} is not JSON")), "{answer}");
    }
    let is_notice = !lines.iter().any(|line| line.contains(&marked.text));
    if bench.status().contains("selected ") {
        assert!(line.contains(&marked.text) || is_notice, "{line} {marked:?}");
        return;
    }
    if !bench.keys("y").screen().contains(" l  line ") {
        assert_eq!(marked.text, "", "a row of the notice");
        bench.keys("<Esc>");
        return;
    }
    bench.keys("l");
    let copied_line = copied(bench);
    assert!(copied_line.contains(&marked.text), "{copied_line} {marked:?}");
    assert_eq!(copied(bench.keys("Vy")), copied_line);
    assert!(*line == copied_line || !lines.contains(&copied_line), "{line} {copied_line}");
    assert_eq!(mark(bench), marked, "the keys that act on a line leave it where it is");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn keys_act_on_the_line_that_is_marked(
        size in proptest::sample::select(vec![(80, 24), (53, 9), (200, 50)]),
        walk in proptest::collection::vec(
            proptest::sample::select(vec![
                "j", "k", "5j", "d", "u", "f", "g", "G", "700G", "1995G", "}", "{", "$", "<Tab>", "<Tab>", "e", "E",
                "/22<Enter>", "?9.1<Enter>", "n", "N", "]", "&13<Enter>", "&<Enter>", "V", "<Esc>", "w", "<Right>",
                "<Left>", "r", "lD<Enter>", "l-<Enter>", "l+<Enter>", "",
            ]),
            0..20,
        ),
    ) {
        let (mut bench, lines) = (open(size), lines());
        for keys in walk {
            match keys {
                "" => drop(bench.resize((size.0 - 7, size.1 + 3))),
                keys => drop(bench.keys(keys)),
            }
            if bench.app.layers().next().is_some() {
                bench.keys("<Esc>");
            }
            check(&mut bench, &lines);
        }
    }
}

#[test]
fn jumping_to_a_cut_makes_it_the_current_line() {
    let lines = lines();
    let mut bench = open((80, 24));
    bench.keys("<Tab>c");
    let cut = mark(&bench);
    assert!(cut.is_loud && cut.y > 1, "{cut:?}");
    assert!(bench.status().contains("lost"), "{}", bench.status());
    check(&mut bench, &lines);
}

#[test]
fn a_cut_on_the_screen_is_gone_to_where_the_text_does_not_scroll() {
    let home = Home::new();
    let mut policy = policy("opencode/output");
    policy.set("max_lines", "3").unwrap();
    let mut bench = Bench::open((80, 24), &home.file("build.log", lines().join("\n")), policy);
    let top = mark(&bench);
    let cut = mark(bench.keys("c"));
    assert!(cut.y > top.y && cut.is_loud, "{cut:?} {}", bench.screen());
    assert!(bench.keys("c").status().contains("no cut further down"), "{}", bench.status());
    assert_eq!(mark(&bench), cut);
    assert!(bench.keys("C").status().contains("no cut further up"), "{}", bench.status());
    assert_eq!(mark(bench.keys("GC")), cut, "from the end no cut on the screen is passed over");
}

#[test]
fn jumping_to_a_line_near_the_end_makes_it_current() {
    let mut bench = open((80, 24));
    for keys in ["<Tab>:2990<Enter>", "g2990G", "V"] {
        bench.keys(keys);
        assert!(mark(&bench).is_loud && mark(&bench).text.starts_with("2990.1 "), "{:?}", mark(&bench));
    }
    assert!(bench.status().contains("selected line 2,990"), "{}", bench.status());
}

#[test]
fn the_mark_is_loud_only_on_a_match_or_a_selected_line() {
    for theme in [Theme::named("16"), Theme::named("dark"), Theme::named("light"), Theme::named("plain")] {
        for pane in ["", "<Tab>"] {
            let mut bench = open((80, 24));
            bench.repaint(Canvas::new((80, 24), theme, false));
            bench.keys(pane);
            assert!(!mark(&bench).is_loud && mark(&bench).y == 1, "{:?}", mark(&bench));
            bench.keys("/7.2<Enter>");
            assert!(mark(&bench).is_loud && mark(&bench).text.contains("7.2"), "{:?}", mark(&bench));
            let found = mark(&bench);
            bench.keys("<Esc>");
            assert_eq!(mark(&bench), found, "the line that was found stays the current one");
            bench.keys("j");
            assert!(!mark(&bench).is_loud, "{:?}", mark(&bench));
        }
    }
    let mut bench = open((80, 24));
    bench.keys("<Tab>Vjj");
    assert!(mark(&bench).is_loud && mark(&bench).text.starts_with("3.1 "), "{:?}", mark(&bench));
}

#[test]
fn the_drawer_advises_on_the_line_that_is_marked() {
    let mut bench = open((80, 24));
    bench.keys("<Tab>2500Gl");
    assert!(mark(&bench).text.starts_with("2500.1 "), "{:?}", mark(&bench));
    assert!(bench.rows().join("\n").contains("line 2,500 is lost"), "{:?}", bench.rows());
    bench.keys("<Esc>/error<Enter>l");
    let words = format!("line 2,{} is lost", &mark(&bench).text[7..10]);
    assert!(bench.rows().join("\n").contains(&words), "{words} {:?}", bench.rows());
}

#[test]
fn the_drawer_follows_a_jump_within_the_screen() {
    let lines = lines();
    for size in [(80, 24), (120, 40)] {
        let mut bench = open(size);
        bench.keys("<Tab>Gl+:2990<Enter>");
        let about = |bench: &Bench| bench.rows().iter().any(|row| row.contains(" line 2,990 is"));
        assert!(about(&bench), "{}", bench.screen());
        for key in ["-", "+", "D", "<Esc>"] {
            bench.keys(key);
            assert!(key == "<Esc>" || about(&bench), "{key} {}", bench.screen());
            assert!(mark(&bench).text.starts_with("2990.1"), "{key} {:?}", mark(&bench));
        }
        check(&mut bench, &lines);
    }
}

#[test]
fn the_drawer_follows_a_jump_to_a_lost_line() {
    let mut bench = open((80, 24));
    let status = bench.keys(":2990<Enter>").status();
    assert!(status.contains("line 2,990 was lost"), "{status}");
    let about = |bench: &Bench| bench.rows().iter().any(|row| row.contains(" line 2,990 is lost"));
    assert!(about(bench.keys("l")), "{}", bench.screen());
    assert!(about(bench.keys("+")), "{}", bench.screen());
    assert!(
        bench.keys("a").rows().iter().any(|row| row.contains("line 2,990 is kept")),
        "{}",
        bench.screen()
    );
    assert!(mark(&bench).text.starts_with("2990.1"), "{:?}", mark(&bench));
}

#[test]
fn the_current_line_is_the_same_in_the_other_text() {
    for size in [(80, 24), (160, 24)] {
        let mut bench = open(size);
        bench.keys("e");
        let found = mark(&bench).text;
        let other = mark(bench.keys("<Tab>")).text;
        assert!(found.starts_with("error:7.1") && other.starts_with("error:7.1"), "{found} | {other}");
        assert!(mark(bench.keys("<Tab>")).text.starts_with("error:7.1"));
    }
}
