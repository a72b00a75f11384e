//! Masks what looks like a secret in text that leaves the records, such as `--json`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What stands in place of a secret.
const MASK: &str = "[masked]";

/// Forms of keys and tokens that services use, and values that are named as secret.
const SECRETS: &str = r#"(?x)
    -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z\ ]*PRIVATE\ KEY-----|\z)
  | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}
  | \b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}
  | \bgh[pousr]_[A-Za-z0-9]{20,}
  | \bgithub_pat_[A-Za-z0-9_]{20,}
  | \bglpat-[A-Za-z0-9_-]{16,}
  | \bxox[abeoprs]-[A-Za-z0-9-]{10,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
  | \bAIza[A-Za-z0-9_-]{30,}
  | \bya29\.[A-Za-z0-9_-]{20,}
  | \bnpm_[A-Za-z0-9]{30,}
  | \bhf_[A-Za-z0-9]{20,}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
"#;

/// A value after a name that says it is secret: the name stays.
const NAMED: &str = r#"(?xi)
    ( \b[a-z0-9_-]*(?:api[_-]?key|secret|passwd|password|access[_-]?token|auth[_-]?token)[a-z0-9_-]*
      ["']?\s*[:=]\s*["']? | \bauthorization:\s*(?:bearer|basic|token)\s+ | ://[^\s/:@]+: )
    ( [^\s"',;@&]{6,} )
"#;

static FORMS: LazyLock<Option<(Regex, Regex)>> =
    LazyLock::new(|| Some((Regex::new(SECRETS).ok()?, Regex::new(NAMED).ok()?)));

/// Replaces what looks like a secret. It may miss some: masked text may still hold secrets.
pub fn mask(text: &str) -> Cow<'_, str> {
    let Some((secrets, named)) = &*FORMS else { return Cow::Borrowed(MASK) };
    let masked = secrets.replace_all(text, MASK);
    match named.replace_all(&masked, format!("${{1}}{MASK}")) {
        Cow::Borrowed(_) => masked,
        Cow::Owned(text) => Cow::Owned(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_masked() {
        for (text, masked) in [
            ("key sk-abcdefghijklmnop1234 end", "key [masked] end"),
            ("ghp_abcdefghijklmnopqrstuvwx", "[masked]"),
            ("AKIAIOSFODNN7EXAMPLE", "[masked]"),
            ("API_KEY=abcdef123456 make", "API_KEY=[masked] make"),
            (r#"{"password": "hunter22"}"#, r#"{"password": "[masked]"}"#),
            ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [masked]"),
            ("https://user:secret1@host/", "https://user:[masked]@host/"),
            ("-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\nafter", "[masked]\nafter"),
        ] {
            assert_eq!(mask(text), masked);
        }
    }

    #[test]
    fn other_text_is_not_masked() {
        for text in ["make all", "token count: 12", "task-management", "the password is short: abc", "10:30"]
        {
            assert_eq!(mask(text), text);
        }
    }
}
