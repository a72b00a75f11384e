//! What the command line gives the screens: outputs, one of them perhaps still being made, and services.

use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use crate::capture::Control;
use crate::config::{Config, EffectivePolicy};
use crate::corpus::{FindEnd, FoundLine, examiner};
use crate::output::recorded::{CallSearch, ReadyCall, RecordedCall};
use crate::output::{Ending, Subject, Target};
use crate::session::examine::{CallInspector, Paths};
use crate::session::list;
use crate::session::reader::{ReadProgress, SessionFile};
use crate::session::spill::{CitingCall, SessionsCache};
use crate::source::{FileLock, MapView};
use crate::store::{Record, RecordedFile};
use crate::text::search::{Pattern, SeverityPatterns};

pub struct PagerInput {
    pub subject: Subject,
    pub view: MapView,
    /// The result that the agent recorded, if the output was opened from its records.
    pub recorded: Option<Box<RecordedCall>>,
    /// Whether more may arrive: true for a stream that has not ended.
    pub streaming: bool,
    pub running: bool,
    /// The index among the outputs named on the command line of the one viewed last, 0-based.
    pub file: usize,
    pub files: usize,
    /// Whether it is one of those, not opened from a list.
    pub is_named: bool,
    pub start: StartView,
}

impl PagerInput {
    pub fn new(subject: Subject, view: MapView) -> Self {
        Self {
            subject,
            view,
            recorded: None,
            streaming: false,
            running: false,
            file: 0,
            files: 0,
            is_named: false,
            start: StartView::default(),
        }
    }
}

/// What an output shows when it is opened.
#[derive(Debug, Clone, Default)]
pub struct StartView {
    pub place: Option<StartAt>,
    /// The policy to show it under, if not its own.
    pub under: Option<Box<EffectivePolicy>>,
}

/// A place in an output, as `less` and editors take it on their command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartAt {
    /// A line of the file, 1-based.
    Line(u64),
    /// The match of a pattern in a line of the file, 1-based.
    Found(u64, String),
    End,
    Match(String),
}

#[derive(Debug, Clone)]
pub enum Producer {
    /// A command run by overspill; it stops when overspill does.
    Command(Control),
    /// Another program that writes to overspill's standard input.
    Stream,
}

#[derive(Debug)]
pub enum LiveUpdate {
    Error(String),
    SavedAs(String),
    Finished { path: Option<PathBuf>, saved_as: String, message: Option<String>, ending: Ending },
}

type Opener = dyn Fn(&Path, FileLock) -> Result<Target, String> + Send + Sync;

/// Finds the matching lines of all stored outputs: asks whether to go on, and passes on lines until nobody takes them.
type Finder = dyn Fn(&Pattern, &(dyn Fn() -> bool + Sync), &mut (dyn FnMut(Vec<FoundLine>) -> bool + Send)) -> FindEnd
    + Send
    + Sync;

type PolicyLoader = dyn Fn(Option<&str>) -> Vec<EffectivePolicy> + Send + Sync;

pub struct Services {
    pub config: Arc<Config>,
    pub open: Box<Opener>,
    pub find: Box<Finder>,
    pub load_policies: Box<PolicyLoader>,
    pub severities: SeverityPatterns,
    pub sessions: Arc<SessionsCache>,
}

impl Services {
    /// Finds the call of a stored output, and reads what was recorded of it. If none of it can be shown, the error is
    /// what is known of the call.
    pub(crate) fn find_record(
        &self,
        of: &Subject,
        progress: &dyn ReadProgress,
    ) -> Result<ReadyCall, CallSearch> {
        let env = &self.config.env;
        let sought = match Record::find(env, Path::new(of.path())) {
            Some(Record::Copy(copy)) => copy.recorded_file(of.path().into()),
            _ => RecordedFile { path: of.context.saved_as.clone().into(), ..RecordedFile::default() },
        };
        let mut record = Err(CallSearch::NoneFound);
        self.sessions.find_all(slice::from_ref(&sought), env, progress, &mut |_, found| {
            let Some((file, opened, call)) = found else { return };
            let transcript = opened.transcript();
            let examiner = examiner(&self.config, transcript.agent, Paths::Known);
            let copy = sought.copy.as_deref();
            let of = CallInspector { examiner: &examiner, file, transcript, copy };
            let ready = ReadyCall::read(&of, call, Paths::Known, Some(of.verify(call)));
            record = ready.map_err(|_| CallSearch::Found(Box::new(CitingCall::new(file, transcript, call))));
            if let Ok(ready) = &mut record {
                ready.recorded.texts = Some(of.texts(call));
            }
        });
        record
    }

    /// Reads a session, and has `look` examine its calls.
    pub(crate) fn inspect<T>(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
        look: impl FnOnce(CallInspector) -> T,
    ) -> Result<T, String> {
        let opened = list::open(file, progress).map_err(|error| error.to_string())?;
        let transcript = opened.transcript();
        let examiner = examiner(&self.config, transcript.agent, Paths::Known);
        Ok(look(CallInspector { examiner: &examiner, file, transcript, copy: None }))
    }
}
