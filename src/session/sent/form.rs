//! Whether a later request carries a result as the first did: reminders that the agent appends to it change nothing.

use crate::session::id::record_id;
use crate::session::json::{Json, Kind};

/// What the agent appends to results, and takes for no part of them.
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// What stands in the place of a result that the agent took out of its requests.
const STAND_INS: [&str; 3] = [
    "[Old tool result content cleared]",
    "[Result removed: a later call of this tool withdrew it, and it no longer applies.]",
    "[Result removed: it no longer applies.]",
];

/// The longest text that is looked at for such a sentence, in bytes: two marks of the agent's may stand before it.
const MAX_STAND_IN: usize = 512;

/// A result as a request carried it first, without the reminders after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstForm {
    len: usize,
    digest: u64,
}

impl FirstForm {
    /// Takes the text of a result, as [`text_of`] returns it.
    pub fn new(text: &str) -> Self {
        let mut own = text.trim_end();
        while let Some(start) = own.strip_suffix(REMINDER.1).and_then(|rest| rest.rfind(REMINDER.0)) {
            own = own.get(..start).unwrap_or_default().trim_end();
        }
        Self { len: own.len(), digest: record_id(own) }
    }

    /// Returns what another request carries in the place of the result.
    pub fn compare(&self, text: &str) -> SentForm {
        let is_reminder = |rest: &str| {
            let rest = rest.trim();
            rest.is_empty() || rest.starts_with(REMINDER.0) && rest.ends_with(REMINDER.1)
        };
        let parts = text.split_at_checked(self.len);
        if parts.is_some_and(|(own, rest)| record_id(own) == self.digest && is_reminder(rest)) {
            return SentForm::Whole;
        }
        let own = text.get(..Self::new(text).len).unwrap_or_default();
        let is_cleared =
            || own.len() <= MAX_STAND_IN && STAND_INS.iter().any(|sentence| own.ends_with(sentence));
        if is_cleared() { SentForm::Cleared } else { SentForm::Edited }
    }
}

/// What a request carries in the place of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentForm {
    /// The result as it was first sent.
    Whole,
    Cleared,
    Edited,
}

/// Returns the texts of a result's content, joined; U+FFFC stands for each image.
pub fn text_of(content: Json) -> String {
    let mut joined = String::new();
    let mut add = |text: Option<Json>| match text.filter(|text| text.kind() == Kind::String) {
        Some(text) => {
            joined.push_str(&text.text().map(|text| text.to_text(usize::MAX).text).unwrap_or_default())
        }
        None => joined.push('\u{fffc}'),
    };
    match content.kind() {
        Kind::String => add(Some(content)),
        _ => content.items().for_each(|part| add(part.get("text"))),
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_after_a_result_change_nothing() {
        let first = FirstForm::new("out  \n");
        let reminded = "out  \n\n\n<system-reminder>\na <system-reminder> b\n</system-reminder>\n\n<system-reminder>c</system-reminder>";
        assert_eq!([first.compare("out"), first.compare(reminded)], [SentForm::Whole; 2]);
        assert_eq!(FirstForm::new(reminded).compare(reminded), SentForm::Whole);
        assert_eq!(
            FirstForm::new("out\n<system-reminder>c</system-reminder>").compare("out"),
            SentForm::Whole
        );
        assert_eq!(first.compare("out <system-reminder>c</system-reminder> more"), SentForm::Edited);
    }

    #[test]
    fn a_stand_in_is_distinguished_from_a_result_that_quotes_it() {
        let sentence = "[Old tool result content cleared]";
        let reminded = format!("{sentence}\n\n<system-reminder>x</system-reminder>");
        let first = FirstForm::new("é");
        assert_eq!([first.compare(sentence), first.compare(&reminded)], [SentForm::Cleared; 2]);
        assert_eq!(FirstForm::new(sentence).compare(&reminded), SentForm::Whole);
        assert_eq!(first.compare(&format!("{}{sentence}", "x".repeat(600))), SentForm::Edited);
        assert_eq!(first.compare("<persisted-output>Tool result saved to: /x"), SentForm::Edited);
    }
}
