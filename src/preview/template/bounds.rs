//! Limits the work of a template: estimated before compilation, since the compiler already evaluates constants.
//!
//! Work is the total bytes of all values that a rendering can create, in loops each time. It bounds both time and memory.

use std::collections::BTreeMap;

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};
use minijinja::machinery::{parse, parse_expr};
use minijinja::syntax::SyntaxConfig;

use crate::preview::template::uses::operands;
use crate::preview::template::{NAMES, Value, describe, filters};

/// Maximum length of a template in bytes. The longest built-in one has 1,210.
const MAX_TEMPLATE: usize = 16 << 10;
/// Maximum length in bytes of a `{{ }}` or `{% %}`, and of a figure: each byte may be one more level for the parser.
const MAX_TAG: usize = 500;
/// Maximum number of tags in a template: each may be an `elif`, which is one more level.
const MAX_TAGS: usize = 200;
/// Maximum total bytes of all values that a rendering creates.
const MAX_WORK: u64 = 4 << 20;
/// Assumed length of a figure or text parameter: that of a long path.
const TEXT: u64 = 4096;
/// Assumed length of a number.
const NUMBER: u64 = 40;
/// Minimum cost of creating any value.
const MIN_COST: u64 = 16;

/// What is known about a value in advance.
#[derive(Debug, Clone, Copy)]
struct Size {
    bytes: u64,
    /// How many elements it has; none if it is not, or may not be, a list.
    items: Option<u64>,
    /// Whether it is a number, or a list of numbers alone; else it may be a text.
    is_number: bool,
}

impl Size {
    const NUMBER: Self = Self { bytes: NUMBER, items: None, is_number: true };

    fn text(bytes: u64) -> Self {
        Self { bytes, items: None, is_number: false }
    }

    fn element(self) -> Self {
        Self { items: None, ..self }
    }

    /// Returns the size of both joined.
    fn with(self, other: Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// Returns the size of either: the larger one.
    fn or(self, other: Self) -> Self {
        self.combine(other, u64::max)
    }

    fn combine(self, other: Self, size: impl Fn(u64, u64) -> u64) -> Self {
        let is_alike = self.items.is_some() == other.items.is_some();
        Self {
            bytes: size(self.bytes, other.bytes),
            items: self.items.zip(other.items).map(|(items, others)| size(items, others)),
            is_number: is_alike && self.is_number && other.is_number,
        }
    }
}

/// Measures a template; the error has its line in the template (1-based), and says which limit it exceeds, and the remedy.
pub(super) fn check_template(
    params: &BTreeMap<String, Value>,
    template: &str,
    syntax: SyntaxConfig,
) -> Result<(), (usize, String)> {
    if template.len() > MAX_TEMPLATE {
        return Err((1, "a template has at most 16 KiB; write a shorter one".to_owned()));
    }
    check_tags(template)?;
    let parsed = parse(template, "notice", syntax);
    let parsed = parsed.map_err(|error| (error.line().unwrap_or(1), describe(&error)))?;
    let mut meter = Meter::new(params, &|name| name == "loop" || NAMES.contains(&name));
    meter.statement(&parsed).map_err(|message| (meter.line, message)).map(drop)
}

pub(super) fn check_expression(params: &BTreeMap<String, Value>, expression: &str) -> Result<(), String> {
    if expression.len() > MAX_TAG {
        return Err(format!("an expression has at most {MAX_TAG} bytes; write a shorter one"));
    }
    let parsed = parse_expr(expression).map_err(|error| describe(&error))?;
    Meter::new(params, &|_| false).expression(&parsed).map(drop)
}

/// Checks the number and length of tags. Whatever is not certainly outside of a tag counts as inside.
fn check_tags(template: &str) -> Result<(), (usize, String)> {
    let mut rest = template;
    for _ in 0..=MAX_TAGS {
        let Some(start) = ["{{", "{%", "{#"].iter().filter_map(|tag| rest.find(tag)).min() else {
            return Ok(());
        };
        let line = template[..template.len() - rest.len() + start].matches('\n').count() + 1;
        let len = tag_len(&rest[start..]);
        if len > MAX_TAG {
            return Err((line, format!("a tag has at most {MAX_TAG} bytes; write a shorter one")));
        }
        rest = &rest[start + len..];
    }
    Err((1, format!("a template has at most {MAX_TAGS} tags; write one with fewer")))
}

/// Returns the length in bytes of the tag at the start: its closing is outside of quotes and of braces within the tag.
fn tag_len(tag: &str) -> usize {
    if tag.starts_with("{#") {
        return tag.find("#}").map_or(tag.len(), |end| end + 2);
    }
    let (mut depth, mut quote, mut bytes) = (0_usize, None, tag.bytes().enumerate().skip(2));
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => drop(bytes.next()),
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'{') => depth += 1,
            (None, b'%') if depth == 0 && tag[at..].starts_with("%}") => return at + 2,
            (None, b'}') if depth == 0 && tag[at..].starts_with("}}") => return at + 2,
            (None, b'}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    tag.len()
}

/// Adds up what a rendering would create.
struct Meter<'a> {
    /// The policy's parameters, at their defaults.
    params: &'a BTreeMap<String, Value>,
    is_figure: &'a dyn Fn(&str) -> bool,
    /// Variables defined by `set` and `for`.
    named: BTreeMap<&'a str, Size>,
    work: u64,
    line: usize,
}

impl<'a> Meter<'a> {
    fn new(params: &'a BTreeMap<String, Value>, is_figure: &'a dyn Fn(&str) -> bool) -> Self {
        Self { params, is_figure, named: BTreeMap::new(), work: 0, line: 1 }
    }

    fn made(&mut self, size: Size) -> Result<Size, String> {
        self.work = self.work.saturating_add(size.bytes.max(MIN_COST));
        if self.work > MAX_WORK {
            Err("the template asks for too much work (over 4 MiB of text); use shorter texts, fewer loops and \
                 fewer `set`"
                .to_owned())
        } else {
            Ok(size)
        }
    }

    /// Measures statements in order; returns the size of the text that they print.
    fn statements<'t: 'a>(&mut self, statements: &'t [Stmt<'t>]) -> Result<Size, String> {
        let mut sum = Size::text(0);
        for statement in statements {
            sum = sum.with(self.statement(statement)?);
        }
        self.made(sum)
    }

    fn statement<'t: 'a>(&mut self, statement: &'t Stmt<'t>) -> Result<Size, String> {
        let nothing = Size::text(1);
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitRaw(raw) => self.made(Size::text(raw.raw.len() as u64)),
            Stmt::EmitExpr(emit) => {
                self.line = emit.span().start_line as usize;
                self.expression(&emit.expr)
            }
            Stmt::Set(set) => {
                self.line = set.span().start_line as usize;
                let size = self.expression(&set.expr)?;
                self.name(&set.target, size)?;
                self.made(nothing)
            }
            Stmt::SetBlock(set) => {
                self.line = set.span().start_line as usize;
                if set.filter.is_some() {
                    return Err("`set` takes no filter here; apply it where the name is used".to_owned());
                }
                let size = self.statements(&set.body)?;
                self.name(&set.target, Size::text(size.bytes))?;
                self.made(nothing)
            }
            Stmt::IfCond(branch) => {
                self.line = branch.span().start_line as usize;
                self.expression(&branch.expr)?;
                let both = self.statements(&branch.true_body)?.with(self.statements(&branch.false_body)?);
                self.made(both)
            }
            Stmt::ForLoop(each) => {
                self.line = each.span().start_line as usize;
                if each.recursive || each.filter_expr.is_some() {
                    return Err(
                        "a loop cannot be `recursive` or have an `if`; write `{% if %}` inside".to_owned()
                    );
                }
                let list = self.expression(&each.iter)?;
                let Some(items) = list.items else {
                    return Err("a loop goes over a list that is written out, as `[a, b]`".to_owned());
                };
                let mut sum = self.statements(&each.else_body)?;
                for _ in 0..items {
                    self.name(&each.target, list.element())?;
                    sum = sum.with(self.statements(&each.body)?);
                }
                self.made(sum)
            }
            _ => Err("only `if`, `for` and `set` may stand in `{% %}`".to_owned()),
        }
    }

    /// Defines a name, which may have been defined before, in a branch that is not taken: the larger size counts.
    fn name<'t: 'a>(&mut self, target: &'t Expr<'t>, size: Size) -> Result<(), String> {
        let Expr::Var(var) = target else { return Err("`set` and `for` take one name".to_owned()) };
        let larger = self.named.get(var.id).map_or(size, |before| before.or(size));
        self.named.insert(var.id, larger);
        Ok(())
    }

    /// Returns the maximum size of an expression's value; counts it and everything on the way to it.
    fn expression<'t: 'a>(&mut self, expr: &'t Expr<'t>) -> Result<Size, String> {
        let sizes: Vec<Size> =
            operands(expr).into_iter().map(|part| self.expression(part)).collect::<Result<_, _>>()?;
        let size = match expr {
            Expr::Var(var) => self.variable(var.id),
            Expr::Const(constant) => match constant.value.as_str() {
                Some(text) => Size::text(text.len() as u64),
                None => Size::NUMBER,
            },
            Expr::List(_) | Expr::Tuple(_) => Size { items: Some(sizes.len() as u64), ..joined(&sizes) },
            Expr::Map(_) => Size::text(joined(&sizes).bytes),
            Expr::UnaryOp(_) | Expr::Compare(_) | Expr::Test(_) => Size::NUMBER,
            Expr::BinOp(pair) => both(pair.op, sizes[0], sizes[1])?,
            Expr::IfExpr(_) => sizes[1..].iter().copied().reduce(Size::or).unwrap_or(Size::NUMBER),
            Expr::Slice(_) => Size::text(sizes[0].bytes),
            Expr::GetAttr(_) | Expr::GetItem(_) => sizes[0].element(),
            Expr::Filter(filter) => filtered(filter.name, joined(&sizes))?,
            Expr::Call(_) => return Err("a template calls no function, such as `range`".to_owned()),
        };
        self.made(size)
    }

    /// Returns the size of a variable. A figure may be a text or still be counted; an unknown name is refused later.
    fn variable(&self, name: &str) -> Size {
        if let Some(size) = self.named.get(name) {
            return *size;
        }
        match self.params.get(name) {
            Some(Value::Integer(_) | Value::Boolean(_)) => Size::NUMBER,
            Some(Value::Text(text)) => Size::text(TEXT.max(text.len() as u64)),
            None if (self.is_figure)(name) => Size::text(TEXT),
            None => Size::NUMBER,
        }
    }
}

/// Returns the size of several values in sequence, a number if all are.
fn joined(sizes: &[Size]) -> Size {
    sizes.iter().fold(Size { bytes: 0, ..Size::NUMBER }, |sum, size| sum.with(size.element()))
}

/// Returns the size of a filter's result, of operand and arguments together.
fn filtered(name: &str, all: Size) -> Result<Size, String> {
    match name {
        name if filters::OF_NUMBERS.contains(&name) => Ok(Size::NUMBER),
        name if filters::OF_TEXTS.contains(&name) => {
            Ok(Size::text(all.bytes.saturating_add(filters::MAX_WIDTH)))
        }
        name if filters::OF_PARTS.contains(&name) => Ok(all),
        name => Err(format!("there is no filter `{name}`; there are: {}", filters::names().join(", "))),
    }
}

/// Returns the size of what an operator makes of two values.
fn both(op: BinOpKind, left: Size, right: Size) -> Result<Size, String> {
    let is_number = |size: Size| size.is_number && size.items.is_none();
    match op {
        BinOpKind::Add => Ok(left.with(right)),
        BinOpKind::Concat => Ok(Size::text(left.with(right).bytes)),
        BinOpKind::ScAnd | BinOpKind::ScOr => Ok(left.or(right)),
        BinOpKind::Mul if !(is_number(left) && is_number(right)) => {
            Err("`*` takes numbers alone, parameters or written out; for a figure use the filter `times`"
                .to_owned())
        }
        _ => Ok(Size::NUMBER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_ends_at_two_braces_outside_quotes_and_inner_braces() {
        assert_eq!(tag_len("{{ a }} b"), 7);
        assert_eq!(tag_len("{{ '}}' }} b"), 10);
        assert_eq!(tag_len("{{ {'a': {}}}} b"), 14);
        assert_eq!(tag_len("{% if a %} b"), 10);
        assert_eq!(tag_len("{# }} #} b"), 8);
    }

    #[test]
    fn a_single_brace_does_not_end_a_tag() {
        let tag = "{{ a }\u{202e}} more {% endif %}";
        assert_eq!(tag_len(tag), tag.len());
    }
}
