//! Builds the command line of the user's editor, so that a file name is never taken for an option or a command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Editors that accept `+LINE`, and a file after `--`.
const WITH_DASHES: &[&str] = &[
    "vi",
    "vim",
    "nvim",
    "view",
    "vimx",
    "gvim",
    "nvi",
    "ex",
    "nano",
    "emacs",
    "emacsclient",
    "kak",
    "hx",
    "helix",
    "less",
];
/// Editors that accept `+LINE` but not `--`. An absolute path is safe there, because it starts with a slash.
const WITH_LINE: &[&str] = &["micro", "joe", "mg"];

/// Returns the program and its arguments to open a file at a line (1-based). `editor` is the value of `$EDITOR`: a
/// program and possibly some arguments. A program that is not in the lists gets only the absolute path.
pub(crate) fn command(editor: &str, line: u64, path: &Path) -> (String, Vec<OsString>) {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi").to_owned();
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    let mut arguments: Vec<OsString> = words.map(OsString::from).collect();
    if WITH_DASHES.contains(&name) {
        arguments.extend([format!("+{line}").into(), "--".into()]);
    } else if WITH_LINE.contains(&name) {
        arguments.push(format!("+{line}").into());
    }
    arguments.push(absolute(path).into());
    (program, arguments)
}

/// Returns a path that starts with a slash or, if there is no working directory, with a dot.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| Path::new(".").join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(editor: &str, path: &str) -> Vec<String> {
        let (program, arguments) = command(editor, 7, Path::new(path));
        let arguments = arguments.into_iter().map(|word| word.into_string().unwrap());
        std::iter::once(program).chain(arguments).collect()
    }

    #[test]
    fn a_file_is_named_by_its_absolute_path_after_the_dashes() {
        let here = std::env::current_dir().unwrap().join("+!touch pwned");
        let here = here.to_str().unwrap();
        assert_eq!(words("vi", "+!touch pwned"), ["vi", "+7", "--", here]);
        assert_eq!(
            words("/usr/bin/vim.basic -R", "+!touch pwned"),
            ["/usr/bin/vim.basic", "-R", "+7", "--", here]
        );
        assert_eq!(words("micro", "-x"), ["micro", "+7", &here.replace("+!touch pwned", "-x")]);
        assert_eq!(words("code --wait", "+!touch pwned"), ["code", "--wait", here]);
        assert_eq!(words(" ", "/a"), ["vi", "+7", "--", "/a"]);
    }
}
