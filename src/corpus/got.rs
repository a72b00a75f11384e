//! What the model got of one output, by the policy that cut it, and what that means for each of its lines.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::base::lock;
use crate::compare::{describe_excess, kept_ranges};
use crate::config::{Config, EffectivePolicy, FileOrigin, Overrides, StoredFile};
use crate::preview::{self, Input, LimitHit, Output, PlanError, Preview, Status, Stream, Totals, TotalsFor};
use crate::store::{RecordedFile, StoreSpec};
use crate::text::filter::KeptRanges;
use crate::text::units;

use super::CorpusOutput;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// The ranges of the output that the model got: bytes, in order.
    kept: Vec<Range<usize>>,
    /// What became of a line outside of them.
    rest: LineReceipt,
}

/// A limit, and how much it allows, in lines or the policy's unit, if that is known.
pub(super) type CutLimit = (LimitHit, Option<u64>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineReceipt {
    /// The model got all of it, unchanged.
    Kept,
    LostToLimit(CutLimit),
    /// It was cut, and no limit is named.
    Cut,
    /// The model got other text for it.
    Changed,
    /// The model got an error of the agent's instead of the output.
    Error,
    /// It is not known: no policy is, or only the start of the output was saved.
    Unknown,
}

/// Plans the preview of an output under the policy that cut it.
pub(crate) fn plan(
    bytes: &[u8],
    saved_as: &str,
    by: &EffectivePolicy,
    counts: TotalsFor,
) -> Result<Preview, PlanError> {
    let totals = Totals::unknown();
    let input = Input::new(Output { bytes, totals: &totals }, saved_as);
    let input = Input { exit_code: by.exit_code, ..input };
    let count = |_, want| Some(units::measure_all(bytes, want));
    preview::plan_counting(&input, &by.policy, counts, count).map(|counted| counted.preview)
}

impl Receipt {
    pub(super) const UNKNOWN: Self = Self { kept: Vec::new(), rest: LineReceipt::Unknown };

    /// Plans the preview of an output. With [`TotalsFor::Ranges`] reads only what the plan reads, and a total if that
    /// settles what is kept.
    pub(crate) fn new(bytes: &[u8], saved_as: &str, by: &EffectivePolicy, counts: TotalsFor) -> Self {
        let Ok(preview) = plan(bytes, saved_as, by, counts) else {
            return Self { rest: LineReceipt::Error, ..Self::UNKNOWN };
        };
        let limit = preview.truncated_by.map(|hit| (hit, by.policy.limit(hit)));
        Self::from_preview(&preview, bytes, limit)
    }

    /// Finds which of an output the model got with a recorded text; `limit` is what cut it, if that is proven.
    pub(crate) fn from_text(text: &str, bytes: &[u8], limit: Option<CutLimit>) -> Self {
        let Ok(preview) = preview::recorded(text, &Input::from_bytes(bytes, "")) else {
            return Self::UNKNOWN;
        };
        Self::from_preview(&preview, bytes, limit.filter(|_| preview.truncated))
    }

    fn from_preview(preview: &Preview, bytes: &[u8], limit: Option<CutLimit>) -> Self {
        let rest = match (&preview.status, limit) {
            (Status::Crashed(_), _) => LineReceipt::Error,
            (Status::Ok, Some(limit)) => LineReceipt::LostToLimit(limit),
            (Status::Ok, None) if preview.truncated => LineReceipt::Cut,
            (Status::Ok, None) => LineReceipt::Changed,
        };
        Self { kept: kept_ranges(&preview.parts, bytes, Stream::Stdout), rest }
    }

    /// Returns what became of a line (bytes, without its line end).
    pub(crate) fn line(&self, line: &Range<usize>) -> LineReceipt {
        if KeptRanges(&self.kept).covers(line) { LineReceipt::Kept } else { self.rest }
    }
}

impl LineReceipt {
    pub(crate) fn is_kept(self) -> Option<bool> {
        match self {
            Self::Kept => Some(true),
            Self::Unknown => None,
            _ => Some(false),
        }
    }

    pub(crate) fn is_lost(self) -> bool {
        self.is_kept() == Some(false)
    }

    pub(crate) fn lost_by(self) -> Option<&'static str> {
        match self {
            Self::Kept | Self::Unknown => None,
            Self::LostToLimit((limit, _)) => Some(limit.as_str()),
            Self::Cut => Some("cut"),
            Self::Changed => Some("changed"),
            Self::Error => Some("error"),
        }
    }

    /// Describes it: `kept`, `lost: over 50 KB`, `lost: max bytes` if the limit is not known.
    pub(crate) fn describe(self) -> String {
        match (self, self.lost_by()) {
            (Self::LostToLimit(limit), Some(name)) => {
                format!("lost: {}", describe_excess(limit).unwrap_or_else(|| format!("max {name}")))
            }
            (_, Some(by)) => format!("lost: {by}"),
            (Self::Kept, None) => "kept".to_owned(),
            (_, None) => "unknown".to_owned(),
        }
    }
}

pub(crate) struct CutPolicies<'a> {
    pub(super) config: &'a Config,
    /// By what decides; most outputs of a store agree in it.
    known: Mutex<HashMap<FileOrigin, ResolvedPolicy>>,
    /// The stores by directory: asking all stores about each file takes longer than planning its preview.
    around: Mutex<HashMap<PathBuf, Arc<[Arc<StoreSpec>]>>>,
}

pub(crate) type ResolvedPolicy = Result<Arc<EffectivePolicy>, String>;

impl<'a> CutPolicies<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        Self { config, known: Mutex::default(), around: Mutex::default() }
    }

    /// Returns the policy that most likely cut the output at `path`, as [`Config::resolve`] does for one output.
    pub(crate) fn resolve(&self, path: &Path) -> ResolvedPolicy {
        let file = self.stored_file(path);
        let origin = file.as_ref().map(|file| self.config.origin_of(file)).unwrap_or_default();
        if origin.policies.is_empty() && file.is_some_and(|file| file.is_of_agent()) {
            return Err("its store names no policy for it".to_owned());
        }
        let resolve = || match self.config.resolve(&Overrides::default(), Some(path)) {
            Ok(by) if by.is_partial => Err("only its start was saved, or it was changed since".to_owned()),
            resolved => resolved.map(Arc::new).map_err(|error| error.to_string()),
        };
        lock(&self.known).entry(origin).or_insert_with(resolve).clone()
    }

    /// Returns how agents' records know an output; `None` if no agent stored it.
    pub(crate) fn recorded_file(&self, output: &CorpusOutput) -> Option<RecordedFile> {
        match output {
            CorpusOutput::Entry(entry) => entry.is_of_agent().then(|| entry.recorded_file()),
            CorpusOutput::Named(path) | CorpusOutput::Found(path) => {
                Some(self.stored_file(path).filter(StoredFile::is_of_agent)?.recorded_file())
            }
        }
    }

    /// Same as [`Config::stored_file`], which looks for the stores of each directory once.
    fn stored_file(&self, path: &Path) -> Option<StoredFile> {
        let absolute = std::path::absolute(path).unwrap_or_default();
        let directory = absolute.parent().unwrap_or(Path::new("")).to_owned();
        let find = || self.config.stores_around(path).into();
        let stores = lock(&self.around).entry(directory).or_insert_with(find).clone();
        self.config.stored_file_among(&stores, path)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use crate::corpus::{WantedLines, each_hit};
    use crate::preview::{Catalog, Policy};
    use crate::text::search::Pattern;
    use crate::text::supply::OwnBytes;

    use super::*;

    /// Lines that each occur once, of the given lengths in bytes.
    fn output(lengths: &[usize]) -> Vec<u8> {
        let line = |(number, length): (usize, &usize)| format!("<{number}{}>\n", "x".repeat(*length));
        lengths.iter().enumerate().map(line).collect::<String>().into_bytes()
    }

    fn lengths() -> impl Strategy<Value = Vec<usize>> {
        let some = |length: std::ops::Range<usize>, count| proptest::collection::vec(length, 0..count);
        prop_oneof![
            some(0..30, 40),
            some(0..200, 600),
            some(0..4, 3_000),
            some(2_000..9_000, 16),
            some(60..200, 1_500)
        ]
    }

    /// All policies, with limits as they are, and a few with limits so small that they cut everything.
    fn policies() -> Vec<Policy> {
        let catalog = Catalog::builtin();
        let all: Vec<Policy> = catalog.names().filter_map(|name| catalog.get(name).ok()).collect();
        let small = all.iter().cloned().map(|mut policy| {
            let _ = (policy.set_max_lines(7), policy.set_max_size(300));
            policy
        });
        all.iter().cloned().chain(small.collect::<Vec<_>>()).collect()
    }

    /// Returns the lines of an output that a preview has whole: what begins and ends as they do.
    fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
        let ends = |(start, _): (usize, &str)| Some(&text[start..=start + text[start..].find(['>', '\n'])?]);
        text.match_indices('<').filter_map(ends).filter(|line| line.ends_with('>'))
    }

    fn hits(bytes: &Vec<u8>) -> Vec<(u64, Range<usize>)> {
        let mut hits = Vec::new();
        each_hit(
            &mut OwnBytes::from(bytes),
            WantedLines::Matching(&Pattern::new("<").unwrap()),
            &|| true,
            |hit| {
                hits.push((hit.number, hit.line));
                ControlFlow::Continue(())
            },
        );
        hits
    }

    #[test]
    fn finding_the_kept_part_does_not_count_the_output() {
        let bytes = output(&[120; 1_700]);
        let totals = Totals::unknown();
        let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/tmp/out");
        for name in ["opencode/output", "pi/bash", "claude-code/bash", "codex/exec", "gemini-cli/output"] {
            let policy = Catalog::builtin().get(name).unwrap();
            let counted = preview::plan_counting(&input, &policy, TotalsFor::Ranges, |_, want| {
                panic!("{name} counts {want:?}");
            });
            let (read, most) = (counted.unwrap().touched, policy.max_size().unwrap_or(0) * 3 + (64 << 10));
            assert!(read <= most, "{name} read {read} of {} bytes, over {most}", bytes.len());
        }
    }

    #[test]
    fn a_line_split_by_a_notice_is_not_kept() {
        let bytes = output(&[4_500]);
        let mut policy = Catalog::builtin().get("kimi-code/bash").unwrap();
        policy.set("line_units", "9000").unwrap();
        policy.set_max_size(300).unwrap();
        let got = Receipt::new(&bytes, "/tmp/out", &EffectivePolicy::chosen(policy, true), TotalsFor::Ranges);
        assert_eq!(got.kept, [0..4096, 4096..bytes.len()]);
        assert_eq!(got.line(&(0..bytes.len() - 1)).is_kept(), Some(false));
    }

    #[test]
    fn each_file_is_cut_with_what_its_path_gives() {
        let home = tempfile::tempdir().unwrap();
        let env = crate::store::Env::hermetic(home.path()).with_var("TMPDIR", home.path().join("tmp"));
        let config = Config::builtin(env);
        let policies = CutPolicies::new(&config);
        for stream in ["stdout", "stderr", "stdout"] {
            let path = home.path().join(format!("tmp/opencode-99/bash-{stream}-17.txt"));
            let found = policies.resolve(&path).unwrap().policy.get("stream");
            assert_eq!(found.unwrap().to_string(), stream);
        }
    }

    #[test]
    fn names_a_limit_even_without_its_value() {
        let lost = |limit| LineReceipt::LostToLimit(limit).describe();
        assert_eq!(lost((LimitHit::Matches, None)), "lost: max matches");
        assert_eq!(lost((LimitHit::Lines, Some(2000))), "lost: over 2,000 lines");
        assert_eq!(LineReceipt::Cut.describe(), "lost: cut");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]

        #[test]
        fn a_line_is_kept_exactly_if_the_preview_has_it(lengths in lengths()) {
            let bytes = output(&lengths);
            let (totals, hits) = (Totals::count(&bytes), hits(&bytes));
            for policy in policies() {
                let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/tmp/out");
                let by = EffectivePolicy::chosen(policy.clone(), true);
                let got = Receipt::new(&bytes, "/tmp/out", &by, TotalsFor::Ranges);
                let counted = Receipt::new(&bytes, "/tmp/out", &by, TotalsFor::All);
                prop_assert_eq!(&got, &counted, "{}: as with all totals", policy.name());
                let text = preview::plan(&input, &policy).map(|preview| preview.text(&input)).unwrap_or_default();
                // One policy writes its lines into strings of JSON.
                let text = text.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\n", "\n");
                let whole: HashSet<&str> = whole_lines(&text).collect();
                for (number, line) in &hits {
                    let words = std::str::from_utf8(&bytes[line.clone()]).unwrap();
                    let is_kept = got.line(line).is_kept();
                    prop_assert_eq!(is_kept, Some(whole.contains(words)), "{}: line {}", policy.name(), number);
                }
            }
        }
    }
}
