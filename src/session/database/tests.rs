//! A copy of a database, shared and made anew.

use super::*;

/// A database with a row `1`, whose log was left behind.
fn left_behind(dir: &Path) -> PathBuf {
    let (path, left) = (dir.join("a.db"), dir.join("left.db"));
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (1);").unwrap();
    for ending in ["", "-wal"] {
        fs::copy(beside(&path, ending), beside(&left, ending)).unwrap();
    }
    left
}

fn number(database: &mut Database) -> Option<i64> {
    let mut number = None;
    let look = |rows: &TableRows| {
        rows.each("SELECT n FROM t", &[], &mut |row| {
            number = row.integer(0);
            true
        })
    };
    database.whole(look).unwrap();
    number
}

#[test]
fn one_copy_serves_all_readers_until_the_database_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = left_behind(dir.path());
    let copy_of = |database: &Database| match &database.access {
        Access::Copy(connection) => Arc::clone(connection),
        access => panic!("{access:?}"),
    };
    let (mut first, mut second) = (Database::open(&path).unwrap(), Database::open(&path).unwrap());
    assert!(Arc::ptr_eq(&copy_of(&first), &copy_of(&second)));
    assert_eq!((number(&mut first), number(&mut second)), (Some(1), Some(1)));
    let log = beside(&path, "-wal");
    let len = fs::metadata(&log).unwrap().len();
    fs::File::options().write(true).open(&log).unwrap().set_len(len + 1).unwrap();
    let third = Database::open(&path).unwrap();
    assert!(!Arc::ptr_eq(&copy_of(&first), &copy_of(&third)));
    assert_eq!(number(&mut first), Some(1), "the old copy stays readable");
}
