//! The file that describes an agent's stores: its keys, and the stores that it makes.

use serde::Deserialize;
use toml::Spanned;
use toml::de::DeTable;

use crate::base::fs::plain_file::{ellipsize, short_path};
use crate::base::provenance::Confidence;
use crate::base::toml_check::Shape::{Checked, List, Names, Number, Table, Tables, Text};
use crate::base::toml_check::{self, Field, Mistake, Spot, is_word, needed, optional};
use crate::store::Basis;

use super::pattern::Component;
use super::{PathGroup, StoreSpec, StoredForm};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentForm {
    pub(super) agent: String,
    source: Option<String>,
    confidence: Option<Confidence>,
    pub(super) keeps_none: Option<String>,
    #[serde(default)]
    store: Vec<StoreSpec>,
}

/// Maximum number of stores in a file, and of roots and kinds of files in a store.
const MAX_ITEMS: usize = 64;
/// Maximum number of directories between a root and its files.
const MAX_DEPTH: usize = 16;

const FILE: &[Field] = &[
    needed("agent", Checked(name)),
    optional("source", Text),
    optional("confidence", Checked(is_word::<Confidence>)),
    optional("keeps_none", Text),
    optional("store", Tables(&Table(STORE), MAX_ITEMS)),
];

const STORE: &[Field] = &[
    optional("part", Checked(name)),
    needed("roots", List(&Checked(root), MAX_ITEMS)),
    optional("path", List(&Checked(pattern), MAX_DEPTH)),
    needed("files", List(&Table(KIND), MAX_ITEMS)),
    needed("retention", Table(RETENTION)),
    optional("confidence", Checked(is_word::<Confidence>)),
    optional("note", Text),
    optional("warning", Tables(&Table(crate::base::provenance::WARNING), MAX_ITEMS)),
    optional("skip", List(&Text, MAX_ITEMS)),
];

const KIND: &[Field] = &[
    needed("name", Checked(pattern)),
    optional("tool", Text),
    optional("holds", Checked(is_word::<StoredForm>)),
    optional("policies", List(&Text, MAX_ITEMS)),
    optional("sets", Names(&Checked(is_word::<PathGroup>))),
];

const RETENTION: &[Field] = &[
    needed("by", Checked(is_word::<Basis>)),
    optional("after", Checked(age)),
    optional(
        "setting",
        Table(&[
            needed("file", Checked(root)),
            needed("key", Text),
            optional("switch", Text),
            optional("least", Checked(age)),
        ]),
    ),
    optional("max_count", Number),
    optional("max_total", Number),
    optional("note", Text),
];

pub(super) fn check(text: &str) -> Result<Spanned<DeTable<'_>>, Mistake> {
    let table = toml_check::check_whole(text, FILE)?;
    empty(text, table.get_ref()).map_or(Ok(table), Err)
}

fn empty(text: &str, file: &DeTable) -> Option<Mistake> {
    let mistake = |at: usize, key: &str, words: &str| {
        let (spot, words) = (Spot::new(text, at), words.to_owned());
        Mistake { spot, key: Some(key.to_owned()), words, top: Some("store".to_owned()) }
    };
    let Some(stores) = file.get("store").and_then(|value| value.get_ref().as_array()) else {
        let is_none = file.contains_key("keeps_none");
        let words = "this table is missing; describe a store in it, or say in `keeps_none` why there is none";
        return (!is_none).then(|| mistake(0, "store", words));
    };
    let of_store = stores.iter().filter_map(|store| store.get_ref().as_table());
    let lists = of_store.flat_map(|store| ["roots", "files"].map(|key| (key, store.get(key))));
    lists.into_iter().find_map(|(key, list)| {
        let (start, is_empty) = (list?.span().start, list?.get_ref().as_array()?.is_empty());
        is_empty.then(|| mistake(start, key, "is empty; without one nothing is found"))
    })
}

fn name(text: &str) -> Result<(), String> {
    let is_plain = |c: char| !(c.is_whitespace() || c.is_control() || c == '/');
    let words = "takes a name without spaces and `/`";
    if !text.is_empty() && text.chars().all(is_plain) { Ok(()) } else { Err(words.to_owned()) }
}

fn root(text: &str) -> Result<(), String> {
    short_path(text)?;
    let opened = text.matches("${").count();
    match text {
        "" => Err("is empty; write a directory, such as ~/.my-agent/spills".to_owned()),
        text if opened > text.matches('}').count() => {
            Err("has a `${` without its `}`; write ${NAME} or ${NAME:-default}".to_owned())
        }
        _ => Ok(()),
    }
}

fn pattern(text: &str) -> Result<(), String> {
    Component::new(text).check()
}

fn age(text: &str) -> Result<(), String> {
    let words = || format!("does not take `{}`; write an age such as 12h, 7d or 4w", ellipsize(text));
    crate::base::human::parse_age(text).map(drop).ok_or_else(words)
}

impl AgentForm {
    /// Returns its stores, with what it says of all of them.
    pub(super) fn specs(self) -> Vec<StoreSpec> {
        let AgentForm { agent, source, confidence, mut store, .. } = self;
        let source = source.unwrap_or_else(|| "its file does not say".to_owned());
        for spec in &mut store {
            let name = if spec.name.is_empty() { agent.clone() } else { format!("{agent}/{}", spec.name) };
            (spec.name, spec.agent, spec.source) = (name, agent.clone(), source.clone());
            spec.confidence = spec.confidence.or(confidence);
        }
        store
    }
}
