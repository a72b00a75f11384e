//! Facts about the output that is looked at, in a box.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use crate::human::{count, lines, size, thousands, tokens};
use crate::text::label::label;
use crate::tui::pager::describe;
use crate::tui::pager::output::OpenOutput;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::{layout, line};

/// Columns of the facts' names.
const NAMES: usize = 12;

fn facts(output: &OpenOutput) -> Vec<(&'static str, String)> {
    let unknown = || "still being counted".to_owned();
    let mut facts = vec![
        ("file", output.saved_as.clone()),
        ("size", format!("{} ({})", size(output.view.len() as u64), count(output.view.len() as u64, "byte"))),
        ("lines", output.lines().map_or_else(unknown, lines)),
        ("policy", output.policy.name().to_owned()),
        ("limits", format!("{} (from {})", output.limits(), output.limits_from)),
        ("versions", label(output.policy.version().as_bytes())),
        (
            "known from",
            format!("{} · confidence {}", output.policy.source(), output.policy.confidence().as_str()),
        ),
        ("verdict", describe::verdict(output)),
    ];
    if let Ok(preview) = &output.preview {
        let kept = |kept: Option<u64>, total: Option<u64>| match (kept, total) {
            (Some(kept), Some(total)) => format!("{} of {}", thousands(kept), thousands(total)),
            (Some(kept), None) => thousands(kept),
            (None, _) => unknown(),
        };
        let lines = kept(preview.kept_lines, preview.total_lines);
        facts.push(("lines kept", format!("{lines}, as the agent counts")));
        facts.push(("bytes kept", kept(preview.kept_bytes, preview.total_bytes)));
        facts.push((
            "tokens",
            preview
                .kept_bytes
                .map_or_else(unknown, |bytes| format!("{} kept, at 4 bytes each", tokens(bytes))),
        ));
    }
    facts.retain(|(_, text)| !text.is_empty());
    facts.extend(output.warnings().iter().map(|warning| ("warning", label(warning.text.as_bytes()))));
    facts
}

/// Draws the box.
pub fn draw(canvas: &Canvas, output: &OpenOutput, frame: &mut Frame, area: Rect) {
    let facts = facts(output);
    let longest = facts.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0) as u16;
    let room = usize::from(area.width).saturating_sub(NAMES + 6).max(1);
    let facts: Vec<_> = facts.iter().flat_map(|(name, text)| folded(name, text, room)).collect();
    let place = layout::overlay(area, longest.saturating_add(18), facts.len() as u16 + 2);
    Clear.render(place, frame.buffer_mut());
    let block = Block::bordered().title(" Facts ").title_bottom(" Esc back ").border_style(canvas.theme.dim);
    let inner = block.inner(place);
    block.render(place, frame.buffer_mut());
    for (n, (name, text)) in facts.iter().take(usize::from(inner.height)).enumerate() {
        let at = Rect { y: inner.y + n as u16, height: 1, ..inner };
        line::spans(
            frame.buffer_mut(),
            at,
            &[(format!(" {name:<NAMES$} "), canvas.theme.dim), (text.clone(), Style::new())],
        );
    }
}

/// A fact on as many rows as it takes, between words where a row's second half has a space.
fn folded<'a>(name: &'a str, text: &str, room: usize) -> Vec<(&'a str, String)> {
    let letters: Vec<char> = text.chars().collect();
    let (mut rows, mut rest) = (Vec::new(), &letters[..]);
    while rest.len() > room {
        let space = rest[..room].iter().rposition(|letter| *letter == ' ').filter(|at| *at >= room / 2);
        let (row, more) = rest.split_at(space.map_or(room, |at| at + 1));
        rows.push(row);
        rest = more;
    }
    rows.push(rest);
    let text = |row: &[char]| row.iter().collect::<String>().trim_end().to_owned();
    rows.into_iter().enumerate().map(|(n, row)| (if n == 0 { name } else { "" }, text(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_folded_between_words_and_a_path_where_it_must_be() {
        let rows = |text: &str| folded("n", text, 10).into_iter().map(|(_, row)| row).collect::<Vec<_>>();
        assert_eq!(rows("one three seven"), ["one three", "seven"]);
        assert_eq!(rows("/a/path/that/is/long"), ["/a/path/th", "at/is/long"]);
        assert_eq!(rows("a /path/that"), ["a /path/th", "at"]);
        assert_eq!(rows("short"), ["short"]);
    }
}
