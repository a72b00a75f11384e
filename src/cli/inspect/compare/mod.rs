//! `overspill compare`: one output, or many, under every policy, one row per policy.

mod choice;
mod many;

use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::cli::args::{CompareArgs, PolicyArgs};
use crate::cli::corpus::tune::pattern;
use crate::cli::input;
use crate::cli::table::{Align, Table, safe};
use crate::cli::{CommandResult, json};
use crate::compare::{Comparison, KeptFinds};
use crate::config::Config;
use crate::human::{size, thousands, tokens};
use crate::known::Confidence;
use crate::preview::{Output, Totals, TotalsMask};
use crate::source::{self, MapView, ViewSupply};
use crate::text::search::{Pattern, each_match};

use choice::ComparedPolicy;

/// Plans a preview under every chosen policy and reports what each keeps.
pub(crate) fn run(config: &Config, args: &CompareArgs) -> CommandResult {
    let pattern = args.find.as_deref().map(pattern).transpose()?;
    let chosen = choice::chosen(config, args)?;
    let file = match &args.files[..] {
        [file] if !std::path::Path::new(file).is_dir() => file,
        _ => return many::run(config, args, &chosen, pattern.as_ref()),
    };
    let mut opened = input::open(config, file, &PolicyArgs::default())?;
    let policies = choice::resolved(config, args, &chosen, opened.path.as_deref())?;
    let mut rows = opened.read_steadily(&mut |context, view| {
        let totals = Totals::of(&source::count(view, TotalsMask::ALL), TotalsMask::ALL);
        let input = context.input(Output { bytes: view, totals: &totals });
        let row = |found: &ComparedPolicy| match found {
            ComparedPolicy::Policy(found) => {
                Comparison::of(&found.policy, &found.limits_from.to_string(), &input)
            }
            ComparedPolicy::Failed(name, error) => Comparison::failed(name, error),
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
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    match (args.json, pattern) {
        (true, _) => json(&mut out, &rows)?,
        (false, None) => table(&rows).print(&mut out)?,
        (false, Some(_)) => table_with_finds(&rows).print(&mut out)?,
    }
    Ok(out.flush()?)
}

/// Counts all matches, and for each row those that it keeps entirely.
fn find(view: &MapView, pattern: &Pattern, rows: &mut [Comparison]) {
    let mut finds = KeptFinds::new(rows.iter().map(|row| &row.kept[..]));
    each_match(&mut ViewSupply::from(view), pattern, &mut |found| {
        finds.found(&found);
        ControlFlow::Continue(())
    });
    let (all, kept) = finds.counts();
    for (row, kept) in rows.iter_mut().zip(kept) {
        (row.finds, row.finds_kept) = (Some(all), Some(kept).filter(|_| row.preview_bytes.is_some()));
    }
}

fn table(rows: &[Comparison]) -> Table<7> {
    let mut table = Table::new(heads()).headed().omitting(&[4, 2]).yielding(&[0]);
    rows.iter().for_each(|row| table.row(cells(row)));
    table
}

fn table_with_finds(rows: &[Comparison]) -> Table<8> {
    let [policy, rest @ .., last] = heads();
    let mut all = [policy; 8];
    all[1] = ("finds", Align::Right);
    all[2..7].copy_from_slice(&rest);
    all[7] = last;
    let mut table = Table::new(all).headed().omitting(&[5, 3]).yielding(&[0]);
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

fn cells(row: &Comparison) -> [String; 7] {
    let figure = |number: Option<u64>, shown: fn(u64) -> String| number.map_or_else(|| "–".to_owned(), shown);
    [
        safe(row.policy.as_bytes()),
        figure(row.kept_lines, thousands),
        figure(row.removed_lines, thousands),
        figure(row.kept_bytes, size),
        figure(row.removed_bytes, size),
        figure(row.preview_bytes, tokens),
        safe(row.cut_by().as_bytes()),
    ]
}

fn finds(row: &Comparison) -> String {
    match (row.finds_kept, row.finds) {
        (Some(kept), Some(all)) => format!("{} of {}", thousands(kept), thousands(all)),
        _ => "–".to_owned(),
    }
}
