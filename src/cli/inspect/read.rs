//! `overspill read`: prints one window of a file as an agent's read tool would.

use crate::cli::args::ReadArgs;
use crate::cli::{CommandResult, input, usage};
use crate::config::{Config, Overrides};

use super::preview;

/// The default read tool; an agent's name alone means a tool called so.
const DEFAULT: &str = "opencode/read";

pub(crate) fn run(config: &Config, args: &ReadArgs) -> CommandResult {
    let mut overrides = args.look.overrides();
    let policy = overrides.policy.get_or_insert_with(|| DEFAULT.to_owned());
    let of_agent = format!("{policy}/read");
    if overrides.tool.is_none() && config.catalog.knows(&of_agent) {
        *policy = of_agent;
    }
    set_window(config, &mut overrides, args)?;
    let opened = input::open(config, &args.file, &args.look)?;
    let by = opened.resolve(config, &overrides)?;
    args.look.refuse_for(&by.policy)?;
    preview::print(opened, by, args.form.form())
}

/// Sets the window, which is two parameters of the policy, named as the policy names them.
fn set_window(config: &Config, overrides: &mut Overrides, args: &ReadArgs) -> CommandResult {
    let named =
        Overrides { policy: overrides.policy.clone(), tool: overrides.tool.clone(), ..Overrides::default() };
    let policy = config.resolve(&named, None).map_err(usage)?.policy;
    let (Some(offset), Some(limit)) = (policy.offset_key(), policy.limit_key()) else {
        let name = policy.name();
        let tools: Vec<&str> = config.catalog.names().filter(|name| name.ends_with("/read")).collect();
        let tools = tools.join(", ");
        return Err(usage(format!(
            "{name} is not a read tool; try -p with {tools}, or `overspill preview -p {name}`"
        )));
    };
    for (key, value) in [(offset, args.offset), (limit, args.limit)] {
        overrides.set.extend(value.map(|value| (key.to_owned(), value.to_string())));
    }
    Ok(())
}
