//! The facts about the output being viewed, and after them what else the records hold of its call.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;

use crate::document::{Class, Doc};
use crate::output::OpenOutput;
use crate::output::facts::Fact;
use crate::output::recorded::{CallRequest, Cited};
use crate::session::citing::{self, CitingCall};
use crate::session::facts::TitledText;
use crate::text::label::{SafeText, columns_of, head};
use crate::tui::job::Slot;
use crate::tui::list::List;
use crate::tui::list::screen::{ListContext, ListKind, ListScreen};
use crate::tui::screen::{Effects, Link};
use crate::tui::widget::canvas::Canvas;

use super::Pager;
use super::event::OutputEvent;
use super::text_box::{LinkedText, TextBox};

/// The columns reserved for the names of facts.
const NAMES: usize = 12;

const TITLE: &str = "Facts";

impl Pager {
    /// Shows the facts, and asks the worker for what else the records hold of the call.
    pub(super) fn show_facts(&mut self, effects: &mut Effects) {
        if let Some(recorded) = &self.output.recorded {
            effects.ask(Slot::OpenSession, CallRequest::Facts(recorded.index));
        } else if self.output.cited == Cited::Unasked && self.output.is_stored() {
            self.output.cited = Cited::Asked;
            let path = PathBuf::from(&self.output.subject.context.saved_as);
            effects.run(Slot::Other, move |context| {
                let written = path.metadata().and_then(|file| file.modified()).ok();
                let written =
                    written.and_then(|at| Timestamp::try_from(at).ok()).unwrap_or_else(crate::env::now);
                let sessions = context.services.sessions.since(written, context.env());
                let call = citing::find(&sessions, &path, context.env().uid(), &());
                context.send(OutputEvent::Cited(path, call.map(Box::new)));
            });
        }
        effects.lay(TextBox::following(TITLE, self.facts(), |below| {
            (below as &dyn Any).downcast_ref().map(Self::facts)
        }));
    }

    /// Takes in the call that an output is of, if one was found.
    pub(super) fn take_cited(&mut self, path: &Path, call: Option<Box<CitingCall>>) {
        if Path::new(&self.output.subject.context.saved_as) == path {
            self.output.cited = call.map_or(Cited::Nowhere, Cited::By);
        }
    }

    fn facts(&self) -> LinkedText {
        let texts = self.output.recorded.as_ref().map_or(Some(&[][..]), |recorded| recorded.texts.as_deref());
        page(facts(&self.output), texts, &self.canvas)
    }
}

/// What is known, and where it leads.
pub(crate) struct FactRow {
    name: &'static str,
    text: String,
    link: Option<Link>,
}

impl From<Fact> for FactRow {
    fn from((name, text): Fact) -> Self {
        Self { name, text, link: None }
    }
}

impl FactRow {
    pub(crate) fn leading(self, link: Link) -> Self {
        Self { link: Some(link), ..self }
    }

    /// Has the session and the call lead to themselves.
    pub(crate) fn in_session(self, call: &CitingCall) -> Self {
        match self.name {
            "session" => {
                let file = Arc::new(call.file.clone());
                self.leading(Link::Session { file, title: SafeText::default() })
            }
            "call" => self.leading(Link::Call(Box::new(call.clone()))),
            _ => self,
        }
    }
}

/// A list that says what is known of its selected row.
pub(crate) trait ListFacts: ListKind {
    /// Returns the facts, and the texts that follow them: `None` until they have come.
    fn facts(&self, list: &List<Self::Row>) -> (Vec<FactRow>, Option<&[TitledText]>);

    fn show_facts(&self, on: ListContext<Self::Row>) {
        if on.list.chosen().is_none() {
            return;
        }
        let (facts, texts) = self.facts(on.list);
        let first = page(facts, texts, on.canvas);
        on.effects.lay(TextBox::following(TITLE, first, |below| {
            let screen: &ListScreen<Self> = (below as &dyn Any).downcast_ref()?;
            let (facts, texts) = screen.of.facts(&screen.list);
            Some(page(facts, texts, &screen.canvas))
        }));
    }
}

/// Makes the page of facts and of the texts that follow them; without `texts` they have not come yet.
fn page(facts: Vec<FactRow>, texts: Option<&[TitledText]>, canvas: &Canvas) -> LinkedText {
    let room = TextBox::columns(canvas).saturating_sub(NAMES + 3).max(1);
    let glyphs = canvas.glyphs();
    let (mut page, mut links, mut at): (Vec<(Class, String)>, Vec<_>, u64) = Default::default();
    let mut push = |class, text: String| {
        at += text.len() as u64;
        page.push((class, text));
        at
    };
    if facts.iter().any(|fact| fact.link.is_some()) {
        push(Class::Own, format!(" {:<NAMES$} ↓ ↑ and Enter go to what is underlined\n", ""));
    }
    for FactRow { name, text, link } in facts.into_iter().filter(|fact| !fact.text.is_empty()) {
        let mut link = link;
        for (name, row) in folded(name, &SafeText::from(text), room) {
            let from = push(Class::Own, format!(" {name:<NAMES$} "));
            let to = push(Class::Kept, format!("{row}\n"));
            links.extend(link.take().map(|link| (from..to - 1, link)));
        }
    }
    let mut page: Vec<_> = page.into_iter().map(|(class, text)| (class, text.into_bytes())).collect();
    let heading = |words: &str| (Class::Own, format!("\n{words}\n").into_bytes());
    for TitledText { title, text } in texts.unwrap_or_default() {
        page.push(heading(&format!("{} {title}", glyphs.rule.repeat(4))));
        page.push((Class::Kept, [text.trim_ascii_end(), b"\n"].concat()));
    }
    page.extend(texts.is_none().then(|| heading(&format!(" {}", glyphs.cut))));
    LinkedText { doc: Doc::of(page), links }
}

/// Returns what is known of an output, and where it leads.
fn facts(output: &OpenOutput) -> Vec<FactRow> {
    let file = output.subject.file.as_ref().filter(|_| output.is_stored());
    let row = |fact: Fact| match (fact.0, file, output.call()) {
        ("file", Some(path), _) => FactRow::from(fact).leading(Link::Stores(Some(path.into()))),
        (_, _, Some(call)) => FactRow::from(fact).in_session(call),
        _ => fact.into(),
    };
    output.facts().into_iter().map(row).collect()
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
