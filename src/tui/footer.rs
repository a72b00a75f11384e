//! The hints of the footer: which keys each state of a screen teaches, the most valuable first, and how many of them fit.

use super::keys::{Action, KeyContext, KeyMap};

/// Keys and what they do, in one or two words.
pub(crate) type Hint = (&'static [Action], &'static str);

/// The keys worth knowing in one state of a screen, in order of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer(&'static [Hint]);

use Action as A;

/// The last hint of all states of an output: stored outputs are in reach from the first screen.
const LISTS: Hint = (&[A::Stores], "lists");

/// To the other text of an output, by its name.
const TEXT: Hint = (&[A::Other], "");

#[rustfmt::skip]
impl Footer {
    pub(crate) const PREVIEW_CUT: Self = Self(&[
        (&[A::NextError], "error"), (&[A::NextCut], "cut"), TEXT,
        (&[A::PreviousWindow, A::NextWindow], "window"), (&[A::Limits], "limits"), (&[A::Search], "search"),
        (&[A::Facts], "facts"), (&[A::Beside], "side by side"), (&[A::Copy], "copy"),
    ]);
    /// `e` leads here without Tab: the way back comes before the cuts.
    pub(crate) const SPILL_CUT: Self = Self(&[
        (&[A::NextError], "error"), TEXT, (&[A::NextCut], "cut"),
        (&[A::PreviousWindow, A::NextWindow], "window"), (&[A::Limits], "limits"), (&[A::Search], "search"),
        (&[A::Copy], "copy"), (&[A::Beside], "side by side"), (&[A::Select], "select lines"),
    ]);
    /// The model got all, or there is no preview.
    pub(crate) const WHOLE: Self = Self(&[
        (&[A::Search], "search"), TEXT, (&[A::NextError], "error"),
        (&[A::PreviousWindow, A::NextWindow], "window"), (&[A::Limits], "limits"), (&[A::Facts], "facts"),
        (&[A::Copy], "copy"), (&[A::Select], "select lines"),
    ]);
    pub(crate) const GROWING: Self = Self(&[
        (&[A::Follow], "follow"), TEXT, (&[A::Search], "search"), (&[A::Limits], "limits"),
    ]);
    pub(crate) const SEARCH: Self = Self(&[
        (&[A::NextMatch], "next"), (&[A::NextMissed], "lost match"), (&[A::Matching], "filter"), (&[A::Limits], "limits"),
        (&[A::PreviousMatch], "previous"), (&[A::NextError], "error"), TEXT, (&[A::Back], "ends the search"),
    ]);
    pub(crate) const FILTERED: Self = Self(&[
        (&[A::Back], "all lines"), (&[A::Matching], "filter more"), (&[A::Limits], "limits"),
        (&[A::NextError], "error"), (&[A::Search], "search"), TEXT,
    ]);
    pub(crate) const NO_OUTPUTS: Self = Self(&[(&[A::Refresh], "refresh"), (&[A::Quit], "quit"), (&[A::Other], "sessions")]);
    pub(crate) const OUTPUTS: Self = Self(&[
        (&[A::Open], "open"), (&[A::Search], "filter"), (&[A::Other], "sessions"), (&[A::Sort], "sort"),
        (&[A::Delete], "delete"), (&[A::Keep], "keep"), (&[A::Matching], "find in all"), (&[A::Limits], "limits"),
        (&[A::Policy], "policies"), (&[A::Follow], "follow"), (&[A::Choose], "mark"), (&[A::CleanOverdue], "overdue"),
        (&[A::Group], "group"),
    ]);
    /// The newest of which stays selected.
    pub(crate) const FOLLOWED_OUTPUTS: Self = Self(&[
        (&[A::Open], "open"), (&[A::Follow], "stop following"), (&[A::Search], "filter"), (&[A::Other], "sessions"),
        (&[A::Delete], "delete"), (&[A::Keep], "keep"), (&[A::Matching], "find in all"), (&[A::Group], "group"),
    ]);
    pub(crate) const MARKED_OUTPUTS: Self = Self(&[
        (&[A::Delete], "delete"), (&[A::Keep], "keep"), (&[A::ChooseAll], "all"), (&[A::Limits], "limits"), (&[A::Policy], "policies"),
        (&[A::Back], "unmark"), (&[A::Open], "open"),
    ]);
    pub(crate) const DELETIONS: Self = Self(&[
        (&[A::Undo], "undo"), (&[A::DeleteNow], "delete now"), (&[A::Open], "open"), (&[A::Delete], "delete"),
        (&[A::Search], "filter"), (&[A::Sort], "sort"),
    ]);
    pub(crate) const NO_SESSIONS: Self = Self(&[(&[A::Refresh], "refresh"), (&[A::Quit], "quit"), (&[A::Other], "outputs")]);
    pub(crate) const SESSIONS: Self = Self(&[
        (&[A::Open], "calls"), (&[A::Search], "filter"), (&[A::Sort], "sort"), (&[A::Group], "group"),
        (&[A::Other], "outputs"), (&[A::Refresh], "refresh"),
    ]);
    pub(crate) const CALLS: Self = Self(&[
        (&[A::Open], "open"), (&[A::Facts], "facts"), (&[A::Search], "filter"), (&[A::Sort], "sort"),
        (&[A::Back], "back"), (&[A::Stores], "outputs"),
    ]);
    pub(crate) const LINES: Self = Self(&[
        (&[A::Open], "open at the line"), (&[A::Back], "back"), (&[A::Search], "filter"), (&[A::Sort], "sort"),
        (&[A::Matching], "search again"), (&[A::Stores], "outputs"),
    ]);
    pub(crate) const MEASURING: Self = Self(&[
        (&[A::Interrupt], "stop"), (&[A::Apply], "apply"), (&[A::JudgeBy], "judge by"), (&[A::Open], "outputs"),
    ]);
    pub(crate) const NO_SETTINGS: Self = Self(&[
        (&[A::Back], "back"), (&[A::Policy], "policies"), (&[A::Refresh], "refresh"), (&[A::Stores], "lists"),
    ]);
    pub(crate) const NO_POLICIES: Self = Self(&[(&[A::Back], "back"), (&[A::Refresh], "refresh"), (&[A::Stores], "lists")]);
    pub(crate) const SETTINGS: Self = Self(&[
        (&[A::Open], "outputs it changes"), (&[A::Apply], "apply"), (&[A::JudgeBy], "judge by"), (&[A::Copy], "copy"),
        (&[A::Policy], "policies"), (&[A::Sort], "sort"), (&[A::Back], "back"), (&[A::Refresh], "refresh"),
    ]);
    pub(crate) const POLICIES: Self = Self(&[
        (&[A::Open], "its settings"), (&[A::JudgeBy], "judge by"), (&[A::Sort], "sort"), (&[A::Search], "filter"),
        (&[A::Back], "back"), (&[A::Refresh], "refresh"),
    ]);
    pub(crate) const CHANGED_OUTPUTS: Self = Self(&[
        (&[A::Open], "open"), (&[A::Back], "settings"), (&[A::Search], "filter"), (&[A::Sort], "sort"), (&[A::Stores], "lists"),
    ]);
    pub(crate) const RECORDED_CALL: Self = Self(&[
        (&[A::NextError], "error"), (&[A::NextCut], "cut"), TEXT, (&[A::Limits], "limits"),
        (&[A::Evidence], "compare"), (&[A::Facts], "facts"), (&[A::Search], "search"), (&[A::Quit], "calls"),
    ]);
}

pub(crate) const JSON: Hint = (&[A::Json], "JSON");

/// How many hints are more important than the one about what is on the screen.
const WORTH_MORE: usize = 2;

impl Footer {
    /// Returns the hints in versions, the longest first: each drops the last hint but help, and the hint of the lists
    /// goes last. Leaves out hints of `idle` actions; `text` is the name of the other text of an output.
    pub(crate) fn versions(
        self,
        place: KeyContext,
        (shown, text): (Option<&'static Hint>, &'static str),
        idle: impl Fn(Action) -> bool,
        keys: &KeyMap,
    ) -> Vec<String> {
        const HELP: Hint = (&[A::Help], "help");
        let describe_hints = |hint: &Hint| {
            let hint = if *hint == TEXT { (hint.0, text) } else { *hint };
            describe_hint(place, &hint, keys)
        };
        let (first, rest) = self.0.split_at(self.0.len().min(WORTH_MORE));
        let is_useful = |(actions, _): &&Hint| !actions.iter().any(|action| idle(*action));
        let hints = first.iter().chain(shown).chain(rest).filter(is_useful);
        let hints: Vec<String> = hints.filter_map(describe_hints).collect();
        let [lists, help] =
            [(place == KeyContext::Pager).then_some(LISTS), Some(HELP)].map(|hint| describe_hints(&hint?));
        let joined = |some: &[String], lists: &Option<String>| {
            let all = some.iter().chain(lists).chain(&help).map(String::as_str);
            all.collect::<Vec<_>>().join("  ")
        };
        let full = (0..=hints.len()).rev().map(|shown| joined(&hints[..shown], &lists));
        let bare = lists.is_some().then(|| joined(&[], &None));
        full.chain(bare).collect()
    }
}

pub(crate) fn describe_hints(place: KeyContext, hints: &[Hint], keys: &KeyMap) -> Vec<String> {
    hints.iter().filter_map(|hint| describe_hint(place, hint, keys)).collect()
}

fn describe_hint(place: KeyContext, (actions, word): &Hint, keys: &KeyMap) -> Option<String> {
    let keys: Option<Vec<&str>> = actions.iter().map(|action| keys.known(place, *action)).collect();
    Some(format!("{} {word}", keys?.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footer_of_a_cut_preview_keeps_errors_cuts_lists_and_help() {
        let versions =
            Footer::PREVIEW_CUT.versions(KeyContext::Pager, (None, "whole"), |_| false, KeyMap::standard());
        let longest = "e error  c cut  Tab whole  [ ] window  l limits  / search  = facts  s side by side  y copy  S lists  h help";
        assert_eq!(versions.first().map(String::as_str), Some(longest));
        let last: Vec<&str> = versions.iter().rev().take(4).map(String::as_str).collect();
        assert_eq!(
            last,
            ["h help", "S lists  h help", "e error  S lists  h help", "e error  c cut  S lists  h help"]
        );
        let json = Footer::WHOLE.versions(
            KeyContext::Pager,
            (Some(&JSON), "model got"),
            |_| false,
            KeyMap::standard(),
        );
        assert!(json[0].starts_with("/ search  Tab model got  J JSON  e error  [ ] window"), "{}", json[0]);
        let bare = Footer::WHOLE.versions(
            KeyContext::Pager,
            (None, "model got"),
            |action| action == A::NextError,
            KeyMap::standard(),
        );
        assert!(bare[0].starts_with("/ search  Tab model got  [ ] window"), "{}", bare[0]);
    }

    #[test]
    fn every_state_has_hints_and_every_hint_a_key() {
        type F = Footer;
        let outputs =
            [F::PREVIEW_CUT, F::SPILL_CUT, F::WHOLE, F::GROWING, F::SEARCH, F::FILTERED, F::RECORDED_CALL];
        let lists = [
            F::NO_OUTPUTS,
            F::OUTPUTS,
            F::FOLLOWED_OUTPUTS,
            F::MARKED_OUTPUTS,
            F::DELETIONS,
            F::NO_SESSIONS,
            F::SESSIONS,
            F::CALLS,
            F::LINES,
            F::MEASURING,
            F::NO_SETTINGS,
            F::NO_POLICIES,
            F::SETTINGS,
            F::POLICIES,
            F::CHANGED_OUTPUTS,
        ];
        let outputs = outputs.map(|footer| (KeyContext::Pager, footer));
        for (place, footer) in outputs.into_iter().chain(lists.map(|footer| (KeyContext::Lists, footer))) {
            assert!(footer.0.len() > 1, "{footer:?}");
            for hint in footer.0 {
                assert!(describe_hint(place, hint, KeyMap::standard()).is_some(), "{hint:?}");
            }
        }
    }
}
