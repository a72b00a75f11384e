//! How the settings of `tune` are printed: the frontier as a table with what each move buys, or everything as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::table;
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

#[derive(Serialize)]
struct TunedJson<'a> {
    version: u32,
    policy: &'a str,
    limits_from: String,
    unit: &'static str,
    outputs: u64,
    bytes: u64,
    with_errors: u64,
    finds: u64,
    complete: bool,
    current: SettingJson,
    settings: Vec<SettingJson>,
    frontier: Vec<SettingJson>,
}

#[derive(Serialize)]
struct SettingJson {
    max_lines: Option<u64>,
    max_bytes: Option<u64>,
    direction: Option<&'static str>,
    cut: u64,
    tokens: u64,
    tokens_median: u64,
    tokens_p95: u64,
    tokens_max: u64,
    kept_finds: u64,
    lost_last_line: u64,
    lost_first_error: u64,
    lost_all: u64,
}

impl SettingJson {
    fn of(setting: &TuneSetting, figures: &SettingFigures) -> Self {
        Self {
            max_lines: setting.max_lines,
            max_bytes: setting.max_size,
            direction: setting.direction.map(Direction::as_str),
            cut: figures.cut,
            tokens: figures.tokens,
            tokens_median: figures.tokens_median,
            tokens_p95: figures.tokens_p95,
            tokens_max: figures.tokens_max,
            kept_finds: figures.kept_finds,
            lost_last_line: figures.lost_last_line,
            lost_first_error: figures.lost_first_error,
            lost_all: figures.lost_all,
        }
    }
}

impl Tuned<'_> {
    fn present(&self) -> SettingFigures {
        self.figures.get(self.grid.current).copied().unwrap_or_default()
    }
}

pub(super) fn json(out: &mut impl Write, tuned: &Tuned) -> io::Result<()> {
    let settings = || tuned.grid.settings.iter().zip(tuned.figures);
    let present = tuned.present();
    let own = TuneSetting::of(&tuned.policy.policy);
    let object = TunedJson {
        version: 1,
        policy: tuned.policy.policy.name(),
        limits_from: tuned.policy.limits_from.to_string(),
        unit: tuned.policy.policy.unit().as_str(),
        outputs: tuned.sums.outputs,
        bytes: tuned.sums.bytes,
        with_errors: tuned.sums.with_errors(),
        finds: tuned.sums.finds(),
        complete: tuned.is_complete,
        current: SettingJson::of(&own, &present),
        settings: settings().map(|(setting, figures)| SettingJson::of(setting, figures)).collect(),
        frontier: frontier(tuned.figures, tuned.grid.current)
            .into_iter()
            .filter_map(|number| tuned.grid.settings.get(number).zip(tuned.figures.get(number)))
            .map(|(setting, figures)| SettingJson::of(setting, figures))
            .collect(),
    };
    crate::cli::json(out, &object)
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
