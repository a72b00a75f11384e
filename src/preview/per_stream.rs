//! A value for each of a command's two streams.

use super::input::Stream;

/// One value for standard output (or the only output) and one for standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerStream<T> {
    /// For standard output, or the only output.
    pub stdout: T,
    /// For standard error, if it is separate.
    pub stderr: T,
}

impl<T> PerStream<T> {
    /// Creates both values, in order.
    pub(crate) fn each(mut value: impl FnMut(Stream) -> T) -> Self {
        Self { stdout: value(Stream::Stdout), stderr: value(Stream::Stderr) }
    }

    /// Returns one stream's value.
    pub fn of(&self, stream: Stream) -> &T {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }

    /// Returns one stream's value mutably.
    pub fn of_mut(&mut self, stream: Stream) -> &mut T {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// Returns both values, standard output's first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.stdout, &self.stderr].into_iter()
    }
}
