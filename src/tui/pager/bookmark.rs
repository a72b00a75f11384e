//! What is remembered of an output to come back to while another one is viewed.

use std::collections::BTreeMap;

use crate::config::EffectivePolicy;
use crate::document::sift::Sift;
use crate::preview::Preview;
use crate::tui::job::Slot;
use crate::tui::screen::Effects;
use crate::tui::target::OpenedFrom;

use super::Pager;
use super::filter::LineFilter;
use super::panes::Panes;
use super::search::Find;

/// What the screen of an output hands on to the screen of the next one.
#[derive(Default)]
pub(crate) struct Handover {
    pub(crate) find: Find,
    /// What was typed to filter before.
    pub(crate) filters: Vec<String>,
    pub(crate) bookmarks: BTreeMap<usize, Bookmark>,
}

/// Where the user was in an output: its panes, search, filter, policy and limits.
pub(crate) struct Bookmark {
    panes: Panes,
    find: Find,
    filter: LineFilter,
    sift: Option<Sift>,
    policy: EffectivePolicy,
    first_preview: Option<Preview>,
    /// The length of the output.
    bytes: usize,
}

impl Pager {
    /// Ends this screen. Returns what the next one needs, with a bookmark if the output was named on the command line.
    pub(crate) fn hand_over(self) -> Handover {
        let Self { find, filter, mut bookmarks, output, panes, file, origin, .. } = self;
        if origin == OpenedFrom::CommandLine {
            let bookmark = Bookmark {
                panes,
                find: find.clone(),
                filter: filter.clone(),
                sift: output.sift,
                bytes: output.view.len(),
                policy: output.subject.policy,
                first_preview: output.first_preview,
            };
            bookmarks.insert(file, bookmark);
        }
        Handover { find, filters: filter.history, bookmarks }
    }

    pub(crate) fn park(&mut self, effects: &mut Effects) -> Handover {
        self.abandon(effects);
        self.find.stop();
        let filters = self.filter.history.clone();
        Handover { find: self.find.clone(), filters, bookmarks: BTreeMap::new() }
    }

    /// Abandons all work: what it reports is not for the output that is shown next.
    pub(crate) fn abandon(&self, effects: &mut Effects) {
        effects.stop(Slot::OF_OUTPUT);
    }

    /// Continues where `park` left off, once the screen above, `left`, is closed: asks again for what was not finished.
    pub(crate) fn resume(&mut self, left: &Pager, effects: &mut Effects) {
        self.find.history.clone_from(&left.find.history);
        self.filter.history.clone_from(&left.filter.history);
        if self.output.is_waiting() {
            let then = std::mem::take(&mut self.then);
            self.plan(then, effects);
        }
        if !self.output.is_counted() {
            self.count_all(effects);
        }
        self.count_on(effects);
        self.filter_again(effects);
        self.settle();
    }

    pub(crate) fn take_bookmark(&mut self, bookmark: Bookmark) {
        let output = &mut self.output;
        output.subject.policy = bookmark.policy;
        output.first_preview = bookmark.first_preview.filter(|_| output.view.len() == bookmark.bytes);
        self.find.take_up(bookmark.find);
        self.take_up_filter(bookmark.filter, bookmark.sift);
        self.panes = bookmark.panes;
    }
}
