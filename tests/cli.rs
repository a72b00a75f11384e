//! The program as a whole, without a terminal: what goes to standard output and standard error, and how it ends.

mod common;

#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/copy.rs"]
mod copy;
#[path = "cli/list.rs"]
mod list;
#[path = "cli/own_files.rs"]
mod own_files;
#[path = "cli/preview.rs"]
mod preview;
#[path = "cli/read.rs"]
mod read;

#[path = "cli/reference.rs"]
mod reference;

use common::home::{Home, Ran};

/// The example of the policy's definition: 15 bytes, 4 pieces.
const EXAMPLE: &str = "aaa\nbbbb\nccccc\n";

/// A preview of the example.
fn preview(flags: &[&str]) -> Ran {
    let home = Home::new();
    home.file("out", EXAMPLE);
    home.run(&[&["preview", "--saved-as", "/s/out", "out"], flags].concat())
}

/// `line 1` and so on.
fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}
