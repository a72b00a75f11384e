//! The user's own policy, store and configuration files: none can hang the program, exhaust its memory or walk the
//! disk. Each limit is reported when it is hit: the file, the item, the remedy.

use std::fs;
use std::process::{Command, Stdio};

use crate::cli::numbered;
use crate::common::home::{Home, Ran, finish};

/// Runs the program with little memory, if the shell can limit it.
fn run(home: &Home, words: &[&str]) -> Ran {
    const MAX_KIB: u64 = 400 << 10;
    let direct = home.command(words);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -v {MAX_KIB}; exec \"$0\" \"$@\"")]);
    command.arg(direct.get_program()).args(direct.get_args()).current_dir(home.work());
    command.env_clear().envs(home.env()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

fn own(home: &Home, name: &str, text: &str) {
    let path = home.work().with_file_name("config").join("overspill").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns a policy with this content of `[keep]` and `[text]`.
fn policy(keep: &str, cut: &str) -> String {
    format!(
        "agent = \"mine\"\ntool = \"own\"\nsource = \"me\"\nconfidence = \"own\"\nsummary = \"s\"\nunit = \"bytes\"\n\n\
         [[param]]\nname = \"n\"\ndoc = \"a number\"\ndefault = 3\n\n[when]\nsize = 5\n\n\
         [keep]\nstrategy = \"size\"\nfrom = \"head\"\nsize = 5\n{keep}\n[text]\nwhole = \"{{{{ kept }}}}\"\n\
         cut = '''\n{cut}'''\n"
    )
}

/// Runs a preview under an own policy.
fn preview(policy: &str) -> Ran {
    let home = Home::new();
    home.file("out.log", numbered(3));
    own(&home, "policies/own.toml", policy);
    run(&home, &["preview", "-p", "mine/own", "out.log"])
}

#[track_caller]
fn refused(policy: &str, words: &[&str]) {
    let ran = preview(policy);
    assert_eq!((ran.status, ran.stdout.as_slice()), (2, &b""[..]), "{}", ran.stderr);
    for word in ["own.toml:", words[0], words[words.len() - 1]] {
        assert!(ran.stderr.contains(word), "no {word:?} in {:?}", ran.stderr);
    }
    assert!(ran.stderr.len() < 2000, "{} bytes of error", ran.stderr.len());
}

#[test]
fn a_figure_that_its_strategy_does_not_tell_is_named_with_the_file() {
    let ran = preview(&policy("", "{{ middle_lines }}"));
    assert_eq!(ran.status, 1);
    for word in ["/policies/own.toml: ", "line 24, `cut`: `middle_lines` is undefined; leave it out"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
}

#[test]
fn a_template_may_do_what_the_built_in_ones_do() {
    let ran = preview(&policy(
        "",
        "{{ kept }}{% set a = [path, 'x'] %}{% for b in a %}<{{ b|length }}>{% endfor %}{{ n * 2 }}|{{ n|pad(5) }}|",
    ));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.text().ends_with("<1>6|    3|"), "{}", ran.text());
}

#[test]
fn a_template_can_not_ask_for_endless_work() {
    let nested = "{% for a in range(100000) %}".repeat(4) + "x" + &"{% endfor %}".repeat(4);
    refused(&policy("", &nested), &["range", "calls no function"]);
    let loops = "{% for a in [1,2,3,4,5,6,7,8,9,0] %}".repeat(12) + "x" + &"{% endfor %}".repeat(12);
    refused(&policy("", &loops), &["`cut`", "too much work", "fewer"]);
    refused(&policy("", "{% for a in path recursive %}{{ loop(path) }}{% endfor %}"), &["recursive"]);
    refused(&policy("", "{% for a in path %}{{ a }}{% endfor %}"), &["list"]);
    for statement in
        ["{% include 'x' %}", "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "{% import 'x' as y %}"]
    {
        refused(&policy("", statement), &["`cut`"]);
    }
}

#[test]
fn a_template_can_not_ask_for_endless_memory() {
    refused(&policy("", "{{ 'x' * 99999999 }}"), &["`*`", "numbers"]);
    refused(&policy("", "{{ [1] * 99999999 }}"), &["`*`", "numbers"]);
    refused(&policy("", "{{ 'x' * 100000000 * 99999999 }}"), &["`*`", "numbers"]);
    refused(&policy("", "{{ lines * n }}"), &["`*`", "times"]);
    let doubled = format!("{{% set a = path %}}{}{{{{ a }}}}", "{% set a = a ~ a %}".repeat(40));
    refused(&policy("", &doubled), &["too much work"]);
    let lists = format!("{{% set a = [path] %}}{}{{{{ a }}}}", "{% set a = a + a %}".repeat(40));
    refused(&policy("", &lists), &["too much work"]);
    let blocks =
        format!("{{% set a %}}x{{% endset %}}{}", "{% set a %}{{ a }}{{ a }}{% endset %}".repeat(40));
    refused(&policy("", &blocks), &["too much work"]);
    let grown = "{% set a = 'x' %}{% for b in [1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0] %}{% set a = a ~ a %}{% endfor %}{{ a }}";
    refused(&policy("", grown), &["too much work"]);
    refused(&policy("", "{{ '%0999999999d'|format(n) }}"), &["`format`", "there are"]);
    refused(&policy("", "{{ path|indent(999999999) }}"), &["`indent`", "there are"]);
    refused(&policy("", "{{ path|center(999999999) }}"), &["`center`", "there are"]);
}

#[test]
fn a_width_has_its_limit() {
    for words in ["{{ n|pad(70000) }}", "{{ n|digits(70000) }}", "{{ '0.5'|fixed(70000) }}"] {
        let ran = preview(&policy("", words));
        assert_eq!((ran.status, ran.text()), (1, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("mine/own") && ran.stderr.contains("70000"), "{}", ran.stderr);
    }
}

#[test]
fn nothing_is_nested_without_end() {
    refused(&policy("", &format!("{{{{ {}n }}}}", "not ".repeat(100_000))), &["`cut`", "16 KiB", "shorter"]);
    for (piece, after) in
        [("not ", "n"), ("-", "n"), ("(", "n"), ("[", "n"), ("n|", "n"), ("n.", "n"), ("n+", "n")]
    {
        let text = format!("{{{{ {}{after} }}}}", piece.repeat(3000));
        refused(&policy("", &text), &["`cut`", "500 bytes", "shorter"]);
    }
    let braces = format!("{{{{ {{'a': {{}}}}{}n }}}}", "|d".repeat(3000));
    refused(&policy("", &braces), &["`cut`", "500 bytes"]);
    let branches = format!("{{% if n %}}{}{{% endif %}}", "{% elif n %}".repeat(1000));
    refused(&policy("", &branches), &["`cut`", "tags", "fewer"]);
    let figure = format!("first = \"{}n\"\n", "- ".repeat(20_000));
    refused(&policy(&figure, "x"), &["`first`", "500 bytes", "shorter"]);
    let figure = "first = \"'x' * 99999999\"\n";
    refused(&policy(figure, "x"), &["`first`", "numbers"]);
    let nested = format!("first = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
    refused(&policy(&nested, "x"), &["recurs"]);
    refused(&policy(&format!("a{} = 1\n", ".a".repeat(100_000)), "x"), &["recurs"]);
}

#[test]
fn a_regular_expression_has_its_limits() {
    let cases = [
        ("(((a{100}){100}){100}){100}", "smaller"),
        (r"\w{50000}", "smaller"),
        (&"(".repeat(20_000), "4 KiB"),
        (&"a|".repeat(20_000), "4 KiB"),
        (&format!("{}a{}", "(".repeat(1500), ")".repeat(1500)), "nest"),
    ];
    for (pattern, words) in cases {
        refused(&policy(&format!("remove = '{pattern}'\n"), "x"), &["`remove`", words]);
        let home = Home::new();
        own(&home, "stores/own.toml", &store("~/spills", &format!("'{pattern}'"), "7d"));
        let ran = run(&home, &["list"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("own.toml") && ran.stderr.contains(words), "{}", ran.stderr);
        assert!(ran.stderr.len() < 2000, "{} bytes of error", ran.stderr.len());
    }
}

#[test]
fn a_policy_of_a_million_tables_is_refused() {
    let params = "[[param]]\nname = \"n\"\ndoc = \"\"\ndefault = 1\n".repeat(20_000);
    let variants = "[[variant]]\ntools = [\"a\"]\n".repeat(20_000);
    for (tables, word) in [(params, "param"), (variants, "variant")] {
        refused(&format!("{}{tables}", policy("", "x")), &[word, "100"]);
    }
}

/// Returns a store with a root, a path and an age.
fn store(root: &str, path: &str, after: &str) -> String {
    format!(
        "agent = \"mine\"\nsource = \"me\"\nconfidence = \"own\"\n\n[[store]]\nroots = [\"{root}\"]\npath = [{path}]\n\
         files = [{{ name = '.*' }}]\nretention = {{ by = \"mtime\", after = \"{after}\" }}\n"
    )
}

#[test]
fn a_store_does_not_walk_the_disk() {
    let home = Home::new();
    let wide = home.at("wide");
    for number in 0..30 {
        for below in 0..30 {
            fs::create_dir_all(wide.join(format!("{number}/{below}"))).unwrap();
        }
    }
    own(&home, "stores/own.toml", &store(wide.to_str().unwrap(), "'.*', '.*', '.*'", "7d"));
    let ran = run(&home, &["stores", "mine"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let deep = vec!["'.*'"; 40].join(", ");
    own(&home, "stores/own.toml", &store("/", &deep, "7d"));
    run(&home, &["list", "--agent", "mine"]).fails(2, &["own.toml", "`path`", "16"]);
    let roots = vec!["\"~/x\""; 1000].join(", ");
    own(&home, "stores/own.toml", &store("~/x\", ", "", "7d").replace("\"~/x\", \"", &roots));
    run(&home, &["list", "--agent", "mine"]).fails(2, &["own.toml", "`roots`", "64"]);
    let nested = "${A:-".repeat(20_000) + &"}".repeat(20_000);
    own(&home, "stores/own.toml", &store(&nested, "", "7d"));
    run(&home, &["list", "--agent", "mine"]).fails(2, &["own.toml", "`roots`", "4096"]);
}

#[test]
fn extreme_numbers_in_user_files_are_reported_or_accepted() {
    for number in ["18446744073709551616", "99999999999999999999999999", "-1", "1e400"] {
        refused(&policy(&format!("held = {number}\n"), "x"), &["own.toml", "`held`"]);
    }
    let home = Home::new();
    home.file("out.log", numbered(3));
    for after in ["9223372036854775807s", "15250284452471w", "99999999d"] {
        own(&home, "stores/own.toml", &store("~/spills", "", after));
        let spills = home.work().with_file_name("home").join("spills");
        fs::create_dir_all(&spills).unwrap();
        fs::write(spills.join("a"), "x").unwrap();
        let ran = run(&home, &["list", "--agent", "mine"]);
        assert_eq!(ran.status, 0, "{after}: {}", ran.stderr);
    }
    for config in [
        "keep_own = \"9223372036854775807s\"\n",
        "[limits.\"opencode/output\"]\nmax_lines = 18446744073709551615\n",
    ] {
        own(&home, "config.toml", config);
        let ran = run(&home, &["preview", "out.log"]);
        assert!(ran.status == 0 || ran.stderr.contains("config.toml"), "{config}: {}", ran.stderr);
    }
    let deep = format!("a = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
    own(&home, "config.toml", &deep);
    run(&home, &["preview", "out.log"]).fails(2, &["config.toml"]);
    fs::remove_file(home.work().with_file_name("config").join("overspill/config.toml")).unwrap();
    home.file("opencode.json", "[".repeat(500_000));
    let ran = run(&home, &["preview", "out.log"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("opencode.json"), "{}", ran.stderr);
}

#[test]
fn a_long_error_in_a_user_file_is_shortened() {
    let long = "x".repeat(900_000);
    refused(&format!("{long} = 1\n{}", policy("", "x")), &["there is no such key"]);
    let home = Home::new();
    home.file("out.log", numbered(3));
    own(&home, "stores/own.toml", &format!("{long} = 1\n"));
    let ran = run(&home, &["list"]);
    assert!(ran.status == 0 && ran.stderr.contains("own.toml"), "{}", ran.stderr);
    assert!(ran.stderr.len() < 2000, "{} bytes of error", ran.stderr.len());
    let _ = fs::remove_file(home.work().with_file_name("config").join("overspill/stores/own.toml"));
    for config in
        [format!("{long} = 1\n"), format!("policy = \"{long}\"\n"), format!("keep_own = \"{long}\"\n")]
    {
        own(&home, "config.toml", &config);
        let ran = run(&home, &["clean", "--yes"]);
        assert!(ran.stderr.contains("config.toml"), "{}", ran.stderr);
        assert!(ran.stderr.len() < 6000, "{} bytes of error", ran.stderr.len());
    }
}

#[test]
fn an_error_in_the_named_policy_is_reported_once() {
    let home = Home::new();
    home.file("out.log", numbered(3));
    own(&home, "policies/own.toml", &policy("", "{{ keptt }}"));
    for words in
        [&["preview", "-p", "mine/own", "out.log"][..], &["-q", "preview", "-p", "mine/own", "out.log"]]
    {
        let ran = home.run(words).fails(2, &["did you mean `kept`?"]);
        assert_eq!(ran.stderr.matches("own.toml").count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn dates_after_9999_are_rejected() {
    for date in ["10000", "10000-01-01", "9999-13", "0000", "-1"] {
        let text = policy("", "x").replace("unit =", &format!("from = {{ date = \"{date}\" }}\nunit ="));
        let ran = preview(&text);
        assert!(date == "0000" || ran.stderr.contains("is not a date"), "{date}: {}", ran.stderr);
    }
}
