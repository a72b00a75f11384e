//! How the settings of `tune` are printed: the frontier as a table with what each move buys, or everything as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::{add, table};
use crate::config::EffectivePolicy;
use crate::human::{count, size, thousands};
use crate::preview::Direction;
use crate::rows::settings::{beside_best, setting_columns, setting_rows};
use crate::tune::{SettingFigures, TuneGrid, TuneMove, TuneSetting, TuneSums, frontier};

pub(super) struct Tuned<'a> {
    pub policy: &'a EffectivePolicy,
    pub grid: &'a TuneGrid,
    pub figures: &'a [SettingFigures],
    pub sums: &'a TuneSums,
    /// What the finds are called.
    pub finds: &'static str,
    /// Whether all outputs could be visited.
    pub is_complete: bool,
}

impl Tuned<'_> {
    fn present(&self) -> SettingFigures {
        self.figures.get(self.grid.current).copied().unwrap_or_default()
    }
}

pub(super) fn json(out: &mut impl Write, tuned: &Tuned) -> io::Result<()> {
    let EffectivePolicy { policy, limits_from, .. } = tuned.policy;
    let settings: Vec<Value> =
        tuned.grid.settings.iter().zip(tuned.figures).map(|(of, figures)| record(of, figures)).collect();
    let best = frontier(tuned.figures, tuned.grid.current);
    let best: Vec<&Value> = best.into_iter().filter_map(|number| settings.get(number)).collect();
    let object = json!({
        "version": 1,
        "policy": policy.name(),
        "limits_from": limits_from.to_string(),
        "unit": policy.unit().as_str(),
        "outputs": tuned.sums.outputs,
        "bytes": tuned.sums.bytes,
        "with_errors": tuned.sums.with_errors(),
        "finds": tuned.sums.finds(),
        "complete": tuned.is_complete,
        "current": record(&TuneSetting::of(policy), &tuned.present()),
        "settings": settings,
        "frontier": best,
    });
    crate::cli::json(out, &object)
}

fn record(setting: &TuneSetting, figures: &SettingFigures) -> Value {
    let mut record = json!({
        "max_lines": setting.max_lines,
        "max_bytes": setting.max_size,
        "direction": setting.direction.map(Direction::as_str),
    });
    add(&mut record, json!(figures));
    record
}

/// Prints the settings worth choosing between with the present one in its place, then what a move to each buys.
pub(super) fn table(out: &mut impl Write, tuned: &Tuned) -> io::Result<()> {
    let (sums, present, policy) = (tuned.sums, tuned.present(), &tuned.policy.policy);
    writeln!(
        out,
        "{}: the best of {} settings for {} ({}) with {} in {} of them; * is the present one\n",
        policy.name(),
        tuned.figures.len(),
        count(sums.outputs, "output"),
        size(sums.bytes),
        count(sums.finds(), tuned.finds.trim_end_matches('s')),
        thousands(sums.with_errors()),
    )?;
    let rows = setting_rows(policy, tuned.grid, tuned.figures, sums.finds());
    table::print(out, setting_columns(), &rows)?;
    if sums.finds() == 0 {
        return writeln!(out, "\nnothing in these outputs matches, so the fewest tokens are best");
    }
    writeln!(out)?;
    for row in &rows {
        let setting = row.setting.words(row.unit);
        if row.is_present {
            writeln!(out, "{setting}, now: {}", beside_best(tuned.figures, tuned.grid.current))?;
        } else {
            let buys = TuneMove::of(&row.figures, &present, sums.finds());
            writeln!(out, "{setting}: {}", buys.words(tuned.finds))?;
        }
    }
    Ok(())
}
