//! A preview as the command line's JSON.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::base::provenance::{Certainty, Warning};

use super::input::Input;
use super::model::{LimitHit, Part, Preview};
use super::policy::Policy;

/// One part, with its text; docs/json.md says what each field is.
#[derive(serde::Serialize)]
struct ReportPart<'a> {
    kind: &'static str,
    text: StreamedText<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
}

/// Text that is decoded as it is written, because it may be as long as the output.
struct StreamedText<'a> {
    parts: &'a [Part],
    input: &'a Input<'a>,
}

impl fmt::Display for StreamedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.parts.iter().try_for_each(|part| part.each_piece(self.input, &mut |text| f.write_str(text)))
    }
}

impl Serialize for StreamedText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The object that `overspill preview --json` prints; docs/json.md says what each field is.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Report<'a> {
    pub preview: &'a Preview,
    pub input: &'a Input<'a>,
    /// None if a recorded preview is of no known policy.
    pub policy: Option<&'a Policy>,
    /// How the preview is known.
    pub certainty: Certainty,
    pub limits_from: &'a str,
    /// The warnings of the store that contains the output.
    pub store: &'a [Warning],
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { preview, input, policy, .. } = *self;
        let part = |part| {
            let range = Part::range(part);
            ReportPart {
                kind: part.kind(),
                text: StreamedText { parts: std::slice::from_ref(part), input },
                start: range.as_ref().map(|(_, range)| range.start),
                end: range.as_ref().map(|(_, range)| range.end),
                source: range.map(|(source, _)| source.as_str()),
            }
        };
        let of_policy = policy.map_or(&[][..], Policy::warnings);
        let warnings = Warning::applying(of_policy, self.store, preview.extent(input));
        // A recorded text is counted in bytes, whatever its policy counts.
        let unit = policy.map_or(preview.unit, Policy::unit);
        let units = |units: Option<u64>| units.filter(|_| unit == preview.unit);
        let mut object = serializer.serialize_struct("Report", 23)?;
        object.serialize_field("version", &1)?;
        object.serialize_field("policy", &policy.map(Policy::name))?;
        object.serialize_field("confidence", &policy.map(|policy| policy.confidence().as_str()))?;
        object.serialize_field("certainty", self.certainty.as_str())?;
        object.serialize_field("status", &preview.status.describe())?;
        object.serialize_field("truncated", &preview.truncated)?;
        object.serialize_field("truncated_by", &preview.truncated_by.map(LimitHit::as_str))?;
        object.serialize_field("text", &StreamedText { parts: &preview.parts, input })?;
        object.serialize_field("parts", &preview.parts.iter().map(part).collect::<Vec<_>>())?;
        object.serialize_field("unit", unit.as_str())?;
        object.serialize_field("total_lines", &preview.total.lines)?;
        object.serialize_field("total_bytes", &preview.total.bytes)?;
        object.serialize_field("kept_lines", &preview.kept.lines)?;
        object.serialize_field("kept_bytes", &preview.kept.bytes)?;
        object.serialize_field("removed_lines", &preview.removed().lines)?;
        object.serialize_field("removed_bytes", &preview.removed().bytes)?;
        object.serialize_field("total_units", &units(preview.total.units))?;
        object.serialize_field("kept_units", &units(preview.kept.units))?;
        object.serialize_field("tokens_estimate", &preview.tokens_estimate(input))?;
        object.serialize_field("saved_as", input.saved_as)?;
        object.serialize_field("limits_from", self.limits_from)?;
        object.serialize_field("details", &preview.details)?;
        let texts = warnings.iter().map(|warning| &warning.text).collect::<Vec<_>>();
        object.serialize_field("warnings", &texts)?;
        object.end()
    }
}
