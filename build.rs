//! Lists the policy files under `assets/policies`, so that adding one takes a new file and no Rust.

use std::{env, error::Error, fmt::Write, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("assets/policies");
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut policies = Vec::new();
    for entry in fs::read_dir(&directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(&path)?;
            policies.push((format!("{}/{}", field(&text, "agent")?, field(&text, "tool")?), path));
        }
    }
    policies.sort();
    let mut list = String::from("&[\n");
    for (name, path) in policies {
        writeln!(list, "    ({name:?}, include_str!({path:?})),")?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("policies.rs"), list)?;
    Ok(())
}

/// The value of a top-level `key = "value"` line.
fn field(text: &str, key: &str) -> Result<String, Box<dyn Error>> {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
    Ok(value.ok_or_else(|| format!("a policy file has no `{key}`"))?.trim().trim_matches('"').to_owned())
}
