//! A value for each of a command's two streams.

use super::input::Stream;

/// One value for standard output (or the only output) and one for standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerStream<T> {
    /// Standard output's, or the only output's.
    pub stdout: T,
    /// Standard error's, where it is apart.
    pub stderr: T,
}

impl<T> PerStream<T> {
    /// Both values, made in order.
    pub(crate) fn each(mut value: impl FnMut(Stream) -> T) -> Self {
        Self { stdout: value(Stream::Stdout), stderr: value(Stream::Stderr) }
    }

    /// One stream's value.
    pub fn of(&self, stream: Stream) -> &T {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }

    /// One stream's value, to change it.
    pub fn of_mut(&mut self, stream: Stream) -> &mut T {
        match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        }
    }

    /// Both values, standard output's first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.stdout, &self.stderr].into_iter()
    }
}
