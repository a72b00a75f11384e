//! Many outputs under every chosen policy: one row per policy, with sums over all outputs.

use std::cmp::Reverse;
use std::io::{self, Write};

use serde::Serialize;

use crate::cli::args::CompareArgs;
use crate::cli::corpus::gather::gather;
use crate::cli::corpus::measure::measure;
use crate::cli::table::{Align, Table, safe};
use crate::cli::{CommandResult, fail, json};
use crate::config::{Config, EffectivePolicy};
use crate::corpus::is_design;
use crate::human::{count, size, thousands, tokens};
use crate::preview::Policy;
use crate::text::search::Pattern;
use crate::tune::{SettingFigures, TuneSums, Tuner};

use super::choice::{self, Chosen, ComparedPolicy};

/// What one policy does to all outputs.
#[derive(Debug, Serialize)]
struct PolicyOnMany {
    policy: String,
    confidence: &'static str,
    limits_from: String,
    outputs: u64,
    cut: u64,
    tokens: u64,
    tokens_median: u64,
    tokens_p95: u64,
    tokens_max: u64,
    finds: u64,
    finds_kept: u64,
    lost_last_line: u64,
    lost_first_error: u64,
    lost_all: u64,
}

/// Measures all outputs under the chosen policies, and prints the sums.
pub(super) fn run(
    config: &Config,
    args: &CompareArgs,
    chosen: &[Chosen],
    find: Option<&Pattern>,
) -> CommandResult {
    let severities = config.severities();
    let (corpus, _) = gather(config, &args.files, None)?;
    let mut policies = Vec::new();
    for found in choice::resolved(config, args, chosen, None)? {
        match found {
            ComparedPolicy::Policy(found) => policies.push(found),
            ComparedPolicy::Failed(name, error) => fail(&format!("{name} is left out: {error}")),
        }
    }
    let each: Vec<Policy> = policies.iter().map(|found| found.policy.clone()).collect();
    let mut measured = measure(&corpus, each.len(), &|| Tuner::of_each(&each, find, &severities))?;
    let figures = measured.sums.figures();
    let sums = &measured.sums;
    let mut rows: Vec<(bool, PolicyOnMany)> = policies
        .iter()
        .zip(&figures)
        .map(|(found, figures)| (is_design(config, &found.policy), row(found, figures, sums)))
        .collect();
    rows.sort_by_key(|(is_design, row)| {
        (*is_design, Reverse(row.finds_kept), row.tokens, row.policy.clone())
    });
    let rows: Vec<PolicyOnMany> = rows.into_iter().map(|(_, row)| row).collect();
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    if args.json {
        json(&mut out, &rows)?;
    } else if sums.outputs > 0 {
        let finds = if find.is_some() { "finds" } else { sums.severity().plural() };
        table(&rows, finds).print(&mut out)?;
        let word = finds.trim_end_matches('s');
        writeln!(
            out,
            "\nof {} ({}) with {}: {finds} kept; tokens of all\n\
             previews, and of the median one; outputs that are cut, that lost the end (last\n\
             line), the first error ({} have one), everything",
            count(sums.outputs, "output"),
            size(sums.bytes),
            count(sums.finds(), word),
            thousands(sums.with_errors()),
        )?;
    }
    out.flush()?;
    measured.end()
}

fn row(found: &EffectivePolicy, figures: &SettingFigures, sums: &TuneSums) -> PolicyOnMany {
    PolicyOnMany {
        policy: found.policy.name().to_owned(),
        confidence: found.policy.confidence().as_str(),
        limits_from: found.limits_from.to_string(),
        outputs: sums.outputs,
        cut: figures.cut,
        tokens: figures.tokens,
        tokens_median: figures.tokens_median,
        tokens_p95: figures.tokens_p95,
        tokens_max: figures.tokens_max,
        finds: sums.finds(),
        finds_kept: figures.kept_finds,
        lost_last_line: figures.lost_last_line,
        lost_first_error: figures.lost_first_error,
        lost_all: figures.lost_all,
    }
}

fn table(rows: &[PolicyOnMany], finds: &'static str) -> Table<8> {
    use Align::{Left, Right};
    let mut table = Table::new([
        ("policy", Left),
        (finds, Right),
        ("tokens", Right),
        ("median", Right),
        ("cut", Right),
        ("end", Right),
        ("first", Right),
        ("all", Right),
    ])
    .headed()
    .omitting(&[7, 6])
    .yielding(&[0]);
    for row in rows {
        let shown = |number: u64| tokens(number.saturating_mul(4));
        table.row([
            safe(row.policy.as_bytes()),
            thousands(row.finds_kept),
            shown(row.tokens),
            shown(row.tokens_median),
            thousands(row.cut),
            thousands(row.lost_last_line),
            thousands(row.lost_first_error),
            thousands(row.lost_all),
        ]);
    }
    table
}
