//! Copies of databases, and what in a hostile one must not be read, or not for long.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::session::FORMATS;
use crate::session::record::RecordSource;
use crate::session::transcript::ReadReport;

use super::*;

fn open(path: &Path) -> Result<Database> {
    let tables: Vec<_> = FORMATS.iter().flat_map(|format| format.tables()).copied().collect();
    Database::open(path, &tables, &())
}

fn create(path: &Path, schema: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(schema).unwrap();
    connection
}

/// A database with a row `1`, whose log was left behind.
fn left_behind(dir: &Path) -> PathBuf {
    let (path, left) = (dir.join("a.db"), dir.join("left.db"));
    let _connection =
        create(&path, "PRAGMA journal_mode = wal; CREATE TABLE t (n); INSERT INTO t VALUES (1);");
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
    database.whole(&(), look).unwrap();
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
    let (mut first, mut second) = (open(&path).unwrap(), open(&path).unwrap());
    assert!(Arc::ptr_eq(&copy_of(&first), &copy_of(&second)));
    assert_eq!((number(&mut first), number(&mut second)), (Some(1), Some(1)));
    let log = beside(&path, "-wal");
    let len = fs::metadata(&log).unwrap().len();
    fs::File::options().write(true).open(&log).unwrap().set_len(len + 1).unwrap();
    let third = open(&path).unwrap();
    assert!(!Arc::ptr_eq(&copy_of(&first), &copy_of(&third)));
    assert_eq!(number(&mut first), Some(1), "the old copy stays readable");
}

/// Returns what adds a table to the schema that an extension would have to serve, which need not be there.
fn virtual_table(name: &str) -> String {
    format!(
        "PRAGMA writable_schema = ON;
        INSERT INTO sqlite_schema VALUES
            ('table', '{name}', '{name}', 0, 'CREATE VIRTUAL TABLE {name} USING fts5(n)');"
    )
}

#[test]
fn only_tables_that_hold_values_are_read() {
    let dir = tempfile::tempdir().unwrap();
    for (n, schema) in [
        "CREATE VIEW part AS SELECT 1 AS n;",
        "CREATE VIEW Sessions AS SELECT 1 AS n;",
        &virtual_table("messages"),
        "CREATE TABLE session (a, n AS (a + 1)); INSERT INTO session (a) VALUES (1);",
        "CREATE TABLE message (a, n AS (a + 1) STORED); INSERT INTO message (a) VALUES (1);",
        "CREATE VIEW transcript_events AS SELECT 1 AS n;",
    ]
    .into_iter()
    .enumerate()
    {
        let path = dir.path().join(n.to_string());
        create(&path, schema);
        assert!(matches!(open(&path), Err(DatabaseError::Computed)), "{schema}");
    }
    // An agent's own triggers and views of other tables are never run.
    let path = dir.path().join("own");
    let own = "CREATE TABLE messages (n); CREATE TABLE t (n); INSERT INTO t VALUES (7); CREATE VIEW v AS SELECT n FROM t;
        CREATE TRIGGER messages AFTER UPDATE ON messages BEGIN DELETE FROM t; END;";
    create(&path, &(own.to_owned() + &virtual_table("messages_fts")));
    assert_eq!(number(&mut open(&path).unwrap()), Some(7));
}

/// Counts without end.
const ENDLESS: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";

/// Wants a reading until it was asked so often.
struct StopsAfter(Arc<AtomicUsize>);

impl ReadProgress for StopsAfter {
    fn step(&self, _: u64, _: u64) -> bool {
        true
    }

    fn wanted_check(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
        let asked = Arc::clone(&self.0);
        Some(Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) < 10))
    }
}

#[test]
fn a_query_stops_when_no_longer_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    create(&path, "CREATE TABLE t (n);");
    let mut database = open(&path).unwrap();
    let asked = StopsAfter(Arc::default());
    let done =
        database.whole(&asked, |rows| rows.each(&format!("{ENDLESS} WHERE x < 0"), &[], &mut |_| true));
    assert!(matches!(done, Err(DatabaseError::GivenUp)), "{done:?}");
    assert!(asked.0.load(Ordering::Relaxed) < 20);
    assert!(open(&path).is_ok(), "that is no fault of the database");
}

#[test]
fn a_slow_database_is_not_read_again_until_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let connection = create(&path, "CREATE TABLE t (n);");
    let mut database = Database { time: Duration::ZERO, ..open(&path).unwrap() };
    let done = database.whole(&(), |rows| rows.each(&format!("{ENDLESS} WHERE x < 0"), &[], &mut |_| true));
    assert!(matches!(done, Err(DatabaseError::TooSlow)), "{done:?}");
    assert!(matches!(open(&path), Err(DatabaseError::TooSlow)));
    connection.execute_batch("CREATE TABLE u AS SELECT zeroblob(9000); INSERT INTO t VALUES (5);").unwrap();
    assert_eq!(number(&mut open(&path).unwrap()), Some(5));
    assert_eq!([0, 1 << 30, u64::MAX].map(|len| connect::time_for(len).as_secs()), [5, 30, 30]);
    // Many short looks together count as well.
    for is_refused in [false, true] {
        connect::spend(&path, std::time::Duration::from_secs(4));
        assert_eq!(matches!(open(&path), Err(DatabaseError::TooSlow)), is_refused);
    }
    connection.execute_batch("CREATE TABLE v AS SELECT zeroblob(9000);").unwrap();
    assert!(open(&path).is_ok());
}

#[test]
fn no_more_rows_are_read_than_the_file_can_hold() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    create(&path, "CREATE TABLE t (n);");
    let mut count = 0;
    let done = open(&path).unwrap().whole(&(), |rows| {
        rows.each(ENDLESS, &[], &mut |_| {
            count += 1;
            true
        })
    });
    assert!(matches!(done, Err(DatabaseError::Sql(DAMAGED))), "{done:?}");
    assert_eq!(count, fs::metadata(&path).unwrap().len() / 3);
}

#[test]
fn an_unfinished_transaction_is_not_taken_for_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let (path, left) = (dir.path().join("a.db"), dir.path().join("left.db"));
    let connection = create(&path, "CREATE TABLE t (n); INSERT INTO t VALUES (1); CREATE TABLE u (b);");
    let begun = "PRAGMA journal_mode = persist; PRAGMA cache_size = 2; BEGIN; UPDATE t SET n = 2;
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100)
            INSERT INTO u SELECT zeroblob(4000) FROM c;";
    connection.execute_batch(begun).unwrap();
    for ending in ["", "-journal"] {
        fs::copy(beside(&path, ending), beside(&left, ending)).unwrap();
    }
    for path in [&path, &left] {
        assert!(matches!(open(path), Err(DatabaseError::Unfinished)));
    }
    connection.execute_batch("COMMIT;").unwrap();
    assert!(length(&beside(&path, "-journal")) > Some(0), "a journal that is done stays");
    assert_eq!(number(&mut open(&path).unwrap()), Some(2));
}

#[test]
fn notices_a_journal_that_appears_during_a_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    create(&path, "CREATE TABLE t (n); INSERT INTO t VALUES (1);");
    let mut database = open(&path).unwrap();
    let done = database.whole(&(), |_| {
        fs::write(beside(&path, "-journal"), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")?;
        Ok(())
    });
    assert!(matches!(done, Err(DatabaseError::Unfinished)), "{done:?}");
}

#[test]
fn a_log_that_is_too_large_or_not_a_file_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = left_behind(dir.path());
    let log = fs::File::options().write(true).open(beside(&path, "-wal")).unwrap();
    log.set_len(100 << 20).unwrap();
    assert!(matches!(open(&path), Err(DatabaseError::TooLarge)));
    for ending in ["-wal", "-shm", "-journal"] {
        let path = dir.path().join(format!("x{ending}"));
        create(&path, "CREATE TABLE t (n);");
        let fifo = std::process::Command::new("mkfifo").arg(beside(&path, ending)).status().unwrap();
        assert!(fifo.success());
        let error = open(&path).err().map(|error| error.to_string());
        assert_eq!(error, Some(format!("its {ending} is not a regular file")));
    }
}

#[test]
fn only_the_beginning_of_a_value_over_16_mb_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    create(
        &path,
        "CREATE TABLE t (r);
        INSERT INTO t VALUES ('[\"' || hex(zeroblob(9000000)) || '\", 7]'), ('[2]'), ('['), (NULL);",
    );
    let (mut report, mut seen, mut buffer) = (ReadReport::default(), Vec::new(), RowBuffer::default());
    let of = RowsOf::plain("t", "r");
    let sql = format!("SELECT rowid, {}, {} FROM t ORDER BY rowid", record("r"), title("r"));
    let look = |rows: &TableRows| {
        rows.each(&sql, &[], &mut |row| {
            let record = row.record(1, of, &mut buffer, &mut report);
            seen.push((record.map(|record| record.raw().len()), row.title(2, of)));
            true
        })
    };
    open(&path).unwrap().whole(&(), look).unwrap();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        seen,
        [
            (Some(16 << 20), Some(format!("(over 16 MB) [\"{}", "0".repeat((64 << 10) - 2)))),
            (Some(3), text("[2]")),
            (None, text("[")),
            (None, None)
        ]
    );
    assert_eq!(
        report.describe(),
        "2 records not readable, 1 record over 16 MB, of which the beginning was read"
    );
    let rows = RowRecords::new(&path, of);
    assert_eq!(rows.read(1, 0..3).unwrap(), b"[\"0");
    assert_eq!(rows.read(1, 18_000_000..20_000_000).unwrap(), b"00\", 7]");
    assert_eq!(rows.read(9, 0..3).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    let whole = open(&path).unwrap().whole(&(), |rows| rows.each("SELECT r FROM t", &[], &mut |_| true));
    assert!(whole.unwrap_err().to_string().contains("larger than 16 MB"));
}
