//! A mapping of a file, shared by all its readers, and the reads of whole pages for those that copy.

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use memmap2::{Mmap, MmapOptions};

use crate::base::lock;

use super::guard::Guard;

/// Mappings larger than this (bytes) are unmapped on a thread, since that can take many milliseconds.
const SLOW_TO_UNMAP: usize = 64 << 20;

/// The bytes of a [`Source`](super::Source) at one moment: cheap to clone, and valid for as long as it is held. The
/// bytes are shared with the file's writer and may change while they are read.
#[derive(Clone, Debug)]
pub struct MapView {
    mapping: Option<Arc<Mapping>>,
    len: usize,
    generation: u64,
}

#[derive(Debug)]
struct Mapping {
    // `drop` takes both, the guard first: it must leave the table before the pages are unmapped.
    guard: Option<Guard>,
    pages: Option<Mmap>,
    /// The file itself, for scans that read from it, and where the pages begin in it.
    file: Option<File>,
    start: u64,
    /// Whether the file takes less space than its length, and so may have holes.
    is_sparse: bool,
    reads: Mutex<Reads>,
    /// The lowest offset at which a scan found less than was mapped.
    short_at: AtomicU64,
}

impl MapView {
    pub(super) fn empty(generation: u64) -> MapView {
        MapView { mapping: None, len: 0, generation }
    }

    /// Returns a view of bytes in memory, which are in no file.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<MapView> {
        let generation = next_generation();
        if bytes.is_empty() {
            return Ok(MapView::empty(generation));
        }
        let mut pages = MmapOptions::new().len(bytes.len()).map_anon()?;
        pages.copy_from_slice(bytes);
        let (guard, pages, reads) = (None, Some(pages.make_read_only()?), Mutex::default());
        let short_at = AtomicU64::new(u64::MAX);
        let mapping = Mapping { guard, pages, file: None, start: 0, is_sparse: false, reads, short_at };
        Ok(MapView { mapping: Some(Arc::new(mapping)), len: bytes.len(), generation })
    }

    /// Maps a range of a file, in bytes, which begins at a page.
    #[cfg(feature = "app")]
    pub(crate) fn from_file_range(file: &File, range: Range<u64>) -> io::Result<MapView> {
        let len = (range.end - range.start) as usize;
        let mapping = (len > 0).then(|| Mapping::new(file, range.start, len).map(Arc::new)).transpose()?;
        Ok(MapView { mapping, len, generation: next_generation() })
    }

    /// Maps the first `len` bytes of `file`, with room to grow if the system allows that.
    pub(super) fn map(file: &File, len: u64, generation: u64) -> io::Result<MapView> {
        let len = usize::try_from(len).map_err(|_| io::Error::other("larger than the address space"))?;
        let map =
            || Mapping::new(file, 0, mapped_len(len)).or_else(|_| Mapping::new(file, 0, len)).map(Arc::new);
        Ok(MapView { mapping: (len > 0).then(map).transpose()?, len, generation })
    }

    /// Returns the same mapping with a length of `len` bytes, if it is large enough.
    pub(super) fn grown(&self, len: u64) -> Option<MapView> {
        let len = usize::try_from(len).ok()?;
        let room = self.mapping.as_ref()?.pages().len();
        let whole = self.lost_at().is_none() && len <= room;
        whole.then(|| MapView { mapping: self.mapping.clone(), len, generation: self.generation })
    }

    /// Returns the number of the content, unique within the process: with another, all earlier findings are void.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the offset in bytes from which bytes were found to be lost, if any; from there on they read as zero.
    pub fn lost_at(&self) -> Option<u64> {
        let mapping = self.mapping.as_ref()?;
        let faulted = mapping.guard.as_ref().and_then(Guard::lost_at).unwrap_or(u64::MAX);
        let lost = faulted.min(mapping.short_at.load(Ordering::Relaxed));
        (lost < self.len as u64).then_some(lost)
    }

    pub fn reads(&self) -> Reads {
        self.mapping.as_ref().map_or(Reads::default(), |mapping| *lock(&mapping.reads))
    }
}

impl Deref for MapView {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.mapping.as_ref().map_or(&[], |mapping| &mapping.pages()[..self.len])
    }
}

pub(super) fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns what is mapped: more than the file, because mapping again costs the pages already faulted in.
#[cfg(target_os = "linux")]
fn mapped_len(len: usize) -> usize {
    len.saturating_add((len / 4).max(16 << 20)).min(isize::MAX as usize)
}

#[cfg(not(target_os = "linux"))]
fn mapped_len(len: usize) -> usize {
    len
}

impl Mapping {
    #[allow(unsafe_code)]
    fn new(file: &File, start: u64, len: usize) -> io::Result<Mapping> {
        // SAFETY: the file may be changed by others while it is mapped. Lost pages are turned into
        // zeros by the guard; changed bytes are accepted: readers hold `&[u8]`, never `&str`, and
        // copy a window out before they decode it.
        let pages = unsafe { MmapOptions::new().offset(start).len(len).map(file) }?;
        let guard = Guard::register(pages.as_ptr() as usize, len)?;
        let is_sparse = start == 0 && file.metadata().is_ok_and(|meta| meta.blocks() * 512 < meta.len());
        let file = file.try_clone().ok();
        let (guard, pages, short_at) = (Some(guard), Some(pages), AtomicU64::new(u64::MAX));
        Ok(Mapping { guard, pages, file, start, is_sparse, reads: Mutex::default(), short_at })
    }

    fn pages(&self) -> &[u8] {
        self.pages.as_deref().unwrap_or_default()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        drop(self.guard.take());
        let pages = self.pages.take();
        if pages.as_ref().is_some_and(|pages| pages.len() > SLOW_TO_UNMAP) {
            // If no thread can be started, the closure and its pages are dropped here.
            let _ = std::thread::Builder::new().name("unmap".into()).spawn(move || drop(pages));
        }
    }
}

/// Unmaps the program's code, on Linux, which counts as its memory: most of what a short command takes.
#[cfg(feature = "app")]
#[allow(unsafe_code)]
pub(crate) fn release_code() {
    let (here, maps) = (release_code as fn() as usize, std::fs::read_to_string("/proc/self/maps"));
    let ranges = maps.iter().flat_map(|maps| maps.lines()).filter_map(|line| {
        let (start, end) = line.split_once(" r-xp ")?.0.split_once('-')?;
        Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
    });
    for range in ranges.filter(|range| range.contains(&here)) {
        // SAFETY: nothing writes to these pages; the system reads them from the program's file again.
        unsafe { libc::madvise(range.start as *mut _, range.len(), libc::MADV_DONTNEED) };
    }
}

/// Whether the file has only a hole in `range` (bytes, not empty): reading it would only fill the cache with zeros.
pub fn is_hole(view: &MapView, range: &Range<usize>) -> bool {
    data_at(view, range.start).start >= range.end
}

/// Returns where the next bytes lie at or after `at` that are not in a hole of the file; they may be none, at the end.
pub(super) fn data_at(view: &MapView, at: usize) -> Range<usize> {
    use rustix::fs::{SeekFrom, seek};
    let len = view.len();
    let sparse = view.mapping.as_ref().filter(|mapping| mapping.is_sparse);
    let Some((file, reads)) = sparse.and_then(|mapping| Some((mapping.file.as_ref()?, &mapping.reads)))
    else {
        return at..len;
    };
    lock(reads).seeks += 1;
    let start = match seek(file, SeekFrom::Data(at as u64)) {
        Ok(start) => (start as usize).clamp(at, len),
        Err(rustix::io::Errno::NXIO) => return len..len,
        Err(_) => return at..len,
    };
    let end = seek(file, SeekFrom::Hole(start as u64)).map_or(len, |end| (end as usize).clamp(start, len));
    start..end
}

/// Copies the bytes from `start` into `buffer`, as far as the view goes; both must be page-aligned. If a scan reads
/// every byte once, this costs no more than faulting in pages, and leaves none behind. Anything truncated reads as
/// zeros. What cannot be read is taken from the map, whose guard notes what is lost.
pub(super) fn copy_out(view: &MapView, start: usize, buffer: &mut [u8]) {
    let Some(mapping) = &view.mapping else { return buffer.fill(0) };
    let Some(file) = &mapping.file else {
        return buffer.copy_from_slice(&view[start..start + buffer.len()]);
    };
    let (filled, read) = fill_pages(file, mapping.start + start as u64, buffer, &mapping.reads);
    let rest = &mut buffer[filled..];
    match read {
        Ok(()) if rest.is_empty() => {}
        Ok(()) => {
            mapping.short_at.fetch_min((start + filled) as u64, Ordering::Relaxed);
            rest.fill(0);
        }
        Err(_) => rest.copy_from_slice(&view[start + filled..][..rest.len()]),
    }
}

/// Alignment in bytes of a scan's reads: some processors copy pages several times slower if either side is off by a byte.
pub(crate) const PAGE: usize = 4 << 10;

/// Fills `room` from offset `start` of the file; both must be page-aligned. Returns how many bytes were read; less than
/// all only at the end of the file and after an error. After a short read, reading resumes at the start of that page.
fn fill_pages(file: &File, start: u64, room: &mut [u8], reads: &Mutex<Reads>) -> (usize, io::Result<()>) {
    let mut filled = 0;
    while filled < room.len() {
        let from = filled - filled % PAGE;
        let (offset, rest) = (start + from as u64, &mut room[from..]);
        lock(reads).note(offset, rest);
        match file.read_at(rest, offset) {
            Ok(count) if from + count > filled => filled = from + count,
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Err(error)),
        }
    }
    (filled, Ok(()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// Bytes read; more than the file has if some were read again.
    pub bytes: u64,
    /// Reads from an offset, or into memory, that is not page-aligned.
    pub unaligned: u64,
    pub seeks: u64,
}

impl Reads {
    fn note(&mut self, offset: u64, room: &[u8]) {
        self.bytes += room.len() as u64;
        let is_aligned = offset.is_multiple_of(PAGE as u64) && room.as_ptr().addr().is_multiple_of(PAGE);
        self.unaligned += u64::from(!is_aligned);
    }
}

#[cfg(test)]
mod tests {
    #![allow(unsafe_code)]

    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus};

    use super::*;

    const CHILD: &str = "OVERSPILL_TEST_FAULT";
    const SEEN: i32 = 42;

    extern "C" fn see(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: _exit may be called from a handler.
        unsafe { libc::_exit(SEEN) };
    }

    /// Touches a lost page of a mapping in this process that the guard does not know.
    fn fault_elsewhere(handled: bool) {
        if handled {
            // SAFETY: a zeroed sigaction with a handler of the right type.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = see;
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_SIGINFO;
                libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
            }
        }
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let guarded = MapView::map(&file, 1 << 20, 0).unwrap();
        // SAFETY: the fault is what is being tested.
        let bare = unsafe { MmapOptions::new().len(1 << 20).map(&file) }.unwrap();
        file.set_len(0).unwrap();
        assert_eq!((guarded[70_000], guarded.lost_at().is_some()), (0, true));
        std::process::exit(std::hint::black_box(bare[70_000]).into());
    }

    fn child(mode: &str, test: &str) -> ExitStatus {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let test = format!("source::map::tests::{test}");
        child.args(["--exact", &test]).env(CHILD, mode).stdout(std::process::Stdio::null()).status().unwrap()
    }

    #[test]
    fn a_fault_elsewhere_goes_to_the_earlier_action() {
        match std::env::var(CHILD).as_deref() {
            Ok(mode) => fault_elsewhere(mode == "handled"),
            Err(_) => {
                let test = "a_fault_elsewhere_goes_to_the_earlier_action";
                assert_eq!(child("handled", test).code(), Some(SEEN));
                assert_eq!(child("bare", test).signal(), Some(libc::SIGBUS));
            }
        }
    }
}
