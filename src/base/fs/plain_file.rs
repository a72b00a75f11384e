//! Reads small files that others may have put there: never blocks, and bounds their size.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::OFlags;
#[cfg(feature = "records")]
use rustix::fs::{AtFlags, CWD, FileType, Mode, openat, statat};

/// Maximum size of a configuration, a policy or a store description, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Returns the paths of the `*.toml` in a directory, sorted; none if there is no such directory.
pub(crate) fn toml_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    Ok(paths)
}

/// Reads a configuration, a policy, or a store description; links are followed. Refuses what is no regular file,
/// belongs to another user but root, is larger than 1 MiB, or is not UTF-8. The caller must add the path.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    // A FIFO without a writer would otherwise block.
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
    let file = opened.map_err(|error| explain(path, error))?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(no_regular_file());
    }
    check_owner(meta.uid())?;
    text(file)
}

/// Reads an agent's settings, JSON with comments; `None` if there is no such file. An error names the file.
#[cfg(feature = "app")]
pub(crate) fn settings(path: &Path) -> Option<Result<serde_json::Value, String>> {
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let parse = |text: String| {
        jsonc_parser::parse_to_serde_value(&text, &Default::default()).map_err(|error| wrong(&error))
    };
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        text => Some(text.map_err(|error| wrong(&error)).and_then(parse)),
    }
}

pub(crate) const DENIED: &str = "permission denied; `ls -l` shows who may read it";

/// Says what to do about a file that cannot be opened; the kind of the error stays.
pub(crate) fn explain(path: &Path, error: io::Error) -> io::Error {
    let words = match error.kind() {
        _ if path.is_symlink() => {
            "is a symbolic link to a file that cannot be opened; `ls -l` shows where to"
        }
        io::ErrorKind::PermissionDenied => DENIED,
        _ => return error,
    };
    io::Error::new(error.kind(), words)
}

fn check_owner(owner: u32) -> io::Result<()> {
    if is_trusted(owner, rustix::process::geteuid().as_raw()) {
        Ok(())
    } else {
        Err(io::Error::other("belongs to another user, and is not read"))
    }
}

fn no_regular_file() -> io::Error {
    io::Error::other("is not a regular file, and is not read")
}

/// Files of root are the system's.
fn is_trusted(owner: u32, us: u32) -> bool {
    owner == us || owner == 0
}

/// The reported length may be wrong, as under /proc.
fn text(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        Err(io::Error::other("is larger than 1 MiB, and is not read"))
    } else {
        String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            io::Error::other(format!("is not UTF-8 in line {line}; save it as UTF-8"))
        })
    }
}

/// Checks that a path in a project's directory, where anybody may have put it, is a regular file of this user or root,
/// reached from there without links through directories of theirs, but opens no file. Fails with the path that is not
/// so, and why.
#[cfg(feature = "records")]
pub(crate) fn check_in_project(project: &Path, path: &Path) -> Result<(), (PathBuf, io::Error)> {
    let mut at = project.to_owned();
    let result = path.strip_prefix(project).map_err(|_| rustix::io::Errno::NOENT.into()).and_then(|names| {
        const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
        let mut dir = openat(CWD, project, DIRECTORY, Mode::empty())?;
        let mut names = names.iter().peekable();
        while let Some(name) = names.next() {
            at.push(name);
            let facts = super::identity::FileStat::from(statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?);
            check_owner(facts.uid)?;
            let is_last = names.peek().is_none();
            match facts.kind {
                FileType::Directory if !is_last => {
                    dir = openat(&dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
                }
                FileType::RegularFile if is_last => {}
                FileType::Symlink => {
                    return Err(io::Error::other("is a link in a project, and is not followed"));
                }
                _ => return Err(no_regular_file()),
            }
        }
        Ok(())
    });
    result.map_err(|error| (at, error))
}

/// Maximum length in bytes of a regular expression, and of its compiled form. The longest built-in one has 170.
const MAX_PATTERN: usize = 4 << 10;
const MAX_COMPILED: usize = 1 << 20;
/// Maximum number of characters in an error message.
const MAX_MESSAGE: usize = 300;

/// Compiles a regular expression from a file; an error is a single line, with the remedy.
pub(crate) fn regex(source: &str) -> Result<Regex, String> {
    if source.len() > MAX_PATTERN {
        return Err("a regular expression has at most 4 KiB; write a shorter one".to_owned());
    }
    RegexBuilder::new(source).size_limit(MAX_COMPILED).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            "the regular expression is too large once compiled; repeat less, or smaller things".to_owned()
        }
        // The last line states the error; those before it illustrate it.
        error => {
            let words = error.to_string();
            ellipsize(words.lines().next_back().unwrap_or_default().trim_start_matches("error: "))
        }
    })
}

pub(crate) fn check_count(count: usize, most: usize) -> Result<(), String> {
    if count > most { Err(format!("lists {count}, but at most {most} are allowed")) } else { Ok(()) }
}

/// Checks that a path pattern is no longer than any path can be.
pub(crate) fn short_path(pattern: &str) -> Result<(), String> {
    const MAX_PATH: usize = 4096;
    if pattern.len() > MAX_PATH {
        Err(format!("is a path of over {MAX_PATH} bytes; write a shorter one"))
    } else {
        Ok(())
    }
}

/// Returns a message as a single line; of a long one only the beginning and the end.
pub(crate) fn ellipsize(message: &str) -> String {
    let message = message.replace('\n', " ");
    let count = message.chars().count();
    if count <= MAX_MESSAGE {
        return message;
    }
    let head: String = message.chars().take(MAX_MESSAGE / 2).collect();
    let tail: String = message.chars().skip(count - MAX_MESSAGE / 2).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests;
