//! The hints of the footer: which keys each state teaches, the most valuable first, and how many of them fit.

use super::keys::{Action, KeyContext, KeyMap};

/// What is on the screen, as far as it decides which keys are worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FooterState {
    /// Preview of an output that was cut.
    PreviewCut,
    /// Preview of an output of which the model got all, or of which there is no preview.
    PreviewWhole,
    /// Spill of an output that was cut.
    SpillCut,
    /// Spill of an output of which the model got all.
    SpillWhole,
    /// An output that still grows.
    Growing,
    /// A search in an output that was cut.
    SearchCut,
    /// A search in an output of which the model got all.
    SearchWhole,
    /// Spill, of which only the lines that match are shown.
    Filtered,
    /// Outputs, of which there are none.
    NoOutputs,
    FilteredOutputs,
    Outputs,
    /// Stored outputs, the newest of which stays selected.
    FollowedOutputs,
    /// Stored outputs, some of which are marked, to act on several.
    MarkedOutputs,
    /// Stored outputs, some of which are to be deleted.
    Deletions,
    Sessions,
    Calls,
    /// Lines of all outputs that match.
    Lines,
    /// Settings, while they are measured.
    Measuring,
    /// Settings, without any figures.
    NoSettings,
    NoPolicies,
    Settings,
    Policies,
    /// The outputs that a setting cuts differently.
    ChangedOutputs,
    /// Preview of a call whose result was recorded.
    RecordedCall,
    /// The same, where the recorded text is all there is.
    RecordedAlone,
}

/// Keys and what they do, in one or two words.
pub(crate) type Hint = (&'static [Action], &'static str);

use Action as A;

/// The hint of all states of an output that goes last, with help: stored outputs are in reach from the first screen.
const LISTS: Hint = (&[A::Stores], "lists");

/// Hints by state, in order of value.
#[rustfmt::skip]
const HINTS: &[(FooterState, &[Hint])] = &[
    (FooterState::PreviewCut, &[
        (&[A::NextError], "error"), (&[A::NextCut], "cut"), (&[A::Other], "whole"),
        (&[A::PreviousWindow, A::NextWindow], "window"), (&[A::Limits], "limits"), (&[A::Search], "search"),
        (&[A::Facts], "facts"), (&[A::Beside], "side by side"), (&[A::Copy], "copy"), LISTS,
    ]),
    (FooterState::PreviewWhole, &[
        (&[A::Search], "search"), (&[A::Other], "whole"), (&[A::NextError], "error"), (&[A::Limits], "limits"),
        (&[A::Facts], "facts"), (&[A::Copy], "copy"), LISTS,
    ]),
    (FooterState::SpillCut, &[
        (&[A::NextError], "error"), (&[A::NextCut], "cut"), (&[A::Other], "model got"),
        (&[A::PreviousWindow, A::NextWindow], "window"), (&[A::Limits], "limits"), (&[A::Search], "search"),
        (&[A::Copy], "copy"), (&[A::Beside], "side by side"), (&[A::Select], "select lines"), LISTS,
    ]),
    (FooterState::SpillWhole, &[
        (&[A::Search], "search"), (&[A::Other], "model got"), (&[A::NextError], "error"),
        (&[A::PreviousWindow, A::NextWindow], "window"), (&[A::Limits], "limits"), (&[A::Facts], "facts"),
        (&[A::Select], "select lines"), LISTS,
    ]),
    (FooterState::Growing, &[
        (&[A::Follow], "follow"), (&[A::Other], "other view"), (&[A::Search], "search"), (&[A::Limits], "limits"),
        LISTS,
    ]),
    (FooterState::SearchCut, &[
        (&[A::NextMatch], "next"), (&[A::NextMissed], "lost match"), (&[A::Matching], "filter"), (&[A::Limits], "limits"),
        (&[A::PreviousMatch], "previous"), (&[A::NextError], "error"), (&[A::Other], "other view"), (&[A::Back], "ends the search"),
        LISTS,
    ]),
    (FooterState::SearchWhole, &[
        (&[A::NextMatch], "next"), (&[A::Matching], "filter"), (&[A::PreviousMatch], "previous"), (&[A::Other], "other view"),
        (&[A::Back], "ends the search"), LISTS,
    ]),
    (FooterState::Filtered, &[
        (&[A::Back], "all lines"), (&[A::Matching], "filter more"), (&[A::Limits], "limits"),
        (&[A::NextError], "error"), (&[A::Search], "search"), (&[A::Other], "model got"), LISTS,
    ]),
    (FooterState::NoOutputs, &[(&[A::Refresh], "refresh"), (&[A::Quit], "quit"), (&[A::Other], "sessions")]),
    (FooterState::FilteredOutputs, &[
        (&[A::Back], "show all"), (&[A::Open], "open"), (&[A::Search], "filter"), (&[A::Sort], "sort"),
        (&[A::Delete], "delete"), (&[A::Group], "group"),
    ]),
    (FooterState::Outputs, &[
        (&[A::Open], "open"), (&[A::Search], "filter"), (&[A::Other], "sessions"), (&[A::Sort], "sort"),
        (&[A::Delete], "delete"), (&[A::Keep], "keep"), (&[A::Matching], "find in all"), (&[A::Limits], "limits"),
        (&[A::Policy], "policies"), (&[A::Follow], "follow"), (&[A::Choose], "mark"), (&[A::CleanOverdue], "overdue"),
        (&[A::Group], "group"),
    ]),
    (FooterState::FollowedOutputs, &[
        (&[A::Open], "open"), (&[A::Follow], "stop following"), (&[A::Search], "filter"), (&[A::Other], "sessions"),
        (&[A::Delete], "delete"), (&[A::Keep], "keep"), (&[A::Matching], "find in all"), (&[A::Group], "group"),
    ]),
    (FooterState::MarkedOutputs, &[
        (&[A::Delete], "delete"), (&[A::Keep], "keep"), (&[A::ChooseAll], "all"), (&[A::Limits], "limits"), (&[A::Policy], "policies"),
        (&[A::Back], "unmark"), (&[A::Open], "open"),
    ]),
    (FooterState::Deletions, &[
        (&[A::Undo], "undo"), (&[A::DeleteNow], "delete now"), (&[A::Open], "open"), (&[A::Delete], "delete"),
        (&[A::Search], "filter"), (&[A::Sort], "sort"),
    ]),
    (FooterState::Sessions, &[
        (&[A::Open], "calls"), (&[A::Search], "filter"), (&[A::Sort], "sort"), (&[A::Group], "groups"),
        (&[A::Other], "outputs"), (&[A::Refresh], "refresh"),
    ]),
    (FooterState::Calls, &[
        (&[A::Open], "open"), (&[A::Facts], "facts"), (&[A::Search], "filter"), (&[A::Sort], "sort"),
        (&[A::Back], "back"), (&[A::Stores], "outputs"),
    ]),
    (FooterState::Lines, &[
        (&[A::Open], "open at the line"), (&[A::Back], "back"), (&[A::Search], "filter"), (&[A::Sort], "sort"),
        (&[A::Matching], "search again"), (&[A::Stores], "outputs"),
    ]),
    (FooterState::Measuring, &[
        (&[A::Interrupt], "stop"), (&[A::Apply], "apply"), (&[A::JudgeBy], "judge by"), (&[A::Open], "outputs"),
    ]),
    (FooterState::NoSettings, &[
        (&[A::Back], "back"), (&[A::Policy], "policies"), (&[A::Refresh], "refresh"), (&[A::Stores], "lists"),
    ]),
    (FooterState::NoPolicies, &[(&[A::Back], "back"), (&[A::Refresh], "refresh"), (&[A::Stores], "lists")]),
    (FooterState::Settings, &[
        (&[A::Open], "outputs it changes"), (&[A::Apply], "apply"), (&[A::JudgeBy], "judge by"), (&[A::Copy], "copy"),
        (&[A::Policy], "policies"), (&[A::Sort], "sort"), (&[A::Back], "back"), (&[A::Refresh], "refresh"),
    ]),
    (FooterState::Policies, &[
        (&[A::Open], "its settings"), (&[A::JudgeBy], "judge by"), (&[A::Sort], "sort"), (&[A::Search], "filter"),
        (&[A::Back], "back"), (&[A::Refresh], "refresh"),
    ]),
    (FooterState::ChangedOutputs, &[
        (&[A::Open], "open"), (&[A::Back], "settings"), (&[A::Search], "filter"), (&[A::Sort], "sort"), (&[A::Stores], "lists"),
    ]),
    (FooterState::RecordedCall, &[
        (&[A::NextCut], "cut"), (&[A::Other], "whole"), (&[A::Limits], "limits"), (&[A::Evidence], "compare"),
        (&[A::Facts], "facts"), (&[A::Search], "search"), (&[A::Quit], "calls"), LISTS,
    ]),
    (FooterState::RecordedAlone, &[
        (&[A::Quit], "calls"), (&[A::Facts], "facts"), (&[A::Search], "search"), LISTS,
    ]),
];

/// The number of columns between two hints.
const BETWEEN: &str = "  ";

impl FooterState {
    /// Returns the place where the keys apply.
    fn place(self) -> KeyContext {
        match self {
            Self::NoOutputs
            | Self::FilteredOutputs
            | Self::Outputs
            | Self::FollowedOutputs
            | Self::MarkedOutputs
            | Self::Deletions
            | Self::Sessions
            | Self::Calls
            | Self::Lines
            | Self::Measuring
            | Self::NoSettings
            | Self::NoPolicies
            | Self::Settings
            | Self::Policies
            | Self::ChangedOutputs => KeyContext::Lists,
            _ => KeyContext::Pager,
        }
    }
}

/// The hint of a screen with lines of JSON.
pub(crate) const JSON: Hint = (&[A::Json], "JSON");

/// The number of hints that are worth more than that of what stands on the screen.
const WORTH_MORE: usize = 2;

/// Returns the hints of a state, in order of value, with one for what stands on the screen; the last one is help.
pub(crate) fn hints(state: FooterState, shown: Option<&'static Hint>, keys: &KeyMap) -> Vec<String> {
    const HELP: Hint = (&[A::Help], "help");
    let row = HINTS.iter().find(|(of, _)| *of == state).map_or(&[][..], |(_, hints)| *hints);
    let (first, rest) = row.split_at(row.len().min(WORTH_MORE));
    let all = first.iter().chain(shown).chain(rest).chain([&HELP]);
    all.filter_map(|(actions, word)| in_words(actions, word, |action| keys.known(state.place(), action)))
        .collect()
}

/// Describes a hint; `None` if one of its actions has no key.
fn in_words<'a>(actions: &[Action], word: &str, key: impl Fn(Action) -> Option<&'a str>) -> Option<String> {
    let keys: Option<Vec<&str>> = actions.iter().map(|action| key(*action)).collect();
    Some(format!("{} {word}", keys?.join(" ")))
}

/// Returns the hints of a state in versions from the longest to the shortest: each drops the last hint but help, which leads to
/// all others; of an output, that of the lists is dropped last.
pub(crate) fn versions(state: FooterState, shown: Option<&'static Hint>, keys: &KeyMap) -> Vec<String> {
    let mut hints = hints(state, shown, keys);
    let help = hints.split_off(hints.len().saturating_sub(1));
    let lists = in_words(LISTS.0, LISTS.1, |action| keys.known(state.place(), action));
    let has_lists = lists.is_some() && hints.last() == lists.as_ref();
    let last = hints.split_off(hints.len() - usize::from(has_lists));
    let joined = |some: &[String], last: &[String]| [some, last, &help].concat().join(BETWEEN);
    let full = (0..=hints.len()).rev().map(|shown| joined(&hints[..shown], &last));
    let bare = has_lists.then(|| joined(&[], &[]));
    full.chain(bare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footer_of_a_cut_preview_teaches_errors_and_cuts_first_and_keeps_lists_and_help() {
        let versions = versions(FooterState::PreviewCut, None, KeyMap::standard());
        let longest = "e error  c cut  Tab whole  [ ] window  l limits  / search  = facts  s side by side  y copy  S lists  h help";
        assert_eq!(versions.first().map(String::as_str), Some(longest));
        let last: Vec<&str> = versions.iter().rev().take(4).map(String::as_str).collect();
        assert_eq!(
            last,
            ["h help", "S lists  h help", "e error  S lists  h help", "e error  c cut  S lists  h help"]
        );
        let json = super::versions(FooterState::SpillWhole, Some(&JSON), KeyMap::standard());
        assert!(json[0].starts_with("/ search  Tab model got  J JSON  e error  [ ] window"), "{}", json[0]);
    }

    #[test]
    fn every_state_has_hints_and_every_hint_a_key() {
        for (state, _) in HINTS {
            let hints = hints(*state, None, KeyMap::standard());
            assert!(hints.len() > 2, "{state:?}");
            assert!(hints.iter().all(|hint| !hint.starts_with(' ')), "{hints:?}");
        }
    }
}
