//! Many outputs under every chosen policy: one row per policy, with sums over all outputs.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::args::CompareArgs;
use crate::cli::corpus::gather::gather;
use crate::cli::corpus::measure::measure;
use crate::cli::{CommandResult, fail, json_array, table};
use crate::config::{Config, EffectivePolicy};
use crate::corpus::is_design;
use crate::human::{count, size, thousands};
use crate::preview::Policy;
use crate::rows::settings::{TuneRow, policy_columns, policy_rows};
use crate::text::search::Pattern;
use crate::tune::{SettingFigures, TuneSums, Tuner};

use super::choice::{self, Chosen, ComparedPolicy};

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
            ComparedPolicy::Policy(found) => policies.push(*found),
            ComparedPolicy::Failed(name, error) => fail(&format!("{name} is left out: {error}")),
        }
    }
    policies.sort_by_key(|found| is_design(config, &found.policy));
    let designs = policies.partition_point(|found| !is_design(config, &found.policy));
    let each: Vec<Policy> = policies.iter().map(|found| found.policy.clone()).collect();
    let mut measured = measure(&corpus, each.len(), &|| Tuner::of_each(&each, find, &severities))?;
    let figures = measured.sums.figures();
    let sums = &measured.sums;
    let rows = policy_rows(&policies, designs, &figures, sums.finds());
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    if args.json {
        let record = |row: &TuneRow| Some(record(policies.get(row.number)?, &row.figures, sums));
        json_array(&mut out, rows.iter().filter_map(record))?;
    } else if sums.outputs > 0 {
        let finds = if find.is_some() { "finds" } else { sums.severity().plural() };
        table::print(&mut out, policy_columns(), &rows)?;
        writeln!(
            out,
            "\nof {} ({}) with {} in {} of them",
            count(sums.outputs, "output"),
            size(sums.bytes),
            count(sums.finds(), finds.trim_end_matches('s')),
            thousands(sums.with_errors()),
        )?;
    }
    out.flush()?;
    measured.end()
}

/// Returns the fields of `--json`: what one policy does to all outputs.
fn record(found: &EffectivePolicy, figures: &SettingFigures, sums: &TuneSums) -> Value {
    json!({
        "policy": found.policy.name(),
        "confidence": found.policy.confidence().as_str(),
        "limits_from": found.limits_from.to_string(),
        "outputs": sums.outputs,
        "cut": figures.cut,
        "tokens": figures.tokens,
        "tokens_median": figures.tokens_median,
        "tokens_p95": figures.tokens_p95,
        "tokens_max": figures.tokens_max,
        "finds": sums.finds(),
        "finds_kept": figures.kept_finds,
        "lost_last_line": figures.lost_last_line,
        "lost_first_error": figures.lost_first_error,
        "lost_all": figures.lost_all,
    })
}
