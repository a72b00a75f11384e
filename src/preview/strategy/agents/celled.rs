//! Both ends of a text in terminal cells: control characters between them go, escape sequences stay in both.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::preview::measure::Text;
use crate::preview::model::{Bit, LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::strategy::{Chosen, Rule, lines_in};
use crate::preview::template::Fact;
use crate::text::ansi;

/// Bytes of text other than ASCII that are split into characters as people see them at a time.
const WINDOW: usize = 1024;

/// Something in a text: its bytes, and the cells that it takes.
struct Item {
    len: usize,
    cells: u64,
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let size = rule.needed(&rule.form.size, "size")?;
    let (first, last) = (rule.needed(&rule.form.head, "head")?, rule.needed(&rule.form.tail, "tail")?);
    text.touch(text.body.clone());
    let mut total = 0;
    walk(text, |_, item| {
        total += item.cells;
        true
    });
    if total <= size {
        return Ok(Chosen { cut: Some(false), ..plan::everything(text) });
    }
    let head = text.body.start..cell(text, first);
    let tail = cell(text, total - last.min(total))..text.body.end;
    let kept = |range: &Range<usize>| text.kept(range.clone());
    let escapes = |range: Range<usize>| escapes(text, range);
    let mut chosen = Chosen {
        lines: Some(Ok(lines_in(text, &head) + lines_in(text, &tail))),
        hit: Some(LimitHit::Size(Unit::Cells)),
        cut: Some(true),
        slots: vec![
            ("head", kept(&head).into_iter().chain(escapes(head.end..text.body.end)).collect()),
            ("tail", escapes(text.body.start..tail.start).into_iter().chain(kept(&tail)).collect()),
        ],
        ..Chosen::default()
    };
    let feeds = text.line_feeds().unwrap_or_else(|_| text.line_feeds_of(text.body.clone()));
    let kept = text.line_feeds_of(head.clone()) + text.line_feeds_of(tail.clone());
    chosen.facts.insert("middle_lines", Fact::Number(feeds.saturating_sub(kept)));
    chosen.ranges = vec![head, tail];
    Ok(chosen)
}

/// Where the first character begins that goes past so many cells.
fn cell(text: &Text, cells: u64) -> usize {
    let (mut sum, mut found) = (0, text.body.end);
    walk(text, |at, item| {
        sum += item.cells;
        if sum > cells {
            found = at;
        }
        sum <= cells
    });
    found
}

/// The escape sequences of a stretch, if it has any.
fn escapes(text: &Text, range: Range<usize>) -> Option<Part> {
    let has_any = memchr::memchr_iter(0x1b, &text.bytes[range.clone()])
        .any(|at| ansi::sequence(&text.bytes[range.start + at..range.end]).is_some());
    has_any.then(|| text.changed(range.clone(), vec![Bit::Escapes(range)]))
}

/// Goes through a text, as long as `see` wants more.
fn walk(text: &Text, mut see: impl FnMut(usize, &Item) -> bool) {
    let mut at = text.body.start;
    while at < text.body.end {
        if is_plain(text, at) {
            if !see(at, &Item { len: 1, cells: 1 }) {
                return;
            }
            at += 1;
            continue;
        }
        for item in items(text, at) {
            if !see(at, &item) {
                return;
            }
            at += item.len;
        }
    }
}

/// Whether a character of ASCII stands alone: nothing follows that may join it.
fn is_plain(text: &Text, at: usize) -> bool {
    let follows = text.bytes[..text.body.end].get(at + 1).copied().unwrap_or_default();
    matches!(text.bytes[at], b' '..=b'~') && follows.is_ascii()
}

/// What begins at a place: one thing, or as many characters as a window holds.
fn items(text: &Text, at: usize) -> Vec<Item> {
    let rest = &text.bytes[at..text.body.end];
    let one = |len, cells| vec![Item { len, cells }];
    if let Some(found) = ansi::sequence(rest) {
        return one(found.len, 0);
    }
    if rest[0] < b' ' || rest[0] == 0x7f { one(1, 0) } else { characters(rest) }
}

/// Characters as people see them, up to the next control character; the last of a full window is left for the next.
fn characters(rest: &[u8]) -> Vec<Item> {
    let window = &rest[..rest.len().min(WINDOW)];
    let end = window.iter().position(|byte| *byte < b' ' || *byte == 0x7f).unwrap_or(window.len());
    let valid = match std::str::from_utf8(&window[..end]) {
        Ok(valid) => valid,
        Err(error) if error.valid_up_to() == 0 => return vec![Item { len: 1, cells: 1 }],
        Err(error) => std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default(),
    };
    let item = |cluster: &str| Item { len: cluster.len(), cells: cluster.width() as u64 };
    let mut found: Vec<_> = valid.graphemes(true).map(item).collect();
    if end == WINDOW && found.len() > 1 {
        found.pop();
    }
    found
}
