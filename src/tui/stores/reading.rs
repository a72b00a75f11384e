//! The task of reading what the filter searches of all entries. A worker runs it.

use std::collections::HashMap;

use crate::source::Identity;
use crate::store::Env;

use super::details::{self, Peek};
use super::sort::EntryTable;
use super::texts::{BatchText, TextTable};

/// Entries whose tools, commands and first lines are to be read.
#[derive(Debug, Clone)]
pub struct TextTask {
    /// The number of the task, repeated in the answers.
    pub number: u64,
    pub(crate) entries: EntryTable,
    /// What has been read of them.
    pub(crate) texts: TextTable,
    /// The entries of the scan before and what was read of those, so that no file is read twice.
    pub(crate) before: Option<(EntryTable, TextTable)>,
}

impl TextTask {
    /// Reads batch by batch what has not been read, and passes each batch on with its number. Ends when `take` returns
    /// false, or `wanted`, which is asked before each file.
    pub fn run(&self, env: &Env, wanted: &dyn Fn() -> bool, take: &mut dyn FnMut(usize, BatchText) -> bool) {
        let before = self.known_before();
        for (n, batch) in self.entries.batches().enumerate().filter(|(n, _)| self.texts.batch(*n).is_none()) {
            let mut texts = BatchText::default();
            for entry in batch {
                if !wanted() {
                    return;
                }
                match before.get(&entry.identity) {
                    Some(text) => texts.push_lower(text),
                    None => texts.push(&searched(&details::peek(entry, env))),
                }
            }
            if !take(n, texts) {
                return;
            }
        }
    }

    fn known_before(&self) -> HashMap<Identity, &[u8]> {
        let Some((entries, texts)) = &self.before else { return HashMap::new() };
        let read = entries.batches().enumerate().filter_map(|(n, batch)| Some((batch, texts.batch(n)?)));
        read.flat_map(|(batch, texts)| {
            let known = batch.iter().take(texts.len()).enumerate();
            known.map(|(n, entry)| (entry.identity, texts.get(n)))
        })
        .collect()
    }
}

fn searched(peek: &Peek) -> String {
    format!("{} {} {}", peek.tool.as_deref().unwrap_or_default(), peek.command, peek.first_line)
}
