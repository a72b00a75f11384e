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

mod arrivals;
mod captured;
mod command;
mod content;
mod count;
mod deliver;
mod dir;
mod ended;
mod ends;
mod follow;
mod keys;
mod ladder;
mod options;
mod pipe;
mod place;
mod pty;
mod pump;
mod record;
mod session;
mod sink;
mod spill;
mod truncate;
mod watch;
mod wish;

pub use arrivals::{Arrival, Arrivals};
pub use captured::{Captured, CapturedOutput, Size};
pub use command::{Running, drain, run, start};
pub use content::Content;
pub use deliver::{Delivery, NOT_SAVED, NoPreview};
pub use ended::{Ended, Status, Stop};
pub use follow::{Following, Interest, follow};
pub use options::{Group, Options, StartError, Stdin, Streams, TerminalSize};
pub use place::{DEFAULT_SESSION, Place, PlaceError};
pub use pump::Progress;
pub use record::{About, Exit, Record};
pub use session::{EndError, EndedSession, end_session};
pub use sink::{HOLD, Limits, Stopped};
pub use truncate::{Error, Outcome, Output, Rules, truncate};
pub use watch::Control;
pub use wish::{Keep, Wish, set_true};
