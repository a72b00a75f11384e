//! The rows of lists and tables: what is known of each output, session, call, setting and found line, and the columns that
//! say it, on a screen as on the command line. It knows neither how lists are drawn nor how tables are printed.

pub mod batch;
pub mod calls;
pub mod column;
pub mod lost;
pub(crate) mod outputs;
pub mod sessions;
pub(crate) mod settings;
