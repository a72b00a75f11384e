//! Whether the spill that a notice cites is there, and whether it is the right one.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Serialize;

use crate::base::human::{span, span_left};
use crate::cli::stores::facts;
use crate::cli::stores::select::Selected;
use crate::cli::{fail, say};
use crate::compare::{first_lost_line, kept_ranges};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::output::describe::lines_as_numbered;
use crate::preview::{self, CountedPlan, Input, Policy, Stream, ToCount, TotalsMask};
use crate::session::model::Citation;
use crate::session::spill::{SpillState, look_for};
use crate::source::{self, MapView, Source};
use crate::store::{Basis, TimeLeft};

use super::recognise::{RecognisedNotice, figures_of};

/// What is known of a cited spill, and what the policy makes of it if it is here.
#[derive(Debug, Default, Serialize)]
pub(super) struct CitedSpill {
    /// Whether the notice is the one that the policy writes for this spill, and else why not.
    pub agrees: Option<bool>,
    pub differs: Option<String>,
    /// Lines in the spill, and those that the model did not get, as they are numbered on the screen.
    pub lines: Option<u64>,
    pub removed_lines: Option<u64>,
    /// When it will be deleted, or by which rule it was, in words.
    pub deletion: Option<String>,
    /// The first line that the model did not get, 1-based.
    #[serde(skip)]
    pub first_lost: Option<u64>,
}

/// Looks for the spill of a notice, and compares the notice with the one that the policy writes for the spill.
pub(super) fn look(
    config: &Config,
    entries: &Selected,
    found: &RecognisedNotice,
    path: &Path,
) -> (&'static str, CitedSpill) {
    let uid = config.env.home().metadata().map_or(0, |meta| meta.uid());
    let cite = Citation { path: path.to_owned(), bytes: None };
    match look_for(&cite, path, uid) {
        SpillState::Gone => ("gone", CitedSpill { deletion: rule_of(config, path), ..CitedSpill::default() }),
        SpillState::Here(here) if config.stores.store_of(&here, &config.env).is_some() => {
            let checked = check(config, found, &here).unwrap_or_default();
            ("here", CitedSpill { deletion: left(entries, &here), ..checked })
        }
        // Only files in known stores are opened: a path in a text is a claim.
        SpillState::Here(_) | SpillState::Other(_) => ("other", CitedSpill::default()),
    }
}

fn left(entries: &Selected, path: &Path) -> Option<String> {
    let entry = entries.at(path)?;
    Some(match entry.left(entries.now) {
        _ if entry.is_kept() => "you keep it".to_owned(),
        TimeLeft::For(rest) => format!("deleted in {}", span_left(rest.as_secs().try_into().unwrap_or(0))),
        TimeLeft::Overdue(late) => format!("overdue for {}", span(late.as_secs().try_into().unwrap_or(0))),
        TimeLeft::Open => format!("deleted: {}", entry.left_word(entries.now)),
    })
}

/// Describes the rule of the store that the path is in, and when it applied.
fn rule_of(config: &Config, path: &Path) -> Option<String> {
    let (spec, rule) = config.stores.store_of(path, &config.env)?;
    let retention = spec.retention.as_set(&config.env);
    let made = rule.made(path.file_name()?, crate::base::env::now());
    let due = made.zip(retention.after).and_then(|(made, after)| made.checked_add(after).ok());
    if matches!(retention.basis, Basis::Never | Basis::Unknown) {
        return None;
    }
    if due.is_some_and(|due| due > crate::base::env::now()) {
        return Some("gone before its time, so not by the agent's rule".to_owned());
    }
    let due = due.map(|due| format!(", so from {} on", due.strftime("%Y-%m-%d")));
    Some(format!(
        "{} deletes {}{}",
        spec.agent,
        facts::describe_retention(&retention),
        due.unwrap_or_default()
    ))
}

/// Plans the preview of the spill, and compares its notices with the one found.
fn check(config: &Config, found: &RecognisedNotice, path: &Path) -> Option<CitedSpill> {
    let overrides = Overrides { policy: Some(found.policy.name().to_owned()), ..Overrides::default() };
    // The limits of the time, where a record has them.
    let recorded = config.resolve(&Overrides::default(), Some(path)).ok();
    let recorded = recorded.filter(|recorded| recorded.policy.name() == found.policy.name());
    let EffectivePolicy { policy, .. } = recorded.or_else(|| config.resolve(&overrides, Some(path)).ok())?;
    let mut source = Source::open_entry(path).ok()?;
    let name = path.display();
    let mut again = || {
        say(&format!("{name}: cut or rewritten meanwhile; starting over"));
        true
    };
    let checked =
        source.read_steadily(&mut again, &mut |source| compare(found, &policy, path, &source.view()));
    checked.unwrap_or_else(|error| {
        fail(&format!("{name}: {error}"));
        None
    })
}

/// Compares the notices that a policy makes for a spill with the one found.
fn compare(found: &RecognisedNotice, policy: &Policy, path: &Path, view: &MapView) -> Option<CitedSpill> {
    let name = path.to_string_lossy();
    let count = |_, want| Some(source::count(view, want));
    let input = Input::from_bytes(view, &name);
    let planned = preview::plan_counting(&input, policy, ToCount::All, count);
    let CountedPlan { preview, totals, .. } = planned.ok()?;
    let text = preview.text(&input);
    let made = figures_of(policy, &text);
    let differs = match made {
        Some(made) if made == found.figures => None,
        made => Some(difference(found, made.as_deref())),
    };
    let kept = kept_ranges(&preview.parts, Stream::Stdout);
    let before = view.get(..first_lost_line(view, &kept)).unwrap_or_default();
    let is_open = view.last().is_some_and(|last| *last != b'\n');
    let counted = totals.stdout.line_feeds;
    let feeds = counted.unwrap_or_else(|| source::count(view, TotalsMask::LINE_FEEDS).line_feeds);
    let [kept_lines, lines] = lines_as_numbered(&preview, view, Some(feeds + u64::from(is_open)));
    Some(CitedSpill {
        agrees: Some(differs.is_none()),
        differs,
        lines,
        removed_lines: lines.zip(kept_lines).map(|(all, kept)| all.saturating_sub(kept)),
        deletion: None,
        first_lost: preview.truncated.then(|| bytecount::count(before, b'\n') as u64 + 1),
    })
}

/// Names the first figure that differs.
fn difference(found: &RecognisedNotice, made: Option<&[(String, String)]>) -> String {
    let Some(made) = made else { return "the policy does not cut this file".to_owned() };
    let other = found.figures.iter().find_map(|(name, stated)| {
        let (_, would) = made.iter().find(|(known, _)| known == name)?;
        (would != stated).then(|| format!("{name} is {stated} in the notice, and would be {would}"))
    });
    other.unwrap_or_else(|| "the notice has another form".to_owned())
}
