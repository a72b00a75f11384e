//! Policies that are forms of the same tool at different times: the current one, and the one of a given day.

use crate::known::Era;

use super::Policy;
use super::catalog::Catalog;

/// Returns what all forms of a tool have in common: the name of its current policy.
fn today<'a>(name: &'a str, era: &'a Era) -> &'a str {
    era.of.as_deref().unwrap_or(name)
}

impl Catalog {
    /// Whether a policy is its tool's current form: it names no other one, or one that does not exist.
    pub fn is_current(&self, policy: &Policy) -> bool {
        policy.era().of.is_none_or(|of| self.text(&of).is_none())
    }

    /// Returns the other forms of a policy's tool, sorted by name. Faulty files are skipped.
    pub fn other_eras(&self, policy: &Policy) -> Vec<Policy> {
        let era = policy.era();
        let ours = today(policy.name(), &era);
        let others =
            self.names().filter(|name| *name != policy.name()).filter_map(|name| self.get(name).ok());
        others.filter(|other| today(other.name(), &other.era()) == ours).collect()
    }

    /// Sorts policies that may have created an output on a given day, most likely first: all forms of a tool take the
    /// place of the first of them, and among them the form of that day comes first.
    #[cfg(feature = "app")]
    pub(crate) fn by_day(&self, names: Vec<String>, day: jiff::civil::Date) -> Vec<String> {
        let era = |name: &String| self.get(name).map(|policy| policy.era()).unwrap_or_default();
        let eras: Vec<Era> = names.iter().map(era).collect();
        let tool = |at: usize| today(&names[at], &eras[at]);
        let first_of = |at: usize| (0..at).find(|other| tool(*other) == tool(at)).unwrap_or(at);
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_cached_key(|at| (first_of(*at), eras[*at].rank(day)));
        order.into_iter().map(|at| names[at].clone()).collect()
    }
}
