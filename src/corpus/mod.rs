//! Many outputs looked at together: which they are, what each holds, and what the model got of each.
//!
//! A `Corpus` lists outputs of stores, files and directories and opens none. A `CorpusReader` reads one after the
//! other into memory that it uses again. What the model got of one (`Receipt`) is found by `Receipts` in the agent's records,
//! or made by the policy that `CutPolicies` finds. `in_order` works on several threads, and keeps the order of the corpus.

mod find;
mod gather;
mod got;
mod order;
mod read;
mod recorded;
pub(crate) mod tune;

pub use find::{FindEnd, FoundLine, find_in_stores};
pub(crate) use find::{Hit, LineSource, MAX_FOUND, MAX_LINE, WantedLines, each_hit, find_in_results};
pub(crate) use gather::{Corpus, CorpusOutput};
pub(crate) use got::{CutPolicies, LineReceipt, Receipt, ResolvedPolicy, plan};
pub(crate) use order::{OrderedSender, in_order};
pub(crate) use read::{CorpusReader, OutputBytes, ReadFault, STDIN};
pub(crate) use recorded::{FoundReceipt, Receipts, examiner, is_known};
pub(crate) use tune::request::around;
pub use tune::request::{TuneFault, TuneOutputs, TunePolicies, prepare_tuning};
pub(crate) use tune::run::{TuneChoice, TunedPolicies, seconds_left};
pub use tune::run::{TuneFigures, TuneRun};
