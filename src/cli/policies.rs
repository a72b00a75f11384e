//! `overspill policies`: how the agents truncate, and how that is known.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::base::human::{limit_in, thousands};
use crate::base::provenance::Era;
use crate::cli::args::PoliciesArgs;
use crate::cli::terminal::SafeWriter;
use crate::cli::{CommandResult, table, usage};
use crate::compare::{self, KeptPart};
use crate::config::Config;
use crate::preview::{Param, Policy};
use crate::rows::column::CellSide::{Left, Right};
use crate::rows::column::{ListColumn, POLICY, RowCell};
use crate::text::label::label;

fn record(policy: &Policy, own: bool) -> Value {
    let parameter =
        |param: &Param| json!({ "name": param.name, "default": param.default.to_string(), "doc": param.doc });
    let Era { from, until, seen, of } = policy.era();
    json!({
        "name": policy.name(),
        "summary": policy.summary(),
        "unit": policy.unit().as_str(),
        "max_lines": policy.max_lines(),
        "max_size": policy.max_size(),
        "keeps": compare::end_kept(policy),
        "confidence": policy.confidence().as_str(),
        "agent_version": policy.version(),
        "from": from,
        "until": until,
        "seen": seen,
        "era_of": of,
        "source": policy.source(),
        "warnings": policy.warnings().iter().map(|warning| &warning.text).collect::<Vec<_>>(),
        "parameters": policy.params().iter().map(parameter).collect::<Vec<_>>(),
        "own": own,
    })
}

pub(crate) fn run(config: &Config, args: &PoliciesArgs) -> CommandResult {
    let of_agent: Vec<&str> = args.name.iter().flat_map(|agent| config.catalog.names_of(agent)).collect();
    if let Some(name) = args.name.as_ref().filter(|_| of_agent.is_empty()) {
        let policy = config.catalog.get(name).map_err(usage)?;
        if args.all || args.json {
            let why = "--all and --json are for lists: of all policies, or with AGENT of its policies";
            return Err(usage(why));
        }
        let text = config.catalog.text(name).unwrap_or_default();
        let mut out = SafeWriter::stdout();
        eras(&mut out, config, &policy)?;
        out.write_all(text.as_bytes())?;
        return Ok(out.end()?);
    }
    let names = if of_agent.is_empty() { config.catalog.names().collect() } else { of_agent };
    let mut policies = names.iter().map(|name| config.catalog.get(name)).collect::<Result<Vec<_>, _>>()?;
    let is_current = |policy: &Policy| config.catalog.is_current(policy);
    if !args.all && policies.iter().any(is_current) {
        policies.retain(is_current);
    }
    let is_own = |policy: &Policy| config.catalog.is_own(policy.name());
    table::list(args.json, &COLUMNS, &policies, |policy| record(policy, is_own(policy)))
}

/// Prints the other forms of the policy's tool as comments, so that the result is still a policy file.
fn eras(out: &mut impl Write, config: &Config, policy: &Policy) -> io::Result<()> {
    for other in config.catalog.other_eras(policy) {
        let held = label(other.version().as_bytes());
        let held = if held.is_empty() { held } else { format!(", {held}") };
        let which = if config.catalog.is_current(&other) { "current form" } else { "earlier form" };
        writeln!(out, "# {which}: {}{held}", label(other.name().as_bytes()))?;
    }
    Ok(())
}

type Column = ListColumn<Policy>;

static COLUMNS: [Column; 6] = [
    Column::new("policy", Left, POLICY, |policy, _| RowCell::plain(policy.name())),
    Column::new("lines", Right, 11, |policy, _| RowCell::or_dash(policy.max_lines().map(thousands))),
    Column::new("size", Right, 20, |policy, _| {
        RowCell::or_dash(policy.max_size().map(|most| limit_in(most, policy.unit().describe())))
    }),
    Column::new("keeps", Left, 9, |policy, _| {
        RowCell::or_dash(compare::end_kept(policy).map(KeptPart::as_str))
    }),
    Column::new("confidence", Left, 12, |row, _| RowCell::plain(row.confidence().as_str())).yields(0),
    Column::new("source", Left, 0, |policy, _| {
        let earlier = match policy.era() {
            Era { of: None, .. } => String::new(),
            era => format!("earlier, {}: ", era.span().unwrap_or_else(|| "when is unknown".to_owned())),
        };
        RowCell::plain(format!("{earlier}{}", policy.source()))
    }),
];
