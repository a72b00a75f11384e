//! Recognises a text that a template made: the template turned into a regular expression, in which every figure may be
//! anything on one line, and what is kept of an output anything at all.

use std::ops::Range;

use minijinja::machinery::ast::{Expr, Stmt};
use minijinja::machinery::parse;
use regex::{Regex, RegexBuilder};

use super::{Template, Templates, syntax};

/// The names that stand for parts of the output.
const SLOTS: &[&str] = &["kept", "head", "tail", "stdout", "stderr"];

/// The fewest bytes of a template, blanks left out, by which its text is recognised.
const LEAST: usize = 12;

/// The largest compiled expression, in bytes.
const MOST_COMPILED: usize = 4 << 20;

impl Templates {
    /// Returns what of a text a template added to the parts of an output, in order; `None` if the template does not make
    /// such a text, or adds too little to tell.
    pub(crate) fn added(&self, template: &Template, text: &str) -> Option<Vec<Range<usize>>> {
        let added =
            pattern(self.0.get_template(&template.name).ok()?.source())?.captures(text).map(|found| {
                let slots = found.iter().skip(1).flatten().map(|slot| slot.range());
                between(slots, text.len())
            })?;
        let told: usize = added.iter().map(|range| visible(&text[range.clone()])).sum();
        (told >= LEAST).then_some(added)
    }
}

/// Returns what is not in the ranges, which are in order.
fn between(ranges: impl Iterator<Item = Range<usize>>, end: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut at = 0;
    for range in ranges.chain([end..end]) {
        if range.start > at {
            all.push(at..range.start);
        }
        at = at.max(range.end);
    }
    all
}

fn visible(text: &str) -> usize {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()
}

/// Returns an expression for all texts of a template, with a group for each part of the output.
fn pattern(source: &str) -> Option<Regex> {
    let parsed = parse(source, "notice", syntax()).ok()?;
    let mut pattern = String::from(r"\A");
    statement(&parsed, &mut pattern);
    pattern.push_str(if ends_in_words(&parsed) { r"((?s:\n.*))?\z" } else { r"\z" });
    RegexBuilder::new(&pattern).size_limit(MOST_COMPILED).build().ok()
}

/// Whether the text ends in words of the template's own, which show where it ends: agents add reminders after it.
fn ends_in_words(template: &Stmt) -> bool {
    let Stmt::Template(template) = template else { return false };
    matches!(template.children.last(), Some(Stmt::EmitRaw(raw)) if visible(raw.raw) >= LEAST)
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
        let found = pattern(source)?.captures(text)?;
        let slots = found.iter().skip(1).flatten().map(|slot| slot.range());
        Some(between(slots, text.len()).into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn what_stands_between_the_parts_of_an_output_was_added() {
        let source =
            "{{ head }}\n[{{ count }} lines cut{% if path %}, see {{ path }}{% endif %}]\n{{ tail }}";
        let cut = "one\ntwo\n[1,234 lines cut, see /a b]\nnine\n";
        assert_eq!(added(source, cut), Some(vec!["\n[1,234 lines cut, see /a b]\n"]));
        assert_eq!(added(source, "one\n[7 lines cut]\n"), Some(vec!["\n[7 lines cut]\n"]));
        assert_eq!(added(source, "one\ntwo\n"), None);
    }

    #[test]
    fn what_follows_the_last_words_of_a_notice_is_none() {
        let source = "<cut>{{ kept }}</cut-output>";
        let text = "<cut>one</cut-output>\n\n<reminder>";
        assert_eq!(added(source, text), Some(vec!["<cut>", "</cut-output>"]));
        assert_eq!(added("[{{ count }} cut]\n{{ kept }}", "[1 cut]\none\ntwo"), Some(vec!["[1 cut]\n"]));
    }

    #[test]
    fn a_figure_is_on_one_line() {
        assert_eq!(added("{{ kept }}[{{ count }} more]", "a [\n1 more]"), None);
        assert_eq!(added("a.{{ kept|trim }}", "abc"), None, "a template is no expression");
        assert_eq!(added("{% if x %}a{% elif y %}b{% else %}c{% endif %}", "b"), Some(vec!["b"]));
    }
}
