//! Holds the size of the source: what grows in one place has to shrink in another. A change that shrinks it lowers the
//! budgets with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Lines of all files, and of the largest folders, without tests.
const LINES: &[(&str, usize)] =
    &[("", 87_700), ("tui", 24_560), ("session", 18_000), ("preview", 13_700), ("cli", 10_700)];

/// Files with any line that is not a test.
const FILES: usize = 596;

/// Files of more lines than this, and how many of them there may be.
const LONG: (usize, usize) = (450, 1);

/// Returns the number of lines before the tests of a file.
fn lines(path: &Path) -> usize {
    let text = fs::read_to_string(path).expect("a source file");
    let lines: Vec<&str> = text.lines().collect();
    let is_tests = |pair: &[&str]| {
        pair[0].trim() == "#[cfg(test)]" && pair[1].trim().starts_with("mod ") && pair[1].ends_with('{')
    };
    lines.windows(2).position(is_tests).unwrap_or(lines.len())
}

/// Adds up the files below a folder: the lines by top folder, and each file's lines.
fn add_up(dir: &Path, src: &Path, sums: &mut BTreeMap<String, usize>, files: &mut Vec<usize>) {
    for entry in fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().expect("a name").to_string_lossy().into_owned();
        if entry.is_dir() {
            if name != "tests" {
                add_up(&entry, src, sums, files);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let lines = lines(&entry);
            let below = entry.strip_prefix(src).expect("below the source");
            let top = below.components().next().expect("a first part");
            *sums.entry(top.as_os_str().to_string_lossy().into_owned()).or_default() += lines;
            *sums.entry(String::new()).or_default() += lines;
            files.push(lines);
        }
    }
}

#[test]
fn the_source_stays_within_its_budgets() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut sums, mut files) = (BTreeMap::new(), Vec::new());
    add_up(&src, &src, &mut sums, &mut files);
    for (folder, most) in LINES {
        assert!(sums[*folder] <= *most, "src/{folder}: {} lines of at most {most}", sums[*folder]);
    }
    assert!(files.len() <= FILES, "{} files of at most {FILES}", files.len());
    let long = files.iter().filter(|lines| **lines > LONG.0).count();
    assert!(long <= LONG.1, "{long} files have more than {} lines", LONG.0);
}
