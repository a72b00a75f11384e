//! Draws the facts about the output being viewed, in a box.

use std::any::Any;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation;

use crate::human::{count, lines, size, thousands, tokens};
use crate::known::Certainty;
use crate::session::model::Evidence;
use crate::text::label::{SafeText, columns_of, head};
use crate::text::utf16::ByteOrder;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::Pager;
use crate::tui::pager::describe;
use crate::tui::pager::output::OpenOutput;
use crate::tui::recorded::{RecordedCall, RestOfOutput};
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, box_action};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::{frame, layout};

/// The columns reserved for the names of facts.
const NAMES: usize = 12;

fn facts(output: &OpenOutput) -> Vec<(&'static str, SafeText)> {
    let unknown = || "still being counted".to_owned();
    let mut facts = vec![
        ("file", output.subject.context.saved_as.clone()),
        ("size", format!("{} ({})", size(output.view.len() as u64), count(output.view.len() as u64, "byte"))),
        ("text", output.utf16().map(ByteOrder::words).unwrap_or_default().to_owned()),
        ("lines", output.lines().map_or_else(unknown, lines)),
        ("certainty", certainty(output).to_owned()),
        ("policy", output.policy().name().to_owned()),
        ("limits", limits(output)),
        ("versions", output.policy().version().to_owned()),
        ("known from", format!("{} · {}", output.policy().source(), output.policy().confidence().words())),
        ("verdict", describe::verdict(output)),
    ];
    if let Ok(preview) = &output.preview {
        let kept = |kept: Option<u64>, total: Option<u64>| match (kept, total) {
            (Some(kept), Some(total)) => format!("{} of {}", thousands(kept), thousands(total)),
            (Some(kept), None) => thousands(kept),
            (None, _) => unknown(),
        };
        let lines = kept(preview.kept_lines, preview.total_lines);
        let by = if output.shown_record().is_some() { "`less`" } else { "the agent" };
        facts.push(("lines kept", format!("{lines}, as {by} counts")));
        facts.push(("bytes kept", kept(preview.kept_bytes, preview.total_bytes)));
        facts.push((
            "tokens",
            preview
                .kept_bytes
                .map_or_else(unknown, |bytes| format!("{} kept, at 4 bytes each", tokens(bytes))),
        ));
    }
    if let Some(recorded) = &output.recorded {
        facts.splice(0..0, of_record(recorded));
    }
    facts.retain(|(_, text)| !text.is_empty());
    facts.extend(output.warnings().iter().map(|warning| ("warning", warning.text.clone())));
    facts.into_iter().map(|(name, text)| (name, text.into())).collect()
}

/// Returns the limits and where they come from.
fn limits(output: &OpenOutput) -> String {
    let limits = output.limits();
    match output.what_if() {
        Some(_) => format!("{limits} (chosen here)"),
        None => format!("{limits} (from {})", output.subject.policy.origin()),
    }
}

/// Says how certain it is that the model got the preview that is shown.
fn certainty(output: &OpenOutput) -> &'static str {
    match output.certainty() {
        Certainty::Recorded if output.recorded.is_some() => "recorded by the agent",
        Certainty::Recorded => "recorded: overspill printed it, and saved how it was cut",
        Certainty::Reconstructed => "reconstructed: a policy of the agent that stored the output makes it",
        Certainty::WouldGet if output.what_if().is_some() => {
            "would get: the policy or its limits were changed here"
        }
        Certainty::WouldGet => "would get: no agent is known to have cut this output so",
    }
}

/// Returns what is known of a recorded result: what the evidence is, and what the records say of the call.
fn of_record(recorded: &RecordedCall) -> Vec<(&'static str, String)> {
    let evidence = match recorded.evidence {
        Evidence::Sent => "sent: the request that carried it is in the records",
        Evidence::Recorded => "recorded: the agent's history holds it",
        Evidence::Rendered => "rendered: recorded, with what the agent is known to add when it sends it",
    };
    let mut facts = vec![
        ("evidence", evidence.to_owned()),
        ("recorded by", recorded.by.clone()),
        ("compared", recorded.check_in_words()),
    ];
    if let RestOfOutput::Missing(why) = recorded.rest {
        facts.push(("missing", why.to_owned()));
    }
    facts.extend(recorded.facts.iter().cloned());
    facts
}

/// The box of facts about the output that is shown.
pub(crate) struct FactsBox;

impl Layer for FactsBox {
    /// Any key that does something elsewhere closes it.
    fn key(&mut self, key: KeyEvent, mut on: LayerContext) -> LayerNext {
        box_action(key, &mut on).map_or_else(|next| next, |_| LayerNext::Closes)
    }

    fn draw(&self, look: LayerFrame) {
        if let Some(pager) = (look.below as &dyn Any).downcast_ref::<Pager>() {
            let area = look.frame.area();
            draw(&pager.canvas, &pager.output, look.frame, area);
        }
    }
}

/// Draws the box of facts.
fn draw(canvas: &Canvas, output: &OpenOutput, frame: &mut Frame, area: Rect) {
    let facts = facts(output);
    let longest = facts.iter().map(|(_, text)| text.columns()).max().unwrap_or(0) as u16;
    let room = usize::from(area.width).saturating_sub(NAMES + 6).max(1);
    let facts: Vec<_> = facts.iter().flat_map(|(name, text)| folded(name, text, room)).collect();
    let place = layout::overlay(area, longest.saturating_add(18), facts.len() as u16 + 2);
    let back = canvas.keys.of(KeyContext::Pager, Action::Back);
    let inner = frame::draw(canvas, frame, place, " Facts ", format!(" {back} back "));
    for (n, (name, text)) in facts.iter().take(usize::from(inner.height)).enumerate() {
        let at = Rect { y: inner.y + n as u16, height: 1, ..inner };
        let name = Span::new(format!(" {name:<NAMES$} "), canvas.theme.dim);
        line::spans(frame.buffer_mut(), at, &[name, Span::plain(*text)]);
    }
}

/// Folds a fact into rows of at most `room` columns. A row ends at a space if there is one in its second half. A
/// character wider than a row gets a row of its own.
fn folded<'a>(name: &'a str, text: &'a SafeText, room: usize) -> Vec<(&'a str, &'a str)> {
    let (mut rows, mut rest) = (Vec::new(), &**text);
    while columns_of(rest) > room {
        let wide = || rest.graphemes(true).next().unwrap_or(rest);
        let fitting = Some(head(rest, room)).filter(|row| !row.is_empty()).unwrap_or_else(wide);
        let space = fitting.rfind(' ').filter(|at| columns_of(&fitting[..*at]) >= room / 2);
        let (row, more) = rest.split_at(space.map_or(fitting.len(), |at| at + 1));
        rows.push(row);
        rest = more;
    }
    if rows.is_empty() || !rest.is_empty() {
        rows.push(rest);
    }
    rows.into_iter().enumerate().map(|(n, row)| (if n == 0 { name } else { "" }, row.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, room: usize) -> Vec<String> {
        let text = SafeText::from(text);
        folded("n", &text, room).into_iter().map(|(_, row)| row.to_owned()).collect()
    }

    #[test]
    fn prose_is_folded_between_words_and_a_path_where_it_must_be() {
        let rows = |text: &str| rows(text, 10);
        assert_eq!(rows("one three seven"), ["one three", "seven"]);
        assert_eq!(rows("/a/path/that/is/long"), ["/a/path/th", "at/is/long"]);
        assert_eq!(rows("a /path/that"), ["a /path/th", "at"]);
        assert_eq!(rows("short"), ["short"]);
    }

    #[test]
    fn wide_text_is_folded_by_columns() {
        assert_eq!(rows("日本語のファイル名", 10), ["日本語のフ", "ァイル名"]);
        assert_eq!(rows("/a/日本語のファイル", 10), ["/a/日本語", "のファイル"], "no half of a character");
        assert_eq!(rows("日本語 のファイル", 10), ["日本語", "のファイル"]);
        assert_eq!(rows("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
        assert_eq!(rows("日本", 1), ["日", "本"]);
    }
}
