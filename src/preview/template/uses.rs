//! How a template uses its figures: which of them decide what is printed, and which only how long the text is.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};
use minijinja::machinery::parse;

/// The names that a template uses, by how its length depends on them. Parameters are not among them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Names that are printed as they are, or compared with 0.
    pub printed: BTreeSet<String>,
    /// Names whose value decides what is printed.
    pub exact: BTreeSet<String>,
    /// Names that a condition compares with 0, or asks whether they are known.
    pub tested: BTreeSet<String>,
    /// If read for its slots: the names of each printed expression, which decide if one of them is a slot.
    pub expressions: Vec<BTreeSet<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadFor {
    /// How its length depends on its names, as far as they matter while the flag `partial` is false.
    #[cfg(feature = "app")]
    Length,
    /// Which names decide which slots it holds; all others are only printed.
    Slots,
}

/// Reads how a template uses its names; `None` if it repeats something, or uses text that it has made itself.
pub(super) fn read(template: &str, is_param: &dyn Fn(&str) -> bool, what_for: ReadFor) -> Option<Uses> {
    let parsed = parse(template, "notice", super::syntax()).ok()?;
    let (set, blocks) = Default::default();
    let mut reader = Reader { is_param, what_for, uses: Uses::default(), set, blocks };
    reader.statement(&parsed)?;
    Some(reader.uses)
}

struct Reader<'a> {
    is_param: &'a dyn Fn(&str) -> bool,
    what_for: ReadFor,
    uses: Uses,
    /// Names that the template sets to a value.
    set: BTreeSet<String>,
    /// Names that the template sets to text.
    blocks: BTreeSet<String>,
}

impl Reader<'_> {
    fn statements(&mut self, statements: &[Stmt]) -> Option<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Stmt) -> Option<()> {
        match statement {
            Stmt::Template(template) => self.statements(&template.children),
            Stmt::EmitRaw(_) => Some(()),
            Stmt::EmitExpr(emit) => match &emit.expr {
                Expr::Var(var) => {
                    self.prints(var.id);
                    Some(())
                }
                expr if self.what_for == ReadFor::Slots => {
                    let before = std::mem::take(&mut self.uses.exact);
                    self.note_exact_names(expr)?;
                    let names = std::mem::replace(&mut self.uses.exact, before);
                    self.uses.expressions.push(names);
                    Some(())
                }
                expr => self.note_exact_names(expr),
            },
            Stmt::Set(set) => {
                self.note_exact_names(&set.expr)?;
                let Expr::Var(var) = &set.target else { return None };
                self.set.insert(var.id.to_owned());
                Some(())
            }
            Stmt::SetBlock(set) if set.filter.is_none() => {
                self.statements(&set.body)?;
                let Expr::Var(var) = &set.target else { return None };
                self.blocks.insert(var.id.to_owned());
                Some(())
            }
            Stmt::IfCond(branch) => {
                let is_partial = matches!(&branch.expr, Expr::Var(var) if var.id == "partial");
                if is_partial && self.what_for != ReadFor::Slots {
                    return self.statements(&branch.false_body);
                }
                self.tests(&branch.expr)?;
                self.statements(&branch.true_body)?;
                self.statements(&branch.false_body)
            }
            _ => None,
        }
    }

    fn is_own(&self, name: &str) -> bool {
        (self.is_param)(name) || self.set.contains(name)
    }

    fn prints(&mut self, name: &str) {
        if !self.is_own(name) && !self.blocks.contains(name) {
            self.uses.printed.insert(name.to_owned());
        }
    }

    /// Reads a condition: a comparison with 0, and whether a figure is there, ask for no exact value.
    fn tests(&mut self, expr: &Expr) -> Option<()> {
        use BinOpKind::{Eq, Gt, Gte, Lt, Lte, Ne};
        match expr {
            Expr::UnaryOp(unary) => self.tests(&unary.expr),
            Expr::BinOp(pair) if matches!(pair.op, BinOpKind::ScAnd | BinOpKind::ScOr) => {
                self.tests(&pair.left)?;
                self.tests(&pair.right)
            }
            Expr::Test(test) if test.args.is_empty() && matches!(test.name, "known" | "none" | "defined") => {
                match &test.expr {
                    Expr::Var(var) if !self.blocks.contains(var.id) => {
                        self.uses.tested.insert(var.id.to_owned());
                        Some(())
                    }
                    _ => None,
                }
            }
            Expr::BinOp(pair) => match (&pair.left, &pair.right) {
                (Expr::Var(var), Expr::Const(zero))
                    if matches!(pair.op, Eq | Ne | Lt | Lte | Gt | Gte)
                        && zero.value.as_usize() == Some(0) =>
                {
                    self.prints(var.id);
                    self.uses.tested.insert(var.id.to_owned());
                    (!self.blocks.contains(var.id)).then_some(())
                }
                _ => self.note_exact_names(expr),
            },
            expr => self.note_exact_names(expr),
        }
    }

    /// Notes the names of an expression: the exact value of every one may matter.
    fn note_exact_names(&mut self, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Var(var) if self.blocks.contains(var.id) => return None,
            Expr::Var(var) if !self.is_own(var.id) => {
                self.uses.exact.insert(var.id.to_owned());
            }
            Expr::Slice(_) | Expr::GetAttr(_) | Expr::GetItem(_) | Expr::Call(_) => return None,
            Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => return None,
            _ => {}
        }
        operands(expr).into_iter().try_for_each(|part| self.note_exact_names(part))
    }
}

/// Returns the operands of an expression. The first is the condition of `a if b else c`, else what a filter or test applies to.
pub(super) fn operands<'t>(expr: &'t Expr<'t>) -> Vec<&'t Expr<'t>> {
    let and_more = |one: &'t Expr<'t>, more: &[&'t Option<Expr<'t>>]| {
        std::iter::once(one).chain(more.iter().filter_map(|part| part.as_ref())).collect()
    };
    match expr {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(tuple) => tuple.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().chain(&map.values).collect(),
        Expr::UnaryOp(unary) => vec![&unary.expr],
        Expr::BinOp(pair) => vec![&pair.left, &pair.right],
        Expr::Compare(compare) => {
            std::iter::once(&compare.expr).chain(compare.ops.iter().map(|op| &op.expr)).collect()
        }
        Expr::IfExpr(choice) => {
            [&choice.test_expr, &choice.true_expr].into_iter().chain(&choice.false_expr).collect()
        }
        Expr::Slice(slice) => and_more(&slice.expr, &[&slice.start, &slice.stop, &slice.step]),
        Expr::GetAttr(attr) => vec![&attr.expr],
        Expr::GetItem(item) => vec![&item.expr, &item.subscript_expr],
        Expr::Test(test) => std::iter::once(&test.expr).chain(arguments(&test.args)).collect(),
        Expr::Filter(filter) => filter.expr.iter().chain(arguments(&filter.args)).collect(),
        Expr::Call(call) => std::iter::once(&call.expr).chain(arguments(&call.args)).collect(),
    }
}

fn arguments<'t>(all: &'t [CallArg<'t>]) -> impl Iterator<Item = &'t Expr<'t>> {
    all.iter().map(|argument| match argument {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_read(template: &str) -> Option<(Vec<String>, Vec<String>)> {
        let uses = read(template, &|name| name == "max_lines", ReadFor::Length)?;
        Some((uses.printed.into_iter().collect(), uses.exact.into_iter().collect()))
    }

    #[test]
    fn distinguishes_printed_variables_from_those_read_exactly() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let both = |printed: &[&str], exact: &[&str]| Some((names(printed), names(exact)));
        assert_eq!(both_read("{{ kept }} {{ lines }} of {{ max_lines }}"), both(&["kept", "lines"], &[]));
        assert_eq!(both_read("{{ lines|kb }}{{ path|basename }}"), both(&[], &["lines", "path"]));
        assert_eq!(both_read("{% if lines == 0 or removed is known %}a{% endif %}"), both(&["lines"], &[]));
        assert_eq!(both_read("{% if lines > 9 %}{{ unit }}{% endif %}"), both(&["unit"], &["lines"]));
        assert_eq!(both_read("{% if hit == 'size' %}a{% endif %}"), both(&[], &["hit"]));
        assert_eq!(
            both_read("{% if partial %}{{ bytes|kb }}{% else %}{{ last }}{% endif %}"),
            both(&["last"], &[])
        );
        assert_eq!(both_read("{% set a %}{{ path }}{% endset %}{{ a }}"), both(&["path"], &[]));
        assert_eq!(both_read("{% set a %}{{ path }}{% endset %}{{ a|length }}"), None);
        assert_eq!(both_read("{% for a in [1, 2] %}{{ a }}{% endfor %}"), None);
    }

    #[test]
    fn a_printed_variable_is_not_a_condition() {
        let words = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(" ");
        let decides = |template: &str| {
            let Uses { exact, tested, expressions, .. } = read(template, &|_| false, ReadFor::Slots)?;
            let conditions = exact.into_iter().chain(tested).collect();
            Some((words(&conditions), expressions.iter().map(words).collect::<Vec<_>>().join("; ")))
        };
        let both =
            |conditions: &str, expressions: &str| Some((conditions.to_owned(), expressions.to_owned()));
        assert_eq!(decides("{{ kept }} {{ lines }} of {{ max_lines }}"), both("", ""));
        assert_eq!(decides("{% if task_tool %}{{ removed }}{% endif %}"), both("task_tool", ""));
        assert_eq!(decides("{{ lines|kb }}{% if bytes > 0 %}a{% endif %}"), both("bytes", "lines"));
        assert_eq!(decides("{{ kept if lines > 9 else path }}"), both("", "kept lines path"));
        assert_eq!(decides("{% if removed is known %}{{ kept }}{% endif %}"), both("removed", ""));
        assert_eq!(decides("{% if partial %}{{ size|kb }}{% else %}b{% endif %}"), both("partial", "size"));
        assert_eq!(decides("{% set a = lines %}{{ kept }}"), both("lines", ""));
        assert_eq!(decides("{% set a %}{{ lines }}{% endset %}{{ a }}"), both("", ""));
        assert_eq!(decides("{% set a %}{{ lines }}{% endset %}{% if a %}{{ kept }}{% endif %}"), None);
    }
}
