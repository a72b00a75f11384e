//! What an agent gets of a tool's output: the text for its model, and how much of the output is in it.

use std::path::PathBuf;

use crate::compare::{each_lost, kept_ranges};
use crate::preview::{Input, LimitHit, Preview, Stream};
use crate::source::ViewSupply;
use crate::text::search::Severity;
use crate::text::supply::{OwnBytes, Supply};

use super::process::exit::Ended;
use super::spill::content::Content;

/// What an agent gets of a tool's output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// What the model gets.
    pub text: String,
    /// Whether the policy cut away any of the output.
    pub truncated: bool,
    /// The limit that cut it; none exactly if it is not truncated.
    pub truncated_by: Option<LimitHit>,
    /// The lines of the output, as the policy counts them. A line of which the model gets a part is kept.
    pub lines: Portion,
    /// The UTF-8 bytes of the decoded output.
    pub bytes: Portion,
    /// The lines that report an error, as compilers, test runners, loggers and shells write it. None if they cannot be
    /// counted, because a part of the output is past the policy's cap and gone.
    pub errors: Option<Portion>,
    /// Where the whole output was saved (or its beginning, up to the policy's cap). None if the output fits, or could
    /// not be saved.
    pub saved_to: Option<PathBuf>,
    /// The same for a command's standard error, where the policy treats it separately.
    pub stderr_saved_to: Option<PathBuf>,
    /// How the command ended; none if there was no command.
    pub ended: Option<Ended>,
    /// Problems that stopped nothing, such as a failed save. Escape them before printing to a terminal.
    pub warnings: Vec<String>,
}

/// How much of something the model gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Portion {
    /// How much there is in the whole output.
    pub total: u64,
    /// How much of it the model gets.
    pub kept: u64,
}

impl Portion {
    /// Returns how much of it the model does not get.
    pub fn lost(self) -> u64 {
        self.total.saturating_sub(self.kept)
    }
}

impl Outcome {
    /// Describes a preview all of whose totals were counted.
    pub(super) fn new(preview: &Preview, input: &Input, errors: Option<Portion>) -> Outcome {
        let portion = |total: Option<u64>, kept: Option<u64>| {
            total.zip(kept).map(|(total, kept)| Portion { total, kept }).unwrap_or_default()
        };
        Outcome {
            text: preview.text(input),
            truncated: preview.truncated,
            truncated_by: preview.truncated_by,
            lines: portion(preview.total.lines, preview.kept.lines),
            bytes: portion(preview.total.bytes, preview.kept.bytes),
            errors,
            saved_to: None,
            stderr_saved_to: None,
            ended: None,
            warnings: Vec::new(),
        }
    }
}

pub(super) fn errors_of<'a>(
    preview: &Preview,
    contents: impl Iterator<Item = (Stream, &'a Content)>,
) -> Option<Portion> {
    let counted = contents.map(|(stream, content)| match content {
        Content::Held(bytes) => errors_in(preview, stream, &mut OwnBytes::from(bytes)),
        Content::File(view) => errors_in(preview, stream, &mut ViewSupply::from(view)),
        Content::Ends(..) => None,
    });
    counted.into_iter().try_fold(Portion::default(), |sum, errors| {
        let Portion { total, kept } = errors?;
        Some(Portion { total: sum.total + total, kept: sum.kept + kept })
    })
}

pub(super) fn errors_in(preview: &Preview, stream: Stream, supply: &mut impl Supply) -> Option<Portion> {
    let kept = kept_ranges(&preview.parts, stream);
    let [total, kept] = each_lost(supply, &kept, Severity::Error.built_in()?, &mut |_| {});
    Some(Portion { total, kept })
}
