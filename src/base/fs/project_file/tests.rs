//! Links and owners on the way to a file in a project.

use std::os::unix::fs::{chown, symlink};

use super::*;

#[test]
fn in_a_project_no_link_is_followed_and_no_other_user_s_file_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("way");
    std::fs::create_dir_all(dir.path().join("project/.agent")).unwrap();
    symlink(dir.path().join("project"), &project).unwrap();
    let at = |name: &str| project.join(name);
    let fault = |name: &str| {
        check(&project, &at(name))
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
    let none = check(&project, &at(".agent/none.db")).unwrap_err();
    assert_eq!(none.1.kind(), io::ErrorKind::NotFound);
    assert!(fault(".agent").unwrap().contains("not a regular file"));
    assert!(check(&at(".agent"), &at("other")).is_err(), "outside");
    if chown(at(".agent"), Some(12345), None).is_err() {
        return eprintln!("skipped: only root can give a directory away");
    }
    let foreign = "belongs to another user, and is not read";
    assert_eq!(fault(".agent/a.db"), Some(format!(".agent: {foreign}")));
    chown(at(".agent"), Some(0), None).unwrap();
    chown(at(".agent/a.db"), Some(12345), None).unwrap();
    assert_eq!(fault(".agent/a.db"), Some(format!(".agent/a.db: {foreign}")));
}
