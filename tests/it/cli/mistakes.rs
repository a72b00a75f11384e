//! Every kind of mistake in a file of the user's own, and the exact words for it.

use std::fs;

use overspill::internals::config::Config;

use crate::common::home::Home;

/// A policy that works; a case replaces a piece of it.
const POLICY: &str = r#"agent = "mine"
tool = "own"
unit = "bytes"

[[param]]
name = "most"
role = "size"
default = 50

[when]
size = "most"

[keep]
strategy = "size"
size = "most"

[text]
cut = "{{ kept }}[cut]"
"#;

/// A store that works.
const STORE: &str = r#"agent = "mine"

[[store]]
roots = ["~/.mine/spills"]
path = ['(?<project>[^/]+)']
files = [{ name = '(?<id>.+)\.txt', holds = "raw" }]

[store.retention]
by = "mtime"
after = "7d"
"#;

/// A configuration that works.
const CONFIG: &str = r#"policy = "opencode/output"
keep_own = "7d"
errors = 'error|warning'
theme = "dark"

[limits."opencode/output"]
max_lines = 1000
direction = "tail"

[tools.grep]
policy = "pi/grep"
limit = 50

[keys]
search = "ctrl-f"
"#;

/// What is replaced in a file, by what, and what is said of it.
type Case = (&'static str, &'static str, &'static str);

#[test]
fn mistakes_in_a_policy() {
    check("policies/own.toml", POLICY, POLICIES);
}

#[test]
fn mistakes_in_a_store() {
    check("stores/own.toml", STORE, STORES);
}

#[test]
fn mistakes_in_the_configuration() {
    check("config.toml", CONFIG, CONFIGS);
}

fn check(name: &str, good: &str, cases: &[Case]) {
    let home = Home::new();
    let path = home.work().join(".config/overspill").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let faults = |text: &str| {
        fs::write(&path, text).unwrap();
        let config = Config::load(overspill::internals::store::Env::hermetic(&home.work()));
        let said: Vec<String> = config.faults().iter().map(|fault| fault.words.clone()).collect();
        said.join("\n").replace(&format!("{}:", path.display()), "")
    };
    assert_eq!(faults(good), "");
    let mut wrong = String::new();
    for (piece, other, words) in cases {
        assert!(good.contains(piece), "{piece:?} is not in the file");
        let said = faults(&good.replacen(piece, other, 1));
        if said != *words {
            wrong += &format!("    ({piece:?}, {other:?}, {said:?}),\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

const POLICIES: &[Case] = &[
    ("unit = \"bytes\"", "unti = \"bytes\"", "3:1: `unti`: there is no such key; did you mean `until`?"),
    (
        "unit = \"bytes\"",
        "flavour = 1",
        "3:1: `flavour`: there is no such key; the keys of this file are agent, tool, tools, shell, version, from, until, seen, era_of, source, confidence, summary, failed, quirks, unit, decoding, lines, trim, reads, refuse, settings, warning, param, variant, when, keep, text, details, cap",
    ),
    ("unit = \"bytes\"", "unit = \"bytse\"", "3:8: `unit`: does not take `bytse`; did you mean `bytes`?"),
    (
        "unit = \"bytes\"",
        "unit = \"stones\"",
        "3:8: `unit`: does not take `stones`; write one of bytes, units, points, cells, tokens",
    ),
    ("unit = \"bytes\"", "unit = 7", "3:8: `unit`: takes text in quotes, not 7"),
    ("unit = \"bytes\"", "unit = bytes", "3:8: not TOML at `bytes`: text stands in quotes: key = \"text\""),
    ("unit = \"bytes\"", "unit = \"bytes", "3:14: not TOML: the text has no closing quote on this line"),
    ("unit = \"bytes\"", "unit", "3:5: not TOML: a key needs a value: key = \"text\""),
    ("unit = \"bytes\"", "unit =", "3:7: not TOML: the value is missing after `=`"),
    ("unit = \"bytes\"", "agent = \"other\"", "3:1: not TOML at `agent`: this is here twice; leave one out"),
    (
        "unit = \"bytes\"",
        "quirks = \"one\"",
        "3:10: `quirks`: takes a list of texts, as in [\"one\", \"two\"], not \"one\"",
    ),
    (
        "unit = \"bytes\"",
        "from = { dat = \"2026\" }",
        "3:10: `dat`: there is no such key in [from]; did you mean `date`?",
    ),
    (
        "unit = \"bytes\"",
        "from = { date = \"May\" }",
        "3:17: `date`: `May` is not a date; write 2026, 2026-08 or 2026-08-14",
    ),
    (
        "unit = \"bytes\"",
        "confidence = \"sure\"",
        "3:14: `confidence`: does not take `sure`; write one of run, source, documented, observed, unknown, own",
    ),
    ("agent = \"mine\"\n", "", "1:1: `agent`: this key is missing; it takes text in quotes"),
    ("tool = \"own\"", "tool = \"a/b\"", "2:8: `tool`: takes a name without spaces, `/` and `=`"),
    ("name = \"most\"\n", "", "5:1: `name`: this key is missing in [param]; it takes text in quotes"),
    ("role = \"size\"", "role = \"sise\"", "7:8: `role`: does not take `sise`; did you mean `size`?"),
    (
        "default = 50",
        "default = -1",
        "8:11: `default`: takes text in quotes, a whole number from 0, or true or false, not -1",
    ),
    (
        "default = 50",
        "default = 1.5",
        "8:11: `default`: takes text in quotes, a whole number from 0, or true or false, not 1.5",
    ),
    (
        "default = 50",
        "default = 50\nmin = 60",
        "5:1: `default`: does not fit: the parameter takes a whole number from 60",
    ),
    (
        "[[param]]",
        "[[param]]\nname = \"most\"\ndefault = 1\n\n[[param]]",
        "9:1: `name`: another parameter has the name `most`, too; give each its own",
    ),
    ("[[param]]", "[param]", "5:1: `param`: takes tables, each headed [[param]], not a table"),
    (
        "[when]\nsize = \"most\"\n",
        "",
        "11:1: `when`: this table is missing, so nothing would ever be cut; it has `lines`, `size` or both",
    ),
    (
        "[when]\nsize = \"most\"\n",
        "[when]\n",
        "10:1: `when`: this table has no limit, so nothing would ever be cut; it has `lines`, `size` or both",
    ),
    ("[when]\nsize", "[when]\nsise", "11:1: `sise`: `[when]` has no such key; did you mean `size`?"),
    (
        "[when]\nsize = \"most\"",
        "[when]\nsize = \"mots\"",
        "11:8: `size`: there is no parameter `mots`; did you mean `most`?",
    ),
    (
        "[when]\nsize = \"most\"",
        "[when]\nsize = \"mots * 2\"",
        "11:8: `size`: there is no parameter `mots`; did you mean `most`?",
    ),
    (
        "[when]\nsize = \"most\"",
        "[when]\nsize = \"lines * 2\"",
        "11:8: `size`: there is no parameter `lines`; declare it in [[param]]",
    ),
    (
        "[when]\nsize = \"most\"",
        "[when]\nsize = \"xyz\"",
        "11:8: `size`: there is no parameter `xyz`; declare it in [[param]]",
    ),
    (
        "[when]\nsize = \"most\"",
        "[when]\nsize = \"most +\"",
        "11:8: `size`: cannot be read: it ends too early, expected expression",
    ),
    (
        "[when]\nsize = \"most\"",
        "[when]\nsize = true",
        "11:8: `size`: takes a whole number from 0, or an expression",
    ),
    ("[when]", "[wehn]", "10:2: `wehn`: there is no such key; did you mean `when`?"),
    ("[when]", "[when", "10:6: not TOML: the name of the table is not closed; write [name]"),
    (
        "strategy = \"size\"",
        "strategy = \"middel\"",
        "14:12: `strategy`: does not take `middel`; did you mean `middle`?",
    ),
    ("strategy = \"size\"\n", "", "13:1: `strategy`: `[keep]` needs this key"),
    (
        "strategy = \"size\"",
        "strategy = \"size\"\nlines = 3",
        "15:1: `lines`: the strategy `size` has no such key; it has strategy, from, size, unit, boundary, snap, zero_keeps_all, first, escape_tag, remove, strip, quoted",
    ),
    (
        "strategy = \"size\"",
        "strategy = \"size\"\nfrom = \"end\"",
        "15:8: `from`: does not take `end`; write one of head, tail, direction",
    ),
    ("strategy = \"size\"", "strategy = \"size\"\nremove = \"a(\"", "15:10: `remove`: unclosed group"),
    ("strategy = \"size\"", "strategy = \"size\"\nstrip = \"yes\"", "15:9: `strip`: takes true or false"),
    ("[text]\ncut = \"{{ kept }}[cut]\"\n", "", "15:14: `text`: the table [text] is missing"),
    ("cut = \"{{ kept }}[cut]\"", "whole = \"x\"", "17:1: `cut`: `[text]` needs this key"),
    (
        "{{ kept }}",
        "{{ keptt }}",
        "18:7: `cut`: there is no figure or parameter `keptt`; did you mean `kept`?",
    ),
    (
        "{{ kept }}",
        "{{ mots * 2 }}",
        "18:7: `cut`: there is no figure or parameter `mots`; did you mean `most`?",
    ),
    (
        "{{ kept }}",
        "{{ lines * 2 }}",
        "18:7: `cut`: `*` takes numbers alone, parameters or written out; for a figure use the filter `times`",
    ),
    (
        "{{ kept }}",
        "{{ kept|shout }}",
        "18:7: `cut`: there is no filter `shout`; there are: abs, basename, claude_size, commas, copilot_size, d, default, digits, first, fixed, hermes_size, int, kb, last, length, max, min, minus, one_decimal, one_decimal_even, over, pad, pi_size, plus, round_kb, sibling, string, thousands, times, trim",
    ),
    (
        "{{ kept }}",
        "{{ kept }",
        "18:7: `cut`: cannot be read: unexpected `}`, expected end of variable block",
    ),
    ("{{ kept }}", "{% if kept %}", "18:7: `cut`: cannot be read: it ends too early, expected end of block"),
];

const STORES: &[Case] = &[
    ("agent = \"mine\"\n", "", "1:1: `agent`: this key is missing; it takes text in quotes"),
    ("agent = \"mine\"", "agent = \"\"", "1:9: `agent`: takes a name without spaces and `/`"),
    (
        "agent = \"mine\"",
        "agent = \"mine\"\nsorce = \"me\"",
        "2:1: `sorce`: there is no such key; did you mean `source`?",
    ),
    ("[[store]]", "[store]", "3:1: `store`: takes tables, each headed [[store]], not a table"),
    ("[[store]]", "[[stores]]", "3:3: `stores`: there is no such key; did you mean `store`?"),
    (
        "roots = [\"~/.mine/spills\"]\n",
        "",
        "3:1: `roots`: this key is missing in [store]; it takes a list of texts, as in [\"one\", \"two\"]",
    ),
    (
        "roots = [\"~/.mine/spills\"]",
        "roots = \"~/.mine\"",
        "4:9: `roots`: takes a list of texts, as in [\"one\", \"two\"], not \"~/.mine\"",
    ),
    ("roots = [\"~/.mine/spills\"]", "roots = []", "4:9: `roots`: is empty; without one nothing is found"),
    (
        "~/.mine/spills",
        "${MINE/spills",
        "4:10: `roots`: has a `${` without its `}`; write ${NAME} or ${NAME:-default}",
    ),
    ("[^/]+", "[^/+", "5:9: `path`: `(?<project>[^/+)`: unclosed character class"),
    (
        "<project>",
        "<projct>",
        "5:9: `path`: `(?<projct>[^/]+)` has a group `projct`; known are agent, tool, session, project, id, pid, stream, partial",
    ),
    (
        "holds = \"raw\"",
        "sets = { call_id = \"call\" }",
        "6:56: `call_id`: does not take `call`; write one of tool, id, stream",
    ),
    ("holds = \"raw\"", "holds = \"rwa\"", "6:45: `holds`: does not take `rwa`; did you mean `raw`?"),
    (
        "name = '(?<id>.+)\\.txt', ",
        "",
        "6:10: `name`: this key is missing in [store.files]; it takes text in quotes",
    ),
    ("holds = \"raw\" }]", "holds = \"raw\" }", "8:1: not TOML: a comma or the closing bracket is missing"),
    ("by = \"mtime\"", "by = \"mitme\"", "9:6: `by`: does not take `mitme`; did you mean `mtime`?"),
    ("by = \"mtime\"\n", "", "8:1: `by`: this key is missing in [store.retention]; it takes text in quotes"),
    (
        "after = \"7d\"",
        "after = \"soon\"",
        "10:9: `after`: does not take `soon`; write an age such as 12h, 7d or 4w",
    ),
    ("after = \"7d\"", "after = 7", "10:9: `after`: takes text in quotes, not 7"),
    ("after = \"7d\"", "max_count = -3", "10:13: `max_count`: takes a whole number from 0, not -3"),
    (
        "after = \"7d\"",
        "after = \"7d\"\nsetting = { file = \"~/x.json\" }",
        "11:11: `key`: this key is missing in [store.retention.setting]; it takes text in quotes",
    ),
];

const CONFIGS: &[Case] = &[
    (
        "policy = \"opencode/output\"",
        "polcy = \"opencode/output\"",
        "1:1: `polcy`: there is no such key; did you mean `policy`?",
    ),
    (
        "policy = \"opencode/output\"",
        "policy = \"opencode/otput\"",
        "1:10: `policy`: no policy `opencode/otput`; did you mean opencode/output?",
    ),
    (
        "policy = \"opencode/output\"",
        "policy = \"nobody/nothing\"",
        "1:10: `policy`: no policy `nobody/nothing`; `overspill policies` lists them all",
    ),
    (
        "[limits.\"opencode/output\"]",
        "[limits.opencode]",
        "6:9: `limits`: write the whole name: `opencode/shell`",
    ),
    ("policy = \"opencode/output\"", "policy = 3", "1:10: `policy`: takes text in quotes, not 3"),
    (
        "policy = \"opencode/output\"",
        "zzz = 3",
        "1:1: `zzz`: there is no such key; the keys of this file are policy, keep_own, errors, warnings, limits, tools, theme, mouse, hook, keys",
    ),
    (
        "keep_own = \"7d\"",
        "keep_own = \"a week\"",
        "2:12: `keep_own`: does not take `a week`; write an age such as 12h or 7d, or never",
    ),
    ("keep_own = \"7d\"", "keep_own = 7", "2:12: `keep_own`: takes text in quotes, not 7"),
    ("error|warning", "error(", "3:10: `errors`: is not a pattern: unclosed group at character 6 of it"),
    ("error|warning", "x*", "3:10: `errors`: is not a pattern: it matches every line"),
    (
        "theme = \"dark\"",
        "theme = \"drak\"",
        "4:9: `theme`: \"drak\" is not a theme; the themes are dark, light, blue-orange, 16, auto",
    ),
    ("theme = \"dark\"", "theme = true", "4:9: `theme`: takes text in quotes or a number, not true"),
    (
        "theme = \"dark\"",
        "theme.warnng = \"red\"",
        "4:7: `warnng`: there is no such key in [theme]; did you mean `warning`?",
    ),
    (
        "theme = \"dark\"",
        "theme.dim = \"red blue\"",
        "4:13: `dim`: \"blue\" is a second colour; write `on blue` for the background",
    ),
    ("theme = \"dark\"", "theme.dim = \"\"", "4:13: `dim`: the style is empty; write `none` for plain text"),
    (
        "[limits.\"opencode/output\"]",
        "[limits.\"opencode/otput\"]",
        "6:9: `limits`: no policy `opencode/otput`; did you mean opencode/output?",
    ),
    (
        "[limits.\"opencode/output\"]",
        "[limits.opencode/output]",
        "6:17: not TOML at `/`: a key with anything but letters, digits, - and _ must be in quotes",
    ),
    (
        "[limits.\"opencode/output\"]",
        "[limits.opencode.output]",
        "6:1: `output`: the name of a policy stands in quotes: [limits.\"opencode/output\"]",
    ),
    (
        "max_lines = 1000",
        "max_linse = 1000",
        "7:1: `max_linse`: opencode/output has no such parameter; did you mean `max_lines`?",
    ),
    (
        "max_lines = 1000",
        "max_lines = \"many\"",
        "7:13: `max_lines`: takes a whole number from 0, not `many`",
    ),
    (
        "max_lines = 1000",
        "max_lines = -1",
        "7:13: `max_lines`: takes text in quotes, a whole number from 0, or true or false, not -1",
    ),
    (
        "max_lines = 1000",
        "max_lines = 1_000.5",
        "7:13: `max_lines`: takes text in quotes, a whole number from 0, or true or false, not 1_000.5",
    ),
    ("max_lines = 1000", "max_lines = 1,000", "7:14: not TOML; lines are key = value or [table]"),
    (
        "direction = \"tail\"",
        "direction = \"middle\"",
        "8:13: `direction`: takes one of head, tail, not `middle`",
    ),
    (
        "policy = \"pi/grep\"",
        "policy = \"pi/gerp\"",
        "11:10: `policy`: no policy `pi/gerp`; did you mean pi/grep?",
    ),
    (
        "policy = \"pi/grep\"\nlimit = 50",
        "polcy = \"pi/grep\"",
        "11:1: `polcy`: no policy has such a parameter; did you mean `policy`?",
    ),
    ("limit = 50", "limti = 50", "12:1: `limti`: pi/grep has no such parameter; did you mean `limit`?"),
    (
        "search = \"ctrl-f\"",
        "search = 7",
        "15:10: `search`: takes text in quotes, or a list of such texts, not 7",
    ),
    ("search = \"ctrl-f\"", "search = [\"a\", 7]", "15:16: `search`: takes text in quotes, not 7"),
    (
        "[keys]",
        "keys = \"vim\"",
        "14:1: `keys`: pi/grep has no such parameter; it has limit, max_bytes, line_units\n15:1: `search`: pi/grep has no such parameter; it has limit, max_bytes, line_units",
    ),
    ("[keys]", "[keys]\n[keys]", "15:2: not TOML at `keys`: this is here twice; leave one out"),
];
