//! What is read of files that others may have put there, and links and owners on the way to a file in a project.

#[cfg(feature = "records")]
use std::os::unix::fs::{chown, symlink};

use super::*;

fn fault(path: &Path) -> String {
    read(path).unwrap_err().to_string()
}

#[test]
fn only_small_regular_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("small"), "key = 1\n").unwrap();
    std::os::unix::fs::symlink(at("small"), at("link")).unwrap();
    assert_eq!(read(&at("small")).unwrap(), "key = 1\n");
    assert_eq!(read(&at("link")).unwrap(), "key = 1\n");
    assert_eq!(read(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    let made = std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap();
    assert!(made.success());
    assert!(fault(&at("fifo")).contains("not a regular file"));
    assert!(fault(Path::new("/dev/zero")).contains("not a regular file"));
    assert!(fault(dir.path()).contains("not a regular file"));
    std::fs::write(at("most"), vec![b' '; MAX_BYTES as usize]).unwrap();
    assert_eq!(read(&at("most")).unwrap().len() as u64, MAX_BYTES);
    File::create(at("large")).unwrap().set_len(MAX_BYTES + 1).unwrap();
    assert!(fault(&at("large")).contains("larger than 1 MiB"));
    std::fs::write(at("bytes"), b"\xff").unwrap();
    assert!(fault(&at("bytes")).contains("UTF-8"));
}

#[test]
fn a_long_fault_is_shortened_in_the_middle() {
    assert_eq!(ellipsize("a\nb"), "a b");
    let told = ellipsize(&format!("begins {} ends", "é".repeat(5000)));
    assert!(
        told.starts_with("begins é") && told.ends_with("é ends") && told.chars().count() == 301,
        "{told}"
    );
}

#[test]
fn trusts_directories_of_the_user_and_of_root() {
    assert!(is_trusted(7, 7) && is_trusted(0, 7) && !is_trusted(8, 7) && !is_trusted(8, 0));
}

#[cfg(feature = "records")]
#[test]
fn project_files_are_not_read_through_links_or_from_other_users() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("way");
    std::fs::create_dir_all(dir.path().join("project/.agent")).unwrap();
    symlink(dir.path().join("project"), &project).unwrap();
    let at = |name: &str| project.join(name);
    let fault = |name: &str| {
        check_in_project(&project, &at(name))
            .err()
            .map(|(path, error)| format!("{}: {error}", path.strip_prefix(&project).unwrap().display()))
    };
    std::fs::write(at(".agent/a.db"), "").unwrap();
    assert_eq!(fault(".agent/a.db"), None, "the way to the project may be a link");
    symlink(at(".agent"), at("linked")).unwrap();
    symlink(at(".agent/a.db"), at(".agent/linked.db")).unwrap();
    let link = "is a link in a project, and is not followed";
    assert_eq!(fault("linked/a.db"), Some(format!("linked: {link}")));
    assert_eq!(fault(".agent/linked.db"), Some(format!(".agent/linked.db: {link}")));
    let none = check_in_project(&project, &at(".agent/none.db")).unwrap_err();
    assert_eq!(none.1.kind(), io::ErrorKind::NotFound);
    assert!(fault(".agent").unwrap().contains("not a regular file"));
    assert!(check_in_project(&at(".agent"), &at("other")).is_err(), "outside");
    if chown(at(".agent"), Some(12345), None).is_err() {
        return eprintln!("skipped: only root can give a directory away");
    }
    let foreign = "belongs to another user, and is not read";
    assert_eq!(fault(".agent/a.db"), Some(format!(".agent: {foreign}")));
    chown(at(".agent"), Some(0), None).unwrap();
    chown(at(".agent/a.db"), Some(12345), None).unwrap();
    assert_eq!(fault(".agent/a.db"), Some(format!(".agent/a.db: {foreign}")));
}
