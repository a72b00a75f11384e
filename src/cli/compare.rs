//! `overspill compare`: one output, or many, under every policy, one row per policy.

use std::ffi::OsStr;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::human::{size, thousands, tokens};
use crate::base::provenance::Confidence;
use crate::compare::{Comparison, StretchCounts};
use crate::config::{Config, EffectivePolicy, OverrideError, Overrides};
use crate::corpus::tune::SettingFigures;
use crate::corpus::{TuneChoice, TuneFigures, TuneRun, TunedPolicies};
use crate::preview::{Output, ParamError, Totals, TotalsMask};
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{LAST, ListColumn, POLICY, RowCell};
use crate::rows::settings::{SPEC, TuneRow, policy_rows};
use crate::source::{self, MapView, ViewSupply};
use crate::text::search::{Pattern, Severity, each_match};

use super::args::{CompareArgs, PolicyArgs};
use super::corpus::gather;
use super::corpus::tune::{describe_outputs, end, measure, pattern};
use super::input::{self, OpenInput};
use super::{CommandResult, fail, print_json_array, say, table, terminal, usage};

pub(crate) fn run(config: &Config, args: &CompareArgs) -> CommandResult {
    let find = args.find.as_deref().map(pattern).transpose()?;
    check_names(config, args)?;
    let file = match &args.files[..] {
        [] if !args.stores => OsStr::new("-"),
        [file] if !Path::new(file).is_dir() => file,
        _ => return many(config, args, find),
    };
    let severities = config.severities();
    let [errors, warnings] = Severity::ALL.map(|severity| severities.get(severity));
    let counted = match &find {
        Some(find) => vec![("matches kept", Some(find))],
        // The warnings count if there is no error.
        None => vec![("errors kept", errors), ("warnings kept", warnings)],
    };
    let named = input::find_call(config, file, |_| true)?;
    let mut opened = input::open_named(config, named, &PolicyArgs::default())?;
    let policies = resolve(config, args, Some(&opened))?;
    let (mut rows, heading) = opened.read_steadily(&mut |context, view| {
        let totals = Totals::from_measure(&source::count(view, TotalsMask::ALL), TotalsMask::ALL);
        let input = context.input(Output { bytes: view, totals: &totals });
        let rows = policies.iter().map(|found| match found {
            Ok(found) => Comparison::new(&found.policy, &found.limits_from.to_string(), &input),
            Err((name, error)) => Comparison::failed(name, error),
        });
        let mut rows: Vec<Comparison> = rows.collect();
        let has_some = |(_, pattern): &&(_, _)| count_kept(view, *pattern, &mut rows) > 0;
        let heading = counted.iter().find(has_some).map_or(counted[0].0, |(heading, _)| *heading);
        Ok((rows, heading))
    })?;
    opened.cut_short().into_iter().for_each(|words| say(&words));
    // Policies of real agents come before unshipped designs.
    let is_design = |row: &Comparison| {
        row.confidence == Some(Confidence::Own.as_str()) && !config.catalog.is_own(&row.policy)
    };
    rows.sort_by(|a, b| is_design(a).cmp(&is_design(b)).then_with(|| a.cmp_by_kept(b)));
    let is_shown = |column: &&Column| column.heading() == heading || !column.heading().ends_with(" kept");
    table::list(args.json, COLUMNS.iter().filter(is_shown), &rows, |row| row)
}

fn count_kept(view: &MapView, pattern: Option<&Pattern>, rows: &mut [Comparison]) -> u64 {
    let Some(pattern) = pattern else { return 0 };
    let mut matches = StretchCounts::new(rows.iter().flat_map(|row| &row.kept));
    each_match(&mut ViewSupply::from(view), pattern, &mut |found| {
        matches.add(&found);
        ControlFlow::Continue(())
    });
    let all = matches.end();
    for row in rows {
        (row.matches, row.kept_matches) = (Some(all), row.preview_bytes.map(|_| matches.within(&row.kept)));
    }
    all
}

type Column = ListColumn<Comparison>;

static COLUMNS: [Column; 10] = [
    Column::new("policy", Left, POLICY, |row, _| RowCell::plain(row.policy.as_str())),
    Column::new("errors kept", Right, 15, |row, _| kept_matches(row)),
    Column::new("warnings kept", Right, 15, |row, _| kept_matches(row)),
    Column::new("matches kept", Right, 15, |row, _| kept_matches(row)),
    Column::new("lines", Right, 11, |row, _| figure(row.numbered[0], thousands)).yields(LAST + 2),
    Column::new("lines lost", Right, 11, |row, _| figure(lines_lost(row), thousands)).yields(1),
    Column::new("bytes", Right, 9, |row, _| figure(row.kept_bytes, size)).yields(LAST + 1),
    Column::new("bytes lost", Right, 10, |row, _| figure(row.removed_bytes, size)).yields(0),
    Column::new("tokens", Right, 7, |row, _| figure(row.preview_bytes, tokens)).yields(LAST),
    Column::new("cut by", Left, 0, |row, _| RowCell::plain(row.cut_by())),
];

fn lines_lost(row: &Comparison) -> Option<u64> {
    let [kept, all] = row.numbered;
    Some(all?.saturating_sub(kept?))
}

fn kept_matches(row: &Comparison) -> RowCell {
    let both = row.kept_matches.zip(row.matches).filter(|(_, all)| *all > 0);
    RowCell::or_dash(both.map(|(kept, all)| format!("{} of {}", thousands(kept), thousands(all))))
}

fn figure(number: Option<u64>, words: fn(u64) -> String) -> RowCell {
    RowCell::or_dash(number.map(words))
}

fn many(config: &Config, args: &CompareArgs, find: Option<Pattern>) -> CommandResult {
    let (corpus, _) = gather(config, &args.files, None)?;
    let mut policies = Vec::new();
    for found in resolve(config, args, None)? {
        match found {
            Ok(found) => policies.push(found),
            Err((name, error)) => fail(&format!("{name} is left out: {error}")),
        }
    }
    let is_asked = find.is_some();
    let choice = TuneChoice::Policies(TunedPolicies::new(config, policies));
    let run = TuneRun::new(Arc::new(corpus), choice, find, config.severities());
    let sums = measure(&run)?;
    let TuneChoice::Policies(of) = &run.choice else { return Ok(()) };
    let rows = policy_rows(of, &sums.settings, sums.matches);
    if args.json {
        let record = |row: &TuneRow| Some(record(of.policies.get(row.number)?, &row.figures, &sums));
        print_json_array(rows.iter().filter_map(record))?;
    } else if sums.outputs > 0 {
        let matches = if is_asked { "matches" } else { sums.severity.plural() };
        table::show(SPEC.columns, &rows)?;
        writeln!(terminal::stdout(), "\nof {}", describe_outputs(&sums, matches))?;
    }
    end(&sums)
}

fn record(found: &EffectivePolicy, figures: &SettingFigures, sums: &TuneFigures) -> Value {
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
        "matches": sums.matches,
        "kept_matches": figures.kept_matches,
        "lost_last_line": figures.lost_last_line,
        "lost_first_error": figures.lost_first_error,
        "lost_all": figures.lost_all,
    })
}

/// Checks that `-p` names agents and policies that there are.
fn check_names(config: &Config, args: &CompareArgs) -> anyhow::Result<()> {
    let mut named = args.policies.iter().filter(|word| config.catalog.names_of(word).next().is_none());
    named.try_for_each(|word| config.catalog.get(word).map(drop).map_err(usage))
}

/// Returns the chosen policies with their limits, or the name of one that cannot be used, and why. One that the flags do
/// not fit is left out, which standard error reports; fails if it was chosen by its name, or none is left.
fn resolve(
    config: &Config,
    args: &CompareArgs,
    opened: Option<&OpenInput>,
) -> anyhow::Result<Vec<Result<EffectivePolicy, (String, OverrideError)>>> {
    // The policy that made the preview of a call or a stored file has a row even if it is an earlier form.
    let of_call = opened.and_then(|opened| opened.policy.as_ref()).map(|policy| policy.name().to_owned());
    let path = opened.and_then(|opened| opened.path.as_deref());
    let made_by = of_call.or_else(|| config.candidates(path).into_iter().next());
    let (mut all, mut left_out, mut why) = (Vec::new(), 0_u64, None);
    for name in config.catalog.names() {
        let is_current = args.all
            || made_by.as_deref() == Some(name)
            || config.catalog.get(name).map_or(true, |policy| config.catalog.is_current(&policy));
        let is_named = args.policies.iter().any(|word| word == name);
        let of_agent = args.policies.iter().any(|word| name.split('/').next() == Some(word));
        if !is_named && !(is_current && (of_agent || args.policies.is_empty())) {
            continue;
        }
        let overrides = Overrides { policy: Some(name.to_owned()), ..args.limits.overrides() };
        let anyway = || config.resolve(&overrides, None);
        match opened.map_or_else(anyway, |opened| opened.policy_by(config, &overrides)) {
            Ok(found) => all.push(Ok(found)),
            Err(error) if is_named => return Err(usage(error)),
            // The flags do not fit the policy.
            Err(
                error @ (OverrideError::Param(ParamError::Unknown { .. } | ParamError::Value { .. })
                | OverrideError::Suffix { .. }
                | OverrideError::Twice { .. }),
            ) => {
                left_out += 1;
                why.get_or_insert(error);
            }
            Err(error) => all.push(Err((name.to_owned(), error))),
        }
    }
    match why {
        Some(error) if all.is_empty() => Err(usage(error)),
        Some(_) => {
            let flag = args.limits.first_given().unwrap_or("the flags");
            say(&format!("{} policies cannot be used with {flag}, and are left out", thousands(left_out)));
            Ok(all)
        }
        None => Ok(all),
    }
}
