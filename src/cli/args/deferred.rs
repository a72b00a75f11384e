//! A subcommand's arguments, defined only when that subcommand is parsed or described.

use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::help::without_long;

/// Arguments that the parser defines when it builds their subcommand, not with all others at each start.
#[derive(Debug)]
pub(crate) struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| {
            let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
            // The global ones are there already; the help shows them last.
            let global: Vec<_> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
            // Says what the arguments are where it said what the subcommand does.
            let command = T::augment_args(command);
            let command = command.about(Resettable::from(about)).long_about(Resettable::from(long_about));
            without_long(global.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
