//! Holds the size of the source: what grows in one place has to shrink in another. A change that shrinks it lowers the
//! budgets with it.

use std::path::Path;

use crate::layers::sources;

/// Lines of all files, and of the largest folders, without tests.
const LINES: &[(&str, usize)] = &[
    ("", 77_436),
    ("tui", 15_140),
    ("session", 14_797),
    ("preview", 10_684),
    ("cli", 8_392),
    ("hook", 2_259),
];

/// Files with any line that is not a test.
const FILES: usize = 353;

/// Files of more lines than this, and how many of them there may be.
const LONG: (usize, usize) = (450, 0);

/// Returns the number of lines before the tests of a file.
fn lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_tests = |pair: &[&str]| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].trim().starts_with("mod ") && pair[1].ends_with('{')
    };
    lines.windows(2).position(is_tests).unwrap_or(lines.len())
}

#[test]
fn the_source_stays_within_its_budgets() {
    let is_test = |name: &str| name.split('/').any(|part| part == "tests" || part == "tests.rs");
    let files: Vec<(String, usize)> = sources()
        .into_iter()
        .filter(|(name, _)| !is_test(name))
        .map(|(name, text)| (name, lines(&text)))
        .collect();
    for (folder, most) in LINES {
        let below = files.iter().filter(|(name, _)| Path::new(name).starts_with(folder));
        let sum: usize = below.map(|(_, lines)| lines).sum();
        assert!(sum <= *most, "src/{folder}: {sum} lines of at most {most}");
    }
    assert!(files.len() <= FILES, "{} files of at most {FILES}", files.len());
    let long = files.iter().filter(|(_, lines)| *lines > LONG.0).count();
    assert!(long <= LONG.1, "{long} files have more than {} lines", LONG.0);
}
