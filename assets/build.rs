//! Lists the policy and store files under `assets`, so that adding one takes a new file and no Rust.

use std::path::{Path, PathBuf};
use std::{env, error::Error, fmt::Write, fs};

fn main() -> Result<(), Box<dyn Error>> {
    write_list("policies", |path| {
        let text = fs::read_to_string(path)?;
        Ok(format!("{}/{}", field(&text, "agent")?, field(&text, "tool")?))
    })?;
    write_list("stores", |path| {
        Ok(path.file_name().ok_or("a store file has no name")?.to_string_lossy().into_owned())
    })
}

/// Writes `FOLDER.rs`: the name and the text of each TOML file in `assets/FOLDER`, ordered by name.
fn write_list(
    folder: &str,
    name: impl Fn(&Path) -> Result<String, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let directory = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("assets").join(folder);
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(&directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push((name(&path)?, path));
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for (name, path) in files {
        writeln!(list, "    ({name:?}, include_str!({path:?})),")?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join(format!("{folder}.rs")), list)?;
    Ok(())
}

/// The value of a top-level `key = "value"` line.
fn field(text: &str, key: &str) -> Result<String, Box<dyn Error>> {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
    Ok(value.ok_or_else(|| format!("a policy file has no `{key}`"))?.trim().trim_matches('"').to_owned())
}
