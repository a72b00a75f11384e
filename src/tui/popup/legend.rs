//! The marks on the screen, as help explains them.

use crate::tui::widget::glyphs::Glyphs;

/// Returns each mark on the screen with its meaning.
pub(crate) fn legend(glyphs: &Glyphs) -> impl Iterator<Item = (String, String)> {
    let Glyphs {
        notice, notice_is, differs, kept, lost, all, some, none, here, error, found, states, ..
    } = glyphs;
    let of_glyphs = [
        (format!("{notice} {notice_is}"), "text that the agent added: the notice, word for word"),
        (
            format!("{differs} at the left"),
            "no policy of the agent makes what was recorded: the call, or this line",
        ),
        (format!("{kept} after a number"), "the model got this line"),
        (format!("{lost} after a number"), "the model did not get this line"),
        (format!("{all} {some} {none} in the map"), "all, some, none of this part of the file was kept"),
        (format!("{here} in the map"), "the position of Spill in the file"),
        (format!("{error} in the map"), "an error"),
        (format!("{found} in the map"), "a match of the search"),
        (format!("{error} {found} at the left"), "a line with an error, or with a warning"),
        (format!("{states} 240 states"), "a progress line: its last state of so many"),
    ];
    let others = [
        ("bold or reversed", "at the left: the current line, on which keys act"),
        ("~ before a number", "approximate: lines are still being counted"),
        ("* in a list", "marked, to act on several"),
        ("^M <9B> reversed", "control bytes and bytes that are not UTF-8, visible"),
        ("^[[1m dim", "an escape sequence as text, as the model got it"),
    ];
    let others = others.map(|(mark, what)| (mark.to_owned(), what));
    of_glyphs.into_iter().chain(others).map(|(mark, what)| (mark, what.to_owned()))
}
