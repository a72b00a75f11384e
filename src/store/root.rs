//! The root of a store: what its pattern stands for, opened only through links that no other user can have made.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use memchr::memmem;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::base::fs::identity::FileStat;
use crate::store::Env;

/// Maximum number of links on the way to a directory.
const MAX_LINKS: u32 = 40;

/// Passing through a directory does not need the permission to list it.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = OFlags::RDONLY;
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Where a store begins, and which part of its path belongs to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub path: PathBuf,
    /// The part that may go through any link: all in the home directory, the way to the project, else nothing.
    trusted: PathBuf,
    /// Whether links of the system are followed beyond `trusted`; in a project none are.
    may_follow: bool,
    uid: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RootError {
    #[error("{0} is a symbolic link that others may have made, and is not followed")]
    Link(String),
    #[error("it belongs to another user")]
    Foreign,
    #[error("{}", std::io::Error::from(*.0))]
    System(Errno),
}

impl From<Errno> for RootError {
    fn from(error: Errno) -> RootError {
        RootError::System(error)
    }
}

impl Root {
    pub(crate) fn new(pattern: &str, env: &Env) -> Result<Root, UnsetVariable> {
        let path = expand_root(pattern, env)?;
        let uid = env.uid();
        if !pattern.starts_with(['/', '~', '$']) {
            let project = path.ancestors().nth(Path::new(pattern).components().count());
            let trusted = project.unwrap_or(Path::new("")).to_owned();
            return Ok(Root { path, trusted, may_follow: false, uid });
        }
        let home = env.home();
        let leaves = |below: &Path| below.components().any(|name| name == Component::ParentDir);
        let is_below = path.strip_prefix(home).is_ok_and(|below| !leaves(below));
        let is_own = !home.as_os_str().is_empty() && home != Path::new("/") && is_below;
        let trusted = if is_own { path.clone() } else { PathBuf::new() };
        Ok(Root { path, trusted, may_follow: true, uid })
    }

    /// Opens the root; it must belong to the user or the system.
    pub(crate) fn open(&self) -> Result<OwnedFd, RootError> {
        let rest = self.path.strip_prefix(&self.trusted).unwrap_or(&self.path);
        let start = if self.trusted.as_os_str().is_empty() {
            openat(CWD, if self.path.is_absolute() { "/" } else { "." }, DIRECTORY | THROUGH, Mode::empty())?
        } else {
            openat(CWD, &self.trusted, DIRECTORY | THROUGH, Mode::empty())?
        };
        let dir = self.walk(start, rest)?;
        let dir = openat(&dir, ".", DIRECTORY | OFlags::RDONLY, Mode::empty())?;
        let owner = FileStat::from(fstat(&dir)?).uid;
        if rest.as_os_str().is_empty() || owner == self.uid || owner == 0 {
            Ok(dir)
        } else {
            Err(RootError::Foreign)
        }
    }

    pub(crate) fn open_below(&self, path: &Path) -> Result<OwnedFd, RootError> {
        let mut dir = self.open()?;
        for name in path.strip_prefix(&self.path).map_err(|_| Errno::NOENT)? {
            dir = openat(&dir, name, DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY, Mode::empty())?;
        }
        Ok(dir)
    }

    fn walk(&self, mut dir: OwnedFd, rest: &Path) -> Result<OwnedFd, RootError> {
        let mut names: VecDeque<OsString> = names(rest).collect();
        let mut links = 0;
        while let Some(name) = names.pop_front() {
            let target = match openat(&dir, &name, DIRECTORY | OFlags::NOFOLLOW | THROUGH, Mode::empty()) {
                Ok(next) => {
                    dir = next;
                    continue;
                }
                Err(error @ (Errno::LOOP | Errno::NOTDIR)) => self.link(&dir, &name)?.ok_or(error)?,
                Err(error) => return Err(error.into()),
            };
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::LOOP.into());
            }
            if target.is_absolute() {
                dir = openat(CWD, "/", DIRECTORY | THROUGH, Mode::empty())?;
            }
            self::names(&target).rev().for_each(|name| names.push_front(name));
        }
        Ok(dir)
    }

    /// Returns the target of a link that root created where only root can; `None` if it is no link.
    fn link(&self, dir: &OwnedFd, name: &OsStr) -> Result<Option<PathBuf>, RootError> {
        let link = FileStat::from(statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?);
        if link.kind != FileType::Symlink {
            return Ok(None);
        }
        let above = FileStat::from(fstat(dir)?);
        let is_systems = link.uid == 0 && above.uid == 0 && above.mode & 0o022 == 0;
        if !self.may_follow || !is_systems {
            return Err(RootError::Link(name.to_string_lossy().into_owned()));
        }
        let target = readlinkat(dir.as_fd(), name, Vec::new())?;
        Ok(Some(PathBuf::from(OsString::from_vec(target.into_bytes()))))
    }
}

/// Returns the components to walk through, including `..` but not the root.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + use<'_> {
    path.components().filter_map(|name| match name {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// A root pattern uses a variable that is not set (or there is no home directory).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not set")]
pub struct UnsetVariable(pub String);

/// Expands a root pattern. A relative one belongs to the project: the nearest directory above the current one, but for
/// the home directory, that contains its first component and has the same owner.
pub(super) fn expand_root(pattern: &str, env: &Env) -> Result<PathBuf, UnsetVariable> {
    if pattern.starts_with(['/', '~', '$']) {
        expand(pattern, env)
    } else {
        let here = env.dir("PWD").ok_or_else(|| UnsetVariable("PWD".into()))?;
        let project = project(&here, pattern.split('/').next().unwrap_or(pattern), env);
        Ok(project.unwrap_or(&here).join(pattern))
    }
}

fn project<'a>(here: &'a Path, name: &str, env: &Env) -> Option<&'a Path> {
    let owner = here.metadata().ok()?.uid();
    for dir in here.ancestors() {
        match dir.join(name).metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(meta) if meta.uid() == owner && dir != env.home() => return Some(dir),
            _ => return None,
        }
    }
    None
}

/// Replaces the variables in `pattern`; a default may itself begin with `~` or contain variables.
pub(crate) fn expand(pattern: &str, env: &Env) -> Result<PathBuf, UnsetVariable> {
    let mut path = OsString::new();
    append(&mut path, pattern, env)?;
    Ok(PathBuf::from(path))
}

fn append(path: &mut OsString, pattern: &str, env: &Env) -> Result<(), UnsetVariable> {
    let mut rest = pattern;
    if let Some(after) = rest.strip_prefix('~') {
        if env.home().as_os_str().is_empty() {
            return Err(UnsetVariable("HOME".into()));
        }
        path.push(env.home());
        rest = after;
    }
    while let Some(start) = memmem::find(rest.as_bytes(), b"${") {
        path.push(&rest[..start]);
        let body = &rest[start + 2..];
        let end = closing(body).ok_or_else(|| UnsetVariable(rest[start..].into()))?;
        append_variable(path, &body[..end], env)?;
        rest = &body[end + 1..];
    }
    path.push(rest);
    Ok(())
}

/// The variable that begins a path must name a directory.
fn append_variable(path: &mut OsString, body: &str, env: &Env) -> Result<(), UnsetVariable> {
    let (name, default) = body.split_once(":-").map_or((body, None), |(name, default)| (name, Some(default)));
    let value = env.var(name).filter(|value| !path.is_empty() || Path::new(value).is_absolute());
    match (value, default) {
        (Some(value), _) => path.push(value),
        (None, Some(default)) => append(path, default, env)?,
        (None, None) => return Err(UnsetVariable(name.into())),
    }
    Ok(())
}

/// Returns the position of the `}` that closes a variable, after its `${`.
fn closing(body: &str) -> Option<usize> {
    let mut depth = 1;
    body.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_parent_directories_for_a_project_root() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let deep = home.join("project/src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        let env = Env::hermetic(&home).with_var("PWD", &deep);
        let found = || expand_root(".crush/spills", &env).unwrap();
        assert_eq!(found(), deep.join(".crush/spills"), "nowhere: it would be made here");
        std::fs::create_dir(home.join(".crush")).unwrap();
        assert_eq!(found(), deep.join(".crush/spills"), "the home directory is not a project");
        std::fs::create_dir(home.join("project/.crush")).unwrap();
        assert_eq!(found(), home.join("project/.crush/spills"));
        std::fs::create_dir(deep.join(".crush")).unwrap();
        assert_eq!(found(), deep.join(".crush/spills"), "the nearest counts");
        assert_eq!(expand_root(".crush", &Env::hermetic(&home)), Err(UnsetVariable("PWD".into())));
    }

    fn env() -> Env {
        Env::hermetic(Path::new("/home/me")).with_var("XDG_DATA_HOME", "/data").with_var("EMPTY", "")
    }

    fn expanded(pattern: &str) -> String {
        expand(pattern, &env()).map_or_else(|unset| unset.to_string(), |path| path.display().to_string())
    }

    #[test]
    fn variables_defaults_and_home() {
        assert_eq!(expanded("~/.qwen/tmp"), "/home/me/.qwen/tmp");
        assert_eq!(expanded("${XDG_DATA_HOME:-~/.local/share}/opencode"), "/data/opencode");
        assert_eq!(expanded("${EMPTY:-~/x}/y"), "/home/me/x/y");
        assert_eq!(expanded("${A:-${B:-~/z}}/y"), "/home/me/z/y");
        assert_eq!(expanded("${A}/y"), "A is not set");
        assert_eq!(expanded("/tmp/~"), "/tmp/~");
    }

    #[test]
    fn a_relative_directory_is_ignored() {
        let env = env().with_var("XDG_DATA_HOME", "here").with_var("A", "here");
        assert_eq!(expand("${XDG_DATA_HOME:-/d}", &env).unwrap(), Path::new("/d"));
        assert_eq!(expand("${B:-${A}}/d", &env), Err(UnsetVariable("A".into())));
        assert_eq!(expand("/${A}/d", &env).unwrap(), Path::new("/here/d"));
    }

    #[test]
    fn an_unclosed_variable_is_an_error() {
        assert_eq!(expanded("/a/${B"), "${B is not set");
    }
}
