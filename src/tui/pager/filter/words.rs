//! Describes the filter in words and figures. Pure.

use crate::human::{lines, thousands};
use crate::text::filter::Shows;
use crate::tui::keys::{Action, KeyContext, KeyMap};

use super::sift::Sift;

/// Returns the conditions as typed: `&error &!debug &lost ±3`.
pub(crate) fn conditions(sift: &Sift) -> String {
    let mut words: Vec<String> =
        sift.conditions.iter().map(|condition| format!("&{}", condition.text())).collect();
    if sift.shows == Shows::Lost {
        words.push("lost lines".into());
    }
    if sift.around > 0 {
        words.push(format!("±{}", sift.around));
    }
    words.join(" ")
}

/// Describes the filter in versions from the longest to the shortest: `&error &!debug · 274 lines, model got 3`. `verb` is what the model
/// does with the lines: `got`, `gets`.
pub(crate) fn summary(sift: &Sift, verb: &str) -> Vec<String> {
    let (words, total) = (conditions(sift), sift.total());
    let shown = thousands(total.shown(sift.shows));
    let all = total.got + total.lost;
    let percent = percent(sift);
    let count = match (percent, sift.shows) {
        (None, Shows::All) => lines(all),
        (Some(percent), Shows::All) => format!("{shown} lines so far, {percent}%"),
        (None, Shows::Lost) => format!("{shown} of {}", lines(all)),
        (Some(percent), Shows::Lost) => format!("{shown} of {} lines so far, {percent}%", thousands(all)),
    };
    let got = match sift.shows {
        Shows::All => format!(", model {verb} {}", thousands(total.got)),
        Shows::Lost => String::new(),
    };
    vec![format!("{words} · {count}{got}"), format!("{words} · {count}"), count]
}

/// Describes a filter that shows no line.
pub(crate) fn blank(sift: &Sift, verb: &str, keys: &KeyMap) -> Option<Vec<String>> {
    if !sift.is_blank() {
        return None;
    }
    let (words, back) = (conditions(sift), keys.of(KeyContext::Pager, Action::Back));
    Some(match (percent(sift), sift.total().got) {
        (Some(percent), _) => vec![format!("{words}: no line so far, {percent}%. {back} gives up.")],
        (None, 0) => vec![format!("{words}: no line."), format!("{back} shows all lines again.")],
        (None, got) => {
            vec![
                format!("{words}: no line. The model {verb} all {}.", thousands(got)),
                format!("{back} goes back."),
            ]
        }
    })
}

/// Returns the text after the last row.
pub(crate) fn end(sift: &Sift) -> String {
    match percent(sift) {
        Some(percent) => format!("filtering, {percent}%"),
        None => "end of the lines shown".into(),
    }
}

/// Returns how much is filtered, in percent of the bytes; `None` if all is.
fn percent(sift: &Sift) -> Option<u64> {
    let index = &sift.index;
    let left = index.pending_bytes() as u64;
    (!index.pending().is_empty()).then(|| 100 - (left * 100).div_ceil(index.len().max(1) as u64))
}
