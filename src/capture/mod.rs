//! Running a command, or draining a pipe, into a spill: bounded memory, exit status kept, and the preview that a
//! model would get of it.
//!
//! [`start`] (or [`run`], which waits) runs a command and [`drain`] takes a stream ([`follow`] on a thread of its own); all give a [`Captured`]. Its
//! [`Captured::deliver`] plans the preview, keeps the spill if it is wanted, and gives a [`Delivery`]. An agent that
//! has a tool's output in hand already calls [`truncate`].
//!
//! From the ground up: `count` and `ends` know of an output what streams by; `sink` puts it into a `spill`, in a
//! [`Place`]; `pump` moves it there from a `pipe`, and `arrivals` has when; `command` starts it all and
//! `watch` watches over it, `pty` and `keys` are the terminal that it may be given; `record` says what was run.

pub(crate) mod process;
pub(crate) mod request;
pub(crate) mod result;
pub(crate) mod spill;
mod truncate;

pub use process::command::{Running, drain, run, start};
pub use process::exit::{Ended, Status, Stop};
pub use process::follow::{Following, Interest, follow};
pub use process::options::{Group, Options, StartError, Stdin, Streams, TerminalSize};
pub use process::supervise::Control;
pub use request::{Keep, Wish, set_true};
pub use result::captured::{Captured, CapturedOutput, Size};
pub use result::finish::{Delivery, NOT_SAVED, NoPreview};
pub use result::record::{About, Exit, Record};
pub use result::timeline::{Arrival, Arrivals};
pub use spill::content::Content;
pub use spill::copy::Progress;
pub use spill::location::{DEFAULT_SESSION, Place, PlaceError};
pub use spill::session::{EndError, EndedSession, end_session};
pub use spill::sink::{HOLD, Limits, Stopped};
pub use truncate::{Error, Outcome, Output, Rules, truncate};
