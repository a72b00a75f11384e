//! Arguments that say what to save of an output that is being produced.

use std::ffi::OsStr;

use clap::{Args as Group, ValueEnum};

use crate::base::human::TypedSize;
use crate::capture::{KeepSpill, Request};
use crate::cli::usage;
use crate::preview::Policy;

/// What is saved of an output that is just being made.
#[derive(Debug, Default, Group)]
#[command(next_help_heading = "Saving")]
pub(crate) struct SaveArgs {
    /// When to save the output of a command or a pipe [default: cut]
    #[arg(long, value_name = "WHEN")]
    keep: Option<KeepWhen>,
    /// Maximum size of the saved output; none for no limit [default: the policy's, else 100m]
    #[arg(long, value_name = "SIZE", value_parser = cap)]
    max_spill: Option<u64>,
    /// Flush the saved output to disk (fsync) before finishing
    #[arg(long)]
    durable: bool,
}

/// When a spill is kept.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum KeepWhen {
    /// Always
    Always,
    /// If the policy cuts it
    Cut,
    /// Never
    Never,
}

impl SaveArgs {
    /// Returns when to keep the spill.
    pub(crate) fn keep(&self) -> KeepSpill {
        match self.keep {
            Some(KeepWhen::Always) => KeepSpill::Always,
            Some(KeepWhen::Cut) | None => KeepSpill::Cut,
            Some(KeepWhen::Never) => KeepSpill::Never,
        }
    }

    /// Returns the request for a capture under this policy.
    pub(crate) fn request(&self, policy: &Policy) -> Request {
        let request = Request::new(policy.clone());
        let request = match self.max_spill {
            Some(cap) => request.with_cap(cap),
            None => request,
        };
        Request { keep: self.keep(), durable: self.durable, ..request }
    }

    /// Checks that what is never kept is not to be flushed.
    ///
    /// # Errors
    /// It is.
    pub(crate) fn refuse_idle(&self) -> anyhow::Result<()> {
        match (self.keep, self.durable) {
            (Some(KeepWhen::Never), true) => Err(usage(
                "--durable has no effect with --keep never, which saves nothing; leave one of them out",
            )),
            _ => Ok(()),
        }
    }

    /// Checks that no argument about saving was given where nothing is saved: of a file, or of a pipe that is only copied.
    ///
    /// # Errors
    /// If one was given.
    pub(crate) fn refuse(&self, file: &OsStr) -> anyhow::Result<()> {
        if self.keep.is_none() && self.max_spill.is_none() && !self.durable {
            return Ok(());
        }
        let why = match file == "-" {
            true => "have no effect here; `overspill preview --save` saves standard input",
            false => "apply only to piped input or `run`; FILE is already on disk",
        };
        Err(usage(format!("--keep, --max-spill and --durable {why}")))
    }
}

/// Parses `none`, or a size in bytes.
fn cap(text: &str) -> Result<u64, String> {
    match text {
        "none" => Ok(u64::MAX),
        text => match text.parse::<TypedSize>()?.number {
            0 => Err("that saves nothing; write --keep never".to_owned()),
            cap => Ok(cap),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_a_size_or_none() {
        assert_eq!((cap("none"), cap("1k"), cap("7")), (Ok(u64::MAX), Ok(1024), Ok(7)));
        assert!(cap("all").is_err() && cap("0").unwrap_err().contains("--keep never"));
    }
}
