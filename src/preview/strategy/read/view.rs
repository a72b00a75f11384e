//! A Go read tool's window: numbered lines, carriage returns and long ends dropped, and an off-by-one total.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Bit, LimitHit, Part};
use crate::preview::plan::PlanError;
use crate::preview::strategy::{Chosen, Rule};
use crate::preview::template::{self, Fact, Facts};

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let form = rule.form;
    let (skip, limit) = (rule.needed(&form.offset, "offset")?, rule.needed(&form.lines, "lines")?);
    let most = rule.needed(&form.size, "size")?;
    if text.bytes.len() as u64 > most {
        let facts = Facts::from([("raw_bytes", Fact::Number(text.bytes.len() as u64))]);
        return Err(refusal(rule, &form.past_end, &facts));
    }
    let token = as_usize(rule.needed(&form.chunk, "chunk")?);
    let (mut window, mut count) = (Vec::new(), 0);
    for line in lines(text) {
        if line.len() >= token {
            return Err(refusal(rule, &form.gap, &Facts::new()));
        }
        if count >= skip && count - skip < limit {
            window.push(line);
        }
        count += 1;
    }
    let skip = skip.min(u64::MAX - count.max(1));
    let line_size = as_usize(rule.needed(&form.line_size, "line_size")?);
    let rows: Vec<_> = window.iter().map(|line| row(text, line.clone(), line_size)).collect();
    let is_cut = |line: &Range<usize>| without_return(text, line.clone()).len() > line_size;
    let is_blank = rows.len() <= 1 && rows.iter().all(Range::is_empty) && !window.iter().any(is_cut);
    let mut chosen = Chosen { lines: Some(Ok(rows.len() as u64)), ..Chosen::default() };
    let template = rule.template(&form.number)?;
    let mut parts = Vec::new();
    for (at, shown) in rows.iter().enumerate().filter(|_| !is_blank) {
        let number = rule.numbered(&template, skip + at as u64 + 1)?;
        let before = if at > 0 { "\n" } else { "" }.to_owned() + &number;
        parts.push(part(text, rule, &window[at], shown, before, line_size));
    }
    chosen.ranges = rows;
    let last = skip + window.len() as u64;
    let total = if count > limit { count - 1 } else { count };
    chosen.cut = Some(total > last);
    chosen.hit = (total > last).then_some(LimitHit::Lines);
    chosen.total_lines = Some(Ok(count));
    chosen.span = Some((Ok(skip + 1), Ok(last)));
    chosen.facts.insert("count", Fact::Number(total));
    chosen.slots = vec![("kept", parts)];
    Ok(chosen)
}

fn refusal(rule: &Rule, template: &Option<toml::Spanned<String>>, facts: &Facts) -> PlanError {
    let template = template.as_ref().map_or("", |template| template.get_ref().as_str());
    match template::render_plain(rule.policy, template, facts) {
        Ok((message, _)) => PlanError::Agent { message },
        Err(message) => PlanError::policy(rule.policy, message),
    }
}

/// All lines without their line feeds; a final one makes no more.
fn lines(text: &Text) -> impl Iterator<Item = Range<usize>> {
    let mut at = text.body.start;
    std::iter::from_fn(move || {
        (at < text.body.end).then(|| {
            let stop = text.feed_after(at, text.body.end).unwrap_or(text.body.end);
            let line = at..stop;
            at = stop + 1;
            line
        })
    })
}

fn without_return(text: &Text, line: Range<usize>) -> Range<usize> {
    let ends = !line.is_empty() && text.bytes[line.end - 1] == b'\r';
    line.start..line.end - usize::from(ends)
}

/// What is shown of a line: without a carriage return, cut to a size; or, whole, without a second one.
fn row(text: &Text, line: Range<usize>, most: usize) -> Range<usize> {
    let line = without_return(text, line);
    if line.len() > most { line.start..line.start + most } else { without_return(text, line) }
}

fn part(
    text: &Text,
    rule: &Rule,
    line: &Range<usize>,
    shown: &Range<usize>,
    before: String,
    most: usize,
) -> Part {
    let mut bits = vec![Bit::Text(before), Bit::Bytes(shown.clone())];
    if without_return(text, line.clone()).len() > most {
        bits.push(Bit::Text(rule.form.line_suffix.clone().unwrap_or_default()));
    }
    text.changed(line.clone(), bits)
}
