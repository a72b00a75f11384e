//! `overspill config`: the settings in effect and where each comes from, and a configuration file to begin with.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::anyhow;
use serde_json::{Value, json};

use crate::config::{Config, EffectiveSetting, Overrides, SettingFrom};
use crate::rows::column::CellSide::{Left, Path as ToPath};
use crate::rows::column::{ListColumn, RowCell};
use crate::store::Env;
use crate::text::label::label;

use super::args::ConfigArgs;
use super::{CommandResult, print_json, screens, table, usage};

pub(crate) fn run(config: &Config, args: &ConfigArgs) -> CommandResult {
    let keys: Vec<_> = screens::settable_keys().into_iter().map(|(name, keys, _)| (name, keys)).collect();
    let overrides =
        Overrides { policy: args.policy.clone(), tool: args.tool.clone(), ..Overrides::default() };
    let settings = config.settings(&overrides, &keys).map_err(usage)?;
    if args.json {
        let file = config.file_path.as_deref().filter(|file| file.exists());
        let file = file.map(|file| file.to_string_lossy());
        let record = |EffectiveSetting { name, value, from }: &EffectiveSetting| {
            let line = if let SettingFrom::File(_, line) = from { Some(line) } else { None };
            json!({ "name": name, "value": value, "from": from.to_string(), "line": line })
        };
        let settings: Vec<Value> = settings.iter().map(record).collect();
        return print_json(&json!({ "version": 1, "file": file, "settings": settings }));
    }
    table::show(&COLUMNS, &settings)
}

static COLUMNS: [ListColumn<EffectiveSetting>; 3] = [
    ListColumn::new("setting", Left, 40, |row, _| RowCell::plain(row.name.as_str())),
    ListColumn::new("from", ToPath, 40, |EffectiveSetting { from, .. }, _| match from {
        SettingFrom::File(path, line) => RowCell::plain(format!("{}:{line}", path.display())),
        other => RowCell::plain(other.to_string()),
    }),
    ListColumn::new("value", Left, 0, |setting, _| RowCell::plain(setting.value.as_str())),
];

/// Writes a commented file to `file`, or else to the place where it is read from, and prints its path.
pub(crate) fn init(file: Option<&Path>) -> CommandResult {
    let path = match file {
        Some(file) => std::path::absolute(file).unwrap_or_else(|_| file.to_owned()),
        None => {
            let home = Config::builtin(Env::from_process()).home();
            home.ok_or_else(|| anyhow!("HOME is unset or relative; write --config FILE"))?.join("config.toml")
        }
    };
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => anyhow!("{}: exists already, and is not overwritten", path.display()),
        _ => anyhow!("{}: {error}", path.display()),
    };
    write(&path, &Config::commented(&screens::settable_keys())).map_err(failed)?;
    Ok(writeln!(crate::cli::terminal::stdout(), "{}", label(path.as_os_str().as_encoded_bytes()))?)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
