//! The list of stored outputs.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use overspill::internals::config::ChosenBy;
use overspill::internals::output::recorded::CallSearch;
use overspill::internals::output::{OpenOutput, Subject};
use overspill::internals::rows::lost::{KeptShare, ModelShare};
use overspill::internals::rows::outputs::OutputFact;
use overspill::internals::session::reader::SessionFile;
use overspill::internals::session::spill::CitingCall;
use overspill::internals::source::{Change, Identity, MapView, PathStatus};
use overspill::internals::store::{EntryStatus, Env, ScanStep, Stores, list};
use overspill::internals::tui::app::{ContentChange, Effect, Event, OutputEvent, OutputsEvent};
use overspill::internals::tui::job::Slot;
use overspill::internals::tui::outputs::beside::SidePreview;
use overspill::internals::tui::outputs::deletion::delete;
use overspill::internals::tui::screen::Link;
use overspill::internals::tui::target::PagerInput;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::common::bench::{Bench, is_job, looked_at, policy, subject};
use crate::common::records::{SESSION, result_of, use_of};
use crate::common::samples::test_log;
use crate::screens::SIZES;

/// A home directory with stores, and the screens that show them.
pub(super) struct Stocked {
    dir: tempfile::TempDir,
    pub(super) bench: Bench,
}

impl Stocked {
    pub(super) fn new(size: (u16, u16)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut bench = Bench::new(size);
        bench.env = Env::hermetic(dir.path());
        Self { dir, bench }
    }

    pub(super) fn entry(&self, agent: &str, id: &str, content: &[u8], hours: u64) -> PathBuf {
        let store = self.dir.path().join(".local/share").join(agent).join("tool-output");
        std::fs::create_dir_all(&store).unwrap();
        let file = std::fs::File::create(store.join(id)).unwrap();
        std::io::Write::write_all(&mut &file, content).unwrap();
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let then = std::time::SystemTime::from(self.bench.now) - std::time::Duration::from_secs(hours * 3600);
        file.set_modified(then).unwrap();
        for dir in [store.parent().unwrap(), &store].into_iter().filter(|_| agent == "overspill") {
            std::fs::set_permissions(dir, PermissionsExt::from_mode(0o700)).unwrap();
        }
        let mode = if agent == "opencode" { 0o644 } else { 0o600 };
        file.set_permissions(PermissionsExt::from_mode(mode)).unwrap();
        store.join(id)
    }

    pub(super) fn with_entries(size: (u16, u16)) -> Self {
        let stocked = Self::new(size);
        stocked.entry(
            "opencode",
            "tool_c8d4f08d5001AbCdEfGhIjKlMn",
            b"[INFO] Scanning for projects...\n",
            50,
        );
        stocked.entry("opencode", "tool_c8d4f08d6001AbCdEfGhIjKlMn", b"src/a.rs:10: fn main() {\n", 10);
        stocked.entry("opencode", "tool_0118bbe93001AbCdEfGhIjKlMn", &vec![b'x'; 3 << 20], 24 * 8);
        stocked.entry("opencode", "tool_c8d4f08d7001AbCdEfGhIjKlMn", b"\x1b[2J\x1b]0;owned\x07hostile\n", 1);
        stocked.entry("overspill", "tool_c8d4f08d50010000AbCdEfGhIjKl", "日本語の出力です\n".as_bytes(), 160);
        stocked.entry("overspill", "tool_c8d4f08d50020000AbCdEfGhIjKl", b"", 0);
        stocked
    }

    /// Creates the record of the run that created one of overspill's own entries.
    fn run(&self, id: &str, command: &[&str]) {
        let home = self.dir.path().join(".local/share/overspill");
        let records = home.join("records");
        std::fs::create_dir_all(&records).unwrap();
        for dir in [&home, &records] {
            std::fs::set_permissions(dir, PermissionsExt::from_mode(0o700)).unwrap();
        }
        let bytes = std::fs::metadata(home.join("tool-output").join(id)).map_or(0, |meta| meta.len());
        let size = serde_json::json!({ "bytes": bytes, "lines": 1 });
        let record = serde_json::json!({
            "path": home.join("tool-output").join(id), "command": command, "directory": "/work", "tool": "bash",
            "stream": "stdout", "start": self.bench.now, "end": self.bench.now, "exit": { "code": 0 },
            "stopped": null, "seen": size, "kept": size, "truncated": null, "policy": "opencode/output",
        });
        std::fs::write(records.join(format!("{id}.json")), record.to_string()).unwrap();
    }

    /// Starts with the list, like plain `overspill`.
    pub(super) fn shown(mut self) -> Self {
        let effects = self.bench.start_with_stores();
        self.bench.carry_out(effects);
        self
    }
}

fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("stores_{name}_{width}x{height}"), bench.screen());
    });
}

#[test]
fn setting_a_mark_waits_for_its_letter() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let mut at = |keys: &str| {
        let bench = stocked.bench.keys(keys);
        (bench.stores().list.chosen_index(), bench.status().trim().to_owned())
    };
    let (row, status) = at("jm");
    assert!(status.starts_with("set mark:  ") && status.ends_with("a letter · Esc cancel"), "{status}");
    assert!(at("x").1.starts_with("mark x is set"));
    let last = at("G").0;
    assert_eq!(at("'x").0, row, "x is a letter here, and marks nothing for deletion");
    assert_eq!(at("''").0, last);
    let (_, status) = at("'y");
    assert!(status.starts_with("go to mark (' back): y — no row that is shown has mark y"), "{status}");
    let (_, status) = at("<Esc>:n<Enter>");
    assert!(status.contains("n and p lead to other files from an output, not from a list"), "{status}");
    assert_eq!(at("<Esc>gm<Esc>j").0, row, "Esc ends the wait alone");
    assert!(stocked.bench.app.pending().is_none());
}

#[test]
fn stores_with_entries() {
    for size in SIZES {
        let mut stocked = Stocked::with_entries(size).shown();
        keep("entries", &stocked.bench);
        keep("help", stocked.bench.keys("h"));
        stocked.bench.keys("h");
        keep("sort_menu", stocked.bench.keys("jjs"));
        keep("sorted", stocked.bench.keys("b"));
        keep("filtered", stocked.bench.keys("/overspill<Enter>"));
        keep("filtered_out", stocked.bench.keys("/ nothing<Enter>"));
    }
}

#[test]
fn a_rule_by_folder_age_is_shown_as_such() {
    let mut stocked = Stocked::new(SIZES[1]);
    let session = ".gemini/tmp/p/tool-outputs/session-652ea467-f10c-44f8-8505-783b4fc9c305";
    let folder = stocked.dir.path().join(session);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("run_shell_command__fc0001abcdefghijklmn.txt"), "x\n").unwrap();
    stocked = stocked.shown();
    let (bench, stores) = (&mut stocked.bench, Stores::builtin());
    let specs: Vec<_> = stores.named("gemini-cli").cloned().collect();
    let entries = list(&specs, &bench.env, bench.now).entries;
    bench.update(OutputsEvent::Scanned(ScanStep::Begun {
        now: bench.now,
        user: 0,
        kept: Default::default(),
    }));
    bench.update(OutputsEvent::Scanned(ScanStep::Some(entries)));
    bench.update(OutputsEvent::Scanned(ScanStep::All(Vec::new())));
    assert!(bench.screen().contains(" deleted 30 d after its folder's last change"), "{}", bench.screen());
}

#[test]
fn copies_marked_rows_together_and_commands_if_all_have_one() {
    let stocked = Stocked::with_entries(SIZES[0]);
    stocked.run("tool_c8d4f08d50020000AbCdEfGhIjKl", &["sh", "-c", "exit 0"]);
    let mut stocked = stocked.shown();
    let bench = &mut stocked.bench;
    let shown = bench.keys("gy").screen();
    assert!(shown.contains(" i  id          tool_c8d4f08d50020000AbCdEfGhIjKl"), "{shown}");
    let copied = |bench: &Bench| match bench.asked.last() {
        Some(Effect::Copy(text)) => text.clone(),
        other => panic!("{other:?}"),
    };
    assert!(bench.keys("c").status().contains("copied command: sh -c 'exit 0'"), "{}", bench.status());
    assert_eq!(copied(bench), "sh -c 'exit 0'");
    assert!(bench.keys("*yi").status().contains("copied id of 6 rows, 195 B"), "{}", bench.status());
    assert_eq!(copied(bench).split(' ').filter(|id| id.starts_with("tool_")).count(), 6);
    assert!(!bench.keys("y").screen().contains(" c  command"), "{}", bench.screen());
    assert!(
        bench.keys("c").screen().contains("┌ Copy "),
        "a letter of nothing leaves the menu: {}",
        bench.screen()
    );
}

#[test]
fn the_sort_menu_picks_and_reverses() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let first = |bench: &Bench| bench.rows()[2].clone();
    let title = |bench: &Bench| bench.rows()[0].clone();
    stocked.bench.keys("sb");
    assert!(first(&stocked.bench).contains("3 MB"), "{}", first(&stocked.bench));
    stocked.bench.keys("sb");
    assert!(first(&stocked.bench).contains(" 0 B"), "{}", first(&stocked.bench));
    assert!(title(&stocked.bench).contains("sort: size, smallest first"), "{}", title(&stocked.bench));
    stocked.bench.keys("sjjj<Enter>");
    assert!(title(&stocked.bench).contains("sort: time left"), "{}", title(&stocked.bench));
    stocked.bench.keys("s<Esc>sq");
    assert!(title(&stocked.bench).contains("sort: time left"), "Esc and q change nothing");
}

#[test]
fn esc_restores_the_row_and_the_filter_of_before() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let chosen = |bench: &Bench| bench.stores().list.chosen().expect("an entry").entry.id().into_owned();
    let before = chosen(stocked.bench.keys("jjj"));
    assert_eq!(chosen(stocked.bench.keys("/overspill<Esc>")), before, "given up while typed");
    assert_eq!(chosen(stocked.bench.keys("/overspill<Enter><Esc>")), before, "given up later");
    assert_eq!(chosen(stocked.bench.keys("/nothing such<Enter><Esc>")), before);
    stocked.bench.keys("/overspill<Enter>/nothing such<Esc>");
    assert!(stocked.bench.rows()[0].contains("filter: overspill"), "the filter of before");
    let moved = chosen(stocked.bench.keys("j"));
    assert_eq!(chosen(stocked.bench.keys("<Esc>")), moved, "the row that was selected meanwhile");
    assert_ne!(moved, before);
}

#[test]
fn going_to_a_hidden_output_clears_the_filter() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let path = |bench: &Bench| bench.stores().list.chosen().map(|row| row.entry.path());
    let sought = path(stocked.bench.keys("G"));
    stocked.bench.keys("g/main<Enter>");
    assert_ne!(path(&stocked.bench), sought);
    let link = Link::Stores(sought.clone());
    let effects = stocked.bench.act(|app, effects| app.go_to(link, effects));
    stocked.bench.carry_out(effects);
    assert_eq!(path(&stocked.bench), sought);
    assert_eq!(stocked.bench.stores().list.filter_text(), "");
}

#[test]
fn a_narrow_list_shows_no_heading_without_its_values() {
    for width in [40, 42, 44] {
        let rows = Stocked::with_entries((width, 10)).shown().bench.rows();
        assert!(rows[1].trim_end().ends_with("model got  errors lost"), "{rows:#?}");
        assert!(rows.iter().any(|row| row.trim_end().ends_with("would get all            0")), "{rows:#?}");
        assert_eq!(rows[0].trim_end(), " Outputs │ Sessions   6 outputs · 3 MB", "whole, or left out");
        let mut stocked = Stocked::with_entries((width, 10)).shown();
        let title = stocked.bench.keys("/overspill<Enter>").rows()[0].clone();
        assert!(title.contains("   2 of 6 ") && title.contains("  filter: "), "{title}");
    }
}

#[test]
fn a_long_time_left_does_not_displace_errors_lost() {
    for width in 73..=90 {
        let stocked = Stocked::new((width, 10));
        stocked.entry("overspill", "tool_c8d4f08d50010000AbCdEfGhIjKl", &vec![b'x'; 3 << 20], 24 * 159);
        let rows = stocked.shown().bench.rows();
        assert!(rows[1].contains("errors lost") && rows[2].contains("overdue 152 d"), "{rows:#?}");
    }
}

#[test]
fn a_row_marked_for_deletion_says_to_delete() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let says =
        |bench: &Bench| bench.rows().iter().filter(|row| row.trim_end().ends_with("to delete")).count();
    assert_eq!(says(stocked.bench.keys("xx")), 2, "{:#?}", stocked.bench.rows());
    assert_eq!(says(stocked.bench.keys("U")), 1, "{:#?}", stocked.bench.rows());
    assert_eq!(says(stocked.bench.keys("U3x")), 3, "three rows: {:#?}", stocked.bench.rows());
    assert!(stocked.bench.keys("g0 ").screen().contains("1 output marked"), "{}", stocked.bench.screen());
    assert!(
        stocked.bench.keys("<Esc>g2 ").screen().contains("2 outputs marked"),
        "{}",
        stocked.bench.screen()
    );
    assert!(stocked.bench.rows()[4].starts_with('▌'), "{:#?}", stocked.bench.rows());
    assert!(
        stocked.bench.keys("<Esc>G9 ").screen().contains("1 output marked"),
        "{}",
        stocked.bench.screen()
    );
}

#[test]
fn deletion_says_how_much_of_it_a_filter_hides() {
    let mut stocked = Stocked::with_entries((120, 24)).shown();
    stocked.bench.keys("xxx");
    let asks = |bench: &mut Bench, keys: &str| bench.keys(keys).status().trim().to_owned();
    assert!(asks(&mut stocked.bench, "D").starts_with("Delete 3 outputs ("), "{}", stocked.bench.status());
    let asked = asks(&mut stocked.bench, "n/overspill<Enter>D");
    assert!(asked.contains("), 2 not shown?"), "{asked} {}", stocked.bench.screen());
    let asked = asks(&mut stocked.bench, "n/gemini<Enter>D");
    assert!(asked.contains("), not shown?"), "{asked} {}", stocked.bench.screen());
}

#[test]
fn the_heading_of_a_store_shortens_the_directory_and_never_the_rule() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let rows = stocked.bench.keys("t").rows();
    let heading = rows.iter().find(|row| row.starts_with("  opencode: /")).unwrap();
    assert!(heading.contains("…"), "{heading}");
    assert!(heading.contains("/tool-output · deleted 7 d after the last change · 4 outputs"), "{heading}");
}

#[test]
fn a_filter_shows_matches_and_total() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    let title = stocked.bench.keys("/overspill<Enter>").rows()[0].clone();
    assert!(title.starts_with(" Outputs │ Sessions   2 of 6 · 25 B "), "{title}");
}

#[test]
fn a_filter_matches_any_text_of_a_row() {
    let stocked = Stocked::with_entries(SIZES[0]);
    stocked.run("tool_c8d4f08d50010000AbCdEfGhIjKl", &["cargo", "build"]);
    let mut stocked = stocked.shown();
    let table = [
        ("overdue", "1 of 6"),
        ("Scanning projects", "1 of 6"),
        ("日本", "1 of 6"),
        ("CARGO build", "1 of 6"),
        ("bash", "1 of 6"),
        ("hostile opencode", "1 of 6"),
        ("owned", "0 of 6"),
    ];
    for (words, found) in table {
        let title = stocked.bench.keys(&format!("/{words}<Enter>")).rows()[0].clone();
        assert!(title.contains(&format!("   {found} · ")), "{words}: {title}");
        stocked.bench.keys("<Esc>");
    }
    stocked.bench.keys("/scanning<Enter>");
    stocked.entry("opencode", "tool_c8d4f08d9001AbCdEfGhIjKlMn", b"Scanning again\n", 2);
    let effects = stocked.bench.update(OutputsEvent::Changed);
    stocked.bench.carry_out(effects);
    let title = stocked.bench.rows()[0].clone();
    assert!(title.contains("   2 of 7 · "), "entries that another scan finds are searched too: {title}");
}

#[test]
fn a_filter_on_lost_finds_rows_off_the_screen() {
    let stocked = Stocked::new((80, 10));
    for n in 0..30 {
        stocked.entry("opencode", &format!("tool_c8d4f08d5{n:03}AbCdEfGhIjKlMn"), b"all of it\n", n);
    }
    stocked.entry("opencode", "tool_c8d4f08d9001AbCdEfGhIjKlMn", &test_log(8432), 40);
    let mut stocked = stocked.shown();
    let title = stocked.bench.keys("/lost<Enter>").rows()[0].clone();
    assert!(title.contains("   1 of 31 · "), "{title}");
}

#[test]
fn a_filter_finds_the_commands_of_calls_that_were_not_on_the_screen() {
    let stocked = Stocked::new((80, 10));
    let path = |n: usize| {
        let id = format!("tool_c8d4f08d5{n:03}AbCdEfGhIjKlMn");
        stocked.entry("opencode", &id, format!("entry {n}\n").as_bytes(), n as u64)
    };
    let paths: Vec<PathBuf> = (0..30).map(path).collect();
    let text = format!(
        "<persisted-output>\nOutput too large (8.7KB). Full output saved to: {}\n\nPreview (first 2KB):\nentry 29\n...\n</persisted-output>",
        paths[29].display()
    );
    let log = stocked.dir.path().join(format!(".claude/projects/-p/{SESSION}.jsonl"));
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    let records = [use_of("c1", "cargo build"), result_of("c1", &text, false)];
    std::fs::write(log, records.map(|record| format!("{record}\n")).concat()).unwrap();
    let mut stocked = stocked.shown();
    let title = stocked.bench.keys("/cargo<Enter>").rows()[0].clone();
    assert!(title.contains("   1 of 30 · "), "{title}");
}

#[test]
fn a_what_if_returns_when_its_output_is_opened_again() {
    let mut stocked = Stocked::with_entries((120, 24)).shown();
    let bench = &mut stocked.bench;
    let open = |bench: &mut Bench, name: &str| {
        let mut subject = subject(policy("opencode/output"));
        subject.file = Some(name.to_owned());
        let view = MapView::from_bytes(&test_log(3000)).unwrap();
        let effects = bench.show_opened(PagerInput::new(subject, view));
        bench.carry_out(effects);
        bench.rows()[0].contains("would get")
    };
    assert!(!open(bench, "/one"));
    assert!(bench.keys("lD<Enter>").rows()[0].contains("would get"), "{:?}", bench.rows());
    bench.keys("q");
    assert!(!open(bench, "/two"), "of another output");
    bench.keys("q");
    assert!(open(bench, "/one"), "{:?}", bench.rows());
    assert!(!bench.keys("lR<Enter>").rows()[0].contains("would get"), "{:?}", bench.rows());
    bench.keys("q");
    assert!(!open(bench, "/one"), "it was ended");
}

#[test]
fn an_output_without_a_command_is_named_by_its_first_line() {
    let mut stocked = Stocked::with_entries((200, 50)).shown();
    let bench = stocked.bench.keys("/scanning<Enter>");
    let beside = bench.rows()[1].clone();
    assert!(beside.contains("│ [INFO] Scanning for projects..."), "{beside}");
    bench.keys("<Enter>");
    let name = bench.asked.iter().find_map(|effect| match effect {
        Effect::Open(request) => Some(request.name.to_string()),
        _ => None,
    });
    assert_eq!(name.as_deref(), Some("[INFO] Scanning for projects..."));
}

#[test]
fn a_percentage_leads_to_a_row() {
    let stocked = Stocked::new((80, 10));
    for n in 0..41 {
        stocked.entry("opencode", &format!("tool_c8d4f08d5{n:03}AbCdEfGhIjKlMn"), b"x\n", n);
    }
    let mut stocked = stocked.shown();
    for (keys, place) in
        [("50%", "21 of 41"), ("100%", "41 of 41"), (":0%<Enter>", "1 of 41"), (":25%<Enter>", "11 of 41")]
    {
        let status = stocked.bench.keys(keys).status();
        assert!(status.contains(place), "{keys}: {status}");
    }
}

#[test]
fn a_filter_shows_how_much_is_searched() {
    let stocked = Stocked::new((80, 10));
    for n in 0..40 {
        let id = format!("tool_c8d4f08d5{n:03}AbCdEfGhIjKlMn");
        stocked.entry("opencode", &id, format!("entry {n}!").as_bytes(), n);
    }
    let mut stocked = stocked.shown();
    let has = |bench: &Bench, text: &str| bench.rows().iter().any(|row| row.contains(text));
    let key = KeyEvent::new(KeyCode::Char('!'), KeyModifiers::NONE);
    stocked.bench.keys("/");
    let mut effects = stocked.bench.update(Event::Paste("39".into()));
    effects.extend(stocked.bench.update(Event::Key(key)));
    assert!(has(&stocked.bench, "0 of 40 · searching first lines 0%"), "{:?}", stocked.bench.rows());
    assert!(has(&stocked.bench, "nothing matches “39!” yet"), "{:?}", stocked.bench.rows());
    stocked.bench.carry_out(effects);
    assert!(has(&stocked.bench, "   1 of 40 · 9 B"), "{:?}", stocked.bench.rows());
}

#[test]
fn columns_keep_a_gap_and_mark_shortened_text() {
    for width in [60, 72, 80, 100, 120, 139, 140, 200] {
        let stocked = Stocked::with_entries((width, 24));
        let long = "日本語の出力です".repeat(20);
        stocked.entry("opencode", "tool_c8d4f08d8001AbCdEfGhIjKlMn", long.as_bytes(), 3);
        let stocked = stocked.shown();
        let rows = stocked.bench.rows();
        for whole in ["hostile", "src/a.rs:10: fn main() {", "[INFO] Scanning for projects...", &long] {
            let start: String = whole.chars().take(6).collect();
            let row = rows[2..9].iter().find(|row| row.contains(&start)).expect(&start);
            let is_whole = row.contains(&format!("{whole}  "));
            assert!(is_whole || row.contains("…  "), "{width}: {row:?}");
        }
    }
}

#[test]
fn a_link_gets_no_warning_about_its_mode() {
    let stocked = Stocked::new((120, 24));
    stocked.entry("overspill", "tool_c8d4f08d50010000AbCdEfGhIjKl", b"target", 1);
    let store = stocked.dir.path().join(".local/share/overspill/tool-output");
    let link = store.join("tool_c8d4f08d50020000AbCdEfGhIjKl");
    std::os::unix::fs::symlink(store.join("tool_c8d4f08d50010000AbCdEfGhIjKl"), link).unwrap();
    let stocked = stocked.shown();
    let rows = stocked.bench.rows();
    let row = rows.iter().find(|row| row.contains("symbolic link")).expect("the link");
    assert!(!row.contains('!') && !row.contains("0777") && !rows[1].contains(" mode "), "{rows:?}");
}

#[test]
fn the_list_shows_commands_and_marks() {
    for size in SIZES {
        let stocked = Stocked::with_entries(size);
        stocked.run("tool_c8d4f08d50010000AbCdEfGhIjKl", &["cargo", "build", "\x1b[31m--release"]);
        let mut stocked = stocked.shown();
        keep("run", stocked.bench.keys("4j"));
        keep("two_marked", stocked.bench.keys("gj  "));
    }
}

#[test]
fn a_kept_output_has_no_time_left() {
    let stocked = Stocked::with_entries(SIZES[0]);
    stocked.entry("overspill", "tool_001a20feed397001U5yZfVLODbQO", b"ours", 165);
    let mut stocked = stocked.shown();
    stocked.bench.keys("5j");
    keep_selected(&mut stocked);
    let rows = stocked.bench.rows();
    let row = rows.iter().find(|row| row.starts_with('▌')).unwrap();
    assert!(row.trim_end().ends_with(" kept"), "{rows:?}");
    assert!(rows.iter().any(|row| row.contains("is kept forever")), "{rows:?}");
    keep_selected(&mut stocked);
    assert!(stocked.bench.screen().contains("kept already"), "{}", stocked.bench.screen());
    // Of several it stays, alone it can be deleted.
    let stays = stocked.bench.keys("  x").screen();
    assert!(stays.contains("you keep it; x on it alone deletes it"), "{stays}");
    let goes = stocked.bench.keys("Ukx").screen();
    assert!(goes.contains("you keep the marked one: U undo, D delete now"), "{goes}");
}

/// Presses K on the selected row, and does what it asks for.
fn keep_selected(stocked: &mut Stocked) {
    stocked.bench.keys("K");
    let is_keeping = |effect: &Effect| is_job(effect, Slot::Keep);
    if let Some(at) = stocked.bench.asked.iter().position(is_keeping)
        && let Effect::Run(job) = stocked.bench.asked.remove(at)
    {
        let effects = stocked.bench.run(job);
        stocked.bench.carry_out(effects);
    }
}

#[test]
fn a_narrow_list_drops_time_left_before_errors_lost() {
    for (size, has_time_left) in [((60, 15), false), ((80, 24), true)] {
        let stocked = Stocked::with_entries(size).shown();
        let headings = stocked.bench.rows()[1].clone();
        assert!(headings.contains("errors lost"), "{headings}");
        assert_eq!(headings.contains("time left"), has_time_left, "{headings}");
    }
}

#[test]
fn an_empty_output_says_so() {
    let stocked = Stocked::with_entries((120, 24)).shown();
    let rows = stocked.bench.rows();
    assert!(rows.iter().any(|row| row.contains("overspill  empty ")), "{rows:?}");
}

#[test]
fn keeping_several_outputs_sums_up_the_results() {
    let stocked = Stocked::new((120, 24));
    for letter in ["a", "b", "c"] {
        let id = format!("tool_c8d4f08d5001AbCdEfGhIjKlM{letter}");
        stocked.entry("opencode", &id, b"one\ntwo\n", 30);
    }
    let link = stocked.dir.path().join(".local/share/opencode/tool-output/tool_c8d4f08da001AbCdEfGhIjKlMn");
    std::os::unix::fs::symlink("elsewhere", link).unwrap();
    let mut stocked = stocked.shown();
    stocked.bench.keys("G");
    keep_selected(&mut stocked);
    stocked.bench.keys("/agent:opencode<Enter>*");
    keep_selected(&mut stocked);
    let said = "2 kept · 2 kept already · 1 cannot be kept: ";
    assert!(stocked.bench.status().contains(said), "{}", stocked.bench.screen());
    stocked.bench.keys("<Esc>/kept<Enter>*");
    keep_selected(&mut stocked);
    assert!(stocked.bench.status().contains(" 6 kept already"), "{}", stocked.bench.screen());
}

#[test]
fn a_kept_copy_is_not_measured_beside_its_original() {
    let stocked = Stocked::new((120, 24));
    let path = stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", &test_log(3000), 30);
    let mut stocked = stocked.shown();
    let before = stocked.bench.keys("l").rows()[0].clone();
    assert!(before.contains(" opencode/output · 1 output, "), "{before}");
    stocked.bench.keys("q");
    keep_selected(&mut stocked);
    assert!(stocked.bench.rows()[0].contains("2 outputs"), "{}", stocked.bench.screen());
    assert_eq!(stocked.bench.keys("l").rows()[0], before);
    std::fs::remove_file(path).unwrap();
    let alone = stocked.bench.keys("qRl").rows()[0].clone();
    assert!(alone.contains(" · 1 output, "), "{alone}");
}

#[test]
fn an_open_output_can_be_kept_and_shows_it() {
    let stocked = Stocked::new((120, 24));
    let file = stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", b"one\ntwo\n", 30);
    let mut stocked = stocked.shown();
    let subject = Subject { file: Some(file.to_string_lossy().into()), ..subject(policy("opencode/output")) };
    let again = subject.clone();
    stocked.bench.show_view(subject, MapView::from_bytes(b"one\ntwo\n").unwrap());
    assert!(!stocked.bench.rows()[0].contains("kept"), "{}", stocked.bench.rows()[0]);
    keep_selected(&mut stocked);
    let status = stocked.bench.status();
    assert!(status.contains("kept forever: ") && stocked.bench.rows()[0].contains(" kept "), "{status}");
    let own = stocked.dir.path().join(".local/share/overspill");
    let copies: Vec<_> = std::fs::read_dir(own.join("tool-output")).unwrap().flatten().collect();
    let [copy] = &copies[..] else { panic!("{copies:?}") };
    assert!(own.join("kept").join(copy.file_name()).exists(), "{copy:?}");
    keep_selected(&mut stocked);
    assert!(stocked.bench.status().contains("kept already"), "{}", stocked.bench.status());
    // Opened anew, it is not known to be kept until that is asked for.
    stocked.bench.show_view(again, MapView::from_bytes(b"one\ntwo\n").unwrap());
    keep_selected(&mut stocked);
    assert!(stocked.bench.status().contains("kept already"), "{}", stocked.bench.status());
    assert_eq!(std::fs::read_dir(own.join("tool-output")).unwrap().count(), 1);
}

#[test]
fn an_output_is_kept_again_once_its_copy_was_deleted() {
    let stocked = Stocked::new((120, 24));
    let file = stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", b"one\ntwo\n", 30);
    let mut stocked = stocked.shown();
    let subject = Subject { file: Some(file.to_string_lossy().into()), ..subject(policy("opencode/output")) };
    let copies = stocked.dir.path().join(".local/share/overspill/tool-output");
    let delete_copy = || {
        let found: Vec<_> = std::fs::read_dir(&copies).unwrap().flatten().collect();
        let [copy] = &found[..] else { panic!("{found:?}") };
        assert_eq!(std::fs::read(copy.path()).unwrap(), b"one\ntwo\n");
        std::fs::remove_file(copy.path()).unwrap();
    };
    keep_selected(&mut stocked);
    delete_copy();
    keep_selected(&mut stocked);
    assert!(stocked.bench.status().contains("is kept forever as a copy"), "{}", stocked.bench.status());
    delete_copy();
    for subject in [subject.clone(), Subject { file: None, ..subject }] {
        stocked.bench.show_view(subject, MapView::from_bytes(b"one\ntwo\n").unwrap());
        for _ in 0..2 {
            keep_selected(&mut stocked);
            assert!(stocked.bench.status().contains("kept forever: "), "{}", stocked.bench.status());
            delete_copy();
        }
    }
}

#[test]
fn keep_saves_piped_text_and_only_deleted_files() {
    let mut stocked = Stocked::new((120, 24));
    let text = "one\ntwo\n".repeat(300_000);
    stocked
        .bench
        .show_view(subject(policy("opencode/output")), MapView::from_bytes(text.as_bytes()).unwrap());
    keep_selected(&mut stocked);
    let own = stocked.dir.path().join(".local/share/overspill/tool-output");
    let saved: Vec<_> = std::fs::read_dir(&own).unwrap().flatten().collect();
    let [saved] = &saved[..] else { panic!("{saved:?}") };
    assert_eq!(std::fs::read_to_string(saved.path()).unwrap(), text);
    let status = stocked.bench.status();
    assert!(status.contains("kept forever: ") && stocked.bench.rows()[0].contains(" kept "), "{status}");
    // It is in a file from now on.
    let path = saved.path().to_string_lossy().into_owned();
    assert_eq!(stocked.bench.pager().output.subject.context.saved_as, path);
    stocked.bench.keys("O");
    let seen = stocked.bench.rows().join("\n");
    assert!(seen.contains(&path) && !seen.contains("not saved"), "{seen}");
    let file = stocked.dir.path().join("build.log");
    std::fs::write(&file, "text").unwrap();
    let name = file.to_string_lossy().into_owned();
    let elsewhere = Subject { file: Some(name.clone()), ..subject(policy("opencode/output")) };
    stocked.bench.show_view(elsewhere, MapView::from_bytes(b"text").unwrap());
    keep_selected(&mut stocked);
    let status = stocked.bench.status();
    assert!(status.contains("build.log: in no agent's store, so nothing deletes it"), "{name} {status}");
    std::fs::remove_file(file).unwrap();
    keep_selected(&mut stocked);
    let status = stocked.bench.status();
    assert!(status.contains("kept forever: ") && stocked.bench.rows()[0].contains(" kept "), "{status}");
    assert_eq!(std::fs::read_dir(&own).unwrap().count(), 2);
    // Another file is in its place now, which nobody has kept.
    std::fs::write(stocked.dir.path().join("build.log"), "another").unwrap();
    let view = MapView::from_bytes(b"another").unwrap();
    let (content, path) = (Change::Replaced, PathStatus::Current);
    let changed = ContentChange { view, content, path, streaming: false };
    stocked.bench.update(OutputEvent::Changed(changed));
    assert!(!stocked.bench.rows()[0].contains(" kept "), "{}", stocked.bench.rows()[0]);
    keep_selected(&mut stocked);
    let status = stocked.bench.status();
    assert!(status.contains("in no agent's store, so nothing deletes it"), "{status}");
}

/// Returns the file that a key has an editor open; `None` stands for that of the output.
fn edited(bench: &mut Bench) -> Option<PathBuf> {
    let asked = bench.keys("v").asked.pop();
    let Some(Effect::Edit { path, .. }) = asked else { panic!("{asked:?}") };
    path
}

#[test]
fn the_editor_opens_the_kept_copy_of_a_pipe_or_deleted_file() {
    let mut stocked = Stocked::new((120, 24));
    let view = MapView::from_bytes(b"text").unwrap();
    let file = stocked.dir.path().join("build.log").to_string_lossy().into_owned();
    for file in [None, Some(file)] {
        let subject = Subject { file: file.clone(), ..subject(policy("opencode/output")) };
        stocked.bench.show_view(subject, view.clone());
        assert_eq!(edited(&mut stocked.bench), None);
        let (content, path) = (Change::Same, PathStatus::Gone);
        let gone = ContentChange { view: view.clone(), content, path, streaming: false };
        file.iter().for_each(|_| drop(stocked.bench.update(OutputEvent::Changed(gone.clone()))));
        keep_selected(&mut stocked);
        let kept = edited(&mut stocked.bench).unwrap();
        assert_eq!(std::fs::read(&kept).unwrap(), b"text");
        let status = stocked.bench.keys("R").status();
        assert_eq!(status.contains("what was read is kept, and does not change"), file.is_none(), "{status}");
    }
}

#[test]
fn keep_refuses_a_pipe_that_is_still_coming() {
    let mut stocked = Stocked::new((120, 24));
    let view = MapView::from_bytes(b"one\n").unwrap();
    let subject = subject(policy("opencode/output"));
    let opened = PagerInput { streaming: true, is_named: true, ..PagerInput::new(subject, view) };
    stocked.bench.show_opened(opened);
    assert!(stocked.bench.status().contains("F follow  Tab whole"), "{}", stocked.bench.status());
    assert!(stocked.bench.keys("<Tab>").status().contains("Tab model got"), "{}", stocked.bench.status());
    let status = stocked.bench.keys("K").status();
    assert!(status.contains("still coming; keep it once it is complete"), "{status}");
    assert_eq!(stocked.bench.jobs(Slot::Keep), 0);
}

#[test]
fn keeps_one_output_at_a_time_and_reports_in_any_view() {
    let stocked = Stocked::new((120, 24));
    stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", b"one\ntwo\n", 30);
    let mut stocked = stocked.shown();
    stocked.bench.show_view(subject(policy("opencode/output")), MapView::from_bytes(b"text").unwrap());
    assert!(stocked.bench.keys("K").status().contains("keeping…"), "{}", stocked.bench.status());
    assert!(stocked.bench.keys("qK").status().contains("build.log is still being kept"));
    assert_eq!(stocked.bench.jobs(Slot::Keep), 1);
    let at = stocked.bench.asked.iter().position(|effect| is_job(effect, Slot::Keep)).unwrap();
    let Effect::Run(job) = stocked.bench.asked.remove(at) else { panic!("a job") };
    let effects = stocked.bench.run(job);
    stocked.bench.carry_out(effects);
    assert!(stocked.bench.status().contains("kept forever: "), "{}", stocked.bench.status());
    stocked.bench.keys("K");
    assert_eq!(stocked.bench.jobs(Slot::Keep), 1);
}

#[test]
fn ctrl_c_cancels_keeping_before_it_quits() {
    let mut stocked = Stocked::new((120, 24));
    let view = MapView::from_bytes(b"text").unwrap();
    let effects = stocked.bench.show_view(subject(policy("opencode/output")), view);
    stocked.bench.carry_out(effects);
    let status = stocked.bench.keys("K<^C>").status();
    assert!(status.contains("gave up keeping build.log") && stocked.bench.stops(Slot::Keep), "{status}");
    let quits = |bench: &Bench| bench.asked.iter().any(|effect| matches!(effect, Effect::Quit(_)));
    assert!(!quits(&stocked.bench));
    assert!(quits(stocked.bench.keys("<^C>")));
}

#[test]
fn keep_saves_all_marked_outputs() {
    let stocked = Stocked::new((120, 24));
    for letter in ["a", "b", "c"] {
        let id = format!("tool_c8d4f08d5001AbCdEfGhIjKlM{letter}");
        stocked.entry("opencode", &id, b"one\ntwo\n", 30);
    }
    let mut stocked = stocked.shown();
    stocked.bench.keys("g  ");
    keep_selected(&mut stocked);
    let screen = stocked.bench.screen();
    assert!(screen.contains("2 kept"), "{screen}");
    let copies = std::fs::read_dir(stocked.dir.path().join(".local/share/overspill/tool-output")).unwrap();
    assert_eq!(copies.count(), 2);
    let kept = stocked.bench.keys("/agent:opencode kept<Enter>").rows();
    assert_eq!(kept.iter().filter(|row| row.contains(" opencode ")).count(), 4, "{kept:?}");
}

#[test]
fn a_refused_deletion_gives_the_reason_and_keeps_the_mark() {
    let stocked = Stocked::new((80, 24));
    let file = stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", b"one", 30);
    let mut stocked = stocked.shown();
    let reader = std::fs::File::open(&file).unwrap();
    reader.lock_shared().unwrap();
    stocked.bench.keys("xDy");
    let Some(Effect::Delete(marked)) = stocked.bench.asked.pop() else { panic!("a deletion") };
    let (message, stayed) = delete(marked, &stocked.bench.env);
    stocked.bench.update(OutputsEvent::Deleted(message, stayed));
    let status = stocked.bench.status();
    assert!(status.contains("1 stayed: being written, or open in a viewer: tool_"), "{status}");
    assert_eq!(stocked.bench.app.pending().map(|pending| pending.len()), Some(1));
    assert!(file.exists());
}

#[test]
fn a_selected_link_stays_selected_when_links_are_added() {
    let stocked = Stocked::new((120, 24));
    let mut stocked = stocked.shown();
    let path = PathBuf::from("/stored/tool_1");
    let mut subject = subject(policy("opencode/output"));
    subject.file = Some(path.to_string_lossy().into());
    subject.context.saved_as = path.to_string_lossy().into();
    subject.policy.chosen_by = ChosenBy::Store(vec!["opencode/output".into()]);
    let opened = PagerInput::new(subject, MapView::from_bytes(b"text").unwrap());
    let effects = stocked.bench.show_opened(opened);
    stocked.bench.carry_out(effects);
    stocked.bench.update(Event::Key(KeyEvent::from(KeyCode::Char('='))));
    stocked.bench.update(OutputEvent::Record(path, Err(CallSearch::Found(Box::new(call("ls"))))));
    assert!(stocked.bench.screen().contains("call_7"), "{}", stocked.bench.screen());
    let title = &stocked.bench.keys("<Enter>").rows()[0];
    assert!(title.contains("Outputs"), "{title}");
}

/// Returns a call of an opencode session with this command.
fn call(command: &str) -> CitingCall {
    let file = SessionFile {
        format: "opencode",
        path: PathBuf::new(),
        id: "session_1".into(),
        size: 0,
        modified: None,
        facts: Default::default(),
    };
    CitingCall { file, call: "call_7".into(), command: command.into() }
}

#[test]
fn grouping_by_session_includes_outputs_off_the_screen() {
    let mut stocked = Stocked::with_entries((70, 5)).shown();
    let unknown = |stocked: &Stocked| {
        let rows = stocked.bench.stores().list.rows();
        let of_agents = rows.iter().filter(|row| row.entry.agent() == "opencode");
        of_agents
            .filter(|row| row.facts.as_ref().is_none_or(|facts| facts.call == Default::default()))
            .count()
    };
    assert!(unknown(&stocked) > 0, "some are below the screen");
    stocked.bench.keys("tt");
    assert_eq!(unknown(&stocked), 0, "and are looked for once they are grouped");
    stocked.bench.resize((40, 24));
    let entry = stocked.bench.stores().list.rows()[0].entry.clone();
    stocked.bench.update(OutputsEvent::Learned(
        0,
        Box::new(entry),
        OutputFact::Call(Some(Box::new(call("ls")))),
    ));
    let rows = stocked.bench.rows();
    assert!(rows.iter().any(|row| row.starts_with("  session_1 · 1 output · ")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.starts_with("  no session · 5 outputs · ")), "{rows:#?}");
    stocked.bench.keys("ttt");
    let named = |row: &&String| row.contains("…") && row.trim_end().ends_with("outputs · 3 MB");
    assert!(stocked.bench.rows().iter().any(|row| named(&row)), "the sum stays: {:#?}", stocked.bench.rows());
}

#[test]
fn a_recorded_share_replaces_the_measured_one() {
    let stocked = Stocked::new((120, 24));
    let lines: String = (1..=3000).map(|number| format!("line {number}\n")).collect();
    stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", lines.as_bytes(), 30);
    let mut stocked = stocked.shown();
    let row = |stocked: &Stocked| stocked.bench.rows()[2].clone();
    assert!(row(&stocked).contains("65%"), "no call is known: {}", row(&stocked));
    let entry = Box::new(stocked.bench.stores().list.chosen().unwrap().entry.clone());
    let share = ModelShare { got: KeptShare::Percent(7), is_past: true, lost: None, first_lost: None };
    let measured = ModelShare { got: KeptShare::Percent(65), ..share.clone() };
    let found = [OutputFact::Share(Some(share)), OutputFact::Call(Some(Box::new(call("make"))))];
    for fact in found.into_iter().chain([Some(measured), None].map(OutputFact::Share)) {
        stocked.bench.update(OutputsEvent::Learned(0, entry.clone(), fact));
        assert!(row(&stocked).contains(" 7%"), "and what is measured late is not: {}", row(&stocked));
    }
    assert!(row(&stocked).contains("make"), "{}", row(&stocked));
}

#[test]
fn an_estimated_share_is_marked_in_list_and_title() {
    let stocked = Stocked::new((120, 24));
    let lines: String = (1..=20_000).map(|number| format!("line {number}\n")).collect();
    stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", lines.as_bytes(), 30);
    let mut stocked = stocked.shown();
    let row = stocked.bench.rows()[2].clone();
    assert!(row.contains("~9%"), "{row}");
    let path = stocked.bench.keys("<Enter>").opened().unwrap();
    let title = Bench::open((120, 24), path, policy("opencode/shell")).rows()[0].clone();
    assert!(title.contains("got ~10%"), "{title}");
}

#[test]
fn a_kept_copy_is_listed_like_its_original() {
    let stocked = Stocked::new((120, 24));
    let lines: String = (1..=100).map(|number| format!("line {number} of a build\n")).collect();
    stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", lines.as_bytes(), 30);
    let limits = stocked.dir.path().join(".config/opencode/opencode.json");
    std::fs::create_dir_all(limits.parent().unwrap()).unwrap();
    std::fs::write(&limits, r#"{"tool_output": {"max_lines": 20}}"#).unwrap();
    let mut stocked = stocked.shown();
    let rows = |stocked: &Stocked| -> Vec<String> {
        let rows = stocked.bench.rows();
        rows.into_iter().filter(|row| row.contains("opencode")).map(|row| row.replace('▌', " ")).collect()
    };
    let call = call("cargo build\nls");
    let entry = stocked.bench.stores().list.chosen().unwrap().entry.clone();
    stocked.bench.update(OutputsEvent::Learned(0, Box::new(entry), OutputFact::Call(Some(Box::new(call)))));
    let [before] = &rows(&stocked)[..] else { panic!("{}", stocked.bench.screen()) };
    assert!(
        before.contains("cargo build") && before.contains("19%") && before.contains("5 d 18 h"),
        "{before}"
    );
    keep_selected(&mut stocked);
    // What the agent's limits are today says nothing of the copy.
    std::fs::remove_file(&limits).unwrap();
    stocked.bench.keys("R");
    let both = rows(&stocked);
    assert_eq!(both, [before.clone(), before.replace("5 d 18 h", "    kept")], "{}", stocked.bench.screen());
    for row in ["", "j"] {
        stocked.bench.keys(row);
        keep_selected(&mut stocked);
        let screen = stocked.bench.screen();
        assert!(screen.contains(": kept already"), "{screen}");
    }
    assert_eq!(rows(&stocked), both);
    stocked.bench.keys("/kept<Enter>");
    assert_eq!(rows(&stocked).len(), 2);
}

#[test]
fn the_title_shows_the_filter_at_every_width() {
    for width in [60, 70, 80, 120] {
        let mut stocked = Stocked::with_entries((width, 24)).shown();
        let rows = stocked.bench.keys("/overspill tool_e26cf<Enter>").rows();
        assert!(rows[0].contains("filter: "), "{width}: {rows:?}");
    }
}

#[test]
fn the_cleaning_question_is_never_cut_off() {
    for size in SIZES {
        let mut stocked = Stocked::with_entries(size).shown();
        let rows = stocked.bench.keys("X").rows();
        assert!(rows.iter().any(|row| row.contains("Enter marks them ")), "{rows:?}");
        assert!(rows.iter().any(|row| row.contains("Esc leaves them ")), "{rows:?}");
    }
    let mut stocked = Stocked::with_entries((60, 15)).shown();
    let rows = stocked.bench.keys("X").rows();
    assert!(rows.iter().any(|row| row.contains("Esc leaves them ─")), "{rows:?}");
    let rows = Stocked::with_entries((40, 15)).shown().bench.keys("X").rows();
    assert!(rows.iter().any(|row| row.contains("Enter marks them · Esc leaves them ")), "{rows:?}");
}

#[test]
fn cleaning_accounts_for_each_overdue_output_of_the_title() {
    let stocked = Stocked::new((120, 24));
    stocked.entry("opencode", "tool_1fca7be1d001AbCdEfGhIjKlMn", b"young by its id\n", 24 * 8);
    let mut stocked = stocked.shown();
    let rows = stocked.bench.keys("X").rows();
    assert!(rows[0].contains(" · overdue 1, "), "{rows:#?}");
    assert!(
        stocked.bench.status().contains("overdue but left: 1 output: kept, "),
        "{}",
        stocked.bench.status()
    );
    stocked.entry("opencode", "tool_0118bbe93001AbCdEfGhIjKlMn", b"old\n", 24 * 8);
    let rows = stocked.bench.keys("RX").rows();
    assert!(rows[0].contains(" · overdue 2, "), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("┌ Overdue: 1 output, 4 B ")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains(" overdue but left: 1 more: kept, ")), "{rows:#?}");
}

#[test]
fn stores_not_looked_at_yet() {
    let mut bench = Bench::new(SIZES[0]);
    bench.start_with_stores();
    keep("looking", &bench);
}

#[test]
fn stores_with_nothing_in_them() {
    for size in SIZES {
        let stocked = Stocked::new(size);
        let mut listing =
            overspill::internals::store::list(&looked_at(), &stocked.bench.env, stocked.bench.now);
        for report in listing.reports.iter_mut().flat_map(|(_, reports)| reports) {
            if let Ok(rest) = report.root.strip_prefix(stocked.dir.path()) {
                report.root = PathBuf::from("/home/me").join(rest);
            }
        }
        let mut bench = stocked.bench;
        bench.start_with_stores();
        bench.scanned(std::mem::take(&mut listing));
        keep("empty", &bench);
    }
}

#[test]
fn enter_opens_the_chosen_entry() {
    let mut stocked = Stocked::with_entries(SIZES[0]).shown();
    stocked.bench.keys("jj<Enter>");
    let opened = stocked.bench.opened().expect("an entry is opened");
    assert_eq!(opened.file_name().unwrap(), "tool_c8d4f08d6001AbCdEfGhIjKlMn");
}

#[test]
fn a_list_longer_than_the_screen_scrolls() {
    let stocked = Stocked::new((80, 10));
    for n in 0..40 {
        stocked.entry(
            "opencode",
            &format!("tool_c8d4f08d5{n:03}AbCdEfGhIjKlMn"),
            format!("entry {n}").as_bytes(),
            n,
        );
    }
    let mut stocked = stocked.shown();
    let has = |bench: &Bench, text: &str| {
        bench.rows().iter().any(|row| row.split("  ").any(|word| word.trim() == text))
    };
    assert!(has(&stocked.bench, "entry 0"), "{:?}", stocked.bench.rows());
    stocked.bench.keys("G");
    assert!(has(&stocked.bench, "entry 39") && !has(&stocked.bench, "entry 0"));
    stocked.bench.keys("g");
    assert!(has(&stocked.bench, "entry 0") && !has(&stocked.bench, "entry 39"));
}

#[test]
fn pasting_into_the_filter_narrows_the_list_at_once() {
    let list = || Stocked::with_entries(SIZES[0]).shown().bench;
    let mut pasted = list();
    pasted.keys("/");
    let effects = pasted.update(Event::Paste("overspill".into()));
    pasted.carry_out(effects);
    let mut typed = list();
    assert_eq!(pasted.keys("<Enter>").rows(), typed.keys("/overspill<Enter>").rows());
    assert_ne!(pasted.rows(), list().rows());
}

#[test]
fn the_side_preview_shows_only_the_selected_entry() {
    let mut stocked = Stocked::with_entries(SIZES[1]).shown();
    let bench = &mut stocked.bench;
    let glance = |of: &(PathBuf, Identity), words: &str| {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("output");
        std::fs::write(&file, words).unwrap();
        let view = overspill::internals::source::Source::open(&file).unwrap().view();
        let subject = crate::common::bench::subject(policy("opencode/output"));
        let mut output = OpenOutput::counted_now(subject, view);
        output.accept(output.task().run(&|| true).unwrap());
        let output = Some(Ok(Box::new(output)));
        OutputsEvent::Previewed(SidePreview { of: of.clone(), is_recorded: false, output })
    };
    let beside = |bench: &Bench| {
        let entry = &bench.stores().list.chosen().expect("an entry").entry;
        (entry.path(), entry.identity)
    };
    let first = beside(bench);
    let second = beside(bench.keys("j"));
    assert_eq!(bench.jobs(Slot::PlanBeside), 2, "one for each row that was chosen");
    bench.update(glance(&first, "too late"));
    assert!(!bench.screen().contains("too late"));
    bench.update(glance(&second, "just in time"));
    assert!(bench.screen().contains("just in time"));
    bench.keys("<Esc>");
    assert_eq!(bench.jobs(Slot::PlanBeside), 2, "nothing is asked for again");
    assert!(bench.screen().contains("just in time"));
    std::fs::write(&second.0, "it has grown since").unwrap();
    let effects = bench.update(OutputsEvent::Changed);
    bench.carry_out(effects);
    assert_ne!(beside(bench), second);
    assert!(!bench.screen().contains("just in time"));
}

#[test]
fn an_unfinished_output_is_not_kept() {
    let mut stocked = Stocked::new((80, 24));
    stocked.entry("overspill", ".tmp-tool_c8d4f08d50010000AbCdEfGhIjKl", b"half", 1);
    stocked.bench.env = Env::hermetic(stocked.dir.path());
    let effects = stocked.bench.start_with_stores();
    stocked.bench.carry_out(effects);
    stocked.bench.keys("K");
    let asked = |bench: &Bench| bench.jobs(Slot::Keep) > 0;
    assert!(
        !asked(&stocked.bench) && stocked.bench.screen().contains("unfinished"),
        "{}",
        stocked.bench.screen()
    );
}

#[test]
fn keeping_shows_progress_and_can_be_cancelled() {
    let mut stocked = Stocked::new((80, 24));
    stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", &[b'x'; 1000], 1);
    stocked.bench.env = Env::hermetic(stocked.dir.path());
    let effects = stocked.bench.start_with_stores();
    stocked.bench.carry_out(effects);
    stocked.bench.keys("K");
    let foot = |bench: &Bench| bench.rows().pop().unwrap();
    stocked.bench.update(OutputsEvent::Copied(450));
    let words = "keeping tool_c8d4f08d5001AbCdEfGhIjKlMn: 45% of 1000 B…  ^C gives up";
    assert!(foot(&stocked.bench).contains(words), "{}", foot(&stocked.bench));
    // One after the other.
    stocked.bench.keys("K");
    assert!(foot(&stocked.bench).contains("is still being kept"), "{}", foot(&stocked.bench));
    assert_eq!(stocked.bench.jobs(Slot::Keep), 1);
    stocked.bench.keys("<^C>");
    assert!(foot(&stocked.bench).contains("gave up keeping tool_c8d"), "{}", foot(&stocked.bench));
    assert!(stocked.bench.stops(Slot::Keep));
    stocked.bench.keys("j");
    assert!(!foot(&stocked.bench).contains("keeping"), "{}", foot(&stocked.bench));
}

#[test]
fn times_outside_the_date_range_are_shown() {
    for (seconds, status, age) in
        [(i64::MAX, EntryStatus::FutureTime, " –  "), (i64::MIN, EntryStatus::Ok, "439236…")]
    {
        let mut stocked = Stocked::new((120, 24));
        stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", b"out of time", 1);
        stocked.bench.env = Env::hermetic(stocked.dir.path());
        stocked.bench.start_with_stores();
        let mut listing = list(&looked_at(), &stocked.bench.env, stocked.bench.now);
        // No file system here can hold such a time.
        for entry in &mut listing.entries {
            (entry.identity.modified.seconds, entry.status) = (seconds, status);
        }
        let effects = stocked.bench.scanned(listing);
        stocked.bench.carry_out(effects);
        let row = stocked.bench.rows().into_iter().find(|row| row.contains("opencode ")).unwrap();
        assert!(row.contains(age), "{row}");
        for keys in [
            "sl", "sb", "s<Enter>", "s<Enter>", "t", "t", "t", "t", "X", "<Esc>", "=", "<Esc>", "x", "U",
            "K", "<Esc>",
        ] {
            stocked.bench.keys(keys).draw();
        }
        stocked.bench.keys("<Enter>=").draw();
    }
}

#[test]
fn reports_an_unreadable_directory_once() {
    let mut stocked = Stocked::new((120, 24));
    let root = stocked.dir.path().join(".local/share/opencode");
    std::fs::create_dir_all(&root).unwrap();
    // It leads to itself.
    std::os::unix::fs::symlink("tool-output", root.join("tool-output")).unwrap();
    stocked.bench.env = Env::hermetic(stocked.dir.path());
    let mut stocked = stocked.shown();
    let foot = |bench: &Bench| bench.rows().pop().unwrap();
    assert!(
        foot(&stocked.bench).contains("opencode/tool-output: cannot be read: "),
        "{}",
        foot(&stocked.bench)
    );
    stocked.bench.keys("R");
    assert!(!foot(&stocked.bench).contains("cannot be read"), "{}", foot(&stocked.bench));
}

#[test]
fn lines_of_all_outputs_open_their_output() {
    for size in SIZES {
        let stocked = Stocked::with_entries(size);
        let word =
            |number| if number % 1200 == 0 { "\terror[E0308]: \x1b[31mmismatched\x1b[0m" } else { "fine" };
        let long: String = (1..=4000).map(|number| format!("{} {number}\n", word(number))).collect();
        stocked.entry("opencode", "tool_c8d4f08d8001AbCdEfGhIjKlMn", long.as_bytes(), 3);
        let mut stocked = stocked.shown();
        keep("lines_found", stocked.bench.keys("&error|info<Enter>j"));
        keep("lines_lost", stocked.bench.keys("/lost<Enter>"));
        stocked.bench.keys("<Enter>");
        let opened = stocked.bench.opened().unwrap();
        assert!(opened.ends_with("tool_c8d4f08d8001AbCdEfGhIjKlMn"), "{opened:?}");
        keep("no_line_found", stocked.bench.keys("&nowhere<Enter>"));
        stocked.bench.keys("&(<Enter>");
        assert!(stocked.bench.screen().contains("unclosed group at column 1"), "{}", stocked.bench.screen());
        stocked.bench.keys("<Esc><Esc>");
        assert!(stocked.bench.rows()[0].contains("Outputs"), "{}", stocked.bench.rows()[0]);
    }
}

/// As it does in the sessions, in `sessions.rs`.
#[test]
fn the_list_of_found_lines_says_that_it_stops_at_50_000() {
    let stocked = Stocked::new((120, 24));
    let long = "error\n".repeat(50_100);
    stocked.entry("opencode", "tool_c8d4f08d8001AbCdEfGhIjKlMn", long.as_bytes(), 3);
    let mut stocked = stocked.shown();
    let title = stocked.bench.keys("&error<Enter>").rows()[0].clone();
    assert!(title.contains("the first 50,000 lines in 1 of 1 output · 48,000 lost · with error"), "{title}");
}

/// The model gets the first 2,000 of 4,000 lines; the last hit is on the last screen of the output.
#[test]
fn opening_a_found_line_makes_it_the_current_match() {
    let word = |number: u64| if [1200, 2400, 3990].contains(&number) { "error" } else { "fine" };
    let long: String = (1..=4000).map(|number| format!("{} {number}\n", word(number))).collect();
    for size in SIZES {
        for (moves, number, line) in [("", 1, 1200), ("j", 2, 2400), ("jj", 3, 3990)] {
            let stocked = Stocked::new(size);
            let path = stocked.entry("opencode", "tool_c8d4f08d8001AbCdEfGhIjKlMn", long.as_bytes(), 3);
            let mut stocked = stocked.shown();
            let bench = &mut stocked.bench;
            bench.keys(&format!("&error<Enter>{moves}<Enter>"));
            let effects = bench.open_requested(&path, policy("opencode/output"));
            bench.carry_out(effects);
            let expected = format!("/error {number} of 3");
            assert!(bench.status().contains(&expected), "{expected}: {}", bench.status());
            bench.keys("v");
            let edited = bench.asked.iter().rev().find_map(|effect| match effect {
                Effect::Edit { line, .. } => Some(*line),
                _ => None,
            });
            assert_eq!(edited, Some(line), "the current line");
            let next = format!("/error {} of 3", number % 3 + 1);
            assert!(bench.keys("n").status().contains(&next), "{next}: {}", bench.status());
        }
    }
}

/// The notice before the text has the size of the output, which is counted after the match is found.
#[test]
fn a_match_stays_the_current_one_when_the_notice_before_it_becomes_longer() {
    let word = |number: u64| if [18, 21].contains(&number) { "error" } else { "fine" };
    let long: String = (1..=30_000).map(|number| format!("{} {number}\n", word(number))).collect();
    let stocked = Stocked::new(SIZES[0]);
    let path = stocked.entry("opencode", "tool_c8d4f08d8001AbCdEfGhIjKlMn", long.as_bytes(), 3);
    let mut stocked = stocked.shown();
    stocked.bench.keys("&error<Enter>j<Enter>");
    let effects = stocked.bench.open_requested(&path, policy("claude-code/bash"));
    stocked.bench.carry_out(effects);
    assert!(stocked.bench.status().contains("/error 2 of 2"), "{}", stocked.bench.status());
}

#[test]
fn found_lines_use_the_names_of_the_output_list() {
    let stocked = Stocked::new((120, 40));
    let (id, text) = ("tool_c8d4f08d50020000AbCdEfGhIjKl", "fine\n".repeat(2100) + "error: no\n");
    stocked.entry("overspill", id, text.as_bytes(), 0);
    stocked.run(id, &["cargo", "clippy", "--all-targets"]);
    let mut stocked = stocked.shown();
    let bench = stocked.bench.keys("&error<Enter>");
    let row = bench.rows().into_iter().find(|row| row.contains("error: no")).unwrap();
    assert!(row.contains("cargo clippy --all-targ"), "{row}");
    assert!(row.contains("lost: over 2,000 lines"), "{row}");
    bench.keys("<Enter>");
    let Some(Effect::Open(request)) = bench.asked.last() else { panic!("{:?}", bench.asked.last()) };
    assert_eq!(request.name.to_string(), "cargo clippy --all-targets");
    assert_eq!((&*request.command, &*request.id), ("cargo clippy --all-targets", id));
}

#[test]
fn a_found_line_without_a_command_shows_the_first_line() {
    let mut stocked = Stocked::with_entries((120, 24)).shown();
    let bench = stocked.bench.keys("&fn main<Enter>");
    let rows = bench.rows();
    assert!(rows.iter().any(|row| row.contains("  src/a.rs:10: fn main() {     1  ")), "{rows:#?}");
    assert!(
        rows.iter().any(|row| row.starts_with(" opencode src/a.rs:10: fn main() { · line 1")),
        "{rows:#?}"
    );
    bench.keys("<Enter>");
    let Some(Effect::Open(request)) = bench.asked.last() else { panic!("{:?}", bench.asked.last()) };
    assert_eq!((&*request.name, &*request.command), ("src/a.rs:10: fn main() {", ""));
}

#[test]
fn a_narrow_list_of_found_lines_prefers_text_to_place() {
    let stocked = Stocked::with_entries((40, 10));
    stocked.entry(
        "opencode",
        "tool_c8d4f08d8001AbCdEfGhIjKlMn",
        b"fine\nerror[E0308]: mismatched types\n",
        3,
    );
    let mut stocked = stocked.shown();
    let rows = stocked.bench.keys("&E0308<Enter>").rows();
    assert!(rows.iter().any(|row| row.contains(" 2  ") && row.contains("error[E0308]: mism")), "{rows:#?}");
}

#[test]
fn text_in_utf_16_is_read_as_text_and_its_errors_are_not_counted() {
    let stocked = Stocked::new((120, 24));
    let text: String = (0..100).map(|n| format!("{n} error: none such\n")).collect();
    let units: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    stocked.entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", &units, 30);
    let row = stocked.shown().bench.rows()[2].clone();
    assert!(row.contains("  0 error: none such") && row.contains("–  "), "{row}");
}
