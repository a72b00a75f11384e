//! Where spills are stored: in overspill's own store, in a given directory, or where the agent would store them.

#![warn(missing_docs)]

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, Dir, unlinkat};

use crate::base::fs::directory::failed;
use crate::preview::Stream;
use crate::store::{Env, NewSpill, OwnStore, next_id, parse_id, random};

use super::Spill;
use super::dir::{agents_dir, open_private, private_dir, remove, shared_dir, sweep};
use super::sink::{Sink, SinkLimits};

/// The session used if none is named.
pub const DEFAULT_SESSION: &str = "overspill";
/// Maximum number of characters of a tool's name that go into a file name.
const MAX_TOOL_CHARS: usize = 80;

/// Where to save whole outputs, each in a file of its own (mode 0600).
#[derive(Clone, Debug)]
pub struct Location {
    env: Env,
    kind: Kind,
    /// Uses the system clock if not set.
    now: Option<Timestamp>,
    before: Option<Arc<Before>>,
}

/// An action to run once, before the first spill.
type Before = LazyLock<(), Box<dyn FnOnce() + Send>>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Own,
    Dir(PathBuf),
    /// opencode and agents with the same kind of store: the name of the data directory.
    Opencode(String),
    GoSession(String),
    /// The directory, and what a file name has: the tool, the number of hexadecimal digits, and what follows them.
    Overflow {
        dir: PathBuf,
        tool: String,
        digits: usize,
        ending: &'static str,
    },
    Pi,
}

/// Why there is no location for the request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocationError {
    /// It is not known where this agent stores spills.
    #[error("--layout agent is not supported for {0}; it is for opencode, kilo, go-opencode, pi and t15")]
    NoLayout(String),
    /// The session's name cannot be part of a directory name.
    #[error("invalid session name '{0}': use letters, digits, - and _, and at least one that is not a digit")]
    Session(String),
}

impl Default for Location {
    /// overspill's own store, which its screens list: `$XDG_DATA_HOME/overspill`, by default under `~/.local/share`.
    fn default() -> Location {
        Location::in_kind(Kind::Own, Env::from_process(), None)
    }
}

impl Location {
    /// A directory chosen by the caller, absolute or relative to the current one. It is created with mode 0700 when
    /// first needed; an existing one must belong to this user and must not be writable by others.
    pub fn dir(path: impl Into<PathBuf>) -> Location {
        let path = path.into();
        let path = std::path::absolute(&path).unwrap_or(path);
        Location::in_kind(Kind::Dir(path), Env::from_process(), None)
    }

    /// Overspill's own store.
    #[doc(hidden)]
    pub fn own(env: &Env, now: Timestamp) -> Location {
        Location::in_kind(Kind::Own, env.clone(), Some(now))
    }

    fn in_kind(kind: Kind, env: Env, now: Option<Timestamp>) -> Location {
        Location { env, kind, now, before: None }
    }

    /// Where the agent of the policy `name` (`agent/tool`) would store an output of `tool`, as far as that is known.
    #[doc(hidden)]
    pub fn for_agent(
        name: &str,
        tool: Option<&str>,
        session: Option<&str>,
        env: &Env,
        now: Timestamp,
    ) -> Result<Location, LocationError> {
        let agent = name.split_once('/').map_or(name, |(agent, _)| agent);
        let overflow =
            |dir: PathBuf, digits, ending| Kind::Overflow { dir, tool: tool_name(tool), digits, ending };
        let kind = match (agent, name) {
            ("opencode" | "kilo", _) => Kind::Opencode(agent.to_owned()),
            ("go-opencode", _) => Kind::GoSession(session_name(session.unwrap_or(DEFAULT_SESSION))?),
            (_, "t15/output") => overflow("/tmp/opencode-overflow".into(), 16, ".txt"),
            (_, "t15/generic") => overflow("/tmp/agent-overflow".into(), 16, ".log"),
            (_, "t15/recipe") => overflow(temporary(env, &["TMPDIR"]).join("agent-overflow"), 8, ".txt"),
            ("pi" | "pi-30k", _) => Kind::Pi,
            _ => return Err(LocationError::NoLayout(agent.to_owned())),
        };
        Ok(Location::in_kind(kind, env.clone(), Some(now)))
    }

    /// Adds an action to run once before the first spill is created, such as cleaning the store.
    #[doc(hidden)]
    #[must_use]
    pub fn after(self, act: impl FnOnce() + Send + 'static) -> Location {
        Location { before: Some(Arc::new(Before::new(Box::new(act)))), ..self }
    }

    /// Returns where runs are recorded; none for a directory chosen by the caller.
    pub(crate) fn records(&self) -> Option<&Env> {
        (!matches!(self.kind, Kind::Dir(_))).then_some(&self.env)
    }

    pub(crate) fn sink(&self, stream: Stream, limits: SinkLimits) -> Sink<Spill> {
        let place = self.clone();
        let begin = move || {
            let mut spill = Spill::new(place.begin(stream)?);
            spill.room()?;
            Ok(spill)
        };
        Sink::new(limits, Box::new(begin))
    }

    /// Creates the spill file of one stream; an error has the remedy.
    #[doc(hidden)]
    pub fn begin(&self, stream: Stream) -> io::Result<NewSpill> {
        let now = self.now.unwrap_or_else(crate::base::env::now);
        if let Some(before) = &self.before {
            LazyLock::force(before);
        }
        let (path, open): (_, fn(&Path, &Env) -> io::Result<OwnedFd>) = match &self.kind {
            Kind::Own => return OwnStore::create(&self.env)?.begin(now),
            Kind::Dir(path) => (path.clone(), agents_dir),
            Kind::Opencode(agent) => {
                let data = self.env.dir_or("XDG_DATA_HOME", ".local/share");
                let words = "HOME is unset or relative; set XDG_DATA_HOME to an absolute path";
                let data = data.ok_or_else(|| io::Error::other(words))?;
                (data.join(agent).join("tool-output"), agents_dir)
            }
            Kind::GoSession(session) => (session_dir(&self.env, session), private_dir),
            Kind::Overflow { dir, .. } => (dir.clone(), private_dir),
            Kind::Pi => (temporary(&self.env, &["TMPDIR", "TMP", "TEMP"]), shared_dir),
        };
        let dir = open(&path, &self.env)?;
        sweep(&dir, &self.env, now, |name| self.fits(name));
        NewSpill::begin_in(dir, path, self.name(stream, now)?)
    }

    /// Whether [`Location::name`] could have returned this name.
    fn fits(&self, name: &str) -> bool {
        match &self.kind {
            Kind::Own | Kind::Dir(_) | Kind::Opencode(_) => parse_id(name.as_bytes()).is_some(),
            Kind::GoSession(_) => is_spill(name),
            Kind::Overflow { digits, ending, .. } => name
                .strip_suffix(ending)
                .and_then(|name| name.rsplit_once('-'))
                .is_some_and(|(_, id)| is_hex(id, *digits)),
            Kind::Pi => name
                .strip_prefix("pi-bash-")
                .and_then(|name| name.strip_suffix(".log"))
                .is_some_and(|id| is_hex(id, 16)),
        }
    }

    fn name(&self, stream: Stream, now: Timestamp) -> io::Result<String> {
        Ok(match &self.kind {
            Kind::Own | Kind::Dir(_) | Kind::Opencode(_) => next_id(now)?,
            Kind::GoSession(_) => format!("bash-{}-{}.txt", now.as_nanosecond(), stream.as_str()),
            Kind::Overflow { tool, digits, ending, .. } => format!("{tool}-{}{ending}", hex(*digits)?),
            Kind::Pi => format!("pi-bash-{}.log", hex(16)?),
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct EndedSession {
    pub path: PathBuf,
    pub files: u64,
    pub bytes: u64,
    /// Names that were left, and with them the directory: not overspill's, or still being written.
    pub left: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum EndError {
    #[error("{0}")]
    Name(#[from] LocationError),
    #[error("{}: there is no such session", .0.display())]
    NoSession(PathBuf),
    /// The directory is not private, or the system's error; it names the path.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Removes a session's directory and the spills in it, one file at a time. Files that are not named like a session's
/// spill, do not belong to the user, or are still being written are left.
pub fn end_session(name: &str, env: &Env) -> Result<EndedSession, EndError> {
    let path = session_dir(env, &session_name(name)?);
    let dir = match open_private(&path, env) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(EndError::NoSession(path)),
        dir => dir?,
    };
    let failed = |error| failed(&path, error);
    let mut ended = EndedSession { path: path.clone(), ..EndedSession::default() };
    for found in Dir::read_from(&dir).map_err(failed)? {
        let found = found.map_err(failed)?;
        let name = found.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let text = name.to_str().unwrap_or_default();
        let is_ours = is_spill(text.strip_prefix(".tmp-").unwrap_or(text));
        match is_ours.then(|| remove(&dir, name, env)).flatten() {
            Some(bytes) => {
                ended.files += 1;
                ended.bytes += bytes;
            }
            None => ended.left.push(name.to_string_lossy().into_owned()),
        }
    }
    if ended.left.is_empty() {
        unlinkat(CWD, &path, AtFlags::REMOVEDIR).map_err(failed)?;
    }
    Ok(ended)
}

fn hex(digits: usize) -> io::Result<String> {
    let number = u64::from_ne_bytes(random()?);
    Ok(format!("{number:016x}")[16 - digits..].to_owned())
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn tool_name(tool: Option<&str>) -> String {
    let word = tool.filter(|tool| !tool.is_empty()).unwrap_or("bash");
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '_' };
    word.chars().map(safe).take(MAX_TOOL_CHARS).collect()
}

/// Whether this is `bash-{digits}-stdout.txt` or `-stderr.txt`.
fn is_spill(name: &str) -> bool {
    let number = name
        .strip_prefix("bash-")
        .and_then(|rest| rest.strip_suffix("-stdout.txt").or_else(|| rest.strip_suffix("-stderr.txt")));
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Checks a session's name. Digits alone are invalid, since they would look like a process's directory.
fn session_name(name: &str) -> Result<String, LocationError> {
    let word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let number = name.bytes().all(|byte| byte.is_ascii_digit());
    let fits = word && !number && name.len() <= 200;
    fits.then(|| name.to_owned()).ok_or_else(|| LocationError::Session(name.to_owned()))
}

/// Returns the directory of a session, as in opencode's persistence design.
fn session_dir(env: &Env, session: &str) -> PathBuf {
    temporary(env, &["TMPDIR"]).join(format!("opencode-{session}"))
}

fn temporary(env: &Env, variables: &[&str]) -> PathBuf {
    variables.iter().find_map(|name| env.dir(name)).unwrap_or_else(|| "/tmp".into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

    struct Home {
        dir: tempfile::TempDir,
        env: Env,
    }

    fn home() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::hermetic(dir.path()).with_var("TMPDIR", dir.path());
        Home { dir, env }
    }

    fn place(home: &Home, policy: &str, session: Option<&str>) -> Result<Location, LocationError> {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        Location::for_agent(policy, Some("ba/sh"), session, &home.env, now)
    }

    fn path(home: &Home, policy: &str) -> String {
        let spill = place(home, policy, Some("s1")).unwrap().begin(Stream::Stderr).unwrap();
        spill.path().strip_prefix(home.dir.path()).unwrap().display().to_string()
    }

    #[test]
    fn names_are_the_agents_own() {
        let home = home();
        assert_eq!(path(&home, "go-opencode/bash"), "opencode-s1/bash-1795262400000000000-stderr.txt");
        let pi = path(&home, "pi/bash");
        assert!(pi.starts_with("pi-bash-") && pi.len() == "pi-bash-0123456789abcdef.log".len(), "{pi}");
        let recipe = path(&home, "t15/recipe");
        assert!(recipe.starts_with("agent-overflow/ba_sh-") && recipe.ends_with(".txt"), "{recipe}");
        let own = path(&home, "opencode/output");
        assert!(own.starts_with(".local/share/opencode/tool-output/tool_"), "{own}");
    }

    #[test]
    fn every_layout_writes_into_its_agents_store() {
        let home = home();
        let stores = crate::store::Stores::builtin();
        for policy in ["opencode/output", "go-opencode/bash", "t15/recipe", "pi/bash"] {
            let spill = place(&home, policy, None).unwrap().begin(Stream::Stdout).unwrap();
            let (store, _) = stores.store_of(&spill.path(), &home.env).expect(policy);
            assert_eq!(policy.split('/').next(), Some(store.agent.as_str()), "{policy}");
        }
    }

    #[test]
    fn leftovers_of_a_killed_writer_are_deleted_after_an_hour() {
        let home = home();
        for policy in ["opencode/output", "go-opencode/bash", "t15/recipe", "pi/bash"] {
            let place = place(&home, policy, None).unwrap();
            let spill = place.begin(Stream::Stdout).unwrap();
            let left = spill.temporary_path();
            let old = std::time::UNIX_EPOCH;
            spill.file().set_modified(old).unwrap();
            drop(place.begin(Stream::Stderr).unwrap());
            assert!(left.exists(), "{policy}: its writer is still at it");
            // Its lock goes when its writer does; its file stays.
            fs::rename(&left, left.with_extension("kept")).unwrap();
            drop(spill);
            fs::rename(left.with_extension("kept"), &left).unwrap();
            let other = left.with_file_name(".tmp-other");
            fs::File::create(&other).unwrap().set_modified(old).unwrap();
            drop(place.begin(Stream::Stderr).unwrap());
            assert!(!left.exists() && other.exists(), "{policy}");
        }
    }

    #[test]
    fn spill_directories_are_0700_and_files_0600() {
        let home = home();
        let spill = place(&home, "go-opencode/bash", None).unwrap().begin(Stream::Stdout).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(spill.path().parent().unwrap()), 0o700);
        assert_eq!(mode(&spill.temporary_path()), 0o600);
    }

    #[test]
    fn a_directory_of_another_kind_is_refused() {
        let home = home();
        symlink("/", home.dir.path().join("opencode-linked")).unwrap();
        let linked = place(&home, "go-opencode/bash", Some("linked")).unwrap();
        assert!(linked.begin(Stream::Stdout).unwrap_err().to_string().contains("symbolic link"));
        let open = home.dir.path().join("opencode-open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        let open = place(&home, "go-opencode/bash", Some("open")).unwrap();
        assert!(open.begin(Stream::Stdout).unwrap_err().to_string().contains("chmod 700"));
    }

    #[test]
    fn session_names_are_single_words() {
        let home = home();
        for name in ["", "..", "a/b", "41", "a b", "\u{e9}"] {
            let refused = place(&home, "go-opencode/bash", Some(name));
            assert!(matches!(refused, Err(LocationError::Session(_))), "{name}");
        }
        let none = place(&home, "basic/smart", None);
        assert!(matches!(none, Err(LocationError::NoLayout(agent)) if agent == "basic"));
    }

    fn begun(env: &Env) -> NewSpill {
        let place = Location::for_agent("go-opencode/bash", None, Some("s1"), env, crate::base::env::now());
        place.unwrap().begin(Stream::Stdout).unwrap()
    }

    #[test]
    fn end_session_removes_its_directory() {
        let Home { dir: home, env } = home();
        begun(&env).finish(false).unwrap();
        let ended = end_session("s1", &env).unwrap();
        assert_eq!((ended.files, ended.left.len()), (1, 0));
        assert!(!home.path().join("opencode-s1").exists());
        assert!(matches!(end_session("s1", &env), Err(EndError::NoSession(_))));
    }

    #[test]
    fn foreign_and_unfinished_files_stay() {
        let Home { dir: home, env } = home();
        let writing = begun(&env);
        let dir = home.path().join("opencode-s1");
        fs::write(dir.join("notes.txt"), "x").unwrap();
        symlink("/etc/passwd", dir.join("bash-1-stdout.txt")).unwrap();
        let mut left = end_session("s1", &env).unwrap().left;
        left.sort();
        let temporary = writing.temporary_path().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(left, [temporary.as_str(), "bash-1-stdout.txt", "notes.txt"]);
    }

    #[test]
    fn is_spill_matches_the_exact_name_only() {
        for name in ["bash-17-stdout.txt", "bash-17-stderr.txt"] {
            assert!(is_spill(name), "{name}");
        }
        for name in ["bash--stdout.txt", "bash-1x-stdout.txt", "bash-17-stdout.txt.bak", "x"] {
            assert!(!is_spill(name), "{name}");
        }
    }
}
