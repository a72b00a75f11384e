//! Bars 13 to 20 of the table of faults, tested through the commands.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

use crate::common::home::{Ran, fifo, finish};
use crate::stores_cli::stocked::{ID, OTHER, Stocked, done, name, own_id};

const EVERYTHING: [&str; 7] = ["clean", "--yes", "--all", "--older-than", "0s", "--max-total", "0"];

#[test]
fn links_pipes_and_directories_survive_every_command() {
    let home = Stocked::new();
    let outside = home.put(&home.dir("home/outside"), "precious", 240);
    let root = home.own_root();
    let paths: Vec<PathBuf> = (0..=5).map(|n| root.join(own_id(n, 240))).collect();
    let at = |n: usize| &paths[n];
    symlink(&outside, at(1)).unwrap();
    fs::create_dir(at(2)).unwrap();
    home.put(&at(2).join("inside"), "precious", 240);
    fs::hard_link(&outside, at(3)).unwrap();
    fifo(at(4));
    let _socket = std::os::unix::net::UnixListener::bind(at(5)).unwrap();
    symlink(home.dir("home"), home.dir("data/linked-fork")).unwrap();
    home.put(&home.dir("home/tool-output").join(ID), "precious", 240);
    let ran = done(home.run(&EVERYTHING));
    assert!(ran.text().contains("symbolic link") && ran.text().contains("not a file"), "{}", ran.text());
    for n in 1..=5 {
        let id = name(at(n));
        assert_eq!(home.run(&["rm", "--yes", id]).status, 1, "{n}");
        assert!(at(n).symlink_metadata().is_ok(), "{n}");
        done(home.run(&["show", id]));
    }
    assert_eq!(fs::read(&outside).unwrap(), b"precious");
    assert!(at(2).join("inside").exists() && home.dir("home/tool-output").join(ID).exists());
    assert_eq!(home.log(), "");
}

#[test]
fn another_owner_s_file_is_left_alone() {
    if !crate::common::skip::is_root("give a file away") {
        return;
    }
    let home = Stocked::new();
    let path = home.entry("opencode", ID, "x", 240);
    std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
    let ran = done(home.run(&EVERYTHING));
    assert!(ran.text().contains("another owner"), "{}", ran.text());
    home.run(&["rm", "--yes", ID]).fails(1, &["another owner"]);
    assert!(home.run(&["show", ID]).ok().text().contains("12345 (another user)"));
    assert!(path.exists());
}

#[test]
fn odd_names_stay_inside_their_store() {
    let home = Stocked::new();
    let root = home.own_root();
    let ours = own_id(1, 240);
    let names =
        [format!("{ours}\n"), format!(" {ours}"), format!("{ours}x"), "..tool_".into(), "t".repeat(255)];
    let odd: Vec<PathBuf> = names.iter().map(|name| home.put(&root.join(name), "x", 240)).collect();
    let inner = home.put(&root.join("dir").join(&ours), "x", 240);
    assert_eq!(home.listed(&[]), [""; 0]);
    done(home.run(&EVERYTHING));
    for word in ["../../../home/x", "/etc/passwd", "..", ".", "", "*"] {
        assert_ne!(home.run(&["rm", "--yes", word]).status, 0, "{word}");
    }
    assert!(odd.iter().chain([&inner]).all(|path| path.exists()));
}

#[test]
fn an_entry_that_is_locked_is_kept() {
    let home = Stocked::new();
    let [read, written, free] = [1, 2, 3].map(|n| home.own(n, "x", 240));
    let (reader, writer) = (File::open(&read).unwrap(), File::open(&written).unwrap());
    flock(&reader, FlockOperation::LockShared).unwrap();
    flock(&writer, FlockOperation::LockExclusive).unwrap();
    let ran = home.run(&["clean", "--yes"]).ok();
    for path in [&read, &written] {
        let line = format!("kept: {}: being written, or open in a viewer\n", path.display());
        assert!(path.exists() && ran.text().contains(&line), "{}", ran.text());
    }
    assert!(!free.exists());
}

#[test]
fn a_time_in_the_future_is_kept_and_marked() {
    let home = Stocked::new();
    let path = home.own(1, "x", 240);
    let later = SystemTime::now() + Duration::from_secs(3600);
    File::open(&path).unwrap().set_modified(later).unwrap();
    done(home.run(&EVERYTHING));
    assert!(path.exists());
    let list = home.run(&["list"]).ok();
    assert!(list.text().starts_with("–\toverspill\ttime in the future\t"), "{}", list.text());
}

#[test]
fn an_own_store_open_to_others_is_refused() {
    let home = Stocked::new();
    let path = home.own(1, "x", 240);
    let theirs = home.entry("opencode", OTHER, "x", 240);
    let refused = |words: &[&str]| {
        for command in [&["clean", "--yes"][..], &["clean", "--yes", "--all"], &["rm", "--yes", name(&path)]]
        {
            home.run(command).fails(1, words);
        }
        assert!(theirs.exists());
    };
    for mode in [0o750, 0o701, 0o777] {
        fs::set_permissions(home.own_root(), PermissionsExt::from_mode(mode)).unwrap();
        refused(&["tool-output", "open to others", "chmod 700"]);
    }
    fs::set_permissions(home.own_root(), PermissionsExt::from_mode(0o700)).unwrap();
    fs::set_permissions(home.dir("data/overspill"), PermissionsExt::from_mode(0o755)).unwrap();
    refused(&["data/overspill: is open to others", "chmod 700"]);
    fs::set_permissions(home.dir("data/overspill"), PermissionsExt::from_mode(0o700)).unwrap();
    let moved = home.dir("data/moved");
    fs::rename(home.own_root(), &moved).unwrap();
    fs::remove_dir(home.own_root()).unwrap();
    symlink(&moved, home.dir("data/overspill/tool-output")).unwrap();
    refused(&["tool-output", "symbolic link", "move it away"]);
    assert!(moved.join(name(&path)).exists());
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    for umask in ["000", "022", "277"] {
        let home = Stocked::new();
        let path = home.entry("opencode", OTHER, "x", 240);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("umask {umask}; exec \"$0\" clean --yes --agent opencode")]);
        command.arg(env!("CARGO_BIN_EXE_overspill")).current_dir(home.work()).env_clear().envs(home.env());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap()).ok();
        assert!(!path.exists(), "{umask}");
        let own = home.dir("data/overspill");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!((mode(&own), mode(&own.join("tool-output"))), (0o700, 0o700), "{umask}");
        for file in [".lock", "deletions.log"] {
            assert_eq!(mode(&own.join(file)), 0o600, "{umask} {file}");
        }
    }
}

/// Half of them clean everything that is due, half only overspill's own store; meanwhile entries come and go.
#[test]
fn eight_cleaners_at_once_delete_only_overdue_outputs() {
    const FILES: u16 = 3_000;
    let home = Stocked::new();
    let (mut due, mut staying) = (BTreeSet::new(), BTreeSet::new());
    for n in 0..FILES {
        match n % 4 {
            0 => staying.insert(home.own(n, "young", 24)),
            _ => due.insert(home.own(n, "due", 240)),
        };
    }
    for n in FILES..FILES + 20 {
        let path = home.own(n, "linked", 240);
        fs::hard_link(&path, home.dir("home").join(name(&path))).unwrap();
        staying.insert(path);
    }
    let started: Vec<_> = (0..8)
        .map(|n| if n % 2 == 0 { &["clean", "--yes"][..] } else { &["clean", "--yes", "--all", "--json"] })
        .map(|words| home.command(words).spawn().unwrap())
        .collect();
    let gone_meanwhile = due.iter().nth(1_000).unwrap();
    let _ = fs::remove_file(gone_meanwhile);
    let ran: Vec<Ran> = started.into_iter().map(finish).collect();
    for ran in &ran {
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.is_empty() || ran.stderr.contains("another cleaning"), "{}", ran.stderr);
    }
    assert!(ran.iter().any(|ran| ran.stderr.is_empty()), "nobody cleaned");
    let left: BTreeSet<PathBuf> =
        fs::read_dir(home.own_root()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left.difference(&staying).count(), 0, "due and still there");
    assert_eq!(staying.difference(&left).count(), 0, "deleted by mistake");
    let logged = home.log().lines().count();
    assert!((due.len() - 1..=due.len()).contains(&logged), "{logged} of {}", due.len());
}

#[test]
fn deletes_nothing_if_the_deletion_log_is_not_a_file() {
    let home = Stocked::new();
    let path = home.own(1, "x", 240);
    let log = home.dir("data/overspill").join("deletions.log");
    let elsewhere = home.file("elsewhere", "mine");
    let put: [&dyn Fn(); 3] = [
        &|| assert!(Command::new("mkfifo").arg(&log).status().unwrap().success()),
        &|| symlink(&elsewhere, &log).unwrap(),
        &|| fs::create_dir(&log).unwrap(),
    ];
    for put in put {
        put();
        for words in [&["clean", "--yes"][..], &["rm", "--yes", name(&path)]] {
            let ran = home.run(words);
            assert_eq!(ran.status, 1, "{ran:?}");
            assert!(ran.stderr.contains("deletions.log: is not a regular file; remove it"), "{ran:?}");
        }
        assert!(path.exists());
        let _ = fs::remove_file(&log).or_else(|_| fs::remove_dir(&log));
    }
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "mine");
}

/// An automatic cleaning of another command takes a moment, and a person who deletes an output should not hear of it.
#[cfg(target_os = "linux")]
#[test]
fn an_output_is_deleted_once_another_cleaning_has_ended() {
    let home = Stocked::new();
    let path = home.own(1, "x", 24);
    home.run(&["rm", "--yes", name(&home.own(2, "y", 24))]).ok();
    let lock = home.dir("data/overspill").join(".lock");
    let held = fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let mut running = home.command(&["rm", "--yes", name(&path)]).spawn().unwrap();
    let descriptors = PathBuf::from(format!("/proc/{}/fd", running.id()));
    let has_asked = || {
        let mut open = fs::read_dir(&descriptors).unwrap().filter_map(Result::ok);
        open.any(|file| fs::read_link(file.path()).is_ok_and(|target| target == lock))
    };
    while !has_asked() {
        assert_eq!(running.try_wait().unwrap(), None, "it ended without asking");
        std::thread::yield_now();
    }
    drop(held);
    let ran = finish(running).ok();
    assert!(ran.text().starts_with("deleted: ") && !path.exists(), "{ran:?}");
}
