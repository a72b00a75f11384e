//! Which policy wrote a notice: by patterns made from the policies' own templates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use crate::base::provenance::Confidence;
use crate::preview::Policy;

use super::{Config, DEFAULT_POLICY};

/// The longest text, in bytes, that is compared with the whole of what a policy writes.
const MAX_COMPARED: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct RecognisedNotice {
    /// The policies that write the same, the most likely first, each with its names for the figures, and these as written.
    pub by: Vec<(Policy, Vec<(String, String)>)>,
    /// The notice as it stands in the text; of several parts, the first.
    pub notice: String,
    range: Range<usize>,
    /// The words by which its parts were recognised.
    forms: Vec<String>,
}

impl RecognisedNotice {
    pub(crate) fn policy(&self) -> &Policy {
        &self.by[0].0
    }

    pub(crate) fn figures(&self) -> &[(String, String)] {
        &self.by[0].1
    }

    /// Returns the figures as a policy names them, if it may have written the notice.
    fn figures_by(&self, policy: &str) -> Option<&[(String, String)]> {
        self.by.iter().find(|(by, _)| by.name() == policy).map(|(_, figures)| &figures[..])
    }

    /// Whether another notice, which stands behind this one, is a part of the same cut: the same policy wrote both, writes
    /// each once, and no figure otherwise in one than in the other.
    fn continues(&self, other: &RecognisedNotice) -> bool {
        let agree = |name: &str| {
            let (ours, theirs) = self.figures_by(name).zip(other.figures_by(name))?;
            let same = |(name, value): &(String, String)| {
                name.is_empty() || ours.iter().all(|(known, stated)| known != name || stated == value)
            };
            Some(theirs.iter().all(same))
        };
        let is_one = agree(self.policy().name()).or_else(|| agree(other.policy().name())) == Some(true);
        is_one && !other.forms.iter().any(|form| self.forms.contains(form))
    }

    /// Adds the next part; only who may have written both stays.
    fn add(&mut self, other: RecognisedNotice) {
        self.by.retain_mut(|(policy, figures)| {
            let more = other.figures_by(policy.name());
            figures.extend(more.into_iter().flatten().cloned());
            more.is_some()
        });
        self.forms.extend(other.forms);
    }

    pub(crate) fn figure(&self, name: &str) -> Option<&str> {
        self.figures().iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        let is_path = |value: &&str| value.starts_with('/');
        let other = || self.figures().iter().map(|(_, value)| value.as_str()).find(is_path);
        self.figure("path").filter(is_path).or_else(other).map(Path::new)
    }
}

/// Finds all notices in a text, each once, in order; in a transcript, in the texts of its records. For a call's result
/// only its `agent` counts, and the call's `own` policy comes first.
pub(crate) fn find_notices(
    config: &Config,
    text: &str,
    agent: Option<&str>,
    own: Option<&Policy>,
) -> Vec<RecognisedNotice> {
    let mut policies = policies(config);
    policies.retain(|policy| agent.is_none_or(|agent| agent == policy.agent()));
    // Searching for all words at once is a hundred times faster than for each; there may be too many for it.
    let forms = policies.iter().flat_map(Policy::notice_patterns);
    let words: BTreeSet<String> = forms.map(|form| regex::escape(&form.literal)).collect();
    let words = Regex::new(&Vec::from_iter(words).join("|")).ok();
    let (mut seen, mut all, mut is_transcript) = (BTreeSet::new(), Vec::new(), false);
    let mut search = |text: &str| {
        if words.as_ref().is_some_and(|words| !words.is_match(text)) {
            return;
        }
        let found = in_text(config, &policies, own, text).into_iter();
        let key = |found: &RecognisedNotice| (found.policy().name().to_owned(), found.notice.clone());
        all.extend(found.filter(|found| seen.insert(key(found))));
    };
    let lines = text.lines().filter(|line| line.starts_with(['{', '[']));
    for value in lines.filter_map(|line| serde_json::from_str(line).ok()) {
        strings(&value, &mut |text| {
            is_transcript = true;
            search(text);
        });
    }
    if !is_transcript {
        search(text);
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
            strings(&value, &mut search);
        }
    }
    all
}

fn policies(config: &Config) -> Vec<Policy> {
    config.catalog.names().filter_map(|name| config.catalog.get(name).ok()).collect()
}

fn strings(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, take)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, take)),
        _ => {}
    }
}

fn in_text(config: &Config, policies: &[Policy], own: Option<&Policy>, text: &str) -> Vec<RecognisedNotice> {
    let mut found: Vec<RecognisedNotice> = Vec::new();
    for policy in policies {
        let forms = policy.notice_patterns().iter();
        let all = forms.flat_map(|form| form.find_in(text).into_iter().map(move |each| (form, each)));
        for (form, each) in all {
            found.push(RecognisedNotice {
                notice: text.get(each.range.clone()).unwrap_or_default().to_owned(),
                by: vec![(policy.clone(), each.figures)],
                range: each.range,
                forms: vec![form.literal.clone()],
            });
        }
    }
    // Compared only where the notices alone leave a choice, with each policy once.
    let is_compared = found.len() > 1 && text.len() <= MAX_COMPARED;
    let mut compared = BTreeMap::new();
    let mut fits = |policy: &Policy| {
        let fits = || is_compared && policy.notices_in(text).is_some();
        *compared.entry(policy.name().to_owned()).or_insert_with(fits)
    };
    let is_other = |policy: &Policy| own.is_some_and(|own| own.name() != policy.name());
    found.sort_by_cached_key(|found| {
        let policy = found.policy();
        (Reverse(found.range.len()), is_other(policy), !fits(policy), rank(config, found))
    });
    // By where they begin; none overlaps another.
    let mut best: BTreeMap<usize, RecognisedNotice> = BTreeMap::new();
    for each in found {
        let mut near = best.range_mut(..each.range.end).rev().map(|(_, other)| other);
        match near.next().filter(|other| other.range.end > each.range.start) {
            None => drop(best.insert(each.range.start, each)),
            Some(other) if other.range == each.range && other.policy().name() != each.policy().name() => {
                other.by.extend(each.by);
            }
            Some(_) => {}
        }
    }
    let mut cuts: Vec<RecognisedNotice> = Vec::new();
    for mut each in best.into_values() {
        each.by.dedup_by(|a, b| a.0.name() == b.0.name());
        match cuts.last_mut() {
            Some(last) if last.continues(&each) => last.add(each),
            _ => cuts.push(each),
        }
    }
    // Several agents close with the same tag, also around what none of these policies writes.
    cuts.retain(|cut| cut.forms.iter().any(|form| !form.starts_with("</")));
    cuts
}

/// Ranks policies that write the same: first those of the cited file's store, the likeliest for its day before others,
/// then those of the agent that has such a store, and those in use today.
fn rank(config: &Config, found: &RecognisedNotice) -> (usize, [bool; 4]) {
    let (name, stores, env) = (found.policy().name(), &config.stores, &config.env);
    let agent = found.path().and_then(|path| stores.agent_of(path, env));
    // A path in a text is a claim: no store is opened to find out where it leads.
    let path = found.path().filter(|path| agent.is_some() && stores.store_of(path, env).is_some());
    let by_store = path.and_then(|path| config.candidates(Some(path)).iter().position(|made| made == name));
    let by_agent = agent.as_deref() == Some(found.policy().agent());
    let is_design = found.policy().confidence() == Confidence::Own;
    let is_current = config.catalog.is_current(found.policy());
    (by_store.unwrap_or(usize::MAX), [!by_agent, !is_current, is_design, name != DEFAULT_POLICY])
}

/// Returns the figures of each notice that a policy wrote in a preview, in order.
pub(crate) fn figures_of(config: &Config, policy: &Policy, text: &str) -> Vec<Vec<(String, String)>> {
    let found = in_text(config, std::slice::from_ref(policy), None, text);
    found.iter().map(|found| found.figures().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use crate::base::env::Env;
    use crate::preview::{self, Input, NoticePattern};

    use super::*;

    #[test]
    fn does_not_search_records_without_notice_words() {
        let home = tempfile::tempdir().unwrap();
        let config = Config::load(Env::hermetic(home.path()));
        let plain = "{\"text\":\"nothing was \\u00e4nd so on\",\"id\":\"0123\"}\n".repeat(20_000);
        let before = NoticePattern::searched();
        assert_eq!(find_notices(&config, &plain, None, None).len(), 0);
        assert_eq!(NoticePattern::searched() - before, 0);
        let notice = "{\"t\":\"a\\n[Showing lines 1-2000 of 6346. Full output: /tmp/pi-bash-0.log]\"}\n";
        let found = find_notices(&config, &format!("{plain}{notice}{plain}"), None, None);
        assert_eq!(found.iter().map(|found| found.policy().name()).collect::<Vec<_>>(), ["pi/bash"]);
        let forms: usize = policies(&config).iter().map(|policy| policy.notice_patterns().len()).sum();
        let compared = found[0].by.len();
        assert_eq!(NoticePattern::searched() - before, forms + compared, "one text, and what writes it");
        // A long text takes no more searches.
        let text: String = (0..700).map(|n| notice.replace("6346", &format!("7{n:03}"))).collect();
        let text = text.replace("{\"t\":\"a\\n", "").replace("\"}", "");
        let before = NoticePattern::searched();
        assert_eq!(find_notices(&config, &text, None, None).len(), 700);
        assert_eq!(NoticePattern::searched() - before, forms + compared);
    }

    #[test]
    fn notices_match_the_calls_agent_and_prefer_its_policy() {
        let home = tempfile::tempdir().unwrap();
        let config = Config::load(Env::hermetic(home.path()));
        let of = |text: &str, agent, policy: Option<&str>| {
            let policy = policy.map(|name| config.catalog.get(name).unwrap());
            let found = find_notices(&config, text, Some(agent), policy.as_ref()).into_iter();
            found.map(|found| found.policy().name().to_owned()).collect::<Vec<_>>()
        };
        let text = "...output truncated...\n\nFull output saved to: /x/tool-output/tool_201\n\nlast\n";
        assert_eq!(
            [of(text, "opencode", None), of(text, "kilo", None)],
            [["opencode/shell"], ["kilo/shell"]]
        );
        assert!(of(text, "codex", None).is_empty());
        let output = "a line of an output\n".repeat(5000);
        let input = Input::from_bytes(output.as_bytes(), "/home/nobody/x.output");
        let qwen = config.catalog.get("qwen-code/shell").unwrap();
        let text = preview::plan(&input, &qwen).unwrap().text(&input);
        for policy in ["qwen-code/shell", "qwen-code/grep"] {
            assert_eq!(of(&text, "qwen-code", Some(policy)), [policy]);
        }
    }
}
