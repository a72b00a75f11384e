//! The agent's own configuration: limits that the user has set there apply to its outputs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::fs::plain_file::{self, ellipsize};
use crate::preview::{ParamRole, Policy};
use crate::store::{Env, expand};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentLimits {
    /// The first file that sets one.
    pub path: PathBuf,
    /// The limits, each with the file that sets it; the size is in the policy's unit.
    pub lines: Option<(u64, PathBuf)>,
    pub size: Option<(u64, PathBuf)>,
}

/// Returns an agent's files, the strongest first. A name is looked for as by opencode (config/config.ts and paths.ts): in the
/// project up to its root, in `.opencode` before others and the root's before all, then among the user's.
fn candidates(agent: &str, file: &str, directory: &Path, env: &Env) -> Vec<PathBuf> {
    if file.starts_with(['/', '~', '$']) {
        return expand(file, env).into_iter().collect();
    }
    let root = directory.ancestors().position(|above| above.join(".git").exists());
    let above: Vec<&Path> = directory.ancestors().take(root.map_or(usize::MAX, |at| at + 1)).collect();
    let hidden = above.iter().rev().map(|above| above.join(format!(".{agent}")));
    let user = env.dir_or("XDG_CONFIG_HOME", ".config").map(|home| home.join(agent));
    let places = hidden.chain(above.iter().map(|above| above.to_path_buf())).chain(user.clone());
    let both =
        |place: PathBuf| [Path::new(file).with_extension("jsonc"), file.into()].map(|name| place.join(name));
    places.flat_map(both).chain(user.map(|user| user.join("config.json"))).collect()
}

/// Reads limits, each from the project's file before the user's. Errors go to `warnings`.
pub(super) fn limits(
    policy: &Policy,
    directory: &Path,
    env: &Env,
    warnings: &mut Vec<String>,
) -> Option<AgentLimits> {
    let (file, lines_key, size_key) = policy.agent_settings()?;
    let mut found: Option<AgentLimits> = None;
    for path in candidates(policy.agent(), file, directory, env) {
        let mut warn = |error| warnings.push(format!("{error}; its limits are not used"));
        let settings = plain_file::settings(&path).and_then(|settings| settings.map_err(&mut warn).ok());
        let Some(settings) = settings else { continue };
        let mut limit = |role, key: Option<&str>| {
            let value = key?.split('.').try_fold(&settings, |value, name| value.get(name))?;
            let limit = value.as_i64().and_then(|number| policy.nearest(role, number));
            if limit.is_none() {
                let (path, key, value) = (path.display(), key?, ellipsize(&value.to_string()));
                warnings
                    .push(format!("{path}: {key} is {value}, not a positive whole number; it is not used"));
            }
            Some((limit?, path.clone()))
        };
        let (lines, size) = (limit(ParamRole::Lines, lines_key), limit(ParamRole::Size, size_key));
        if lines.is_some() || size.is_some() {
            let stronger = found.get_or_insert(AgentLimits { path, lines: None, size: None });
            stronger.lines = stronger.lines.take().or(lines);
            stronger.size = stronger.size.take().or(size);
        }
    }
    found
}

/// Returns the agent's configuration file that sets these limits, and the JSON to put there; `None` if it has none.
pub(crate) fn settings(policy: &Policy) -> Option<(String, String)> {
    let (file, lines_key, size_key) = policy.agent_settings()?;
    let mut settings = Value::Object(serde_json::Map::new());
    for (key, number) in [(lines_key, policy.max_lines()), (size_key, policy.max_size())] {
        if let (Some(key), Some(number)) = (key, number) {
            let place = key.split('.').fold(&mut settings, |value, name| &mut value[name]);
            *place = Value::from(number);
        }
    }
    Some((file.rsplit('/').next()?.to_owned(), serde_json::to_string_pretty(&settings).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preview::Catalog;

    fn policy() -> Policy {
        Catalog::builtin().get("opencode/output").unwrap()
    }

    fn env(config: &Path) -> Env {
        Env::hermetic(Path::new("/none")).with_var("XDG_CONFIG_HOME", config)
    }

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_project_overrides_the_user_limit_by_limit() {
        let home = tempfile::tempdir().unwrap();
        let (config, project) = (home.path().join("config"), home.path().join("project"));
        write(
            &config.join("opencode/opencode.json"),
            r#"{"tool_output": {"max_lines": 7, "max_bytes": 900}}"#,
        );
        write(&project.join("opencode.jsonc"), "{ // ours\n \"tool_output\": {\"max_lines\": 5,} }");
        write(&project.join(".git/HEAD"), "");
        write(&project.join("src/x"), "");
        let mut warnings = Vec::new();
        let found = limits(&policy(), &project.join("src"), &env(&config), &mut warnings).unwrap();
        assert_eq!(found.lines, Some((5, project.join("opencode.jsonc"))));
        assert_eq!(found.size, Some((900, config.join("opencode/opencode.json"))));
        assert_eq!(found.path, project.join("opencode.jsonc"));
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn files_are_merged_as_opencode_merges_them() {
        let home = tempfile::tempdir().unwrap();
        let (config, project) = (home.path().join("config"), home.path().join("project"));
        write(&project.join(".git/HEAD"), "");
        // From the weakest to the strongest.
        let files = [
            config.join("opencode/config.json"),
            config.join("opencode/opencode.json"),
            config.join("opencode/opencode.jsonc"),
            project.join("opencode.json"),
            project.join("opencode.jsonc"),
            project.join("src/opencode.json"),
            project.join("src/.opencode/opencode.json"),
            project.join(".opencode/opencode.json"),
            project.join(".opencode/opencode.jsonc"),
        ];
        for (lines, file) in (1..).zip(&files) {
            write(file, &format!(r#"{{"tool_output": {{"max_lines": {lines}}}}}"#));
            let found = limits(&policy(), &project.join("src"), &env(&config), &mut Vec::new()).unwrap();
            assert_eq!((found.lines, &found.path), (Some((lines, file.clone())), file));
        }
    }

    #[test]
    fn written_settings_are_read_back() {
        let home = tempfile::tempdir().unwrap();
        let mut policy = policy();
        policy.set_max_lines(3000).unwrap();
        let (file, text) = settings(&policy).unwrap();
        write(&home.path().join(".git/HEAD"), "");
        write(&home.path().join(&file), &text);
        let found = limits(&policy, home.path(), &env(home.path()), &mut Vec::new()).unwrap();
        let limits = [found.lines, found.size].map(|limit| limit.map(|(limit, _)| limit));
        assert_eq!(limits, [Some(3000), Some(51_200)]);
        assert_eq!(settings(&Catalog::builtin().get("pi/bash").unwrap()), None);
    }

    #[test]
    fn the_search_stops_at_the_root_of_the_project() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("outer/project");
        write(&home.path().join("outer/opencode.json"), r#"{"tool_output": {"max_lines": 5}}"#);
        write(&project.join(".git/HEAD"), "");
        assert_eq!(limits(&policy(), &project, &env(home.path()), &mut Vec::new()), None);
    }

    #[test]
    fn unusable_settings_are_reported() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join(".git/HEAD"), "");
        write(&home.path().join("opencode.json"), r#"{"tool_output": {"max_lines": -1}}"#);
        let mut warnings = Vec::new();
        assert_eq!(limits(&policy(), home.path(), &env(home.path()), &mut warnings), None);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("tool_output.max_lines is -1"), "{warnings:?}");
        write(&home.path().join("opencode.json"), "{");
        assert_eq!(limits(&policy(), home.path(), &env(home.path()), &mut warnings), None);
        assert_eq!(warnings.len(), 2);
        let long = format!(r#"{{"tool_output": {{"max_lines": "{}"}}}}"#, "A".repeat(100_000));
        write(&home.path().join("opencode.json"), &long);
        assert_eq!(limits(&policy(), home.path(), &env(home.path()), &mut warnings), None);
        assert!(warnings[2].chars().count() < 1000, "a value of a stranger's file is told by its ends");
    }

    #[test]
    fn a_limit_is_what_the_agent_makes_of_the_number() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::hermetic(home.path());
        let size = |name: &str, file: &str, text: &str| {
            write(&home.path().join(file), text);
            let mut warnings = Vec::new();
            let found = limits(&Catalog::builtin().get(name).unwrap(), home.path(), &env, &mut warnings);
            (found.and_then(|found| found.size).map(|(size, _)| size), warnings.len())
        };
        let gemini = |number: &str| {
            let text = format!(r#"{{"tools": {{"truncateToolOutputThreshold": {number}}}}}"#);
            size("gemini-cli/output", ".gemini/settings.json", &text)
        };
        assert_eq!(["10000", "0", "-1"].map(gemini), [(Some(10_000), 0), (Some(0), 0), (Some(0), 0)]);
        assert_eq!(["\"1\"", "null", "1.5"].map(gemini), [(None, 1); 3]);
    }
}
