//! `overspill compare`: one output under every policy, one row per policy.

use std::io::{self, Write};
use std::ops::Range;

use serde::Serialize;

use crate::cli::args::{CompareArgs, PolicyArgs};
use crate::cli::input::{self, OpenInput};
use crate::cli::table::{Align, Table, safe};
use crate::cli::{CommandResult, Failure, json};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::human::{size, thousands, tokens};
use crate::preview::{self, Bit, Input, Part, Preview, Status, Stream, Totals, Want};
use crate::source;
use crate::text::search::Pattern;

/// One policy as in `--json`. Counts are in the policy's own terms; `finds` only with `--find`.
#[derive(Debug, Serialize)]
struct PolicyRow {
    policy: String,
    confidence: Option<&'static str>,
    status: String,
    truncated: bool,
    truncated_by: Option<&'static str>,
    total_lines: Option<u64>,
    kept_lines: Option<u64>,
    removed_lines: Option<u64>,
    total_bytes: Option<u64>,
    kept_bytes: Option<u64>,
    removed_bytes: Option<u64>,
    tokens_estimate: Option<u64>,
    preview_bytes: Option<u64>,
    finds: Option<u64>,
    finds_kept: Option<u64>,
    limits_from: Option<String>,
    /// The stretches of the output that the model gets, in order.
    #[serde(skip)]
    kept: Vec<Range<usize>>,
}

/// Plans a preview under every policy and reports what each keeps.
pub(crate) fn run(config: &Config, args: &CompareArgs) -> CommandResult {
    let pattern = args.find.as_deref().map(pattern).transpose()?;
    let mut opened = input::open(config, &args.file, &PolicyArgs::default())?;
    opened.source.wait();
    if let Some(error) = opened.source.error() {
        return Err(Failure::Failed(format!("{}: {error}", opened.name)).into());
    }
    let view = opened.source.view();
    let totals = Totals::of(&source::count(&view, Want::ALL), Want::ALL);
    let input = opened.input(&view, &totals);
    // The policy that created a stored file has a row even if it is an earlier form.
    let made_by = config.candidates(opened.path.as_deref()).into_iter().next();
    let all = |name: &str| args.all || made_by.as_deref() == Some(name);
    let mut rows: Vec<PolicyRow> =
        config.catalog.names().filter_map(|name| row(config, name, &opened, &input, all(name))).collect();
    if let Some(pattern) = &pattern {
        find(&view, pattern, &mut rows);
    }
    rows.sort_by_key(rank);
    let mut out = io::BufWriter::new(crate::fs::patient::stdout());
    match (args.json, pattern) {
        (true, _) => json(&mut out, &rows)?,
        (false, None) => table(&rows).print(&mut out)?,
        (false, Some(_)) => table_with_finds(&rows).print(&mut out)?,
    }
    Ok(out.flush()?)
}

fn pattern(text: &str) -> Result<Pattern, Failure> {
    Pattern::new(text).map_err(|error| Failure::Usage(format!("--find {text}: {error}")))
}

/// Sorts by most matches, then most kept, then cheapest; failures come last.
fn rank(row: &PolicyRow) -> impl Ord + use<> {
    let most = std::cmp::Reverse((row.finds_kept, row.kept_bytes));
    (row.status != "ok", most, row.preview_bytes, row.policy.clone())
}

/// Returns the row of a policy; none if it is an earlier form and `all` is not set.
fn row(config: &Config, name: &str, opened: &OpenInput, input: &Input, all: bool) -> Option<PolicyRow> {
    let overrides = Overrides { policy: Some(name.to_owned()), ..Overrides::default() };
    let EffectivePolicy { policy, limits_from, .. } = match config.resolve(&overrides, opened.path.as_deref())
    {
        Ok(resolved) => resolved,
        Err(error) => return Some(PolicyRow::failed(name, &error)),
    };
    if !all && !config.catalog.is_current(&policy) {
        return None;
    }
    Some(match preview::plan(input, &policy) {
        Err(error) => PolicyRow::failed(name, &error),
        Ok(preview) => PolicyRow {
            confidence: Some(policy.confidence().as_str()),
            limits_from: Some(limits_from.to_string()),
            ..PolicyRow::of(name, &preview, input)
        },
    })
}

impl PolicyRow {
    fn failed(name: &str, error: &dyn std::error::Error) -> Self {
        let (policy, status) = (name.to_owned(), format!("failed: {error}"));
        Self {
            policy,
            status,
            confidence: None,
            truncated: false,
            truncated_by: None,
            total_lines: None,
            kept_lines: None,
            removed_lines: None,
            total_bytes: None,
            kept_bytes: None,
            removed_bytes: None,
            tokens_estimate: None,
            preview_bytes: None,
            finds: None,
            finds_kept: None,
            limits_from: None,
            kept: Vec::new(),
        }
    }

    fn of(name: &str, preview: &Preview, input: &Input) -> Self {
        let bytes = preview.byte_len(input);
        Self {
            policy: name.to_owned(),
            confidence: None,
            status: match &preview.status {
                Status::Ok => "ok".to_owned(),
                Status::Crashed(words) => format!("crashed: {words}"),
            },
            truncated: preview.truncated,
            truncated_by: preview.truncated_by.map(|limit| limit.as_str()),
            total_lines: preview.total_lines,
            kept_lines: preview.kept_lines,
            removed_lines: preview.removed_lines,
            total_bytes: preview.total_bytes,
            kept_bytes: preview.kept_bytes,
            removed_bytes: preview.removed_bytes,
            tokens_estimate: Some(bytes.div_ceil(4)),
            preview_bytes: Some(bytes),
            finds: None,
            finds_kept: None,
            limits_from: None,
            kept: stretches(&preview.parts),
        }
    }
}

/// Returns the stretches of the output that the parts keep unchanged, in order, with adjacent ones joined.
fn stretches(parts: &[Part]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for part in parts {
        match part {
            Part::Kept { source: Stream::Stdout, range, .. } => all.push(range.clone()),
            Part::Changed { source: Stream::Stdout, bits, .. } => {
                all.extend(bits.iter().filter_map(|bit| match bit {
                    Bit::Bytes(range) => Some(range.clone()),
                    Bit::Text(_) | Bit::Replaced(_) | Bit::Escapes(_) => None,
                }));
            }
            Part::Kept { .. } | Part::Changed { .. } | Part::Notice { .. } | Part::Counting => {}
        }
    }
    all.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Counts all matches, and for each row those that it keeps entirely. No match is stored, however many there are.
fn find(bytes: &[u8], pattern: &Pattern, rows: &mut [PolicyRow]) {
    let mut finds = 0;
    let mut kept = vec![0; rows.len()];
    let mut at = vec![0; rows.len()];
    for found in pattern.in_lines(bytes) {
        finds += 1;
        for ((row, at), kept) in rows.iter().zip(&mut at).zip(&mut kept) {
            *at += row.kept[*at..].partition_point(|stretch| stretch.end < found.end);
            *kept += u64::from(row.kept.get(*at).is_some_and(|stretch| stretch.start <= found.start));
        }
    }
    for (row, kept) in rows.iter_mut().zip(kept) {
        (row.finds, row.finds_kept) = (Some(finds), Some(kept).filter(|_| row.preview_bytes.is_some()));
    }
}

fn table(rows: &[PolicyRow]) -> Table<7> {
    let mut table = Table::new(heads());
    rows.iter().for_each(|row| table.row(cells(row)));
    table
}

fn table_with_finds(rows: &[PolicyRow]) -> Table<8> {
    let [policy, rest @ .., last] = heads();
    let mut all = [policy; 8];
    all[1] = ("finds", Align::Right);
    all[2..7].copy_from_slice(&rest);
    all[7] = last;
    let mut table = Table::new(all);
    for row in rows {
        let [policy, a, b, c, d, e, last] = cells(row);
        table.row([policy, finds(row), a, b, c, d, e, last]);
    }
    table
}

fn heads() -> [(&'static str, Align); 7] {
    use Align::{Left, Right};
    [
        ("policy", Left),
        ("lines kept", Right),
        ("lost", Right),
        ("size kept", Right),
        ("lost", Right),
        ("tokens", Right),
        ("cut by", Left),
    ]
}

fn cells(row: &PolicyRow) -> [String; 7] {
    let figure = |number: Option<u64>, shown: fn(u64) -> String| number.map_or_else(|| "–".to_owned(), shown);
    [
        safe(row.policy.as_bytes()),
        figure(row.kept_lines, thousands),
        figure(row.removed_lines, thousands),
        figure(row.kept_bytes, size),
        figure(row.removed_bytes, size),
        figure(row.preview_bytes, tokens),
        cut_by(row),
    ]
}

fn finds(row: &PolicyRow) -> String {
    match (row.finds_kept, row.finds) {
        (Some(kept), Some(all)) => format!("{} of {}", thousands(kept), thousands(all)),
        _ => "–".to_owned(),
    }
}

fn cut_by(row: &PolicyRow) -> String {
    match row.truncated_by {
        _ if row.status != "ok" => safe(row.status.as_bytes()),
        Some(limit) => limit.to_owned(),
        None if row.truncated => "cut".to_owned(),
        None => "not cut".to_owned(),
    }
}
