//! The program as a whole, without a terminal: what goes to standard output and standard error, and how it ends.

mod any_name;
mod bad_input;
mod copy;
mod list;
mod own_files;
mod preview;
mod read;

mod reference;

use crate::common::home::{Home, Ran};

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
