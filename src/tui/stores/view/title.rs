//! Draws the line above the list: how much is stored and overdue, the filter, the disk, the order.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::human::{count, size, thousands};
use crate::store::Space;
use crate::text::label::SafeText;
use crate::tui::stores::StoresScreen;
use crate::tui::stores::sort_columns::column;
use crate::tui::widget::line::{self, Span};

/// Draws it. Of what stands at the right, the part that fits; a filter always, because with one the list is incomplete.
pub(super) fn draw(screen: &StoresScreen, frame: &mut Frame, area: Rect) {
    let (theme, glyphs) = (&screen.canvas.theme, screen.canvas.glyphs());
    let left = left(screen);
    line::spans(frame.buffer_mut(), area, &left);
    let taken = line::width(&left);
    let room = usize::from(area.width).saturating_sub(taken + 3);
    let filter = filter(screen);
    for rest in right(screen) {
        let right = [Span::new(format!("{filter}   "), theme.accent), Span::new(rest, theme.dim)];
        let right = if filter.is_empty() { &right[1..] } else { &right[..] };
        if line::width(right) <= room {
            return line::right(frame.buffer_mut(), area, taken, right);
        }
    }
    let filter = Span::new(line::head(format!("{filter} "), room, glyphs), theme.accent);
    line::right(frame.buffer_mut(), area, taken, &[filter]);
}

/// How much there is; with a filter, how much of it is shown.
fn left(screen: &StoresScreen) -> Vec<Span> {
    let (listing, theme) = (&screen.listing, &screen.canvas.theme);
    let sums = listing.entries().sums;
    let words = match listing.filter_text() {
        "" => format!("   {} · {}", count(sums.entries, "output"), size(sums.bytes)),
        _ => {
            let shown = listing.shown().by_agent.values();
            let (entries, bytes) = shown.fold((0, 0), |(entries, bytes): (u64, u64), sums| {
                (entries + sums.entries, bytes.saturating_add(sums.bytes))
            });
            let found = format!("   {} of {}", thousands(entries), thousands(sums.entries));
            match listing.searched_percent() {
                Some(percent) => format!("{found} · searching first lines {percent}%"),
                None => format!("{found} · {}", size(bytes)),
            }
        }
    };
    let mut title = vec![Span::new(" Stores", theme.active), Span::plain(words)];
    if sums.overdue > 0 && listing.filter_text().is_empty() {
        let words = format!(" · overdue {}, {}", thousands(sums.overdue), size(sums.overdue_bytes));
        title.push(Span::new(words, theme.warning));
    }
    title
}

fn filter(screen: &StoresScreen) -> SafeText {
    match screen.listing.filter_text() {
        "" => SafeText::default(),
        words => format!("filter: {words}").into(),
    }
}

/// What stands at the right, the longest form first.
fn right(screen: &StoresScreen) -> Vec<String> {
    let listing = &screen.listing;
    let disk = |words: fn(Space) -> String| listing.space.map_or(String::new(), words);
    let free = disk(|space| format!("disk: {} free   ", size(space.free)));
    let whole = disk(|space| format!("disk: {} of {} free   ", size(space.free), size(space.total)));
    let name = format!("sort: {}", column(listing.sort()).name);
    let full = format!("{name}, {} ", column(listing.sort()).order(listing.is_reversed()));
    let short = if listing.is_reversed() { format!("{name} reversed ") } else { format!("{name} ") };
    vec![whole + &full, free.clone() + &full, free + &short, full, short]
}
