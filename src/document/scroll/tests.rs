//! Properties of scrolling: rows tile the document, and moves can be reversed.

use proptest::prelude::*;

use crate::document::Doc;
use crate::document::fold::ProgressLines;
use crate::document::tests::{output, preview_of, with_reader};

use super::{Fate, *};

/// A test case: an output or a preview of it, in a frame, with a rule above one row or none.
#[derive(Clone)]
struct Case {
    out: Vec<u8>,
    doc: Doc,
    frame: Viewport,
    rule: Option<u64>,
}

fn case() -> impl Strategy<Value = Case> {
    let long = prop_oneof![4 => Just(Long::Wrapped), 1 => (0u64..200).prop_map(Long::Sideways)];
    let show = prop_oneof![Just(Show::PAGER), Just(Show::MODEL), Just(Show::RAW)];
    (output(), any::<(bool, bool, bool)>(), 7u16..90, 2u16..30, long, show, any::<prop::sample::Index>())
        .prop_map(|(out, (whole, ruled, folds), width, height, long, show, rule)| {
            let doc = if whole { Doc::file(out.len()) } else { preview_of(&out, 5, 90_000, false) };
            let rule = (ruled && !doc.is_empty()).then(|| rule.index(doc.len() as usize) as u64);
            let progress = if folds { ProgressLines::Folded(None) } else { ProgressLines::Unfolded };
            Case { out, doc, frame: Viewport { width, height, long, show, progress }, rule }
        })
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let runs = self.out.chunk_by(|a, b| a == b);
        let runs: Vec<String> =
            runs.map(|run| format!("{}*{}", run[0].escape_ascii(), run.len())).take(60).collect();
        write!(f, "{} bytes, {}: {:?} {:?}", self.out.len(), runs.join(" "), self.frame, self.rule)
    }
}

impl Case {
    fn scroll<T>(&self, look: impl FnOnce(&Scroll) -> T) -> T {
        let rules = Dividers(self.rule.map(|at| (at, Fate::Lost)).into_iter().collect());
        with_reader(&self.doc, &self.out, |reader| {
            look(&Scroll { reader, frame: self.frame, rules: Some(&rules), filter: None })
        })
    }
}

/// Returns all rows, each found from the end of the row before.
fn rows(scroll: &Scroll) -> Vec<ScreenRow> {
    let tall = Scroll { frame: Viewport { height: u16::MAX, ..scroll.frame }, ..*scroll };
    let mut all: Vec<ScreenRow> = Vec::new();
    while all.last().map_or(0, |row| row.next) < scroll.reader.doc.len() {
        all.extend(tall.screen(all.last().map_or(0, |row| row.next)));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn rows_tile_the_document(case in case()) {
        case.scroll(|scroll| {
            let mut at = 0;
            for row in rows(scroll) {
                prop_assert_eq!(row.start, at);
                prop_assert!(row.next > at && row.end <= row.next && row.drawn_end() <= row.next);
                let columns: usize = row.cells.iter().map(|cell| usize::from(cell.width)).sum();
                prop_assert!(columns <= usize::from(scroll.frame.width));
                at = row.next;
            }
            prop_assert_eq!(at, scroll.reader.doc.len());
            Ok(())
        })?;
    }

    #[test]
    fn every_place_has_its_row(case in case(), at: prop::sample::Index) {
        prop_assume!(!case.doc.is_empty());
        case.scroll(|scroll| {
            let at = at.index(case.doc.len() as usize) as u64;
            let row = rows(scroll).into_iter().find(|row| at < row.next).unwrap();
            prop_assert_eq!(scroll.row_at(at), row.start);
            prop_assert_eq!(scroll.row_at(row.start), row.start);
            Ok(())
        })?;
    }

    #[test]
    fn a_screen_shows_as_many_rows_as_fit(case in case(), at: prop::sample::Index) {
        prop_assume!(!case.doc.is_empty());
        case.scroll(|scroll| {
            let all = rows(scroll);
            let first = at.index(all.len());
            let screen = scroll.screen(all[first].start);
            prop_assert_eq!(&screen[..], &all[first..first + screen.len()]);
            let used: usize = screen.iter().map(|row| scroll.weigh(row)).sum();
            let next = all.get(first + screen.len()).map_or(usize::MAX, |row| scroll.weigh(row));
            let height = usize::from(scroll.frame.height);
            prop_assert!(used <= height && used.saturating_add(next) > height);
            Ok(())
        })?;
    }

    #[test]
    fn going_up_and_down_comes_back(case in case(), at: prop::sample::Index, n in 0usize..70) {
        prop_assume!(!case.doc.is_empty());
        case.scroll(|scroll| {
            let all = rows(scroll);
            let last_top = scroll.last_top();
            let last = all.iter().position(|row| row.start == last_top).unwrap();
            let here = at.index(last + 1);
            let (down, up) = (scroll.down(all[here].start, n), scroll.up(all[here].start, n));
            prop_assert_eq!(down, all[(here + n).min(last)].start, "down");
            prop_assert_eq!(up, all[here.saturating_sub(n)].start, "up");
            if here + n <= last {
                prop_assert_eq!(scroll.up(down, n), all[here].start, "down and up");
            }
            if here >= n {
                prop_assert_eq!(scroll.down(up, n), all[here].start, "up and down");
            }
            Ok(())
        })?;
    }

    #[test]
    fn the_last_top_shows_the_end_and_no_empty_rows(case in case()) {
        prop_assume!(!case.doc.is_empty());
        case.scroll(|scroll| {
            let all = rows(scroll);
            let top = scroll.last_top();
            let screen = scroll.screen(top);
            prop_assert_eq!(screen.last().map(|row| row.next), Some(case.doc.len()));
            let before = all.iter().rev().find(|row| row.start < top);
            let used: usize = screen.iter().chain(before).map(|row| scroll.weigh(row)).sum();
            prop_assert!(before.is_none() || used > usize::from(scroll.frame.height));
            Ok(())
        })?;
    }
}

#[test]
fn a_page_in_a_line_of_many_rows_goes_to_the_end() {
    let out = b"0123456789".repeat(10);
    let frame = Viewport {
        width: 10,
        height: 3,
        long: Long::Wrapped,
        show: Show::PAGER,
        progress: ProgressLines::Unfolded,
    };
    let case = Case { doc: Doc::file(out.len()), out, frame, rule: None };
    case.scroll(|scroll| {
        assert_eq!((scroll.last_top(), scroll.down(50, 8), scroll.down(0, 2)), (70, 70, 20));
    });
}

#[test]
fn an_empty_viewport_shows_nothing_and_does_not_scroll() {
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let frame = Viewport {
            width,
            height,
            long: Long::Wrapped,
            show: Show::PAGER,
            progress: ProgressLines::Unfolded,
        };
        let case = Case { out: b"a\nb\n".to_vec(), doc: Doc::file(4), frame, rule: None };
        case.scroll(|scroll| {
            assert!(scroll.screen(0).is_empty());
            assert_eq!((scroll.row_at(3), scroll.down(0, 9)), (0, 0));
        });
    }
}
