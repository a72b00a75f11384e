//! What the man pages say besides the help: environment and files.

use crate::cli::args::status::Item;

/// The variables that overspill itself reads.
pub(super) const ENVIRONMENT: &[Item] = &[
    (
        "XDG_CONFIG_HOME, XDG_DATA_HOME",
        "Where overspill's configuration and its own store lie; by default ~/.config and ~/.local/share. A relative path \
         is ignored.",
    ),
    (
        "OVERSPILL_POLICY",
        "The policy for outputs outside of all known stores; -p overrides it; it overrides the configuration file.",
    ),
    (
        "TMPDIR",
        "Where standard input is kept while it is shown, and some agents keep outputs. A relative path is ignored.",
    ),
    ("NO_COLOR", "If it is set and not empty, there are no colours, except with --color always."),
    (
        "CLICOLOR_FORCE",
        "If it is set and not 0, tables and help are coloured everywhere; exact texts stay exact.",
    ),
    ("TERM", "If it is not set, or dumb, there are no screens."),
    (
        "COLORFGBG",
        "Whether the terminal's background is light, for the theme auto, if the terminal does not answer.",
    ),
    (
        "LC_ALL, LC_CTYPE, LANG",
        "Whether the terminal shows UTF-8, as it does where none is set; otherwise it gets nothing but ASCII.",
    ),
    ("VISUAL, EDITOR", "The editor that the screens open."),
    (
        "Variables of the agents",
        "Agents whose own variables say where they keep outputs are followed; overspill stores NAME prints which.",
    ),
];

/// The files that overspill itself reads and writes.
pub(super) const FILES: &[Item] = &[
    ("~/.config/overspill/config.toml", "The configuration: policy, limits, colours, keys."),
    (
        "~/.config/overspill/policies/*.toml",
        "Your own policies. They override built-in ones of the same name.",
    ),
    ("~/.config/overspill/stores/*.toml", "Your own stores. They override built-in ones of the same name."),
    ("~/.local/share/overspill/tool-output/", "overspill's own store."),
    ("~/.local/share/overspill/records/", "What is known of each run: command, exit status, policy."),
];
