//! `overspill compare`: one output, or many, under every policy, one row per policy.

mod choice;

use std::io::Write;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::base::human::{size, thousands, tokens};
use crate::base::provenance::Confidence;
use crate::cli::args::{CompareArgs, PolicyArgs};
use crate::cli::corpus::gather::gather;
use crate::cli::corpus::measure::measure;
use crate::cli::corpus::tune::{describe_outputs, pattern};
use crate::cli::{CommandResult, fail, input, print_json_array, table};
use crate::compare::{Comparison, KeptMatches};
use crate::config::{Config, EffectivePolicy};
use crate::corpus::is_design;
use crate::corpus::tune::{SettingFigures, TuneSums, Tuner};
use crate::preview::{Output, Policy, Totals, TotalsMask};
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{ListColumn, POLICY, RowCell};
use crate::rows::settings::{TuneRow, policy_columns, policy_rows};
use crate::source::{self, MapView, ViewSupply};
use crate::text::search::{Pattern, each_match};

use choice::{Chosen, ComparedPolicy};

/// Plans a preview under every chosen policy and reports what each keeps.
pub(crate) fn run(config: &Config, args: &CompareArgs) -> CommandResult {
    let pattern = args.find.as_deref().map(pattern).transpose()?;
    let chosen = choice::chosen(config, args)?;
    let file = match &args.files[..] {
        [file] if !std::path::Path::new(file).is_dir() => file,
        _ => return many(config, args, &chosen, pattern.as_ref()),
    };
    let mut opened = input::open(config, file, &PolicyArgs::default())?;
    let policies = choice::resolved(config, args, &chosen, opened.path.as_deref())?;
    let mut rows = opened.read_steadily(&mut |context, view| {
        let totals = Totals::from_measure(&source::count(view, TotalsMask::ALL), TotalsMask::ALL);
        let input = context.input(Output { bytes: view, totals: &totals });
        let row = |found: &ComparedPolicy| match found {
            Ok(found) => Comparison::new(&found.policy, &found.limits_from.to_string(), &input),
            Err((name, error)) => Comparison::failed(name, error),
        };
        let mut rows: Vec<Comparison> = policies.iter().map(row).collect();
        if let Some(pattern) = &pattern {
            find(view, pattern, &mut rows);
        }
        Ok(rows)
    })?;
    // What a real agent does comes before what nobody has shipped.
    let is_design = |row: &Comparison| {
        row.confidence == Some(Confidence::Own.as_str()) && !config.catalog.is_own(&row.policy)
    };
    rows.sort_by(|a, b| is_design(a).cmp(&is_design(b)).then_with(|| a.cmp_by_kept(b)));
    let is_shown = |column: &&ListColumn<_>| pattern.is_some() || column.heading() != "finds";
    table::list(args.json, COLUMNS.iter().filter(is_shown), &rows, |row| row)
}

/// Counts all matches, and for each row those that it keeps entirely.
fn find(view: &MapView, pattern: &Pattern, rows: &mut [Comparison]) {
    let mut finds = KeptMatches::new(rows.iter().map(|row| &row.kept[..]));
    each_match(&mut ViewSupply::from(view), pattern, &mut |found| {
        finds.add(&found);
        ControlFlow::Continue(())
    });
    let (all, kept) = finds.counts();
    for (row, kept) in rows.iter_mut().zip(kept) {
        (row.finds, row.finds_kept) = (Some(all), Some(kept).filter(|_| row.preview_bytes.is_some()));
    }
}

static COLUMNS: [ListColumn<Comparison>; 8] = [
    ListColumn::new("policy", Left, POLICY, |row: &Comparison, _| RowCell::plain(row.policy.as_str())),
    ListColumn::new("finds", Right, 15, |row: &Comparison, _| match (row.finds_kept, row.finds) {
        (Some(kept), Some(all)) => RowCell::plain(format!("{} of {}", thousands(kept), thousands(all))),
        _ => RowCell::default(),
    }),
    ListColumn::new("lines", Right, 11, |row: &Comparison, _| figure(row.kept_lines, thousands)),
    ListColumn::new("lines lost", Right, 11, |row: &Comparison, _| figure(row.removed_lines, thousands))
        .yields(1),
    ListColumn::new("bytes", Right, 9, |row: &Comparison, _| figure(row.kept_bytes, size)),
    ListColumn::new("bytes lost", Right, 10, |row: &Comparison, _| figure(row.removed_bytes, size)).yields(0),
    ListColumn::new("tokens", Right, 7, |row: &Comparison, _| figure(row.preview_bytes, tokens)),
    ListColumn::new("cut by", Left, 0, |row: &Comparison, _| RowCell::plain(row.cut_by())),
];

fn figure(number: Option<u64>, words: fn(u64) -> String) -> RowCell {
    RowCell::plain(number.map_or_else(|| "–".to_owned(), words))
}

/// Measures all outputs under the chosen policies, and prints the sums.
fn many(config: &Config, args: &CompareArgs, chosen: &[Chosen], find: Option<&Pattern>) -> CommandResult {
    let severities = config.severities();
    let (corpus, _) = gather(config, &args.files, None)?;
    let mut policies = Vec::new();
    for found in choice::resolved(config, args, chosen, None)? {
        match found {
            Ok(found) => policies.push(found),
            Err((name, error)) => fail(&format!("{name} is left out: {error}")),
        }
    }
    policies.sort_by_key(|found| is_design(config, &found.policy));
    let designs = policies.partition_point(|found| !is_design(config, &found.policy));
    let each: Vec<Policy> = policies.iter().map(|found| found.policy.clone()).collect();
    let mut measured = measure(&corpus, each.len(), &|| Tuner::for_policies(&each, find, &severities))?;
    let figures = measured.sums.figures();
    let sums = &measured.sums;
    let rows = policy_rows(&policies, designs, &figures, sums.finds());
    if args.json {
        let record = |row: &TuneRow| Some(record(policies.get(row.number)?, &row.figures, sums));
        print_json_array(rows.iter().filter_map(record))?;
    } else if sums.outputs > 0 {
        let finds = if find.is_some() { "finds" } else { sums.severity().plural() };
        table::show(policy_columns(), &rows)?;
        writeln!(crate::cli::safe::stdout(), "\nof {}", describe_outputs(sums, finds))?;
    }
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
