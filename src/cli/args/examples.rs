//! The examples that end the help and the man page of each subcommand. A test runs every one.

/// By subcommand, whose name stands in brackets: what a line does, as one phrase, and below it the line.
const EXAMPLES: &str = include_str!("../../../assets/examples.txt");

#[derive(Debug)]
pub(crate) struct Example {
    pub does: &'static str,
    pub line: &'static str,
}

/// Returns the examples of a subcommand; the empty name is the program without one.
pub(crate) fn examples(command: &str) -> Vec<Example> {
    let lines = EXAMPLES.lines().skip_while(|line| *line != format!("[{command}]")).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).map(str::trim_start).collect();
    lines.chunks_exact(2).map(|pair| Example { does: pair[0], line: pair[1] }).collect()
}
