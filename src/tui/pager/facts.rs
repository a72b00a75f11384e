//! The facts about the output being viewed, and after them what else the records hold of its call.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::document::{Class, Doc};
use crate::output::OpenOutput;
use crate::output::facts::NamedFact;
use crate::output::recorded::{CallFacts, CallRequest, Cited, RecordedCall};
use crate::session::facts::TitledText;
use crate::session::spill::CitingCall;
use crate::session::verdict::Verdict;
use crate::text::label::{SafeText, fold};
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
                let written = written.and_then(|at| Timestamp::try_from(at).ok());
                let written = written.unwrap_or_else(crate::base::env::now);
                let call = context.services.sessions.find(&path, written, context.env());
                context.send(OutputEvent::Cited(path, call));
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

    fn recorded(&mut self, index: usize) -> Option<&mut RecordedCall> {
        self.output.recorded.as_mut().filter(|recorded| recorded.index == index)
    }

    pub(super) fn take_facts(&mut self, index: usize, facts: CallFacts) {
        if let Some(recorded) = self.recorded(index) {
            (recorded.facts, recorded.texts) = (facts.facts, Some(facts.texts));
        }
    }

    /// Takes in whether a policy makes the same text as was recorded.
    pub(super) fn take_verdict(&mut self, index: usize, verdict: Verdict) {
        if let Some(recorded) = self.recorded(index) {
            recorded.check = Some(verdict);
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

impl From<NamedFact> for FactRow {
    fn from((name, text): NamedFact) -> Self {
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
        for (n, row) in fold(&SafeText::from(text), room).into_iter().enumerate() {
            let name = if n == 0 { name } else { "" };
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
    LinkedText { doc: Doc::from_texts(page), links }
}

/// Returns what is known of an output, and where it leads.
fn facts(output: &OpenOutput) -> Vec<FactRow> {
    let file = output.subject.file.as_ref().filter(|_| output.is_stored());
    let row = |fact: NamedFact| match (fact.0, file, output.call()) {
        ("file", Some(path), _) => FactRow::from(fact).leading(Link::Stores(Some(path.into()))),
        (_, _, Some(call)) => FactRow::from(fact).in_session(call),
        _ => fact.into(),
    };
    output.facts().into_iter().map(row).collect()
}
