//! Lists the policy and store files and the man pages under `assets`, so that adding one takes a new file and no Rust.

use std::path::{Path, PathBuf};
use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    write_list("man", "1", |path, _| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        Ok(format!("({:?}, include_str!({path:?}))", name.unwrap_or_default()))
    })?;
    write_list("policies", "toml", |path, text| {
        let file: toml::Table = text.parse()?;
        let field = |key: &str| {
            file.get(key).and_then(toml::Value::as_str).ok_or(format!("{} has no `{key}`", path.display()))
        };
        let name = format!("{}/{}", field("agent")?, field("tool")?);
        Ok(format!("({name:?}, include_str!({path:?}))"))
    })?;
    write_list("stores", "toml", |path, text| {
        let file: toml::Table = text.parse()?;
        let stores = file.get("store").and_then(toml::Value::as_array).into_iter().flatten();
        let roots = stores.filter_map(|store| store.get("roots")?.as_array()).flatten();
        let roots: Vec<&str> = roots.filter_map(toml::Value::as_str).collect();
        // JSON is parsed in a fraction of the time that TOML takes.
        let json = serde_json::to_string(&file)?;
        Ok(format!("Builtin {{ text: include_str!({path:?}), roots: &{roots:?}, json: {json:?} }}"))
    })
}

/// Writes `FOLDER.rs`: an array with what `item` makes of each file in `assets/FOLDER` with this ending, sorted.
fn write_list(
    folder: &str,
    ending: &str,
    item: impl Fn(&Path, &str) -> Result<String, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let directory = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("assets").join(folder);
    println!("cargo::rerun-if-changed={}", directory.display());
    let paths = fs::read_dir(&directory)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, std::io::Error>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    let items = paths.iter().map(|path| {
        item(path, &fs::read_to_string(path)?).map_err(|error| format!("{}: {error}", path.display()).into())
    });
    let mut items = items.collect::<Result<Vec<String>, Box<dyn Error>>>()?;
    items.sort();
    let list = format!("&[\n    {},\n]\n", items.join(",\n    "));
    fs::write(Path::new(&env::var("OUT_DIR")?).join(format!("{folder}.rs")), list)?;
    Ok(())
}
