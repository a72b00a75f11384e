//! Lists a store through the descriptors of its directories, one name at a time, without opening any file.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

use crate::base::fs::identity::{FileStat, timestamp};
use crate::source::Identity;
use crate::store::own::id::parse_id;
use crate::store::root::{Root, RootError};
use crate::store::spec::OWN;
use crate::store::spec::pattern::{Component, PathFacts};
use crate::store::spec::retention::Times;
use crate::store::{CopyRecord, Entry, EntryStatus, Env, Expiry, KeptIds, Retention, Rule, StoreSpec, YOUNG};

use super::entry::{ListedDir, Origin};
use super::{RootReport, RootState};

/// How far a time may be ahead of the clock before it counts as being in the future.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_mins(5);

/// Size of the first batches: someone is waiting. Smaller ones are not split among threads.
const FEW: usize = 128;
const MANY: usize = 4096;

/// Maximum number of threads: more would wait for each other in one directory.
const MAX_THREADS: usize = 4;

/// How many origins are compared before a new one is created: facts that differ for each file must not be slow.
const MAX_TRIED: usize = 16;
/// Maximum number of directories opened under a root, so that a pattern that fits everything does not walk the disk.
const MAX_DIRS: usize = if cfg!(test) { 300 } else { 50_000 };
const TOO_MANY: &str = "over 50,000 directories fit the store's `path`; make it narrower";

/// Lists a store, passing each entry to `sink` as it is found, until that breaks off. Errors are in the reports, one
/// for each root. Expiry does not yet include the limits of [`apply_limits`](crate::store::apply_limits).
pub fn scan(
    store: &Arc<StoreSpec>,
    env: &Env,
    now: Timestamp,
    sink: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Vec<RootReport> {
    let retention = Arc::new(store.retention.as_set(env));
    let of_root = |pattern: &String| {
        let root = match Root::new(pattern, env) {
            Ok(root) => root,
            Err(unset) => return RootReport::new(PathBuf::from(pattern), RootState::Unset(unset)),
        };
        let report = RootReport::new(root.path.clone(), RootState::Listed);
        let retention = Arc::clone(&retention);
        let kept = if store.agent == OWN { KeptIds::load(env) } else { KeptIds::default() };
        let words = HashSet::new();
        Scan { store, env, now, sink: &mut *sink, report, root, retention, root_dev: 0, words, kept }.run()
    };
    store.roots.iter().map(of_root).collect()
}

struct Scan<'a> {
    store: &'a Arc<StoreSpec>,
    env: &'a Env,
    now: Timestamp,
    sink: &'a mut dyn FnMut(Entry) -> ControlFlow<()>,
    report: RootReport,
    root: Root,
    retention: Arc<Retention>,
    root_dev: u64,
    words: HashSet<Arc<str>>,
    kept: KeptIds,
}

impl Scan<'_> {
    fn run(mut self) -> RootReport {
        let root = self.report.root.clone();
        let opened = self.root.open();
        match opened.and_then(|dir| Ok(fstat(&dir).map(|stat| (dir, stat))?)) {
            Err(RootError::System(Errno::NOENT | Errno::NOTDIR)) => {
                self.report.state = RootState::Absent;
                self.report.dirs.push((root, None));
            }
            Err(error) => self.report.state = RootState::Unreadable(error.to_string()),
            Ok((dir, stat)) => {
                self.root_dev = FileStat::from(stat).identity.dev;
                let store = Arc::clone(self.store);
                if self.level(dir, &root, &store.path, &PathFacts::default()).is_break() {
                    self.report.state = RootState::Stopped;
                }
            }
        }
        self.report
    }

    fn level(&mut self, dir: OwnedFd, at: &Path, path: &[Component], facts: &PathFacts) -> ControlFlow<()> {
        match path {
            [] => self.files(dir, at, facts),
            [Component::Literal(name), rest @ ..] => {
                self.descend(dir.as_fd(), at, OsStr::new(name), rest, facts)
            }
            [component, rest @ ..] => {
                self.watch(&dir, at);
                // In a directory of directories there are a few hundred at most.
                let mut names: Vec<OsString> = Vec::new();
                self.each_name(&dir, at, &mut |_, name| {
                    names.push(name.to_owned());
                    ControlFlow::Continue(())
                });
                for name in names {
                    let mut facts = facts.clone();
                    let is_listed = component.read_text(name.as_bytes(), &mut facts);
                    if is_listed && !facts.agent.as_deref().is_some_and(|agent| self.store.skips(agent)) {
                        self.descend(dir.as_fd(), at, &name, rest, &facts)?;
                    }
                }
                ControlFlow::Continue(())
            }
        }
    }

    fn watch(&mut self, dir: &OwnedFd, at: &Path) -> Option<Identity> {
        let stat =
            fstat(dir).map_err(|error| self.report.unreadable.push((at.to_owned(), error.to_string())));
        let identity = FileStat::from(stat.ok()?).identity;
        self.report.dirs.push((at.to_owned(), Some(identity.modified)));
        Some(identity)
    }

    fn descend(
        &mut self,
        dir: BorrowedFd<'_>,
        at: &Path,
        name: &OsStr,
        rest: &[Component],
        facts: &PathFacts,
    ) -> ControlFlow<()> {
        if self.report.dirs.len() >= MAX_DIRS {
            let told = self.report.unreadable.last().is_some_and(|(_, why)| why == TOO_MANY);
            (!told).then(|| self.report.unreadable.push((at.join(name), TOO_MANY.to_owned())));
            return ControlFlow::Continue(());
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        match openat(dir, name, flags, Mode::empty()) {
            Ok(dir) => return self.level(dir, &at.join(name), rest, facts),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => self.report.dirs.push((at.join(name), None)),
            Err(error) => self.report.unreadable.push((at.join(name), error.to_string())),
        }
        ControlFlow::Continue(())
    }

    fn files(&mut self, dir: OwnedFd, at: &Path, above: &PathFacts) -> ControlFlow<()> {
        let Some(identity) = self.watch(&dir, at) else { return ControlFlow::Continue(()) };
        let place = ListedDir {
            path: at.to_owned(),
            root: self.root.clone(),
            identity,
            root_dev: self.root_dev,
            retention: Arc::clone(&self.retention),
            store: Arc::clone(self.store),
        };
        let mut origins = Origins { place: Arc::new(place), made: Vec::new() };
        let mut fitting = Vec::new();
        let mut end = ControlFlow::Continue(());
        let mut most = FEW;
        self.each_name(&dir, at, &mut |scan, name| {
            let mut facts = above.clone();
            if let Some(rule) = scan.store.file_rule(name.as_bytes(), &mut facts) {
                facts.tool = facts.tool.or_else(|| rule.tool.clone());
                fitting.push((name.to_owned(), facts));
            }
            if fitting.len() >= most {
                most = MANY;
                end = scan.ask(&dir, &mut origins, std::mem::take(&mut fitting));
            }
            end
        });
        end?;
        self.ask(&dir, &mut origins, fitting)
    }

    /// Reads the metadata of some files of a directory, in several threads if there are many.
    fn ask(
        &mut self,
        dir: &OwnedFd,
        origins: &mut Origins,
        files: Vec<(OsString, PathFacts)>,
    ) -> ControlFlow<()> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let share = files.len().div_ceil(threads).max(FEW);
        // The result for files whose thread could not be started.
        let mut asked = vec![Err(Errno::AGAIN); files.len()];
        std::thread::scope(|scope| {
            let mut shares = files.chunks(share).zip(asked.chunks_mut(share));
            let mine = shares.next();
            for (files, asked) in shares {
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || ask(dir, files, asked));
            }
            mine.map(|(files, asked)| ask(dir, files, asked))
        });
        let mut found = files.into_iter().zip(asked);
        found.try_for_each(|((name, facts), asked)| self.file(origins, &name, &facts, asked))
    }

    fn each_name(
        &mut self,
        dir: &OwnedFd,
        at: &Path,
        each: &mut dyn FnMut(&mut Self, &OsStr) -> ControlFlow<()>,
    ) {
        let mut pass = || {
            for found in Dir::read_from(dir)? {
                let found = found?;
                let name = found.file_name().to_bytes();
                if !matches!(name, b"." | b"..") && each(self, OsStr::from_bytes(name)).is_break() {
                    break;
                }
            }
            Ok::<(), Errno>(())
        };
        if let Err(error) = pass() {
            self.report.unreadable.push((at.to_owned(), error.to_string()));
        }
    }

    fn file(
        &mut self,
        origins: &mut Origins,
        name: &OsStr,
        facts: &PathFacts,
        asked: Result<FileStat, Errno>,
    ) -> ControlFlow<()> {
        let status = match &asked {
            Err(Errno::NOENT) => return ControlFlow::Continue(()),
            Err(error) => EntryStatus::Unreadable(error.raw_os_error().try_into().unwrap_or_default()),
            Ok(stat) => status(stat, &origins.place, facts.partial, self.env, self.now),
        };
        let stat = asked.ok();
        let mut entry = Entry {
            origin: match name.to_str().and_then(|name| self.kept.copies.get(name)) {
                Some(copy) => origins.origin_of_copy(copy, &mut self.words),
                None => origins.get(facts, &self.store.agent, &mut self.words),
            },
            name: name.into(),
            id_at: facts.id_at,
            identity: stat.map(|stat| stat.identity).unwrap_or_default(),
            expires: Expiry::Unknown,
            rule: Rule::Unknown,
            status,
            mode: stat.map_or(0, |stat| stat.mode),
            owner: stat.map_or(0, |stat| stat.uid),
        };
        if stat.is_some() && self.kept.ids.contains(&*entry.id()) {
            (entry.expires, entry.rule) = (Expiry::Never, Rule::Kept);
        } else if matches!(status, EntryStatus::SymbolicLink | EntryStatus::NotAFile) {
            (entry.expires, entry.rule) = (Expiry::Exempt, Rule::Never);
        } else if status == EntryStatus::Unfinished && entry.is_own() {
            let due = self.now.checked_add(YOUNG - entry.safe_age(self.now));
            (entry.expires, entry.rule) = (due.map_or(Expiry::Unknown, Expiry::At), Rule::Unfinished);
        } else if let Some(stat) = stat {
            (entry.expires, entry.rule) = self.retention.expiry(&Times {
                modified: entry.modified(),
                accessed: timestamp(stat.accessed),
                folder: timestamp(origins.place.identity.modified),
                id: parse_id(entry.id().as_bytes()),
                alive: facts.pid.map(|pid| self.env.alive(pid)),
                now: self.now,
            });
        }
        self.report.entries += 1;
        self.report.bytes = self.report.bytes.saturating_add(entry.size());
        (self.sink)(entry)
    }
}

fn ask(dir: &OwnedFd, files: &[(OsString, PathFacts)], asked: &mut [Result<FileStat, Errno>]) {
    for ((name, _), asked) in files.iter().zip(asked) {
        *asked = statat(dir, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW).map(FileStat::from);
    }
}

/// The origins of a directory's entries; most entries share one.
struct Origins {
    place: Arc<ListedDir>,
    made: Vec<Arc<Origin>>,
}

impl Origins {
    /// Returns the origin with exactly these facts, comparing the latest ones first.
    fn get(&mut self, facts: &PathFacts, agent: &str, words: &mut HashSet<Arc<str>>) -> Arc<Origin> {
        let agent = facts.agent.as_deref().unwrap_or(agent);
        let same = |origin: &&Arc<Origin>| {
            *origin.agent == *agent
                && origin.tool.as_deref() == facts.tool.as_deref()
                && origin.session.as_deref() == facts.session.as_deref()
                && origin.project.as_deref() == facts.project.as_deref()
        };
        if let Some(origin) = self.made.iter().rev().take(MAX_TRIED).find(same) {
            return Arc::clone(origin);
        }
        let [tool, session, project, id] = [&facts.tool, &facts.session, &facts.project, &facts.id]
            .map(|word| word.as_deref().map(|word| share(words, word)));
        let agent = share(words, agent);
        let place = Arc::clone(&self.place);
        let origin = Arc::new(Origin { place, agent, tool, session, project, id, copy: None });
        self.made.push(Arc::clone(&origin));
        origin
    }

    fn origin_of_copy(&self, copy: &Arc<CopyRecord>, words: &mut HashSet<Arc<str>>) -> Arc<Origin> {
        let agent = share(words, &copy.agent);
        let [tool, session, project] = [&copy.tool, &copy.session, &copy.project]
            .map(|word| word.as_deref().map(|word| share(words, word)));
        let (place, copy) = (Arc::clone(&self.place), Some(Arc::clone(copy)));
        Arc::new(Origin { place, agent, tool, session, project, id: None, copy })
    }
}

fn status(stat: &FileStat, place: &ListedDir, partial: bool, env: &Env, now: Timestamp) -> EntryStatus {
    match stat.kind {
        FileType::Symlink => EntryStatus::SymbolicLink,
        kind if kind != FileType::RegularFile => EntryStatus::NotAFile,
        _ if stat.uid != env.uid() => EntryStatus::ForeignOwner,
        _ if stat.identity.dev != place.root_dev => EntryStatus::OtherMount,
        _ if stat.links != 1 => EntryStatus::HardLinked,
        _ if timestamp(stat.identity.modified).duration_since(now) > CLOCK_SLACK => EntryStatus::FutureTime,
        _ if partial => EntryStatus::Unfinished,
        _ => EntryStatus::Ok,
    }
}

/// Returns a word as it is shared by all that have it.
fn share(words: &mut HashSet<Arc<str>>, word: &str) -> Arc<str> {
    let shared = words.get(word).map_or_else(|| word.into(), Arc::clone);
    words.insert(Arc::clone(&shared));
    shared
}
