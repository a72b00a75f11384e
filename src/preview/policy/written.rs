//! Writes a policy file with the present values of the parameters as their defaults.

use crate::preview::policy::Policy;
use crate::preview::template::Value;

impl Policy {
    /// Returns the policy's file as written, except that the values that were set are the defaults. Returns `None` if
    /// the file is in a form in which they cannot be put in place; what is returned has been read back.
    pub(crate) fn written(&self) -> Option<String> {
        let mut text = self.text.to_string();
        for (name, value) in &self.set {
            let variant = self.variant().filter(|variant| variant.schema.defaults.contains_key(name));
            text = match variant {
                Some(variant) => with_variant_default(&text, &variant.schema.tools, name, value)?,
                None => with_default(&text, name, value)?,
            };
        }
        let read = Policy::parse(&text).ok()?;
        let same = |name: &String| read.get(name) == self.get(name);
        self.params().iter().all(|param| same(&param.name)).then_some(text)
    }
}

/// Returns the text with another default in the table of a parameter.
fn with_default(text: &str, name: &str, value: &Value) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_table = |line: &str| line.starts_with('[');
    let key =
        |line: &str| line.split_once('=').map(|(key, rest)| (key.trim().to_owned(), rest.trim().to_owned()));
    let quoted = format!("{name:?}");
    let mut start = None;
    let mut table = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if is_table(line) {
            start = (line.trim() == "[[param]]").then_some(number);
            table.clear();
        } else if start.is_some() {
            table.extend(key(line).map(|(key, rest)| (number, key, rest)));
        }
        let next = lines.get(number + 1);
        let ends = next.is_none_or(|next| is_table(next));
        let is_it = table.iter().any(|(_, key, rest)| key == "name" && *rest == quoted);
        if ends && is_it {
            let (at, ..) = table.iter().find(|(_, key, _)| key == "default")?;
            let written = format!("default = {}", toml_of(value));
            let put = |(number, line)| if number == *at { written.as_str() } else { line };
            return Some(lines.iter().copied().enumerate().map(put).collect::<Vec<_>>().join("\n"));
        }
    }
    None
}

/// Returns the text with another default in the table of a variant, found by the tools that it is for.
fn with_variant_default(text: &str, tools: &[String], name: &str, value: &Value) -> Option<String> {
    let mut is_it = false;
    let mut found = false;
    let mut put = |line: &str| {
        let table = || line.parse::<toml::Table>().ok();
        if line.starts_with("tools") {
            let listed =
                table().and_then(|table| table.get("tools")?.as_array().cloned()).unwrap_or_default();
            is_it = listed.iter().map(toml::Value::as_str).eq(tools.iter().map(|tool| Some(tool.as_str())));
        }
        if !is_it || !line.starts_with("defaults") {
            return Some(line.to_owned());
        }
        (is_it, found) = (false, true);
        let mut table = table()?;
        let written = toml_of(value).parse().unwrap_or_else(|_| toml::Value::String(value.to_string()));
        let defaults = table.get_mut("defaults")?;
        defaults.as_table_mut()?.insert(name.to_owned(), written);
        Some(format!("defaults = {defaults}"))
    };
    let lines: Option<Vec<String>> = text.split('\n').map(&mut put).collect();
    lines.map(|lines| lines.join("\n")).filter(|_| found)
}

fn toml_of(value: &Value) -> String {
    match value {
        Value::Text(text) => toml::Value::String(text.clone()).to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::preview::policy::catalog::Catalog;

    #[test]
    fn changed_limits_become_the_defaults_of_the_file() {
        let catalog = Catalog::builtin();
        let mut policy = catalog.get("opencode/output").unwrap();
        assert_eq!(policy.written().as_deref(), catalog.text("opencode/output"), "nothing was set");
        policy.set("max_lines", "3000").unwrap();
        policy.set("direction", "tail").unwrap();
        let written = policy.written().unwrap();
        assert!(written.contains("role = \"lines\"\ndefault = 3000\n"), "{written}");
        assert!(written.contains("role = \"direction\"\ndefault = \"tail\"\n"), "{written}");
        assert_eq!(written.lines().count(), catalog.text("opencode/output").unwrap().lines().count());
    }

    #[test]
    fn every_built_in_file_can_be_written_with_other_limits() {
        let catalog = Catalog::builtin();
        for name in catalog.names() {
            let mut policy = catalog.get(name).unwrap();
            let Some(lines) = policy.max_lines() else { continue };
            policy.set_max_lines(lines + 1).unwrap();
            assert!(policy.written().is_some(), "{name}");
        }
    }
}
