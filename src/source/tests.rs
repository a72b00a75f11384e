//! Tests sources on files that change, vanish, block or are not regular files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;

struct Case {
    dir: TempDir,
    source: Source,
}

impl Case {
    fn new(content: &[u8]) -> Case {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spill");
        fs::write(&path, content).unwrap();
        let source = Source::open(&path).unwrap();
        Case { dir, source }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("spill")
    }

    fn file(&self) -> File {
        OpenOptions::new().write(true).open(self.path()).unwrap()
    }
}

fn fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A stream whose chunks the test sends.
struct ChannelReader(Receiver<Vec<u8>>);

impl Read for ChannelReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.recv().unwrap_or_default();
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

#[cfg(feature = "records")]
#[test]
fn a_compressed_file_says_how_it_is_compressed() {
    // The gzip of nothing.
    let empty = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x03\0\0\0\0\0\0\0\0\0";
    let mut case = Case::new(empty);
    case.source = Source::open_unpacked(&case.path()).unwrap();
    case.source.wait();
    assert_eq!((case.source.packed, case.source.len()), (Some(("gzip", 20)), 0));
    fs::write(case.path(), "plain").unwrap();
    case.source.reopen().unwrap();
    assert_eq!((case.source.packed, case.source.len()), (None, 5));
}

#[test]
fn a_file_is_seen_whole_and_stays_the_same() {
    let mut case = Case::new(b"one\ntwo\n");
    assert_eq!(&*case.source.view(), b"one\ntwo\n");
    assert_eq!(case.source.refresh(), Change::Same);
    assert_eq!(case.source.len(), 8);
    assert_eq!(case.source.identity().unwrap().size, 8);
    assert!(case.source.is_complete() && case.source.identity().is_some());
    assert_eq!(case.source.path_status(), PathStatus::Current);
}

#[test]
fn growth_keeps_the_generation() {
    let mut case = Case::new(b"");
    let generation = case.source.generation();
    let mut file = case.file();
    file.write_all(b"abc").unwrap();
    assert_eq!(case.source.refresh(), Change::Grown);
    file.write_all(&[b'x'; 70_000]).unwrap();
    assert_eq!(case.source.refresh(), Change::Grown);
    assert_eq!(case.source.view()[..5], *b"abcxx");
    assert_eq!(case.source.len(), 70_003);
    assert_eq!(case.source.generation(), generation);
}

#[test]
fn a_file_that_outgrows_its_map_is_mapped_again() {
    let mut case = Case::new(b"abc");
    case.file().set_len(64 << 20).unwrap();
    assert_eq!(case.source.refresh(), Change::Grown);
    assert_eq!(case.source.view()[(64 << 20) - 1], 0);
    assert_eq!(&case.source.view()[..3], b"abc");
}

#[test]
fn a_cut_is_a_new_generation_and_old_views_read_on() {
    let mut case = Case::new(&[b'x'; 100_000]);
    let old = case.source.view();
    case.file().set_len(10).unwrap();
    assert_eq!((old[99_999], old[50_000]), (0, 0));
    assert!(old.lost_at().unwrap() <= 50_000);
    assert_eq!(case.source.refresh(), Change::Truncated);
    assert_eq!(&*case.source.view(), b"xxxxxxxxxx");
    assert_ne!(case.source.generation(), old.generation());
    assert_eq!(case.source.view().lost_at(), None);
    case.file().set_len(0).unwrap();
    assert_eq!(case.source.refresh(), Change::Truncated);
    assert!(case.source.is_empty());
}

#[test]
fn cut_and_regrown_is_replaced() {
    let mut case = Case::new(&[b'x'; 100_000]);
    let file = case.file();
    file.set_len(0).unwrap();
    file.write_all_at(&[b'y'; 200_000], 0).unwrap();
    assert_eq!(case.source.refresh(), Change::Replaced);
    assert_eq!(case.source.view()[0], b'y');
    assert_eq!(case.source.len(), 200_000);
}

#[test]
fn a_cut_that_left_only_lost_pages_behind_is_replaced() {
    let mut case = Case::new(&[b'x'; 100_000]);
    let view = case.source.view();
    let file = case.file();
    file.set_len(0).unwrap();
    assert_eq!(view[0], 0);
    file.set_len(100_000).unwrap();
    assert_eq!((case.source.refresh(), case.source.view().lost_at()), (Change::Replaced, None));
}

#[test]
fn rewritten_at_the_same_size_is_replaced() {
    let mut case = Case::new(b"before");
    let file = case.file();
    file.write_all_at(b"after!", 0).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(5)).unwrap();
    assert_eq!(case.source.refresh(), Change::Replaced);
    assert_eq!(&*case.source.view(), b"after!");
    assert_eq!(case.source.refresh(), Change::Same);
}

#[test]
fn chmod_does_not_count_as_a_rewrite() {
    let mut case = Case::new(b"text");
    let mut mode = case.file().metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o640);
    fs::set_permissions(case.path(), mode).unwrap();
    assert_eq!(case.source.refresh(), Change::Same);
}

#[test]
fn a_file_removed_or_renamed_over_stays_readable_and_is_reported() {
    let mut case = Case::new(b"old");
    fs::write(case.dir.path().join("other"), b"newer").unwrap();
    fs::remove_file(case.path()).unwrap();
    assert_eq!((case.source.refresh(), case.source.path_status()), (Change::Same, PathStatus::Gone));
    assert_eq!(&*case.source.view(), b"old");
    fs::rename(case.dir.path().join("other"), case.path()).unwrap();
    assert_eq!((case.source.refresh(), case.source.path_status()), (Change::Same, PathStatus::Renamed));
    assert_eq!(&*case.source.view(), b"old");
    let generation = case.source.generation();
    case.source.reopen().unwrap();
    assert_eq!((&*case.source.view(), case.source.path_status()), (&b"newer"[..], PathStatus::Current));
    assert_ne!(case.source.generation(), generation);
}

#[test]
fn a_file_renamed_by_overspill_stays_the_same() {
    let mut case = Case::new(b"whole\n");
    let named = case.path().with_file_name("named");
    std::fs::rename(case.path(), &named).unwrap();
    case.source.moved_to(Some(named));
    assert_eq!((case.source.refresh(), case.source.path_status()), (Change::Same, PathStatus::Current));
}

#[test]
fn reopening_a_missing_file_changes_nothing() {
    let mut case = Case::new(b"old");
    fs::remove_file(case.path()).unwrap();
    assert!(matches!(case.source.reopen(), Err(OpenError::Missing(_))));
    assert_eq!(&*case.source.view(), b"old");
}

#[test]
fn five_sparse_gigabytes_cost_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse");
    File::create(&path).unwrap().set_len(5 << 30).unwrap();
    let source = Source::open(&path).unwrap();
    let view = source.view();
    assert_eq!(view.len(), 5 << 30);
    assert_eq!((view[0], view[(5 << 30) - 1]), (0, 0));
}

/// Files this long are sparse; not every file system can hold one, but memory can.
#[cfg(target_os = "linux")]
#[test]
fn a_file_larger_than_the_address_space_is_refused() {
    use std::os::fd::AsRawFd;

    let file = rustix::fs::memfd_create("large", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&file, 200 << 40).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    assert!(matches!(Source::open(path.as_ref()), Err(OpenError::TooLarge(_))));
    rustix::fs::ftruncate(&file, 8 << 40).unwrap();
    assert_eq!(Source::open(path.as_ref()).unwrap().len(), 8 << 40);
}

#[test]
fn other_kinds_of_files_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    fs::write(at("target"), b"t").unwrap();
    std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
    assert!(matches!(Source::open(dir.path()), Err(OpenError::Directory(_))));
    assert!(matches!(Source::open(&at("socket")), Err(OpenError::Socket(_))));
    assert!(matches!(Source::open(&at("missing")), Err(OpenError::Missing(_))));
    assert!(matches!(Source::open(&at("target/x")), Err(OpenError::Missing(_))));
    assert!(matches!(Source::open_entry(&at("link")), Err(OpenError::Link(_))));
    fifo(&at("fifo"));
    assert!(matches!(Source::open_entry(&at("fifo")), Err(OpenError::Irregular(_))));
    assert!(matches!(Source::open_entry(Path::new("/dev/zero")), Err(OpenError::Irregular(_))));
    assert_eq!(&*Source::open(&at("link")).unwrap().view(), b"t");
}

#[test]
fn unreadable_files_are_refused() {
    let case = Case::new(b"secret");
    fs::set_permissions(case.path(), std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let all_powerful = rustix::process::geteuid().is_root();
    match Source::open(&case.path()) {
        Err(error) => assert!(matches!(error, OpenError::Denied(_)), "{error}"),
        Ok(_) => assert!(all_powerful),
    }
}

#[test]
fn devices_are_streamed_and_end() {
    let mut null = Source::open(Path::new("/dev/null")).unwrap();
    null.wait();
    assert!(null.is_complete() && null.identity().is_none() && null.is_empty());
    let mut zero = Source::open(Path::new("/dev/zero")).unwrap();
    zero.wait_for(1);
    assert!(!zero.is_empty());
    assert_eq!(zero.view()[0], 0);
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_a_size_are_copied() {
    let mut status = Source::open(Path::new("/proc/self/status")).unwrap();
    status.wait();
    assert!(status.view().starts_with(b"Name:"));
    assert_eq!(status.progress(), StreamProgress::Complete);
}

#[test]
fn a_fifo_waits_for_its_writer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fifo");
    fifo(&path);
    let mut source = Source::open(&path).unwrap();
    assert_eq!((source.refresh(), source.progress()), (Change::Same, StreamProgress::Waiting));
    OpenOptions::new().write(true).open(&path).unwrap().write_all(b"late").unwrap();
    source.wait();
    assert_eq!(&*source.view(), b"late");
    assert_eq!(source.progress(), StreamProgress::Complete);
}

#[test]
fn a_stream_grows_as_it_comes() {
    let (feed, fed) = channel();
    let mut source = Source::stream(ChannelReader(fed)).unwrap();
    let generation = source.generation();
    feed.send(b"one\n".to_vec()).unwrap();
    assert_eq!(source.wait_for(4), Change::Grown);
    assert!(!source.is_complete());
    feed.send(b"two\n".to_vec()).unwrap();
    drop(feed);
    assert_eq!(source.wait(), Change::Grown);
    assert_eq!(&*source.view(), b"one\ntwo\n");
    assert!(source.is_complete());
    assert_eq!((source.len(), source.generation()), (8, generation));
}

#[test]
fn a_stream_that_fails_keeps_what_came() {
    struct Failing(bool);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(io::Error::from_raw_os_error(libc::EIO));
            }
            buffer[..2].copy_from_slice(b"ok");
            Ok(2)
        }
    }
    let mut source = Source::stream(Failing(false)).unwrap();
    source.wait();
    assert_eq!(&*source.view(), b"ok");
    assert_eq!(source.progress(), StreamProgress::CutShort);
    assert_eq!(source.error().unwrap().raw_os_error(), Some(libc::EIO));
}

#[test]
fn a_probe_reports_each_change_once() {
    let case = Case::new(b"a");
    let mut probe = case.source.probe();
    assert!(!probe.check_once());
    case.file().set_len(7).unwrap();
    assert!(probe.check_once());
    assert!(!probe.check_once());
    fs::remove_file(case.path()).unwrap();
    assert!(probe.check_once());
    assert!(!probe.check_once());
}

#[test]
fn a_change_between_opening_and_watching_is_reported() {
    let case = Case::new(b"a");
    case.file().set_len(9).unwrap();
    let (tell, told) = channel();
    let _watcher = Watcher::spawn(case.source.probe(), move || tell.send(()).is_ok()).unwrap();
    told.recv_timeout(Duration::from_secs(5)).unwrap();
}

#[test]
fn a_streams_end_is_reported_and_ends_the_watcher() {
    let mut source = Source::stream(io::Cursor::new(b"all".to_vec())).unwrap();
    let probe = source.probe();
    let (tell, told) = channel();
    let _watcher = Watcher::spawn(probe, move || tell.send(()).is_ok()).unwrap();
    assert!(told.iter().count() >= 1);
    source.refresh();
    assert!(source.is_complete());
}

#[test]
fn a_watcher_ends_when_it_is_dropped() {
    let case = Case::new(b"a");
    let (tell, told) = channel();
    let watcher = Watcher::spawn(case.source.probe(), move || tell.send(()).is_ok()).unwrap();
    drop(watcher);
    assert!(
        told.recv_timeout(Duration::from_secs(5))
            .is_err_and(|e| e == std::sync::mpsc::RecvTimeoutError::Disconnected)
    );
}

/// Two readers scan while a writer truncates, regrows and rewrites the file. Neither may crash, and a refreshed view
/// must lie within the file as it was at that moment. Repeated 2,000 times, unless the variable sets another number.
#[test]
fn races_of_readers_against_a_writer() {
    let races = std::env::var("OVERSPILL_TEST_RACES").map_or(2_000, |text| text.parse().unwrap());
    const SIZE: u64 = 256 << 10;
    let mut case = Case::new(&vec![b'x'; SIZE as usize]);
    let file = case.file();
    let done = Arc::new(AtomicBool::new(false));
    let (views, readers): (Vec<_>, Vec<_>) = (0..2)
        .map(|_| {
            let (give, take) = channel::<MapView>();
            let done = Arc::clone(&done);
            (give, std::thread::spawn(move || scan_until(&take, &done)))
        })
        .unzip();
    let mut state = 1u64;
    for _ in 0..races {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let cut = if state >> 63 == 0 { 0 } else { (state >> 33) % SIZE };
        file.set_len(cut).unwrap();
        if state & (1 << 40) != 0 {
            case.source.refresh();
            assert!(case.source.len() <= cut);
        }
        file.set_len(SIZE).unwrap();
        case.source.refresh();
        for give in &views {
            give.send(case.source.view()).unwrap();
        }
    }
    done.store(true, Ordering::Release);
    drop(views);
    let scanned: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    assert!(scanned > 0);
}

fn scan_until(take: &Receiver<MapView>, done: &AtomicBool) -> u64 {
    let mut view = take.recv().unwrap();
    let mut scanned = 0;
    while !done.load(Ordering::Acquire) {
        scanned += 1 + memchr::memchr_iter(b'\n', &view).count() as u64;
        view = take.try_iter().last().unwrap_or(view);
    }
    scanned
}
