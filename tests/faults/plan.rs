//! Which calls can fail, and how: the table of bars 3 and 22.

use std::ffi::c_int;

/// Instead of an error: half of what was asked.
pub const SHORT: c_int = -1;
/// Instead of an error: the file that is read is rewritten before the call, or before it and every later one.
pub const REWRITE: c_int = -2;
pub const REWRITE_ALWAYS: c_int = -3;

/// Calls that fail alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Open,
    Create,
    Read,
    Write,
    Print,
    Stat,
    List,
    Change,
    Lock,
    Map,
    Descriptor,
    Wait,
}

/// How many kinds there are.
pub const KINDS: usize = ALL.len();

const DISK: [c_int; 6] = [libc::ENOSPC, libc::EDQUOT, libc::EFBIG, libc::EIO, libc::EINTR, SHORT];

/// Every kind with the errors that it is given.
pub const ALL: [(Kind, &[c_int]); 12] = [
    (Kind::Open, &[libc::EMFILE, libc::ESTALE, libc::EIO, libc::EINTR]),
    (Kind::Create, &[libc::ENOSPC, libc::EMFILE, libc::EDQUOT, libc::EIO, libc::ESTALE]),
    (Kind::Read, &[libc::EIO, SHORT, libc::ESTALE, libc::EINTR]),
    (Kind::Write, &DISK),
    (Kind::Print, &DISK),
    (Kind::Stat, &[libc::EIO, libc::ESTALE]),
    (Kind::List, &[libc::EIO, libc::ESTALE]),
    (Kind::Change, &[libc::EIO, libc::ENOSPC, libc::ESTALE, libc::EDQUOT]),
    (Kind::Lock, &[libc::EIO, libc::EINTR]),
    (Kind::Map, &[libc::ENODEV, libc::ENOMEM]),
    (Kind::Descriptor, &[libc::EMFILE]),
    (Kind::Wait, &[libc::EINTR]),
];

/// One call to fail: the nth of its kind, counted from 1.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub kind: Kind,
    pub nth: u32,
    pub fault: c_int,
}

impl Order {
    /// As a variable of the environment has it.
    pub fn parse(text: &str) -> Option<Order> {
        let mut numbers = text.split(' ');
        let (kind, _) = ALL.get(numbers.next()?.parse::<usize>().ok()?)?;
        let (nth, fault) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        Some(Order { kind: *kind, nth, fault })
    }

    pub fn words(self) -> String {
        format!("{} {} {}", self.kind as usize, self.nth, self.fault)
    }

    /// Whether the work goes on as if nothing had been: a call that was interrupted, or did a part, is made again.
    pub fn must_not_be_seen(self) -> bool {
        let again = matches!(self.kind, Kind::Read | Kind::Write | Kind::Print | Kind::Wait);
        again && matches!(self.fault, libc::EINTR | SHORT)
    }
}
