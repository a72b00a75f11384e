//! Captures a stream: to its end, or viewed while it arrives until nobody wants it.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;

use crate::capture::captured::{Captured, CapturedOutput};
use crate::capture::spill::Spill;
use crate::capture::spill::copy::{Progress, ReadAhead, join};
use crate::capture::spill::location::Location;
use crate::capture::spill::sink::{Sink, SinkLimits};
use crate::preview::Stream;
use crate::store::NewSpill;

/// Captures a stream to its end into `place`. Fails if a thread cannot be created, before anything is read, or if the
/// output cannot be read back. A read error is [`Captured::failure`], and everything before it is captured.
pub fn drain(
    reader: impl Read + Send + 'static,
    limits: SinkLimits,
    place: &Location,
) -> io::Result<Captured> {
    let started = crate::base::env::now();
    let sink = place.sink(Stream::Stdout, limits);
    let (taken, failure) = ReadAhead::start(reader)?.take_all(sink, &Progress::default());
    Ok(Captured::from_stream(started, CapturedOutput::new(Stream::Stdout, taken)?, failure))
}

#[derive(Debug)]
pub struct Following {
    pub progress: Arc<Progress>,
    over: Receiver<()>,
    thread: JoinHandle<io::Result<Captured>>,
}

/// The stream is read for as long as this is held.
pub type Interest = PipeWriter;

/// Captures a stream into a spill on a thread, until it ends or the [`Interest`] is dropped. Fails if a thread or pipe
/// cannot be created, or the disk is full; nothing has been read then.
pub fn follow(
    reader: impl Read + AsFd + Send + 'static,
    limits: SinkLimits,
    begun: NewSpill,
) -> io::Result<(Following, Interest)> {
    let (left, open) = io::pipe()?;
    let left_early = Arc::new(AtomicBool::new(false));
    let reader = StoppableReader { reader, left, left_early: Arc::clone(&left_early) };
    let mut spill = Spill::new(begun);
    spill.room()?;
    let sink = Sink::with_file(limits, spill);
    let progress = Arc::new(Progress::default());
    progress.note(&sink);
    let (tell_over, over) = channel::<()>();
    let (shared, started) = (Arc::clone(&progress), crate::base::env::now());
    let reader = ReadAhead::start(reader)?;
    let take = move || {
        let (taken, failure) = reader.take_all(sink, &shared);
        drop(tell_over);
        let output = CapturedOutput::new(Stream::Stdout, taken)?;
        let left_early = left_early.load(Ordering::Acquire);
        Ok(Captured { left_early, ..Captured::from_stream(started, output, failure) })
    };
    let thread = thread::Builder::new().name("spill".into()).spawn(take)?;
    Ok((Following { progress, over, thread }, open))
}

impl Following {
    pub fn wait_for(&self, most: Duration) -> bool {
        self.over.recv_timeout(most) != Err(RecvTimeoutError::Timeout)
    }

    pub fn wait(self) -> io::Result<Captured> {
        join(self.thread)
    }
}

/// A reader that ends as soon as the interest is dropped, even while it waits for bytes.
struct StoppableReader<R> {
    reader: R,
    left: PipeReader,
    left_early: Arc<AtomicBool>,
}

impl<R: Read + AsFd> Read for StoppableReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ends = [PollFd::new(&self.left, PollFlags::IN), PollFd::new(&self.reader, PollFlags::IN)];
        retry_on_intr(|| poll(&mut ends, None))?;
        if ends[0].revents().is_empty() {
            return self.reader.read(buffer);
        }
        self.left_early.store(true, Ordering::Release);
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::capture::process::{Tee, TeeReader};
    use crate::store::Env;
    use crate::text::units::TotalsMask;

    const LIMITS: SinkLimits = SinkLimits { hold: 0, cap: u64::MAX, want: TotalsMask::NOTHING };

    fn begun() -> (tempfile::TempDir, NewSpill) {
        let home = tempfile::tempdir().unwrap();
        let place = Location::own(&Env::hermetic(home.path()), crate::base::env::now());
        let spill = place.begin(Stream::Stdout).unwrap();
        (home, spill)
    }

    #[test]
    fn a_followed_stream_has_a_file_from_its_first_byte_on() {
        let ((_home, spill), (reader, mut writer)) = (begun(), io::pipe().unwrap());
        let path = spill.temporary_path();
        let (following, _interest) = follow(reader, LIMITS, spill).unwrap();
        assert_eq!(following.progress.spill(), Some(&*path));
        assert_eq!(path.metadata().unwrap().len(), 0);
        writer.write_all(b"all of it").unwrap();
        assert!(!following.wait_for(Duration::ZERO));
        drop(writer);
        let captured = following.wait().unwrap();
        assert_eq!((captured.stdout.content.bytes(), captured.left_early), (&b"all of it"[..], false));
    }

    #[test]
    fn dropping_the_interest_stops_following_a_silent_stream() {
        let ((_home, spill), (reader, mut writer)) = (begun(), io::pipe().unwrap());
        let (following, interest) = follow(reader, LIMITS, spill).unwrap();
        writer.write_all(b"some").unwrap();
        while following.progress.bytes() < 4 {
            std::thread::yield_now();
        }
        drop(interest);
        let captured = following.wait().unwrap();
        assert_eq!((captured.stdout.content.bytes(), captured.left_early), (&b"some"[..], true));
        assert!(writer.write_all(b"more").is_err(), "the pipe is closed");
    }

    #[test]
    fn a_panic_before_the_spill_ends_the_reader() {
        let home = tempfile::tempdir().unwrap();
        let (tell, told) = channel();
        // By then the reader waits for buffers.
        let act = move || {
            told.iter().take(4).for_each(drop);
            panic!("made up")
        };
        let place = Location::dir(home.path()).after(act);
        let tee = Tee::new(move |_| _ = tell.send(()));
        let reader = TeeReader { reader: io::repeat(b'x'), tee: Some(tee) };
        let limits = SinkLimits { hold: 1, ..LIMITS };
        assert!(catch_unwind(AssertUnwindSafe(|| drain(reader, limits, &place))).is_err());
    }
}
