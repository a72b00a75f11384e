//! Root patterns: `~`, `${NAME}` and `${NAME:-default}`, as in a shell, and relative roots of a project.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::store::Env;

/// A root pattern uses a variable that is not set (or there is no home directory).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not set")]
pub struct UnsetVariable(pub String);

/// Expands a root pattern to a directory. A relative one belongs to the current project: the nearest directory,
/// searching upwards from the current one, that contains its first component and has the same owner. The home directory
/// does not count as a project.
pub(crate) fn root(pattern: &str, env: &Env) -> Result<PathBuf, UnsetVariable> {
    if pattern.starts_with(['/', '~', '$']) {
        expand(pattern, env)
    } else {
        let here = PathBuf::from(env.var("PWD").ok_or_else(|| UnsetVariable("PWD".into()))?);
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
        path.push(variable(&body[..end], env)?);
        rest = &body[end + 1..];
    }
    path.push(rest);
    Ok(PathBuf::from(path))
}

fn variable(body: &str, env: &Env) -> Result<OsString, UnsetVariable> {
    let (name, default) = body.split_once(":-").map_or((body, None), |(name, default)| (name, Some(default)));
    match (env.var(name), default) {
        (Some(value), _) => Ok(value.to_owned()),
        (None, Some(default)) => expand(default, env).map(PathBuf::into_os_string),
        (None, None) => Err(UnsetVariable(name.into())),
    }
}

/// Returns the position of the `}` that closes a variable, after its `${`.
fn closing(body: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_of_the_project_is_looked_for_upwards() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let deep = home.join("project/src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        let env = Env::hermetic(&home).with_var("PWD", &deep);
        let found = || root(".crush/spills", &env).unwrap();
        assert_eq!(found(), deep.join(".crush/spills"), "nowhere: it would be made here");
        std::fs::create_dir(home.join(".crush")).unwrap();
        assert_eq!(found(), deep.join(".crush/spills"), "the home directory is not a project");
        std::fs::create_dir(home.join("project/.crush")).unwrap();
        assert_eq!(found(), home.join("project/.crush/spills"));
        std::fs::create_dir(deep.join(".crush")).unwrap();
        assert_eq!(found(), deep.join(".crush/spills"), "the nearest counts");
        assert_eq!(root(".crush", &Env::hermetic(&home)), Err(UnsetVariable("PWD".into())));
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
    fn a_relative_xdg_directory_is_ignored() {
        let env = env().with_var("XDG_DATA_HOME", "here");
        assert_eq!(expand("${XDG_DATA_HOME:-/d}", &env).unwrap(), Path::new("/d"));
    }

    #[test]
    fn an_unclosed_variable_is_no_path() {
        assert_eq!(expanded("/a/${B"), "${B is not set");
    }
}
