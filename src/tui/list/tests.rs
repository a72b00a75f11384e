//! The laws of a list, over random rows and whatever is done to them.

use jiff::Timestamp;
use proptest::prelude::*;

use crate::rows::column::{CellSide, ListColumn, ListSpec, MOST_FIRST, NAMES, RowCell};
use crate::tui::event::{JUMP, Purpose};
use crate::tui::keys::Action;

use super::{List, ShownRow};

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    id: u32,
    name: String,
    size: u8,
}

static SPEC: ListSpec<Row> = ListSpec {
    noun: "row",
    columns: &[
        ListColumn::new("id", CellSide::Left, 9, |row: &Row, _| RowCell::plain(format!("id{}", row.id)))
            .with_time(|row| (row.size > 0).then(|| minute(row.id)))
            .sorts('i', NAMES, |a, b| a.id.cmp(&b.id)),
        ListColumn::new("name", CellSide::Left, 0, |row: &Row, _| RowCell::plain(row.name.as_str())),
        ListColumn::new("size", CellSide::Right, 9, |row: &Row, _| RowCell::plain(format!("{}B", row.size)))
            .sorts('s', MOST_FIRST, |a, b| b.size.cmp(&a.size)),
    ],
    groups: &[|row| row.name.clone()],
    words: &[("large", |row, _| row.size > 3)],
    known: |row| format!("known{}", row.id % 3),
    key: |row| row.id.into(),
    sum: |rows| format!("{} B", rows.map(|row| u64::from(row.size)).sum::<u64>()),
    mark: |_| RowCell::default(),
};

/// Returns a time so many minutes after the first.
fn minute(minutes: u32) -> Timestamp {
    Timestamp::from_second(60 * i64::from(minutes)).expect("a time")
}

/// What is done to a list.
#[derive(Debug, Clone)]
enum Step {
    Move(Action, Option<u64>),
    Sort(usize),
    Group,
    Mark,
    MarkAll,
    Filter(&'static str),
    /// Typed, and given up.
    TryFilter(&'static str),
    EndFilter,
    Refresh(Vec<Row>),
    Extend(Vec<Row>),
    Change(u32, u8),
    Resize(usize),
    Follow,
    EndFollowing,
}

fn row() -> impl Strategy<Value = Row> {
    let names = prop::sample::select(vec!["Alpha", "beta", "gamma ray"]);
    (0..40u32, names, 0..6u8).prop_map(|(id, name, size)| Row { id, name: name.to_owned(), size })
}

/// Rows with distinct ids.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(row(), 0..30).prop_map(|mut rows| {
        let mut known = std::collections::HashSet::new();
        rows.retain(|row| known.insert(row.id));
        rows
    })
}

fn step() -> impl Strategy<Value = Step> {
    let filters = prop::sample::select(vec![
        "",
        "alpha",
        "large",
        "name:beta",
        "1",
        "ray gam",
        "known2",
        "no such row",
    ]);
    let moves =
        prop::sample::select(vec![Action::Down, Action::Up, Action::PageDown, Action::End, Action::Start]);
    prop_oneof![
        (moves, prop::option::of(1..9u64)).prop_map(|(action, count)| Step::Move(action, count)),
        (0..2usize).prop_map(Step::Sort),
        Just(Step::Group),
        Just(Step::Mark),
        Just(Step::MarkAll),
        filters.clone().prop_map(Step::Filter),
        filters.prop_map(Step::TryFilter),
        Just(Step::EndFilter),
        rows().prop_map(Step::Refresh),
        rows().prop_map(Step::Extend),
        (0..40u32, 0..6u8).prop_map(|(id, size)| Step::Change(id, size)),
        (1..12usize).prop_map(Step::Resize),
        Just(Step::Follow),
        Just(Step::EndFollowing),
    ]
}

fn carry_out(list: &mut List<Row>, step: Step) {
    match step {
        Step::Move(action, count) => drop(list.act(action, count)),
        Step::Sort(column) => list.sort_by(column),
        Step::Mark => list.toggle_marks(None),
        Step::MarkAll => list.toggle_all(),
        Step::Group => list.group_next(),
        Step::Filter(words) => {
            list.start_filter();
            list.filter_by(words);
        }
        Step::TryFilter(words) => {
            list.start_filter();
            list.filter_by(words);
            list.give_up_filter();
        }
        Step::EndFilter => list.end_filter(),
        Step::Refresh(rows) => list.set_rows(rows),
        Step::Extend(mut rows) => {
            let last = list.rows().iter().map(|row| row.id).max().unwrap_or(0);
            rows.iter_mut().zip(last + 1..).for_each(|(row, id)| row.id = id);
            rows.truncate(35usize.saturating_sub(list.rows().len()));
            list.extend(rows);
        }
        Step::Change(id, size) => {
            let at = list.rows().iter().position(|row| row.id == id);
            list.change(at.map(|at| (at, size)), |row, size| row.size = size);
        }
        Step::Resize(height) => list.resize(80, height),
        Step::Follow => drop(list.follow()),
        Step::EndFollowing => drop(list.end_following()),
    }
}

/// Returns the ids of the rows that are shown.
fn shown(list: &List<Row>) -> Vec<u32> {
    list.shown.order.iter().map(|n| list.rows[*n as usize].id).collect()
}

/// Returns the ids of the rows that are marked, in order.
fn marked(list: &List<Row>) -> Vec<u32> {
    let mut ids: Vec<u32> = list.marks.iter().map(|n| list.rows[*n as usize].id).collect();
    ids.sort_unstable();
    ids
}

/// Does what a worker does.
fn work(list: &mut List<Row>) {
    while let Some(task) = list.task.take() {
        let arranged = task.run(None, &|| true).expect("it is wanted");
        list.on_arrangement(arranged);
    }
}

#[test]
fn ending_a_filter_returns_to_the_old_row_unless_one_was_used() {
    let row = |id, name: &str| Row { id, name: name.to_owned(), size: 0 };
    let mut list = List::new(&SPEC);
    list.resize(80, 6);
    list.set_rows(vec![row(0, "Alpha"), row(1, "beta"), row(2, "beta")]);
    let filtered = |list: &mut List<Row>| {
        list.choose(0);
        list.start_filter();
        list.filter_by("beta");
        assert_eq!(list.chosen_index(), Some(1));
    };
    filtered(&mut list);
    list.end_filter();
    assert_eq!(list.chosen_index(), Some(0));
    filtered(&mut list);
    list.stay();
    list.end_filter();
    assert_eq!(list.chosen_index(), Some(1), "it was opened");
    filtered(&mut list);
    list.act(Action::Down, None);
    list.end_filter();
    assert_eq!(list.chosen_index(), Some(2), "it was selected");
}

#[test]
fn a_motion_stays_in_the_list_and_on_the_screen() {
    let mut list = List::new(&SPEC);
    list.resize(80, 10);
    list.set_rows((0..100).map(|id| Row { id, name: "a".to_owned(), size: 0 }).collect::<Vec<_>>());
    let place = |list: &List<Row>| (list.chosen, list.chosen_on_screen());
    for (action, count, expected) in [
        (Action::End, None, (99, 9)),
        (Action::Up, Some(9), (90, 0)),
        (Action::Up, None, (89, 0)),
        (Action::PageDown, Some(u64::MAX), (99, 9)),
        (Action::Start, Some(5), (4, 0)),
    ] {
        assert!(list.act(action, count));
        assert_eq!(place(&list), expected, "{action:?}");
    }
    assert!(!list.act(Action::Open, None));
    assert_eq!((list.go_to(" 12 "), list.go_to("x").is_err()), (Ok(()), true));
    assert_eq!(list.chosen + 1, 12);
}

#[test]
fn a_mark_returns_to_its_row_even_if_the_row_moved() {
    let row = |id| Row { id, name: if id == 1 { "Alpha" } else { "beta" }.into(), size: 0 };
    let mut list = List::new(&SPEC);
    list.resize(80, 6);
    list.set_rows((1..9).map(row).collect::<Vec<_>>());
    let back_to = |list: &mut List<Row>, name| {
        (list.enter(Purpose::ToMark, name).is_ok(), list.chosen().map(|row| row.id))
    };
    assert_eq!(back_to(&mut list, JUMP), (false, Some(1)), "there was no jump yet");
    list.act(Action::Down, Some(2));
    list.enter(Purpose::Mark, "x").unwrap();
    list.act(Action::End, None);
    list.set_rows((0..9).map(row).collect::<Vec<_>>());
    assert_eq!(back_to(&mut list, "x"), (true, Some(3)));
    assert_eq!(back_to(&mut list, JUMP), (true, Some(8)), "where it was before");
    assert_eq!(back_to(&mut list, JUMP), (true, Some(3)), "and back");
    list.go_to("1").unwrap();
    list.act(Action::Down, None);
    assert_eq!(back_to(&mut list, JUMP), (true, Some(3)), "steps are no jumps");
    list.filter_by("alpha");
    assert_eq!(back_to(&mut list, "x"), (false, Some(1)), "it is not shown");
    assert_eq!(list.go_to("n"), Err("n and p lead to other files from an output, not from a list".into()));
}

#[test]
fn grouping_keeps_the_selected_row_and_a_near_heading_visible() {
    let mut list = List::new(&SPEC);
    list.resize(80, 6);
    let row = |id| Row { id, name: if id < 12 { "alpha" } else { "beta" }.into(), size: 1 };
    list.set_rows((0..24).map(row).collect::<Vec<_>>());
    for (chosen, shows_heading) in [(0, true), (2, true), (4, true), (9, false), (15, true)] {
        list.choose(chosen);
        list.group_next();
        let is_heading = |shown: ShownRow| matches!(shown, ShownRow::Heading(_));
        assert_eq!(list.on_screen().any(is_heading), shows_heading, "{chosen}");
        assert!(list.rows_on_screen().any(|row| row == chosen), "{chosen}");
        list.group_next();
    }
}

#[test]
fn a_time_leads_to_the_latest_row_that_is_not_after_it() {
    let mut list = List::new(&SPEC);
    list.resize(80, 6);
    list.look.now = minute(60);
    let row =
        |id| Row { id, name: if id % 4 == 0 { "Alpha" } else { "beta" }.into(), size: u8::from(id != 12) };
    list.set_rows((0..30).map(|n| row(2 * n)).collect::<Vec<_>>());
    let row_of = |list: &mut List<Row>, text: &str| {
        list.go_to(text)?;
        Ok::<_, String>(list.chosen().map(|row| row.id))
    };
    for reversed in [false, true] {
        assert_eq!(list.sort(), (0, reversed));
        assert_eq!(row_of(&mut list, "50m"), Ok(Some(10)));
        assert_eq!(row_of(&mut list, "49 min"), Ok(Some(10)));
        assert_eq!(row_of(&mut list, "48 min"), Ok(Some(10)), "the time of the next is not known");
        assert_eq!(row_of(&mut list, "0s"), Ok(Some(58)));
        list.sort_by(0);
    }
    list.filter_by("alpha");
    assert_eq!(row_of(&mut list, "50m"), Ok(Some(8)), "of those shown");
    assert_eq!(row_of(&mut list, "2 h"), Err("no row is as old as 2 h".to_owned()));
    let neither = "'soon' is neither a row (120, 50%) nor a time (14:30, 2026-11-24, 3d)";
    assert_eq!(row_of(&mut list, "soon"), Err(neither.to_owned()));
    list.sort_by(1);
    assert_eq!(row_of(&mut list, "50m"), Err("sorted by size: sort by id to go to a time".to_owned()));
    assert_eq!(row_of(&mut list, "1"), Ok(Some(0)), "a number is that of a row");
}

#[test]
fn following_ends_with_a_move_or_a_return_to_newer_rows() {
    let rows = |ids: std::ops::Range<u32>| -> Vec<Row> {
        ids.map(|id| Row { id, name: "beta".into(), size: 5 }).collect()
    };
    let mut list = List::new(&SPEC);
    list.resize(80, 6);
    list.set_rows(rows(10..20));
    list.sort_by(1);
    list.act(Action::Down, None);
    assert!(list.follow(), "the order was another one");
    assert_eq!((list.sort(), list.chosen_index()), ((0, false), Some(0)));
    assert!(!list.follow(), "it is the same by now");
    let chosen_of = |list: &mut List<Row>, first: u32| {
        list.set_rows(rows(first..20));
        list.chosen().map(|row| row.id)
    };
    assert_eq!(chosen_of(&mut list, 9), Some(9));
    list.cover();
    assert_eq!(chosen_of(&mut list, 9), Some(9));
    assert_eq!(chosen_of(&mut list, 8), Some(8), "nothing had come in meanwhile, so it follows on");
    list.cover();
    assert_eq!((chosen_of(&mut list, 7), list.is_following()), (Some(8), false));
    list.follow();
    list.act(Action::Down, None);
    assert_eq!((chosen_of(&mut list, 6), list.is_following()), (Some(8), false));
    list.follow();
    list.act(Action::Start, None);
    assert_eq!((chosen_of(&mut list, 5), list.is_following()), (Some(5), true));
    list.sort_by(0);
    assert!(!list.is_following(), "in the other direction the new ones come last");
}

proptest! {
    #[test]
    fn a_following_list_selects_its_first_row(first in rows(), steps in prop::collection::vec(step(), 0..40)) {
        let mut list = List::new(&SPEC);
        list.resize(80, 6);
        list.set_rows(first);
        for step in steps {
            let ends = matches!(step, Step::Move(..) | Step::Mark | Step::Sort(_) | Step::EndFollowing);
            let follows = list.is_following() && !ends || matches!(step, Step::Follow);
            carry_out(&mut list, step.clone());
            prop_assert!(list.is_following() || !follows, "after {:?}", step);
            if list.is_following() {
                prop_assert_eq!((list.chosen + 1, list.sort()), (1, (0, false)), "after {:?}", step);
            }
        }
    }

    #[test]
    fn a_worker_arranges_rows_as_the_list_itself_does(first in rows(), steps in prop::collection::vec(step(), 0..40)) {
        let (mut at_once, mut late) = (List::new(&SPEC), List::new(&SPEC));
        late.at_once = 0;
        for list in [&mut at_once, &mut late] {
            list.resize(80, 6);
            list.set_rows(first.clone());
            work(list);
        }
        for step in steps {
            for list in [&mut at_once, &mut late] {
                carry_out(list, step.clone());
                work(list);
            }
            prop_assert_eq!(shown(&at_once), shown(&late), "after {:?}", step);
            prop_assert_eq!(at_once.chosen(), late.chosen(), "after {:?}", step);
            prop_assert_eq!(at_once.sum(), late.sum(), "after {:?}", step);
            prop_assert_eq!(marked(&at_once), marked(&late), "after {:?}", step);
        }
    }

    #[test]
    fn a_list_stays_consistent_while_a_worker_arranges_it(
        first in rows(),
        steps in prop::collection::vec((step(), any::<bool>()), 0..40),
    ) {
        let mut list = List::new(&SPEC);
        list.at_once = 0;
        list.resize(80, 6);
        list.set_rows(first);
        // Whether the steps that wait lead to another row.
        let mut leads_elsewhere = false;
        for (step, is_done) in steps {
            let before = list.chosen().map(|row| row.id);
            let filter = matches!(step, Step::Filter(_) | Step::TryFilter(_) | Step::EndFilter);
            leads_elsewhere |= filter || matches!(step, Step::Move(..) | Step::Mark) || list.is_following();
            carry_out(&mut list, step.clone());
            leads_elsewhere |= list.is_following();
            if is_done {
                work(&mut list);
                prop_assert!(!list.is_awaited());
                let shown = shown(&list);
                if let Some(before) = before.filter(|id| !leads_elsewhere && shown.contains(id)) {
                    prop_assert_eq!(list.chosen().map(|row| row.id), Some(before), "after {:?}", step);
                }
                leads_elsewhere = false;
            }
            let on_screen: Vec<ShownRow> = list.on_screen().collect();
            if let Some(chosen) = list.chosen_index() {
                prop_assert_eq!(on_screen[list.chosen_on_screen()], ShownRow::Row(chosen));
            }
        }
    }

    #[test]
    fn the_same_row_stays_selected_and_visible(first in rows(), steps in prop::collection::vec(step(), 0..40)) {
        let mut list = List::new(&SPEC);
        list.resize(80, 6);
        list.set_rows(first);
        for step in steps {
            let before = list.chosen().map(|row| row.id);
            // A filter that is ended leads back to the row before it.
            let is_move = matches!(step, Step::Move(..) | Step::Mark | Step::EndFilter | Step::Follow);
            let is_led = list.is_following() && !matches!(step, Step::Sort(_));
            let marked = marked(&list);
            carry_out(&mut list, step.clone());
            let (now, shown) = (list.chosen().map(|row| row.id), shown(&list));
            prop_assert_eq!(now.is_none(), shown.is_empty());
            if !matches!(step, Step::Mark | Step::MarkAll) {
                let there: Vec<u32> = marked.into_iter().filter(|id| list.rows().iter().any(|row| row.id == *id)).collect();
                prop_assert_eq!(self::marked(&list), there, "after {:?}", step);
            }
            if let Some(before) = before.filter(|id| !is_move && !is_led && shown.contains(id)) {
                prop_assert_eq!(now, Some(before), "after {:?}", step);
            }
            let on_screen: Vec<ShownRow> = list.on_screen().collect();
            prop_assert!(on_screen.len() <= list.height);
            let all = list.shown.order.len() + list.shown.headings.len();
            prop_assert_eq!(on_screen.len(), all.min(list.height), "no blank rows while there are others");
            if let Some(chosen) = list.chosen_index() {
                prop_assert_eq!(on_screen[list.chosen_on_screen()], ShownRow::Row(chosen));
            }
        }
    }

    #[test]
    fn every_word_that_a_row_shows_finds_it(rows in rows(), at in any::<prop::sample::Index>()) {
        prop_assume!(!rows.is_empty());
        let row = at.get(&rows).clone();
        let mut list = List::new(&SPEC);
        list.set_rows(rows);
        let words = SPEC.columns.iter().map(|column| (column.cell)(&row, &list.look).text.to_string());
        let words: Vec<String> = words.flat_map(|text| text.split(' ').map(str::to_owned).collect::<Vec<_>>()).collect();
        for words in words.iter().chain([&words.join(" ")]) {
            list.start_filter();
            list.filter_by(&words.to_uppercase());
            prop_assert!(shown(&list).contains(&row.id), "{}", words);
        }
    }

    #[test]
    fn rows_are_grouped_under_their_heading_and_none_is_missing(rows in rows(), column in 0..2usize) {
        let mut list = List::new(&SPEC);
        list.resize(80, 1000);
        let mut ids: Vec<u32> = rows.iter().map(|row| row.id).collect();
        list.set_rows(rows);
        list.sort_by(column);
        list.group_next();
        let (mut group, mut seen) = (String::new(), Vec::new());
        for shown in list.on_screen() {
            match shown {
                ShownRow::Heading([name, ..]) => group = name.to_string(),
                ShownRow::Row(n) => {
                    prop_assert_eq!(&list.rows[n].name, &group);
                    seen.push(list.rows[n].id);
                }
            }
        }
        seen.sort_unstable();
        ids.sort_unstable();
        prop_assert_eq!(seen, ids);
    }
}
