//! Opens the screens: on named outputs, on one that is still being produced, or on the stores.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;

use crate::config::{Backdrop, BaseTheme, ChosenBy, Config, EffectivePolicy, FaultScope, Overrides};
use crate::corpus::find_in_stores;
use crate::output::{Subject, Target};
use crate::source::FileLock;
use crate::tui::keys::{KeyFault, KeyMap, TABLE, former_names};
use crate::tui::target::Services;
use crate::tui::widget::theme::Theme;
use crate::tui::{self, Start};

pub(crate) use crate::tui::screen::{Link, TuneStart};
pub(crate) use crate::tui::{StartAt, Startup};

use super::args::PolicyArgs;
use super::input::{self, OpenInput};
use super::terminal::{colour, is_unicode, tells_background, unusable};
use super::{CommandResult, Failure, say};

/// Returns [`Failure::Ended`] if a signal ended the screens; an output still being made has yet to be kept then.
pub(crate) fn show(config: Config, startup: Startup) -> CommandResult {
    let theme = &config.file.theme;
    let depends = matches!(theme.base, BaseTheme::Auto | BaseTheme::BlueOrange);
    let asks = (depends && colour() && tells_background()).then(|| theme.clone());
    let background = std::env::var("COLORFGBG").ok().and_then(|value| Backdrop::from_variable(&value));
    let theme = if colour() { Theme::from_config(theme, background) } else { Theme::named("plain") };
    // Leaked: the screens need the keys until overspill ends, and are shown once.
    let keys = Box::leak(Box::new(KeyMap::with_own(&config.file.keys).unwrap_or_default()));
    let notice = notice(&config);
    let (unicode, mouse) = (is_unicode(), config.file.mouse);
    let services = services(config);
    let start = Start { startup, services, theme, asks, unicode, mouse, keys, notice };
    let report = tui::run(start).map_err(|error| anyhow!(unusable(&error)))?;
    report.messages.iter().for_each(|words| say(words));
    report.signal.map_or(Ok(()), |signal| Err(Failure::Ended((128 + signal) as u8).into()))
}

fn services(config: Config) -> Services {
    let (severities, config, sessions) = (config.severities(), Arc::new(config), Arc::default());
    let [for_open, for_find, for_policies] = [0; 3].map(|_| Arc::clone(&config));
    Services {
        config,
        open: Box::new(move |path, hold| open_path(&for_open, path, hold)),
        sessions: Arc::clone(&sessions),
        find: Box::new(move |pattern, is_wanted, take| {
            find_in_stores((&for_find, &sessions, crate::base::env::now()), pattern, is_wanted, take)
        }),
        load_policies: Box::new(move |name| load_policies(&for_policies, name)),
        severities,
    }
}

/// Name, default and meaning of each key that can be set.
pub(super) fn settable_keys() -> Vec<(String, String, String)> {
    let rows = TABLE.iter().filter(|row| !row.name.is_empty());
    rows.map(|row| (row.name.to_owned(), row.keys.to_owned(), row.what.to_owned())).collect()
}

/// Says on the screens that something of the user's own is not used: the first mistake, and how many more there are.
fn notice(config: &Config) -> Option<String> {
    let (first, rest) = config.faults().split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
    let home = config.home().map(|home| format!("{}/", home.display())).unwrap_or_default();
    Some(format!("{}{more}", first.words.strip_prefix(&home).unwrap_or(&first.words)))
}

/// Leaves out the user's own keys if they cannot be used, and those whose names are gone; the configuration says why.
pub(super) fn check_keys(config: &mut Config) {
    for KeyFault { line, words } in former_names(&config.file.keys).collect::<Vec<_>>() {
        config.add_fault(FaultScope::OldKey, line, &words);
    }
    if let Err(fault) = KeyMap::with_own(&config.file.keys) {
        config.drop_keys(fault.line, &fault.words);
    }
}

/// What flags ask for of an output that was cut already is a what-if: the policy by which it was cut stays its own.
pub(crate) fn target(config: &Config, opened: OpenInput, overrides: &Overrides) -> anyhow::Result<Target> {
    let asked = opened.resolve(config, overrides)?;
    let (policy, under) = match opened.resolve(config, &Overrides::default()) {
        Ok(own) if matches!(own.chosen_by, ChosenBy::Store(_)) && !asked.policy.is_same(&own.policy) => {
            (own, Some(Box::new(asked)))
        }
        // What the flags replace may have a mistake.
        _ => (asked, None),
    };
    let candidates = match &policy.chosen_by {
        ChosenBy::Person | ChosenBy::Variable => Vec::new(),
        ChosenBy::Store(names) => names.iter().flat_map(|name| load_policies(config, Some(name))).collect(),
    };
    let file =
        opened.path.and_then(|path| Some(std::path::absolute(path).ok()?.to_string_lossy().into_owned()));
    let OpenInput { name, context, source, .. } = opened;
    let subject = Subject { file, context, candidates, ..Subject::new(name, String::new(), policy) };
    Ok(Target { subject, source, under })
}

fn open_path(config: &Config, path: &Path, hold: FileLock) -> Result<Target, String> {
    let opened = input::open_path(config, path, &PolicyArgs::default(), hold);
    let target = opened.and_then(|opened| target(config, opened, &Overrides::default()));
    // Which file it is says the selected row; the reason must be seen on a narrow screen, too.
    let shown = path.display().to_string();
    target.map_err(|error| match error.to_string() {
        words if words.starts_with(&shown) => {
            format!("{}: {shown}", words[shown.len()..].trim_start_matches(": "))
        }
        words => words,
    })
}

fn load_policies(config: &Config, only: Option<&str>) -> Vec<EffectivePolicy> {
    let names = config.catalog.names().filter(|name| only.is_none_or(|only| only == *name));
    names.filter_map(|name| config.resolve_named(name).ok()).collect()
}
