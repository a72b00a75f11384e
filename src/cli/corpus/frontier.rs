//! How the settings of `tune` are printed: the frontier as a table with what each move buys, or everything as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::table::{Align, Table};
use crate::config::EffectivePolicy;
use crate::human::{count, size, thousands, tokens};
use crate::preview::Direction;
use crate::tune::{SettingFigures, TuneGrid, TuneMove, TuneSetting, TuneSums, frontier};

/// What was found out about all settings.
pub(super) struct Tuned<'a> {
    pub policy: &'a EffectivePolicy,
    pub grid: &'a TuneGrid,
    /// The figures of each setting.
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
    /// Returns a setting with its figures.
    fn at(&self, number: usize) -> Option<(&TuneSetting, &SettingFigures)> {
        self.grid.settings.get(number).zip(self.figures.get(number))
    }

    fn present(&self) -> SettingFigures {
        self.figures.get(self.grid.current).copied().unwrap_or_default()
    }

    fn words(&self, setting: &TuneSetting) -> String {
        setting.words(self.policy.policy.unit())
    }
}

/// Prints everything as one object.
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
            .filter_map(|number| tuned.at(number))
            .map(|(setting, figures)| SettingJson::of(setting, figures))
            .collect(),
    };
    crate::cli::json(out, &object)
}

/// Prints the frontier with the present setting in its place, then what a move to each setting buys.
pub(super) fn table(out: &mut impl Write, tuned: &Tuned) -> io::Result<()> {
    let (sums, present) = (tuned.sums, tuned.present());
    let of_outputs = format!("for {} ({})", count(sums.outputs, "output"), size(sums.bytes));
    let name = tuned.policy.policy.name();
    writeln!(
        out,
        "{name}: the best of {} settings {of_outputs} with {}; * is the present one\n",
        tuned.figures.len(),
        count(sums.finds(), tuned.finds.trim_end_matches('s')),
    )?;
    let best = frontier(tuned.figures, tuned.grid.current);
    let mut shown = best.clone();
    if !shown.contains(&tuned.grid.current) {
        let before =
            |number: &usize| tuned.figures.get(*number).is_some_and(|of| of.tokens <= present.tokens);
        let at = shown.partition_point(before);
        shown.insert(at, tuned.grid.current);
    }
    let mut table = Table::new(heads(tuned.finds)).headed();
    for number in shown {
        let Some((setting, figures)) = tuned.at(number) else { continue };
        table.row(cells(tuned, setting, figures, number == tuned.grid.current));
    }
    table.print(out)?;
    writeln!(
        out,
        "\n{}: kept; tokens: of all previews, and of the median one; outputs: cut,\n\
         that lost the end (last line), the first error ({} have one), everything",
        tuned.finds,
        thousands(sums.with_errors()),
    )?;
    if sums.finds() == 0 {
        return writeln!(out, "\nnothing in these outputs matches, so the fewest tokens are best");
    }
    writeln!(out)?;
    for (setting, figures) in best.iter().filter_map(|number| tuned.at(*number)) {
        if *setting != TuneSetting::of(&tuned.policy.policy) {
            let buys = TuneMove::of(figures, &present, sums.finds());
            writeln!(out, "{}: {}", tuned.words(setting), buys.words(tuned.finds))?;
        }
    }
    if !best.contains(&tuned.grid.current) {
        writeln!(out, "the present setting is not among the best: others keep as much for fewer tokens")?;
    } else if best.len() == 1 {
        writeln!(out, "no other setting keeps more, nor as much for fewer tokens")?;
    }
    Ok(())
}

fn heads(finds: &'static str) -> [(&'static str, Align); 8] {
    use Align::{Left, Right};
    [
        ("  setting", Left),
        (finds, Right),
        ("tokens", Right),
        ("median", Right),
        ("cut", Right),
        ("end", Right),
        ("first", Right),
        ("all", Right),
    ]
}

fn cells(tuned: &Tuned, setting: &TuneSetting, of: &SettingFigures, is_present: bool) -> [String; 8] {
    let mark = if is_present { "*" } else { " " };
    let words = tuned.words(setting);
    let shown = |number: u64| tokens(number.saturating_mul(4));
    [
        format!("{mark} {words}"),
        thousands(of.kept_finds),
        shown(of.tokens),
        shown(of.tokens_median),
        thousands(of.cut),
        thousands(of.lost_last_line),
        thousands(of.lost_first_error),
        thousands(of.lost_all),
    ]
}
