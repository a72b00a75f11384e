//! Plans a preview: whether an output is cut, what is kept, and the notices around it.

pub(super) mod counts;

use crate::preview::input::{Input, Output, PerStream, Stream, Totals};
use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{LimitHit, Part, PlanError, Preview, Reply, Status};
use crate::preview::policy::Policy;
use crate::preview::strategy::Selection;
use crate::preview::template::{Fact, Facts, Scope, Template, Value};
use crate::text::units::{self, Measure, TotalsMask};

use counts::{NOTICE_FIGURES, NoticeFigure, NoticeFigures, SPAN_FIGURES};

/// Works out what the model gets of `input` under `policy`. Copies no text, and reads no more of the output than the
/// limits and two blocks of 64 KiB, unless the policy searches for something (`basic/smart`, distant read windows) or
/// rewrites everything. Never waits for a missing total.
///
/// # Errors
/// If the agent's tool replies with an error, the policy file has a mistake that only shows in use, or the plan is no
/// longer wanted.
pub fn plan(input: &Input, policy: &Policy) -> Result<Preview, PlanError> {
    plan_touching(input, policy).0
}

/// Same as [`plan`]; also returns how many distinct bytes of the output it read, for cost accounting.
pub fn plan_touching(input: &Input, policy: &Policy) -> (Result<Preview, PlanError>, u64) {
    let views = view(input, policy, Stream::Stdout)
        .and_then(|stdout| Ok((stdout, view(input, policy, Stream::Stderr)?)));
    let (stdout, stderr) = match views {
        Ok(views) => views,
        Err(error) => return (Err(error), 0),
    };
    let preview = whole_plan(input, policy, &stdout, &stderr);
    // The result of a cancelled plan is of no use.
    let preview = if input.is_wanted() { preview } else { Err(PlanError::Cancelled) };
    (preview, stdout.touched() + stderr.touched())
}

/// Returns a stream as the policy's tool sees it.
pub(super) fn view<'a>(input: &Input<'a>, policy: &Policy, stream: Stream) -> Result<Text<'a>, PlanError> {
    let file = &policy.file;
    let reads = policy.scope(Facts::new()).optional(&file.reads)?.map(|reads| as_usize(reads.max(1)));
    Ok(Text::new(input, stream, file.schema.decoding, policy.line_rule(), file.schema.trim, reads))
}

fn whole_plan(input: &Input, policy: &Policy, stdout: &Text, stderr: &Text) -> Result<Preview, PlanError> {
    let scope = policy.scope(outside_facts(input, policy, Stream::Stdout));
    let mut planned = one_stream(input, policy, &scope, stdout)?;
    if planned.status != Status::Ok {
        return Ok(planned);
    }
    if let Some(together) = &policy.texts().together {
        planned = join(input, policy, &scope, stderr, planned, together)?;
    }
    if let Some(cap) = &policy.file.cap {
        // The length of the text decides.
        planned.ranges_missing |= planned.missing;
        if cap.apply(input, &scope, PerStream { stdout, stderr }, &mut planned.parts)? {
            planned = counts::by_parts(planned, &[stdout, stderr]);
        }
    }
    Ok(planned)
}

/// Combines two streams and the exit status into one response.
fn join(
    input: &Input,
    policy: &Policy,
    scope: &Scope,
    stderr: &Text,
    mut planned: Preview,
    together: &Template,
) -> Result<Preview, PlanError> {
    let other =
        one_stream(input, policy, &policy.scope(outside_facts(input, policy, Stream::Stderr)), stderr)?;
    let facts = Facts::from([
        ("stdout_empty", Fact::Flag(planned.parts.is_empty())),
        ("stderr_empty", Fact::Flag(other.parts.is_empty())),
        ("stderr_given", Fact::Flag(input.stderr.is_some())),
    ]);
    let slots = vec![
        ("stdout", std::mem::take(&mut planned.parts)),
        ("stderr", other.parts.clone()),
        ("stderr_whole", stderr.kept(stderr.body.clone()).into_iter().collect()),
    ];
    let laid = lay_out(scope, together, facts, slots)?;
    planned.parts = laid.parts;
    planned.missing |= laid.waiting;
    planned.ranges_missing |= laid.undecided;
    if input.stderr.is_some() {
        let is_whole = policy.file.templates.mention(together, "stderr_whole");
        let counted = if is_whole { untouched(policy, stderr) } else { other };
        add(&mut planned, counted);
    }
    Ok(planned)
}

fn add(sum: &mut Preview, other: Preview) {
    let plus = |mine: Option<u64>, theirs| mine.zip(theirs).map(|(mine, theirs)| mine + theirs);
    sum.total = sum.total.zip(other.total, plus);
    sum.kept = sum.kept.zip(other.kept, plus);
    sum.truncated |= other.truncated;
    sum.reply = if other.reply == Reply::Cut { other.reply } else { sum.reply };
    sum.truncated_by = sum.truncated_by.or(other.truncated_by);
    sum.missing |= other.missing;
    sum.ranges_missing |= other.ranges_missing;
    sum.counts_missing |= other.counts_missing;
    sum.details = sum.details.take().or(other.details);
}

fn one_stream(input: &Input, policy: &Policy, scope: &Scope, text: &Text) -> Result<Preview, PlanError> {
    if let Some(refuse) = &policy.file.refuse {
        refuse.check(text, input.saved_path(text.source), scope)?;
    }
    let (keep, context) = (policy.keep(), policy.context(scope));
    let over = context.limits.test(text, scope, context.unit)?;
    let is_cut = keep.decides_itself || matches!(over, Ok(Some(_)));
    let mut selection = if is_cut { keep.select(text, &context)? } else { Selection::everything(text) };
    if let Some(words) = selection.crash.take() {
        return Ok(counts::crashed(untouched(policy, text), words));
    }
    let is_cut = is_cut && !selection.uncut;
    selection.hit = selection.hit.or(over.ok().flatten());
    let figures = NoticeFigures::new(context.unit, text, &selection);
    for (_, parts) in &mut selection.slots {
        *parts = text.apart(std::mem::take(parts));
    }
    let facts = output_facts(policy, &selection, &figures);
    let texts = policy.texts();
    let template = if is_cut { &texts.cut } else { &texts.whole };
    let slots = keep.rewrite.slots(input, text.source, std::mem::take(&mut selection.slots));
    let ranges = |part: &Part| Some(part.range()?.1);
    let left_out = counts::left_out(text, slots.iter().flat_map(|(_, parts)| parts).filter_map(ranges));
    let laid = lay_out(scope, template, facts, slots)?;
    let is_all_shown = counts::left_out(text, laid.parts.iter().filter_map(ranges)) == left_out;
    let reply = if is_cut { Reply::Cut } else { Reply::Whole };
    let details = counts::describe_details(input, policy, text, &selection, &figures, is_cut);
    let unknown = over.err().unwrap_or_default() | text.gave_up();
    let planned = figures.preview(reply, laid.waiting | unknown);
    let ranges_missing = laid.undecided | unknown;
    let planned = Preview { parts: laid.parts, details, ranges_missing, ..planned };
    // A template may leave out a slot.
    Ok(match is_all_shown {
        true => counts::by_selection(planned, text, &selection),
        false => {
            let truncated_by = selection.hit.or(selection.silent_limit);
            counts::by_parts(Preview { truncated_by, ..planned }, &[text])
        }
    })
}

fn untouched(policy: &Policy, text: &Text) -> Preview {
    let figures = NoticeFigures::new(policy.unit(), text, &Selection::everything(text));
    counts::reconcile(figures.preview(Reply::Whole, TotalsMask::NOTHING))
}

/// Returns the figures that do not come from the output.
fn outside_facts(input: &Input, policy: &Policy, stream: Stream) -> Facts {
    let unknown = policy.get("timed_out").filter(|set| *set == Value::Boolean(true));
    let unknown = unknown.map_or(Fact::Nothing, |_| Fact::Text("…".to_owned()));
    let exit_code = input.exit_code.map_or(unknown, |code| Fact::Signed(code.into()));
    let mut facts =
        Facts::from([("path", Fact::Text(input.saved_path(stream).to_owned())), ("exit_code", exit_code)]);
    if stream == Stream::Stderr || policy.get("stream").is_none() {
        facts.insert("stream", Fact::Text(stream.as_str().to_owned()));
    }
    facts
}

fn output_facts(policy: &Policy, selection: &Selection, of: &NoticeFigures) -> Facts {
    let text = of.text;
    let fact = |(name, figure): (&'static str, NoticeFigure)| (name, Fact::from(figure(of)));
    let mut facts = Facts::from(NOTICE_FIGURES.map(fact));
    facts.extend(of.span.into_iter().flat_map(|_| SPAN_FIGURES.map(fact)));
    let word = if of.is_by_lines() { "lines" } else { of.unit.as_str() };
    facts.insert("unit", Fact::Text(word.to_owned()));
    let hit = match of.hit {
        None => "none",
        Some(LimitHit::Size(_)) => "size",
        Some(hit) => hit.as_str(),
    };
    facts.insert("hit", Fact::Text(hit.to_owned()));
    facts.insert("partial", Fact::Flag(selection.partial));
    facts.insert("kept_empty", Fact::Flag(of.is_kept_empty));
    facts.insert("is_empty", Fact::Flag(text.is_empty()));
    // These two may read all of an output, so they are computed only if the policy uses them.
    let mentions = |name| policy.texts().mention(name, &policy.file.templates);
    if mentions("is_blank") {
        facts.insert("is_blank", Fact::Flag(text.is_blank()));
    }
    if mentions("json_units") {
        facts.insert("json_units", text.json_units().map_or(Fact::Nothing, Fact::Number));
    }
    facts.extend(selection.facts.clone());
    facts
}

struct Layout {
    parts: Vec<Part>,
    waiting: TotalsMask,
    /// Totals without which it is not certain which slots are in the text.
    undecided: TotalsMask,
}

/// Renders a template and inserts the parts of each slot.
fn lay_out(
    scope: &Scope,
    template: &Template,
    mut facts: Facts,
    slots: Vec<(&'static str, Vec<Part>)>,
) -> Result<Layout, PlanError> {
    for (at, (name, parts)) in slots.iter().enumerate() {
        let fact = if parts.is_empty() { Fact::Text(String::new()) } else { Fact::Slot(at) };
        facts.insert(name, fact);
    }
    let undecided = scope.undecided(template, &facts);
    let (parts, waiting) = scope.render(template, facts, &slots)?;
    Ok(Layout { parts, waiting, undecided: undecided.unwrap_or(waiting) })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TotalsFor {
    /// Those that tell which ranges of the output are kept, and which limit cut the rest. The text may still show `…`.
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
    Ok(plan_counting(input, policy, TotalsFor::All, count)?.preview)
}

/// Same as [`plan_counted`] with another way to count a stream, which returns `None` if it can no longer be counted.
pub(crate) fn plan_counting(
    input: &Input,
    policy: &Policy,
    counts: TotalsFor,
    mut count: impl FnMut(Stream, TotalsMask) -> Option<Measure>,
) -> Result<CountedPlan, PlanError> {
    let mut totals = PerStream::each(|stream| *input.stream(stream).totals);
    loop {
        let (planned, touched) = plan_touching(&with_totals(input, &totals), policy);
        let preview = planned?;
        let wanted = match counts {
            #[cfg(feature = "app")]
            TotalsFor::Ranges => preview.ranges_missing,
            TotalsFor::Text => preview.missing,
            TotalsFor::All => preview.missing | preview.counts_missing,
        };
        let mut is_known = true;
        for stream in [Some(Stream::Stdout), input.stderr.map(|_| Stream::Stderr)].into_iter().flatten() {
            let known = totals.get_mut(stream);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preview::policy::catalog::Catalog;

    #[test]
    fn counts_each_total_that_a_plan_lacks_once() {
        let policy = Catalog::builtin().get("opencode/output").unwrap();
        let output = "line\n".repeat(100_000);
        let input = Input::from_bytes(output.as_bytes(), "/tmp/out");
        let known = Totals::count(output.as_bytes());
        let exact = Input::new(Output { bytes: output.as_bytes(), totals: &known }, "/tmp/out");
        let expected = crate::preview::plan(&exact, &policy).unwrap();
        assert_eq!(plan_counted(&input, &policy).unwrap(), expected);
        assert_eq!(plan_counted(&exact, &policy).unwrap(), expected);

        let mut asked = TotalsMask::NOTHING;
        let counted = plan_counting(&input, &policy, TotalsFor::All, |stream, want| {
            assert!(stream == Stream::Stdout && want.without(asked) == want, "asked again");
            asked |= want;
            Some(units::measure_all(output.as_bytes(), want))
        });
        assert_eq!(counted.unwrap().preview, expected);
        assert!(!asked.is_empty() && asked != TotalsMask::ALL);
    }

    #[test]
    fn a_total_that_cannot_be_counted_stays_unknown() {
        let policy = Catalog::builtin().get("opencode/output").unwrap();
        let output = "line\n".repeat(100_000);
        let input = Input::from_bytes(output.as_bytes(), "/tmp/out");
        let preview = plan_counting(&input, &policy, TotalsFor::Text, |_, _| None).unwrap().preview;
        assert!(!preview.missing.is_empty() && preview.text(&input).contains('…'));
    }
}
