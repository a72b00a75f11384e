//! The keys of a policy file, for people's mistakes in one; the engine's own tables are checked where they are read.

use crate::base::provenance::{Confidence, Date};
use crate::base::toml_check::Shape::{
    Checked, Flag, List, Names, Number, Scalar, Section, Table, Tables, Text,
};
use crate::base::toml_check::{Field, is_word, needed, optional};
use crate::preview::measure::{DecodingRule, LineRule, TrimRule};
use crate::preview::model::Unit;

use super::schema::{DetailsShape, KindSchema, ParamRole};

/// Maximum number of parameters, and of variants: each template is checked against all of them.
const MAX_TABLES: usize = 100;
/// Maximum number of elements of other lists.
const MAX_ELEMENTS: usize = 1000;

/// The keys of a policy file.
pub(super) const FILE: &[Field] = &[
    needed("agent", Checked(name)),
    needed("tool", Checked(name)),
    optional("shell", Flag),
    optional("version", Text),
    optional("from", Table(EDGE)),
    optional("until", Table(EDGE)),
    optional("seen", Table(EDGE)),
    optional("era_of", Text),
    optional("source", Text),
    optional("confidence", Checked(is_word::<Confidence>)),
    optional("summary", Text),
    optional("failed", Text),
    optional("quirks", List(&Text, MAX_ELEMENTS)),
    optional("unit", Checked(is_word::<Unit>)),
    optional("decoding", Checked(is_word::<DecodingRule>)),
    optional("lines", Checked(is_word::<LineRule>)),
    optional("trim", Checked(is_word::<TrimRule>)),
    optional("reads", Scalar),
    optional("refuse", Section),
    optional("settings", Table(SETTINGS)),
    optional("warning", Tables(crate::base::provenance::WARNING, MAX_ELEMENTS)),
    optional("param", Tables(PARAM, MAX_TABLES)),
    optional("variant", Tables(VARIANT, MAX_TABLES)),
    optional("when", Section),
    needed("keep", Section),
    needed("text", Section),
    optional("details", Table(DETAILS)),
    optional("cap", Section),
];

const EDGE: &[Field] = &[optional("version", Text), optional("date", Checked(date))];

const SETTINGS: &[Field] = &[needed("file", Text), optional("lines", Text), optional("size", Text)];

const DETAILS: &[Field] = &[
    needed("shape", Checked(is_word::<DetailsShape>)),
    optional("limit", Text),
    optional("path", Flag),
    optional("unless_failed", Flag),
];

const PARAM: &[Field] = &[
    needed("name", Checked(name)),
    needed("default", Scalar),
    optional("doc", Text),
    optional("role", Checked(is_word::<ParamRole>)),
    optional("min", Number),
    optional("max", Number),
    optional("values", List(&Text, MAX_ELEMENTS)),
    optional("also", Table(&[needed("name", Checked(name)), needed("times", Number)])),
    optional("kind", Checked(is_word::<KindSchema>)),
];

const VARIANT: &[Field] = &[
    needed("tools", List(&Text, MAX_ELEMENTS)),
    optional("defaults", Names(&Scalar)),
    optional("when", Section),
    optional("keep", Section),
    optional("text", Section),
    optional("lines", Checked(is_word::<LineRule>)),
    optional("unit", Checked(is_word::<Unit>)),
];

/// Checks a name that stands on the command line.
fn name(text: &str) -> Result<(), String> {
    let is_plain = |c: char| !(c.is_whitespace() || c.is_control() || c == '/' || c == '=');
    if !text.is_empty() && text.chars().all(is_plain) {
        Ok(())
    } else {
        Err("takes a name without spaces, `/` and `=`".to_owned())
    }
}

fn date(text: &str) -> Result<(), String> {
    Date::try_from(crate::base::fs::plain_file::ellipsize(text)).map(drop)
}
