//! The words that say what is saved of an output that is just being made.

use clap::{Args as Group, ValueEnum};

use crate::capture::{Keep, Wish};
use crate::cli::Failure;
use crate::human::Size;
use crate::preview::Policy;

/// What is saved of an output that is just being made.
#[derive(Debug, Default, Group)]
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
    /// When it is kept.
    pub(crate) fn keep(&self) -> Keep {
        match self.keep {
            Some(KeepWhen::Always) => Keep::Always,
            Some(KeepWhen::Cut) | None => Keep::Cut,
            Some(KeepWhen::Never) => Keep::Never,
        }
    }

    /// What is wished of a capture, under this policy.
    pub(crate) fn wish(&self, policy: &Policy) -> Wish {
        let wish = Wish::new(policy.clone());
        let wish = match self.max_spill {
            Some(cap) => wish.with_cap(cap),
            None => wish,
        };
        Wish { keep: self.keep(), durable: self.durable, ..wish }
    }

    /// Nothing is saved here.
    ///
    /// # Errors
    /// If any of this was given.
    pub(crate) fn refuse(&self) -> Result<(), Failure> {
        if self.keep.is_some() || self.max_spill.is_some() || self.durable {
            Err(Failure::Usage("--keep, --max-spill and --durable apply only to piped input or `run`; FILE is already on disk".into()))
        } else {
            Ok(())
        }
    }
}

/// `none`, or a size in bytes.
fn cap(text: &str) -> Result<u64, String> {
    match text {
        "none" => Ok(u64::MAX),
        text => text.parse::<Size>().map(|size| size.number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_a_size_or_none() {
        assert_eq!((cap("none"), cap("1k"), cap("7")), (Ok(u64::MAX), Ok(1024), Ok(7)));
        assert!(cap("all").is_err());
    }
}
