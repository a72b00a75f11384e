//! `overspill read`: one window of a file, as an agent's read tool gives it.

use crate::cli::args::ReadArgs;
use crate::cli::{Failure, Outcome, input};
use crate::config::{Config, Wishes};

use super::preview;

/// The read tool when no policy is named.
const DEFAULT: &str = "opencode/read";

/// Prints the window.
pub(crate) fn run(config: &Config, args: &ReadArgs) -> Outcome {
    let mut wishes = args.look.wishes();
    wishes.policy.get_or_insert_with(|| DEFAULT.to_owned());
    set_window(config, &mut wishes, args)?;
    let opened = input::open(config, &args.file, &args.look)?;
    preview::print(config, opened, &wishes, args.form.form())
}

/// The window is two parameters of the policy, under the policy's own names.
fn set_window(config: &Config, wishes: &mut Wishes, args: &ReadArgs) -> Outcome {
    let named = Wishes { policy: wishes.policy.clone(), tool: wishes.tool.clone(), ..Wishes::default() };
    let policy = config.resolve(&named, None).map_err(input::usage)?.policy;
    let (Some(offset), Some(limit)) = (policy.offset_key(), policy.limit_key()) else {
        let name = policy.name();
        let words = format!("{name} is not a read tool; try -p {DEFAULT}, or `overspill preview -p {name}`");
        return Err(Failure::Usage(words).into());
    };
    for (key, value) in [(offset, args.offset), (limit, args.limit)] {
        wishes.set.extend(value.map(|value| (key.to_owned(), value.to_string())));
    }
    Ok(())
}
