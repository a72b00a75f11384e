//! Examples and edge cases from the documents, and properties of the engine.

mod agents;
mod agree;
mod core;
mod cost;
mod figures;
mod files;
mod laws;
mod november;
mod opencode;
#[cfg(feature = "app")]
mod streamed;
#[cfg(feature = "app")]
mod sweep;
mod witness;

use super::*;

/// Returns a policy with parameters set.
pub(super) fn policy(name: &str, set: &[(&str, &str)]) -> Policy {
    let mut policy = Catalog::builtin().get(name).unwrap_or_else(|error| panic!("{error}"));
    for (key, value) in set {
        policy.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    policy
}

/// Returns the preview's text, saved at `/P`, with all totals known.
pub(super) fn preview(name: &str, set: &[(&str, &str)], bytes: &[u8]) -> String {
    let totals = Totals::count(bytes);
    let input = Input::new(Output { bytes, totals: &totals }, "/P");
    plan(&input, &policy(name, set)).unwrap_or_else(|error| panic!("{error}")).text(&input)
}

/// Returns the plan.
pub(super) fn planned(name: &str, set: &[(&str, &str)], bytes: &[u8]) -> Preview {
    let totals = Totals::count(bytes);
    let input = Input::new(Output { bytes, totals: &totals }, "/P");
    plan(&input, &policy(name, set)).unwrap_or_else(|error| panic!("{error}"))
}
