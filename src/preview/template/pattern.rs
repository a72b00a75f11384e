//! Recognises a template's text, and its notices alone, by regular expressions: a figure may be anything on one line,
//! and kept output anything at all.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};
use minijinja::machinery::parse;
use regex::{Regex, RegexBuilder};

use crate::text::filter::gaps;

use super::{Template, Templates, syntax};

/// The names that stand for parts of the output.
const SLOTS: &[&str] = &["kept", "head", "tail", "stdout", "stderr"];

/// Minimum number of bytes of a template, blanks left out, by which its text is recognised.
const MIN_WORDS: usize = 12;

/// Minimum number of bytes of the longest words of a notice.
const MIN_LITERAL: usize = 4;

/// The largest compiled expression, in bytes.
const MAX_COMPILED: usize = 4 << 20;

impl Templates {
    /// Returns what of a text a template added to the parts of an output; `None` if it makes no such text, or adds too little.
    pub(crate) fn added(&self, template: &Template, text: &str) -> Option<Vec<Range<usize>>> {
        let source = || self.source_of(template).ok().map(|found| found.source().to_owned());
        let pattern =
            self.get(template).text_pattern.get_or_init(|| TextPattern::parse(&source()?)).as_ref()?;
        let added = pattern.added(text)?;
        let told: usize = added.iter().map(|range| visible(&text[range.clone()])).sum();
        (told >= MIN_WORDS).then_some(added)
    }
}

#[derive(Debug)]
pub(super) struct TextPattern {
    /// Words that every such text contains.
    literal: String,
    /// Has a group for each part of the output.
    regex: Regex,
}

impl TextPattern {
    /// Makes the pattern of a template; none if it would be too large.
    fn parse(source: &str) -> Option<Self> {
        let parsed = parse(source, "notice", syntax()).ok()?;
        let mut pattern = String::from(r"\A");
        statement(&parsed, &mut pattern);
        pattern.push_str(if ends_with_text(&parsed) { r"((?s:\n.*))?\z" } else { r"\z" });
        Some(Self { literal: longest_words(&parsed).to_owned(), regex: compiled(&pattern)? })
    }

    fn added(&self, text: &str) -> Option<Vec<Range<usize>>> {
        #[cfg(test)]
        SEARCHED.set(SEARCHED.get() + 1);
        // To look for words takes far less time than to match groups.
        let found = text.contains(&self.literal).then(|| self.regex.captures(text)).flatten()?;
        Some(gaps(0..text.len(), found.iter().skip(1).flatten().map(|slot| slot.range())))
    }
}

/// Returns the longest of the words that a template writes whatever its conditions are; may be empty.
fn longest_words<'a>(of: &Stmt<'a>) -> &'a str {
    match of {
        Stmt::Template(template) => {
            template.children.iter().map(longest_words).max_by_key(|words| words.len()).unwrap_or_default()
        }
        Stmt::EmitRaw(raw) => raw.raw,
        _ => "",
    }
}

/// A notice of a policy: what its template writes between two parts of the output, with figures.
#[derive(Debug)]
pub(crate) struct NoticePattern {
    /// A regular expression, compiled only for a text that has its words, and once.
    pattern: String,
    regex: OnceLock<Option<Regex>>,
    /// The names of the figures, in the order of the groups.
    figures: Vec<String>,
    /// Words that every such notice contains.
    pub literal: String,
    /// The blanks before it and after it.
    blanks: [String; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoticeMatch {
    /// In bytes.
    pub range: Range<usize>,
    /// The figures that it states, as written.
    pub figures: Vec<(String, String)>,
}

impl NoticePattern {
    /// Returns how many texts this thread has searched, each as often as for a form.
    #[cfg(all(test, feature = "app"))]
    pub(crate) fn searched() -> usize {
        SEARCHED.get()
    }

    pub(crate) fn find_in(&self, text: &str) -> Vec<NoticeMatch> {
        #[cfg(test)]
        SEARCHED.set(SEARCHED.get() + 1);
        if !text.contains(&self.literal) {
            return Vec::new();
        }
        let Some(regex) = self.regex.get_or_init(|| compiled(&self.pattern)) else { return Vec::new() };
        let of = |found: regex::Captures| {
            let stated = self.figures.iter().zip(found.iter().skip(1));
            let figures = stated.filter_map(|(name, group)| Some((name.clone(), group?.as_str().to_owned())));
            Some(NoticeMatch { range: found.get(0)?.range(), figures: figures.collect() })
        };
        regex.captures_iter(text).filter_map(of).collect()
    }

    /// Returns the ranges in bytes of all notices of this form, with the blanks around them.
    pub(crate) fn whole_in(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let [before, after] = &self.blanks;
        self.find_in(text).into_iter().map(|found| found.range).map(move |Range { start, end }| {
            let start = if text[..start].ends_with(before) { start - before.len() } else { start };
            let end = if text[end..].starts_with(after) { end + after.len() } else { end };
            start..end
        })
    }
}

impl Templates {
    /// Returns the forms of the notices in all templates but `whole`, those with the most words first.
    pub(crate) fn notices(&self, whole: &Template) -> &[NoticePattern] {
        self.get(whole).other_notices.get_or_init(|| self.forms(whole))
    }

    fn forms(&self, whole: &Template) -> Vec<NoticePattern> {
        let mut forms: Vec<NoticePattern> = Vec::new();
        let others = self.environment.templates().filter(|(name, _)| *name != self.get(whole).name);
        for (name, template) in others {
            let Ok(parsed) = parse(template.source(), name, syntax()) else { continue };
            let mut ways = vec![Vec::new()];
            Unfold::default().follow(&parsed, &mut ways);
            for segment in ways.iter().flat_map(|way| way.split(|piece| *piece == Piece::Slot)) {
                let is_new = |form: &NoticePattern| forms.iter().all(|known| known.pattern != form.pattern);
                forms.extend(notice(segment).filter(is_new));
            }
        }
        forms.sort_by_key(|form| std::cmp::Reverse(form.literal.len()));
        forms
    }
}

/// Maximum number of ways through the conditions of a template that are followed.
const MAX_WAYS: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Words(&'a str),
    /// Its name, and how many decimals it has, if it always has as many.
    Figure(&'a str, Option<usize>),
    Slot,
}

/// Follows a template along all ways through its conditions.
#[derive(Default)]
struct Unfold<'t, 'a> {
    /// The texts that the template gives names to.
    named: BTreeMap<&'a str, &'t [Stmt<'a>]>,
}

impl<'t, 'a> Unfold<'t, 'a> {
    fn follow(&mut self, of: &'t Stmt<'a>, ways: &mut Vec<Vec<Piece<'a>>>) {
        match of {
            Stmt::Template(template) => self.all(&template.children, ways),
            Stmt::EmitRaw(raw) => ways.iter_mut().for_each(|way| way.push(Piece::Words(raw.raw))),
            Stmt::EmitExpr(emit) => match name_of(&emit.expr) {
                _ if is_slot(&emit.expr) => ways.iter_mut().for_each(|way| way.push(Piece::Slot)),
                name => match self.named.get(name).copied() {
                    Some(body) => self.all(body, ways),
                    None => {
                        let figure = Piece::Figure(name, decimals_of(&emit.expr));
                        ways.iter_mut().for_each(|way| way.push(figure.clone()));
                    }
                },
            },
            Stmt::IfCond(branch) => {
                let mut others = if ways.len() < MAX_WAYS { ways.clone() } else { Vec::new() };
                self.all(&branch.true_body, ways);
                self.all(&branch.false_body, &mut others);
                ways.extend(others);
            }
            Stmt::ForLoop(each) => self.all(&each.body, ways),
            Stmt::SetBlock(block) => {
                if let Expr::Var(name) = &block.target {
                    self.named.insert(name.id, &block.body);
                }
            }
            _ => {}
        }
    }

    fn all(&mut self, statements: &'t [Stmt<'a>], ways: &mut Vec<Vec<Piece<'a>>>) {
        statements.iter().for_each(|each| self.follow(each, ways));
    }
}

fn name_of<'a>(expr: &Expr<'a>) -> &'a str {
    match expr {
        Expr::Var(var) => var.id,
        // A computed value is another figure.
        Expr::Filter(filter) if ["plus", "minus", "times", "over", "length"].contains(&filter.name) => "",
        Expr::Filter(filter) => filter.expr.as_ref().map_or("", name_of),
        // What stands where it is not known has no name.
        Expr::IfExpr(choice) => name_of(&choice.true_expr),
        Expr::BinOp(pair) if matches!(pair.op, BinOpKind::ScOr) => name_of(&pair.left),
        _ => "",
    }
}

/// Returns how many decimals an expression always has.
fn decimals_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Filter(filter) if filter.name == "fixed" => match filter.args.first()? {
            CallArg::Pos(Expr::Const(decimals)) => decimals.value.as_usize(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the pattern of a notice; none if it has too few words to be recognised by.
fn notice(pieces: &[Piece]) -> Option<NoticePattern> {
    let is_told = |piece: &Piece| !matches!(piece, Piece::Words(words) if words.trim().is_empty());
    let (first, last) = (pieces.iter().position(is_told)?, pieces.iter().rposition(is_told)?);
    let words = |piece: &Piece| if let Piece::Words(words) = piece { words } else { "" }.to_owned();
    let blank = |pieces: &[Piece]| pieces.iter().map(words).collect::<String>();
    let (mut before, mut after) = (blank(pieces.get(..first)?), blank(pieces.get(last + 1..)?));
    let pieces = pieces.get(first..=last)?;
    let end = pieces.len().checked_sub(1)?;
    let (mut pattern, mut figures, mut literal, mut told) = (String::new(), Vec::new(), "", 0);
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Words(words) => {
                // What stands around a notice is lost where people copy it.
                let (mut start, mut stop) = (0, words.len());
                if at == 0 {
                    start = words.len() - words.trim_start().len();
                    before.push_str(&words[..start]);
                }
                if at == end {
                    stop = words.trim_end().len().max(start);
                    after.insert_str(0, &words[stop..]);
                }
                let words = &words[start..stop];
                pattern.push_str(&regex::escape(words));
                told += visible(words);
                let longest = words.lines().max_by_key(|line| line.len()).unwrap_or_default();
                literal = if longest.len() > literal.len() { longest } else { literal };
            }
            Piece::Figure(name, decimals) => {
                match decimals {
                    Some(decimals) => pattern.push_str(&format!(r"([0-9]+\.[0-9]{{{decimals}}})")),
                    None => pattern.push_str(if at == end { "(.*)" } else { "(.*?)" }),
                }
                figures.push((*name).to_owned());
            }
            Piece::Slot => {}
        }
    }
    (told >= MIN_WORDS && visible(literal) >= MIN_LITERAL).then(|| NoticePattern {
        pattern,
        regex: OnceLock::new(),
        figures,
        literal: literal.to_owned(),
        blanks: [before, after],
    })
}

fn visible(text: &str) -> usize {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
thread_local! {
    /// How many expressions this thread has compiled.
    static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// How many texts this thread has searched for a form of a notice.
    static SEARCHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn compiled(pattern: &str) -> Option<Regex> {
    #[cfg(test)]
    COMPILED.set(COMPILED.get() + 1);
    RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build().ok()
}

/// Whether the text ends in words of the template's own, which show where it ends: agents add reminders after it.
fn ends_with_text(template: &Stmt) -> bool {
    let Stmt::Template(template) = template else { return false };
    matches!(template.children.last(), Some(Stmt::EmitRaw(raw)) if visible(raw.raw) >= MIN_WORDS)
}

fn statements(all: &[Stmt], pattern: &mut String) {
    all.iter().for_each(|each| statement(each, pattern));
}

fn statement(of: &Stmt, pattern: &mut String) {
    match of {
        Stmt::Template(template) => statements(&template.children, pattern),
        Stmt::EmitRaw(raw) => pattern.push_str(&regex::escape(raw.raw)),
        Stmt::EmitExpr(emit) if is_slot(&emit.expr) => pattern.push_str("((?s:.*?))"),
        Stmt::EmitExpr(_) => pattern.push_str("(?:.*?)"),
        Stmt::IfCond(branch) => {
            pattern.push_str("(?:");
            statements(&branch.true_body, pattern);
            pattern.push('|');
            statements(&branch.false_body, pattern);
            pattern.push(')');
        }
        Stmt::ForLoop(each) => {
            pattern.push_str("(?:");
            statements(&each.body, pattern);
            pattern.push_str(")*?");
        }
        _ => {}
    }
}

/// Whether an expression is a part of the output, also as a filter changes it.
fn is_slot(expr: &Expr) -> bool {
    match expr {
        Expr::Var(var) => SLOTS.contains(&var.id),
        Expr::Filter(filter) => filter.expr.as_ref().is_some_and(is_slot),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added<'a>(source: &str, text: &'a str) -> Option<Vec<&'a str>> {
        let added = TextPattern::parse(source)?.added(text)?;
        Some(added.into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn text_between_the_parts_of_an_output_is_added() {
        let source =
            "{{ head }}\n[{{ count }} lines cut{% if path %}, see {{ path }}{% endif %}]\n{{ tail }}";
        let cut = "one\ntwo\n[1,234 lines cut, see /a b]\nnine\n";
        assert_eq!(added(source, cut), Some(vec!["\n[1,234 lines cut, see /a b]\n"]));
        assert_eq!(added(source, "one\n[7 lines cut]\n"), Some(vec!["\n[7 lines cut]\n"]));
        assert_eq!(added(source, "one\ntwo\n"), None);
    }

    #[test]
    fn text_after_a_notice_is_not_part_of_it() {
        let source = "<cut>{{ kept }}</cut-output>";
        let text = "<cut>one</cut-output>\n\n<reminder>";
        assert_eq!(added(source, text), Some(vec!["<cut>", "</cut-output>"]));
        assert_eq!(added("[{{ count }} cut]\n{{ kept }}", "[1 cut]\none\ntwo"), Some(vec!["[1 cut]\n"]));
    }

    #[test]
    fn compiles_a_pattern_once_and_only_if_its_words_occur() {
        let mut compiler =
            super::super::Compiler::new(super::super::PolicyOrigin::Own, std::collections::BTreeMap::new());
        let cut = compiler.template("{{ head }}\n[{{ count }} lines were cut]\n{{ tail }}").unwrap();
        let whole = compiler.template("{{ kept }}").unwrap();
        let templates = compiler.templates;
        let look = |text: &str| {
            let before = COMPILED.get();
            let found = templates.notices(&whole).iter().flat_map(|form| form.find_in(text)).count();
            (templates.added(&cut, text).is_some(), found, COMPILED.get() - before)
        };
        assert_eq!(look("one\ntwo\n"), (false, 0, 1), "that of the whole text is made with its words");
        assert_eq!(look("one\n[7 lines were cut]\ntwo"), (true, 1, 1));
        assert_eq!(look("one\n[8 lines were cut]\ntwo"), (true, 1, 0));
    }

    #[test]
    fn a_figure_is_on_one_line() {
        assert_eq!(added("{{ kept }}[{{ count }} more]", "a [\n1 more]"), None);
        assert_eq!(added("a.{{ kept|trim }}", "abc"), None, "a template is no expression");
        assert_eq!(added("{% if x %}a{% elif y %}b{% else %}c{% endif %}", "b"), Some(vec!["b"]));
    }

    #[test]
    fn a_notice_is_found_wherever_it_stands() {
        let source = "{% set see %}see {{ path }}{% endset %}{% if a %}{{ head }}\n[{{ count|group }} lines cut, {{ see }}]\n{{ tail }}{% else %}{{ kept }}\nOnly the end of {{ bytes }}{% endif %}";
        let mut compiler =
            super::super::Compiler::new(super::super::PolicyOrigin::Own, std::collections::BTreeMap::new());
        compiler.params.insert("a".into(), crate::preview::template::Value::Boolean(true));
        compiler.template(&source.replace("|group", "")).unwrap();
        let whole = compiler.template("{{ kept }} and the whole text of it").unwrap();
        let templates = compiler.templates;
        let forms = templates.notices(&whole);
        let text = "said:\n[12 lines cut, see /a/b c]\n\nOnly the end of 99 B\n";
        let found: Vec<_> = forms.iter().flat_map(|form| form.find_in(text)).collect();
        let figures =
            |at: usize| found[at].figures.iter().map(|(name, is)| (&**name, &**is)).collect::<Vec<_>>();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(
            (&text[found[0].range.clone()], figures(0)),
            ("Only the end of 99 B", vec![("bytes", "99 B")])
        );
        assert_eq!(figures(1), [("count", "12"), ("path", "/a/b c")]);
    }
}
