//! Examples and boundaries of the documents, and laws of the engine.

mod agents;
mod core;
mod cost;
mod files;
mod laws;
mod november;
mod opencode;

use super::*;

/// A policy with parameters set.
pub(super) fn policy(name: &str, set: &[(&str, &str)]) -> Policy {
    let mut policy = Catalog::builtin().get(name).unwrap_or_else(|error| panic!("{error}"));
    for (key, value) in set {
        policy.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    policy
}

/// The preview's text, saved at `/P`; all totals known.
pub(super) fn preview(name: &str, set: &[(&str, &str)], bytes: &[u8]) -> String {
    let totals = Totals::count(bytes);
    let input = Input::new(Output { bytes, totals: &totals }, "/P");
    plan(&input, &policy(name, set)).unwrap_or_else(|error| panic!("{error}")).text(&input)
}

/// The plan itself.
pub(super) fn planned(name: &str, set: &[(&str, &str)], bytes: &[u8]) -> Preview {
    let totals = Totals::count(bytes);
    let input = Input::new(Output { bytes, totals: &totals }, "/P");
    plan(&input, &policy(name, set)).unwrap_or_else(|error| panic!("{error}"))
}
