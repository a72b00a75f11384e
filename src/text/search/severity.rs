//! What counts as an error, and what as a warning, in the output of compilers, test runners, loggers and scripts.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex};

use super::{LOOK_BEHIND, Pattern};

words! {
    /// Worst first.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Severity {
        #[default]
        Error => "error",
        Warning => "warning",
    }
}

impl Severity {
    pub fn plural(self) -> &'static str {
        match self {
            Self::Error => "errors",
            Self::Warning => "warnings",
        }
    }

    /// Returns the built-in pattern, which a line of JSON with a level matches only by that.
    pub fn built_in(self) -> Option<&'static Pattern> {
        BUILT_IN[self as usize].get_or_init(|| Pattern::for_severity(self.text(), self).ok()).as_ref()
    }

    pub fn text(self) -> &'static str {
        match self {
            Self::Error => ERRORS,
            Self::Warning => WARNINGS,
        }
    }
}

static BUILT_IN: [OnceLock<Option<Pattern>>; 2] = [OnceLock::new(), OnceLock::new()];

static LEVEL: OnceLock<Option<Regex>> = OnceLock::new();

/// The patterns for both severities. A line matches each once at most.
#[derive(Debug, Clone, Default)]
pub struct SeverityPatterns {
    /// The configured patterns, by severity; `None` for the built-in one.
    pub own: [Option<Pattern>; 2],
}

impl SeverityPatterns {
    /// Returns a pattern; `None` if the built-in one cannot be compiled.
    pub fn get(&self, severity: Severity) -> Option<&Pattern> {
        self.own[severity as usize].as_ref().or_else(|| severity.built_in())
    }

    /// Compiles what [`SeverityPatterns::get`] returns, and what its matches need: that takes some milliseconds.
    pub fn compile(&self) {
        for severity in Severity::ALL {
            self.get(severity);
        }
        level_pattern();
    }

    pub fn are_compiled(&self) -> bool {
        let mut patterns = self.own.iter().zip(&BUILT_IN);
        patterns.all(|(own, built_in)| own.is_some() || built_in.get().is_some()) && LEVEL.get().is_some()
    }
}

/// The key of the level in a line of JSON, as pino, bunyan, slog, zap, Python and ECS write it.
macro_rules! level_key {
    () => {
        r#""(?:level|severity|levelname|lvl|log\.level)"\s*:\s*"#
    };
}

/// The levels that are errors; pino and bunyan write numbers.
macro_rules! error_level {
    () => {
        r#"(?:"(?i:err|error|fatal|crit|critical|alert|emerg|emergency|panic|dpanic|severe)"|[56]0\b)"#
    };
}

macro_rules! warning_level {
    () => {
        r#"(?:"(?i:warn|warning)"|40\b)"#
    };
}

/// Matches a level in a line of JSON; the first group is there if it is an error, the second if it is a warning.
const ANY_LEVEL: &str = concat!(
    r"(?-u)[{,]\s*",
    level_key!(),
    "(?:(",
    error_level!(),
    ")|(",
    warning_level!(),
    r#")|"[A-Za-z]+"|[0-9]+)"#
);

/// Matches where an error begins, as rustc, cargo, gcc, clang, tsc, Python, pytest, Java, npm, go test, make, the shell and
/// loggers write it, in colour or not. Case matters. Each way begins with bytes of its own, so that the regular expression
/// is tried only where these are.
const ERRORS: &str = concat!(
    // error: error[E0308]: fatal error: error TS2304: (an `m` ends the escape sequence of a colour), but not `fn f(error: E)`
    r"(?-u)(?:^|[ \t\r:]|m)(?:error|fatal)(?:\[[\w:-]+\]| [A-Z]+[0-9]+)?(?:\x1b\[[0-9;]*m)*:",
    // ValueError: AssertionError java.lang.Exception: but not io::Error::other, nor Qwen Code's `Error: (none)`
    r"|Error(?:\x1b\[[0-9;]*m)*(?::(?:[^: ]| (?:[^(]|\((?:[^n]|n[^o]|no[^n]|non[^e]|none[^)])|$)|$)|\r?$)|Exception(?:\x1b\[[0-9;]*m)*(?::(?:[^:]|$)|\r?$| in thread )",
    r"|Traceback \(most recent call last\)",
    r"|panicked at |\bpanic: ",
    r"|\bnpm(?:\x1b\[[0-9;]*m)* (?:\x1b\[[0-9;]*m)*(?:ERR!|error)(?:\x1b\[[0-9;]*m)* ",
    // pytest's reason for a failure
    r"|^E   |mE   ",
    // go test, pytest, cargo test, jest
    r"|(?:\b|m)FAIL(?:ED|URE)?\b",
    r"|(?:\b|m)(?:ERROR|FATAL|CRITICAL)\b",
    // make
    r"|: \*\*\* ",
    r"|undefined reference to |Segmentation fault|command not found",
    "|",
    level_key!(),
    error_level!(),
);

/// Matches where a warning begins; same as [`ERRORS`] otherwise.
const WARNINGS: &str = concat!(
    // warning: warning[E0308]: warning C4101:
    r"(?-u)(?:^|[ \t\r:]|m)warning(?:\[[\w:-]+\]| [A-Z]+[0-9]+)?(?:\x1b\[[0-9;]*m)*:",
    // DeprecationWarning:
    r"|Warning(?:\x1b\[[0-9;]*m)*:",
    r"|\bnpm(?:\x1b\[[0-9;]*m)* (?:\x1b\[[0-9;]*m)*warn(?:\x1b\[[0-9;]*m)* ",
    r"|(?:\b|m)(?:WARN|WARNING)\b",
    "|",
    level_key!(),
    warning_level!(),
);

/// Whether a match of a built-in pattern counts: a line of JSON counts by its level alone, whatever its texts say. The
/// level is looked for up to [`LOOK_BEHIND`] bytes before the start of the match and as many after it.
pub(super) fn is_by_level(severity: Severity, bytes: &[u8], found: &Range<usize>) -> bool {
    level(bytes, found).is_none_or(|level| level == Some(severity))
}

fn level_pattern() -> Option<&'static Regex> {
    LEVEL.get_or_init(|| Regex::new(ANY_LEVEL).ok()).as_ref()
}

/// Returns the severity that the level in the line of a match stands for, if there is a level. A line that begins out of
/// sight may consist of many records: its level is the last one up to the match, else the first behind that.
fn level(bytes: &[u8], found: &Range<usize>) -> Option<Option<Severity>> {
    let level = level_pattern()?;
    let far = found.start.saturating_sub(LOOK_BEHIND);
    let before = bytes.get(far..found.start)?;
    let feed = memchr::memrchr(b'\n', before);
    let start = feed.map_or(far, |feed| far + feed + 1);
    let line = bytes.get(start..found.end.min(found.start + LOOK_BEHIND))?;
    // Most lines are not JSON, and a missing quote shows that fastest.
    memchr::memchr(b'"', line)?;
    let is_up_to = |of: &Captures| of.get(0).is_some_and(|of| start + of.start() < found.start);
    let is_long = feed.is_none() && before.len() == LOOK_BEHIND;
    let nearest = is_long.then(|| level.captures_iter(line).take_while(is_up_to).last()).flatten();
    let captures = nearest.or_else(|| level.captures(line))?;
    Some(match (captures.get(1), captures.get(2)) {
        (Some(_), _) => Some(Severity::Error),
        (None, Some(_)) => Some(Severity::Warning),
        (None, None) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(line: &str) -> [usize; 2] {
        Severity::ALL.map(|severity| severity.built_in().unwrap().in_lines(line).count())
    }

    #[test]
    fn each_tool_s_errors_are_found_once_a_line() {
        for line in [
            "error[E0308]: mismatched types",
            "error: could not compile `x` (lib) due to 1 previous error",
            "main.c:3:5: error: expected ';' before '}' token: error: twice",
            "main.c:1:10: fatal error: x.h: No such file or directory",
            "src/a.ts(1,7): error TS2322: Type 'string' is not assignable",
            "Traceback (most recent call last):",
            "ValueError: invalid literal for int() with base 10: 'x'",
            "AssertionError",
            "foo.BarException",
            "npm ERR! code ELIFECYCLE",
            "npm error code E404",
            "--- FAIL: TestX (0.00s)",
            "FAIL\tgithub.com/x/y\t0.003s",
            "FAILED tests/test_x.py::test_y - assert 1 == 2",
            "E       assert 1 == 2",
            "test tests::x ... FAILED",
            "thread 'main' panicked at src/main.rs:2:5:",
            "panic: runtime error: index out of range [1] with length 1",
            "2026-11-22 16:00:00 ERROR db: lost the connection",
            "make: *** [Makefile:2: all] Error 1",
            "sh: 1: foo: command not found",
            "\x1b[0m\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m\x1b[0m\x1b[1m: mismatched types\x1b[0m",
            "\x1b[31merror\x1b[0m: unit_x failed",
            " 7%\r 9%\rerror: behind what a terminal writes over",
            "test x ... \x1b[31mFAILED\x1b[0m",
            "\x1b[1;35mValueError\x1b[0m: \x1b[35mx\x1b[0m",
            "\x1b[1m\x1b[31mE       assert 1 == 2\x1b[0m",
            "npm \x1b[31mERR!\x1b[39m code E404",
            "Exception in thread \"main\" java.lang.NullPointerException",
            "Error: (no such file) x",
            "Error: (none of them) x",
            "Error:  two spaces",
        ] {
            for ending in ["", "\n", "\r\n"] {
                assert_eq!(counts(&format!("{line}{ending}")), [1, 0], "{line}{ending:?}");
            }
        }
        for line in [
            "0 errors, 0 warnings",
            "test result: ok. 12 passed; 0 failed",
            "checking test_error: ok",
            "compiling thiserror v2.0.0",
            "no error here",
            "WARNINGS_ARE_FINE=1",
            "113 | pub fn usage(error: &Failure) -> anyhow::Error {",
            "133 |     false => Err(io::Error::other(\"taken\")),",
            "Error: (none)",
            "    say(\"warning: {words}\");",
        ] {
            assert_eq!(counts(line), [0, 0], "{line}");
            assert_eq!(counts(&format!("{line}\r\n")), [0, 0], "{line}");
        }
    }

    #[test]
    fn warnings_are_counted_apart() {
        for line in [
            "warning: unused variable: `x`",
            "x.c:3:5: warning C4101: unused",
            "x.py:3: DeprecationWarning: gone soon",
            "[WARN] deprecated",
            "npm warn deprecated glob@7.2.3",
            "npm WARN deprecated glob@7.2.3",
        ] {
            assert_eq!(counts(line), [0, 1], "{line}");
        }
    }

    #[test]
    fn a_json_log_line_counts_only_by_its_level() {
        for (line, expected) in [
            (r#"{"level":"error","msg":"lost"}"#, [1, 0]),
            (r#"{"msg":"WARN: error: x","level": "ERROR"}"#, [1, 0]),
            (r#"{"level":50,"time":1,"msg":"lost"}"#, [1, 0]),
            (r#"{"time":1,"level":60,"msg":"error: x"}"#, [1, 0]),
            (r#"{"severity":"CRITICAL","message":"x"}"#, [1, 0]),
            (r#"{"level":"warn","msg":"error: retrying"}"#, [0, 1]),
            (r#"{"level":40,"msg":"slow"}"#, [0, 1]),
            (r#"{"level":"info","msg":"error: none; FAILED 0"}"#, [0, 0]),
            (r#"{"level":30,"msg":"Error: WARN"}"#, [0, 0]),
            (r#"{"level":500,"msg":"x"}"#, [0, 0]),
            (r#"{"msg":"lost: error: without a level"}"#, [1, 0]),
            (r#"error: unknown key "level": "info""#, [1, 0]),
        ] {
            assert_eq!(counts(line), expected, "{line}");
        }
        let far = format!(r#"{{"level":"info","pad":"{}","msg":"error: x"}}"#, "x".repeat(3000));
        assert_eq!(counts(&far), [0, 0]);
        let info = r#"{"level":"info","msg":"x"},"#.repeat(400);
        assert_eq!(counts(&format!(r#"[{info}{{"level":"error"}},{info}]"#)), [1, 0]);
        assert_eq!(counts(&format!(r#"[{info}{{"level":"info","msg":"error: x"}}]"#)), [0, 0]);
    }
}
