//! The examples that end the help and the man page of each subcommand. A test runs every one.

/// A command line, and what it does.
#[derive(Debug)]
pub(crate) struct Example {
    /// What is typed.
    pub line: &'static str,
    /// What it does, as one phrase.
    pub does: &'static str,
}

const fn example(does: &'static str, line: &'static str) -> Example {
    Example { line, does }
}

/// Returns the examples of a subcommand; the empty name is the program without one.
pub(crate) fn of(command: &str) -> &'static [Example] {
    TABLE.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

const TABLE: &[(&str, &[Example])] = &[
    (
        "",
        &[
            example("Browse the outputs that agents stored", "overspill"),
            example("See what the model got of a file, and what it did not", "overspill build.log"),
            example("Watch an output while it arrives", "make 2>&1 | overspill"),
            example("Run a command as an agent would, and save what is cut", "overspill run -- make"),
        ],
    ),
    (
        "preview",
        &[
            example("Print what opencode's model would get of a file", "overspill preview build.log"),
            example(
                "The same for Claude Code's Bash tool, as JSON",
                "overspill preview -p claude-code/bash --json build.log",
            ),
            example(
                "Cut what is piped in to 200 lines, and save all of it",
                "make 2>&1 | overspill preview --max-lines 200 --save",
            ),
        ],
    ),
    (
        "read",
        &[
            example("Print the first window of a file", "overspill read build.log"),
            example(
                "Print 500 lines from line 2001 on",
                "overspill read --offset 2001 --limit 500 build.log",
            ),
            example("Print the window as another agent shows it", "overspill read -p pi/read build.log"),
        ],
    ),
    (
        "run",
        &[
            example("Run a command, and print what the model would get", "overspill run -- make test"),
            example(
                "Stop it after two minutes, and save its whole output in any case",
                "overspill run --timeout 2m --keep always -- make test",
            ),
            example("Watch preview and spill while it runs", "overspill run -i -- make test"),
            example(
                "Report as JSON how it ended and where its output is",
                "overspill run --json -- seq 5000",
            ),
        ],
    ),
    (
        "list",
        &[
            example("List the largest outputs first", "overspill list --sort size"),
            example(
                "List opencode's outputs that are older than five days",
                "overspill list --agent opencode --older-than 5d",
            ),
            example(
                "Follow the outputs that lost errors, beside a working agent",
                "overspill list -f --json | jq 'select(.errors_lost > 0)'",
            ),
        ],
    ),
    (
        "clean",
        &[
            example("Show what has expired in overspill's own store", "overspill clean --dry-run"),
            example("Delete what has expired in every agent's store", "overspill clean --all"),
            example(
                "Shrink overspill's own store to 1 GB, without asking",
                "overspill clean --max-total 1g --yes",
            ),
            example("Remove what `run --session nightly` kept together", "overspill clean --session nightly"),
        ],
    ),
    (
        "show",
        &[
            example("Show agent, size and expiry of one output", "overspill show tool_01"),
            example("The same as JSON", "overspill show --json tool_01"),
            example("Print what the model got for a call", "overspill show --text toolu_01"),
            example("Print the whole output of a call", "overspill show --text=spill 1111:toolu_01"),
        ],
    ),
    (
        "rm",
        &[
            example("Delete the output whose id begins like this", "overspill rm tool_01"),
            example("Delete two outputs without asking", "overspill rm --yes tool_01 tool_02"),
        ],
    ),
    (
        "stores",
        &[
            example("List where agents keep outputs on this system", "overspill stores"),
            example("Print one agent's store file", "overspill stores opencode"),
        ],
    ),
    (
        "compare",
        &[
            example("Compare all policies on one file", "overspill compare build.log"),
            example(
                "Count the errors that the model still gets",
                "overspill compare --find 'error' build.log",
            ),
        ],
    ),
    (
        "grep",
        &[
            example(
                "Which output has this error, and did the model see it?",
                "overspill grep 'linker .* not found'",
            ),
            example("Only lines that the models did not get", "overspill grep --lost 'error\\[E'"),
            example("Search the logs in a directory", "overspill grep panicked logs/"),
        ],
    ),
    (
        "tune",
        &[
            example("Which limits would keep more errors for fewer tokens?", "overspill tune"),
            example(
                "The same for one policy, on the logs in a directory",
                "overspill tune -p opencode/output logs/",
            ),
            example("Judge by other lines than errors", "overspill tune --find 'FAIL|panicked'"),
        ],
    ),
    (
        "sessions",
        &[
            example("List the sessions of the last week", "overspill sessions --since 7d"),
            example(
                "List Claude Code's sessions in this directory",
                "overspill sessions --agent claude-code --project .",
            ),
            example("List the calls of the session whose id begins like this", "overspill sessions 1111"),
            example(
                "List only calls whose output is lost, largest first",
                "overspill sessions --lost --sort lost 1111",
            ),
        ],
    ),
    (
        "verify",
        &[
            example("Check all calls of one session", "overspill verify 1111"),
            example("Check what all agents recorded in the last week", "overspill verify --since 7d"),
        ],
    ),
    (
        "policies",
        &[
            example("List all policies", "overspill policies"),
            example("Save one to edit", "overspill policies opencode/output > mine.toml"),
        ],
    ),
    (
        "explain",
        &[
            example("Find the output behind a notice in the clipboard", "overspill explain --clipboard"),
            example("Explain every notice in a text", "overspill explain notes.txt"),
        ],
    ),
    (
        "setup",
        &[
            example("Tell the model in Claude Code what was cut", "overspill setup claude-code"),
            example("See what would be written", "overspill setup codex --print"),
            example("Take it away", "overspill setup claude-code --remove"),
        ],
    ),
    (
        "hook",
        &[
            example("Answer a hook of Claude Code", "overspill hook claude-code < hook.json"),
            example("See what Codex would be answered", "overspill hook codex < hook.json"),
        ],
    ),
    (
        "config",
        &[
            example("Show which limits hold for a tool, and why", "overspill config -t grep"),
            example("Write a file with all settings to edit", "overspill config --init"),
        ],
    ),
    (
        "completions",
        &[
            example("bash: add this line to ~/.bashrc", "eval \"$(overspill completions bash)\""),
            example("zsh: in a directory of $fpath", "overspill completions zsh > ~/.zfunc/_overspill"),
            example("fish", "overspill completions fish > ~/.config/fish/completions/overspill.fish"),
        ],
    ),
    (
        "man",
        &[
            example("Read the page of a subcommand", "overspill man run | man -l -"),
            example(
                "Save the main page where man finds it",
                "overspill man > ~/.local/share/man/man1/overspill.1",
            ),
        ],
    ),
];
