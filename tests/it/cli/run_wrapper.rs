//! `run` as the wrapper of an agent: previews that the agent does not cut again.

use std::fs;

use serde_json::Value;

use crate::common::home::Home;

#[test]
fn a_preview_within_the_headroom_is_not_cut_again() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_overspill");
    let nested = |inner: &[&str]| {
        let words = [&["run", "--", program, "run"], inner, &["--", "seq", "5000"]].concat();
        home.run(&words).ok().text().matches("Full output saved to: ").count()
    };
    // The outer notice alone is left of two, and names the file that holds the first.
    let cut = home.run(&["run", "--", program, "run", "--", "seq", "5000"]).ok();
    assert!(cut.text().contains("lines truncated...\n\nThe tool call") && nested(&[]) == 1);
    let fits =
        home.run(&["run", "--", program, "run", "--headroom", "opencode/output", "--", "seq", "5000"]).ok();
    let path = fits.text().split("Full output saved to: ").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 5000);
    assert!(nested(&["--headroom", "30k,200lines"]) == 1);
}

/// Under every policy, the text and what standard error adds stay within the headroom, or a warning says that no
/// preview does.
#[test]
fn the_headroom_holds_under_every_policy() {
    let home = Home::new();
    let policies = home.run(&["policies", "--json"]).ok().json();
    let mut warned = Vec::new();
    for policy in policies.as_array().unwrap() {
        let name = policy["name"].as_str().unwrap();
        let ran = home.run(&["run", "-p", name, "--headroom", "2500,90lines", "--", "seq", "4000"]);
        let (bytes, lines) =
            (ran.text().len() + ran.stderr.len(), ran.text().lines().count() + ran.stderr.lines().count());
        if ran.stderr.contains("no limit on lines or size makes the preview fit in the headroom") {
            warned.push(name.to_owned());
        } else if ran.status == 0 {
            assert!(bytes <= 2500 && lines <= 90, "{name}: {bytes} bytes, {lines} lines");
        }
    }
    assert!(warned.len() < 14 && !warned.iter().any(|name| name.starts_with("opencode/")), "{warned:?}");
}

/// Whatever `run` says before and after the preview is read by the agent as well.
#[test]
fn messages_take_headroom() {
    let said = |home: &Home, flags: &[&str], script: &str, words: &str| {
        let all = [&["run", "--headroom", "2k"], flags, &["--", "sh", "-c", script]].concat();
        let ran = home.run(&all);
        let sum = ran.text().len() + ran.stderr.len();
        assert!(ran.stderr.contains(words) && (1800..=2048).contains(&sum), "{sum}: {}", ran.stderr);
    };
    let [home, faulty, unsaved] = [Home::new(), Home::new(), Home::new()];
    said(&home, &[], "seq 5000; sleep 30 &", "a background process");
    said(&home, &["--timeout", "1"], "seq 5000; exec sleep 30", "timed out");
    said(&home, &["-p", "pi/bash", "--max-spill", "9k"], "seq 5000", "holds only the first");
    faulty.entry_at("config/overspill/config.toml", "policy = \"pi/nope\"", 0);
    said(&faulty, &[], "seq 5000", "using the default");
    unsaved.entry_at("data/overspill", "", 0);
    said(&unsaved, &[], "seq 5000", "could not be saved");
}

#[test]
fn json_names_the_headroom_and_an_invalid_one_is_refused() {
    let home = Home::new();
    let from = |words: &[&str]| {
        let json = home.run(&[&["run", "--json"], words, &["--", "seq", "3000"]].concat()).ok().json();
        (json["limits_from"].clone(), json["kept_lines"].as_u64().unwrap())
    };
    assert_eq!(from(&["--headroom", "1m"]), ("policy".into(), 2000));
    let (limits_from, kept) = from(&["--headroom", "100lines"]);
    assert!(limits_from == "headroom" && (80..100).contains(&kept), "{limits_from} {kept}");
    // What is small enough for the policy, but not for the caller, is cut and saved.
    let ran = home.run(&["run", "--headroom", "50lines", "--", "seq", "60"]).ok();
    assert!(ran.text().contains("Full output saved to: /"), "{}", ran.text());
    home.run(&["run", "--headroom", "many", "--", "true"]).fails(2, &["'many' is not a limit; write 30k"]);
    home.run(&["run", "--headroom", "pi/bsh", "--", "true"]).fails(2, &["did you mean pi/bash?"]);
}

#[test]
fn a_limit_that_has_a_minimum_is_lowered_as_well() {
    let home = Home::new();
    let run = |policy: &str, headroom: &str, most: &str| {
        let words = ["run", "--json", "-p", policy, "--headroom", headroom, "--", "seq", most];
        let json = home.run(&words).json();
        (json["truncated"].as_bool().unwrap(), json["id"].is_string(), json["text"].as_str().unwrap().len())
    };
    let (is_cut, is_saved, bytes) = run("nanocoder/bash", "250", "300");
    assert!(is_cut && is_saved && bytes <= 250, "{is_cut} {is_saved} {bytes}");
    // Of what is under the minimum and over the headroom nothing can be cut, but it is saved.
    let (is_cut, is_saved, bytes) = run("nanocoder/bash", "150", "60");
    assert!(!is_cut && is_saved && bytes > 150, "{is_cut} {is_saved} {bytes}");
}

/// A spill of `run` is shown by the policy and the limits that cut it then, not by today's default.
#[test]
fn preview_shows_the_output_of_a_run_as_it_was_cut() {
    let home = Home::new();
    for words in [
        &["-p", "pi/bash"][..],
        &["--max-lines", "3"],
        &["--headroom", "2k"],
        &["-p", "codex/exec", "--set", "max_tokens=500"],
    ] {
        let ran = home.run(&[&["run"], words, &["--keep", "always", "--", "seq", "11111"]].concat());
        let listed = home.run(&["list", "--json"]).ok().json();
        let id = listed[0]["id"].as_str().unwrap();
        assert_eq!(home.run(&["preview", id]).text(), ran.text(), "{words:?}");
        let json = home.run(&["preview", id, "--json"]).json();
        assert_eq!(json["limits_from"], "run", "{words:?}");
        assert_eq!(
            home.run(&["preview", id, "-p", "opencode/output", "--json"]).json()["limits_from"],
            "policy"
        );
        home.run(&["rm", "--yes", id]);
    }
    let ran = home.run(&["run", "--headroom", "2k", "--", "seq", "11111"]).ok();
    let explained = home.pipe(ran.stdout, &["explain", "--json"]).ok().json();
    assert_eq!((&explained[0]["policy"], &explained[0]["agrees"]), (&"opencode/output".into(), &true.into()));
}

#[test]
fn preview_warns_that_a_spill_is_capped() {
    let home = Home::new();
    home.run(&["run", "--max-spill", "1k", "--", "seq", "12000"]);
    let listed = home.run(&["list", "--json"]).ok().json();
    let ran = home.run(&["preview", listed[0]["id"].as_str().unwrap()]);
    assert!(
        ran.stderr.contains("only the first 1024 of 60894 bytes of this output were saved"),
        "{}",
        ran.stderr
    );
    let json = home.run(&["preview", "--json", listed[0]["id"].as_str().unwrap()]).json();
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("only the first 1024 of 60894 bytes"), "{warning}");
    assert_eq!((&json["total_lines"], &json["removed_bytes"]), (&Value::Null, &Value::Null));
    let found = home.run(&["grep", "--json", "^200$"]).ok().json();
    assert_eq!((&found["kept"], &found["lost_by"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_spill_of_another_length_than_its_run_saved_is_not_called_recorded() {
    let home = Home::new();
    home.run(&["run", "--", "seq", "12000"]).ok();
    let listed = home.run(&["list", "--json"]).ok().json();
    let (id, path) = (listed[0]["id"].as_str().unwrap(), listed[0]["path"].as_str().unwrap());
    let of = || home.run(&["preview", "--json", id]).json();
    assert_eq!((&of()["certainty"], &of()["warnings"]), (&"recorded".into(), &Value::Array(Vec::new())));
    for len in [1000, 60_895] {
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
        assert_eq!((&of()["certainty"], &of()["total_bytes"]), (&"would-get".into(), &Value::Null), "{len}");
        assert!(of()["warnings"][0].as_str().unwrap().contains(" it was changed since"), "{len}");
    }
}
