//! The whole program without a terminal: what goes to standard output and standard error, and its exit status.

mod any_name;
mod bad_input;
mod broken_files;
mod completions;
pub mod compressed;
mod copy;
pub mod examples;
mod explain;
mod figures;
mod global;
mod hook;
mod hook_mcp;
mod json_docs;
mod list;
mod man;
mod mistakes;
mod misuse;
mod own_files;
mod preview;
mod read;

pub mod reference;
mod run_json;
mod run_wrapper;
mod settings;
mod setup;
mod shell;
mod suggestions;

use crate::common::home::{Home, Ran};

/// The example in the policy's definition: 15 bytes, 4 pieces.
const EXAMPLE: &str = "aaa\nbbbb\nccccc\n";

/// Runs a preview of the example.
fn preview(flags: &[&str]) -> Ran {
    let home = Home::new();
    home.file("out", EXAMPLE);
    home.run(&[&["preview", "--saved-as", "/s/out", "out"], flags].concat())
}

/// Returns `line 1` and so on.
fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}
