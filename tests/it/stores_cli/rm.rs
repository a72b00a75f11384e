//! `rm`: deleting single outputs.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{FlockOperation, flock};

use crate::stores_cli::stocked::{ID, OTHER, Stocked, name};

#[test]
fn rm_deletes_only_the_named_entries() {
    let home = Stocked::new();
    let [one, two, three] = [1, 2, 3].map(|n| home.own(n, "x", 1));
    let theirs = home.entry("opencode", ID, "xyz", 1);
    home.run(&["rm", name(&one)]).fails(2, &["cannot ask for confirmation", "--yes"]);
    home.run(&["rm", name(&one), "nosuch"]).fails(1, &["nosuch: no such file"]);
    let ran = home.run(&["rm", "--yes", name(&one), theirs.to_str().unwrap(), name(&one)]).ok();
    let expected = format!("deleted: {}, 1 B\ndeleted: {}, 3 B\n", one.display(), theirs.display());
    assert_eq!(ran.text(), expected);
    assert!(!one.exists() && !theirs.exists() && two.exists() && three.exists());
    assert_eq!(home.log().matches(r#""rule":"asked""#).count(), 2, "{}", home.log());
}

#[test]
fn rm_refuses_files_that_are_not_stored_outputs() {
    let home = Stocked::new();
    let entry = home.own(1, "x", 1);
    let outside = home.file("notes.txt", "precious");
    let inside = home.put(&home.own_root().join("notes.txt"), "precious", 1);
    for path in [&outside, &inside, &home.own_root()] {
        let words = ["rm", "--yes", name(&entry), path.to_str().unwrap()];
        home.run(&words).fails(1, &["is not a stored output", "`rm` deletes only those"]);
    }
    home.run(&["rm", "--yes", "notes.txt"]).fails(1, &["is not a stored output"]);
    let around = format!("{}/../../../work/notes.txt", home.own_root().display());
    home.run(&["rm", "--yes", &around]).fails(1, &["is not a stored output"]);
    assert!(entry.exists() && outside.exists() && inside.exists());
}

#[test]
fn rm_deletes_nothing_if_one_cannot_go() {
    let home = Stocked::new();
    let plain = home.entry("opencode", ID, "x", 1);
    let link = plain.with_file_name(OTHER);
    symlink(&plain, &link).unwrap();
    home.run(&["rm", "--yes", ID, OTHER]).fails(1, &["symbolic link", OTHER, "nothing was deleted"]);
    assert!(plain.exists() && link.exists());
}

#[test]
fn rm_yes_does_not_delete_a_hard_link() {
    let home = Stocked::new();
    let path = home.own(1, "x", 1);
    fs::hard_link(&path, home.at("other")).unwrap();
    home.run(&["rm", "--yes", name(&path)]).fails(1, &["hard link", "other names", "without --yes"]);
    assert!(path.exists());
}

#[test]
fn rm_refuses_open_outputs_and_kept_ones_among_others() {
    let home = Stocked::new();
    let [kept, open] = [1, 2].map(|n| home.own(n, "x", 1));
    home.put(&home.dir("data/overspill/kept").join(name(&kept)), "", 0);
    home.run(&["rm", "--yes", name(&open), name(&kept)])
        .fails(1, &["you keep it", name(&kept), "name it alone"]);
    let viewer = fs::File::open(&open).unwrap();
    flock(&viewer, FlockOperation::LockShared).unwrap();
    home.run(&["rm", "--yes", name(&open)]).fails(1, &["open in a viewer", name(&open)]);
    assert!(kept.exists() && open.exists());
    drop(viewer);
    home.run(&["rm", "--yes", name(&open)]).ok();
    home.run(&["rm", "--yes", name(&kept)]).ok();
    assert!(!kept.exists() && !open.exists());
}

#[test]
fn an_empty_id_names_nothing() {
    let home = Stocked::new();
    let only = home.own(1, "x", 1);
    let commands: [&[&str]; 7] = [
        &["rm", "--yes", ""],
        &["rm", ""],
        &["show", ""],
        &["preview", ""],
        &["read", ""],
        &["compare", ""],
        &[""],
    ];
    for words in commands {
        home.run(words).fails(2, &["the empty string is neither a file nor an id"]);
    }
    home.run(&["rm", "--yes", name(&only), ""]).fails(2, &["the empty string"]);
    assert!(only.exists(), "the only output there is");
}
