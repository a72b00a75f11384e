//! The questions asked before something is lost: whether to stop the command, or to delete what is marked.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

use crate::base::human::{count, size, thousands};
use crate::store::Pending;
use crate::text::label::SafeText;
use crate::tui::keys::Action;
use crate::tui::screen::{ExitChoice, Layer, LayerContext, LayerFrame, LayerNext, ScreenRequest};
use crate::tui::widget::line::{self, Span};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaving {
    /// Whether to stop the command; what else is chosen already.
    Command(ExitChoice),
    Deletions {
        outputs: usize,
        /// How many of them the list does not show, under its filter; 0 when the screens are left.
        hidden: usize,
        bytes: u64,
        /// Name and agent of a single output as listed; empty for several.
        name: SafeText,
        agent: SafeText,
        /// What else is chosen for leaving; `None` if the screens are not left.
        leaves: Option<ExitChoice>,
    },
}

/// With less room than this, in columns, the name of an output is left out.
const MIN_NAME: usize = 12;

impl Layer for Leaving {
    fn has_status_row(&self) -> bool {
        true
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        let interrupts = on.canvas.keys.action(on.below.context(), key) == Some(Action::Interrupt);
        if interrupts || key.code == KeyCode::Esc {
            return LayerNext::Closes;
        }
        let Some(is_yes) = answer(key) else { return LayerNext::Stays };
        let request = match self {
            Self::Command(choice) => {
                ScreenRequest::Leave(ExitChoice { stop_command: Some(is_yes), ..*choice })
            }
            Self::Deletions { leaves: Some(choice), .. } => {
                ScreenRequest::Leave(ExitChoice { delete_marked: Some(is_yes), ..*choice })
            }
            Self::Deletions { leaves: None, .. } if is_yes => ScreenRequest::DeleteMarked,
            Self::Deletions { leaves: None, .. } => return LayerNext::Closes,
        };
        on.effects.request(request);
        LayerNext::Closes
    }

    fn draw(&self, look: LayerFrame) {
        let (theme, status, buffer) = (&look.canvas.theme, look.status, look.frame.buffer_mut());
        let [what, keys] = self.describe(status.width.into());
        let [what, keys] = [Span::new(what, theme.warning), Span::new(keys, theme.accent)];
        let [margin, gap] = [" ", "  "].map(Span::plain);
        let row = [margin.clone(), what.clone(), gap, keys.clone()];
        if line::width(&row) <= status.width.into() {
            return line::spans(buffer, status, &row);
        }
        let above = Rect { y: status.y.saturating_sub(1), ..status };
        // What stood there, a dim rule perhaps, is hidden.
        let (text, style) =
            (what.text.padded(status.width.into()), what.style.remove_modifier(Modifier::DIM));
        line::spans(buffer, above, &[margin.clone(), Span { text, style }]);
        line::spans(buffer, status, &[margin, keys]);
    }
}

impl Leaving {
    pub(crate) fn deletions(pending: &Pending, hidden: usize, leaves: Option<ExitChoice>) -> Self {
        let only = pending.only().map(|only| (only.called.clone(), only.entry.agent().into()));
        let (outputs, bytes, (name, agent)) = (pending.len(), pending.bytes(), only.unwrap_or_default());
        Self::Deletions { outputs, hidden, bytes, name, agent, leaves }
    }

    /// Returns the question as it is asked on so many columns, and the keys that answer it.
    fn describe(&self, columns: usize) -> [SafeText; 2] {
        match self {
            Self::Command(_) => ["Stop the command?".into(), "y stop · n let it end · Esc stay".into()],
            Self::Deletions { outputs, hidden, bytes, name, agent, leaves } => {
                let keys =
                    if leaves.is_some() { "y delete · n keep · Esc stay" } else { "y delete · n keep" };
                let bytes = size(*bytes);
                let unseen = match *hidden {
                    0 => String::new(),
                    hidden if hidden == *outputs => ", not shown".to_owned(),
                    hidden => format!(", {} not shown", thousands(hidden as u64)),
                };
                let beside = keys.width() + bytes.width() + agent.columns() + unseen.width();
                let room = columns.saturating_sub(beside + 17);
                let what = match name.is_empty() || room < MIN_NAME {
                    true => format!("{} (", count(*outputs as u64, "output")),
                    false => format!("{} ({agent}, ", name.clone().head(room)),
                };
                match SafeText::from(format!("Delete {what}{bytes}){unseen}?")) {
                    long if long.columns() >= columns => {
                        [format!("Delete {}{unseen}?", count(*outputs as u64, "output")).into(), keys.into()]
                    }
                    whole => [whole, keys.into()],
                }
            }
        }
    }
}

fn answer(key: KeyEvent) -> Option<bool> {
    match key.code {
        KeyCode::Char('y') if key.modifiers.is_empty() => Some(true),
        KeyCode::Char('n') if key.modifiers.is_empty() => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    #[test]
    fn only_its_own_keys_answer() {
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(answer(key(KeyCode::Char('y'))), Some(true));
        assert_eq!(answer(key(KeyCode::Char('n'))), Some(false));
        for other in [KeyCode::Enter, KeyCode::Char('q'), KeyCode::Char(' '), KeyCode::Char('Y')] {
            assert_eq!(answer(key(other)), None, "{other:?}");
        }
        let control = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL);
        assert_eq!(answer(control), None);
    }

    #[test]
    fn a_question_fits_60_columns() {
        let deletions = |outputs, bytes, name: &str| Leaving::Deletions {
            outputs,
            hidden: 0,
            bytes,
            name: name.into(),
            agent: if name.is_empty() { "" } else { "claude-code" }.into(),
            leaves: Some(ExitChoice::default()),
        };
        let name = "cargo build --release --all-targets 2>&1 | tee build.log";
        let command = Leaving::Command(ExitChoice::default());
        for question in [command, deletions(999, 999 << 20, ""), deletions(1, 999 << 20, name)] {
            let [what, keys] = question.describe(60);
            assert!(1 + what.columns() + 2 + keys.columns() <= 60, "{what} {keys}");
        }
        for hidden in [999, 998] {
            let mut question = deletions(999, 999 << 20, "");
            let Leaving::Deletions { hidden: count, .. } = &mut question else { panic!("a deletion") };
            *count = hidden;
            let [what, _] = question.describe(40);
            assert!(what.columns() < 40 && what.contains("not shown?"), "{what}");
        }
        let [what, _] = deletions(1, 20, name).describe(120);
        assert_eq!(&*what, format!("Delete {name} (claude-code, 20 B)?"));
        let [what, _] = deletions(1, 20, name).describe(80);
        assert_eq!(&*what, "Delete cargo build --relea… (claude-code, 20 B)?");
        let [what, keys] = deletions(3, 1_363_149, "").describe(60);
        assert_eq!((&*what, &*keys), ("Delete 3 outputs (1.3 MB)?", "y delete · n keep · Esc stay"));
    }
}
