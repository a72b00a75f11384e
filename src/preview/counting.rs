//! Plans while counting every total that the plan turns out to need, and nothing else.

use crate::text::units::{self, Measure, TotalsMask};

use super::error::PlanError;
use super::input::{Input, Output, PerStream, Stream, Totals};
use super::model::Preview;
use super::plan::plan_touching;
use super::policy::Policy;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToCount {
    /// Those without which it is not certain which ranges of the output are kept, and which limit cut the rest. The
    /// text may still show `…` for a figure.
    #[cfg(feature = "app")]
    Ranges,
    /// Those used in the preview's text.
    Text,
    /// Also those that the preview's own figures need.
    All,
}

#[derive(Debug)]
pub(crate) struct CountedPlan {
    pub preview: Preview,
    /// Number of distinct bytes of the output that the plan read, not including bytes that were only counted.
    pub touched: u64,
    /// Totals known before, and those counted.
    pub totals: PerStream<Totals>,
}

/// Plans a preview like [`plan`](super::plan), but counts the missing totals: the text and every figure are exact.
///
/// # Errors
/// Same as [`plan`](super::plan).
pub fn plan_counted(input: &Input, policy: &Policy) -> Result<Preview, PlanError> {
    let count = |stream, want| Some(units::measure_all(input.stream(stream).bytes, want));
    Ok(plan_counting(input, policy, ToCount::All, count)?.preview)
}

/// Same as [`plan_counted`] with another way to count a stream, which returns `None` if it can no longer be counted.
pub(crate) fn plan_counting(
    input: &Input,
    policy: &Policy,
    counts: ToCount,
    mut count: impl FnMut(Stream, TotalsMask) -> Option<Measure>,
) -> Result<CountedPlan, PlanError> {
    let mut totals = PerStream::each(|stream| *input.stream(stream).totals);
    loop {
        let (planned, touched) = plan_touching(&with_totals(input, &totals), policy);
        let preview = planned?;
        let wanted = match counts {
            #[cfg(feature = "app")]
            ToCount::Ranges => preview.ranges_missing,
            ToCount::Text => preview.missing,
            ToCount::All => preview.missing | preview.counts_missing,
        };
        let mut is_known = true;
        for stream in streams(input) {
            let known = totals.of_mut(stream);
            let lacking = wanted.without(known.known());
            if !lacking.is_empty()
                && let Some(measure) = count(stream, lacking)
            {
                *known = known.or(Totals::from_measure(&measure, lacking));
                is_known = false;
            }
        }
        if is_known {
            return Ok(CountedPlan { preview, touched, totals });
        }
    }
}

fn with_totals<'a>(input: &Input<'a>, totals: &'a PerStream<Totals>) -> Input<'a> {
    Input {
        output: Output { totals: &totals.stdout, ..input.output },
        stderr: input.stderr.map(|stderr| Output { totals: &totals.stderr, ..stderr }),
        ..*input
    }
}

fn streams(input: &Input) -> impl Iterator<Item = Stream> {
    let stderr = input.stderr.is_some().then_some(Stream::Stderr);
    std::iter::once(Stream::Stdout).chain(stderr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preview::policy::catalog::Catalog;

    #[test]
    fn what_a_plan_lacks_is_counted_once() {
        let policy = Catalog::builtin().get("opencode/output").unwrap();
        let output = "line\n".repeat(100_000);
        let input = Input::from_bytes(output.as_bytes(), "/tmp/out");
        let known = Totals::count(output.as_bytes());
        let exact = Input::new(Output { bytes: output.as_bytes(), totals: &known }, "/tmp/out");
        let expected = crate::preview::plan(&exact, &policy).unwrap();
        assert_eq!(plan_counted(&input, &policy).unwrap(), expected);
        assert_eq!(plan_counted(&exact, &policy).unwrap(), expected);

        let mut asked = TotalsMask::NOTHING;
        let counted = plan_counting(&input, &policy, ToCount::All, |stream, want| {
            assert!(stream == Stream::Stdout && want.without(asked) == want, "asked again");
            asked |= want;
            Some(units::measure_all(output.as_bytes(), want))
        });
        assert_eq!(counted.unwrap().preview, expected);
        assert!(!asked.is_empty() && asked != TotalsMask::ALL);
    }

    #[test]
    fn what_cannot_be_counted_is_left_unknown() {
        let policy = Catalog::builtin().get("opencode/output").unwrap();
        let output = "line\n".repeat(100_000);
        let input = Input::from_bytes(output.as_bytes(), "/tmp/out");
        let preview = plan_counting(&input, &policy, ToCount::Text, |_, _| None).unwrap().preview;
        assert!(!preview.missing.is_empty() && preview.text(&input).contains('…'));
    }
}
