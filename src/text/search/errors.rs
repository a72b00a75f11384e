//! What counts as an error or a warning in the output of compilers, test runners and scripts.

use std::sync::OnceLock;

use super::Pattern;

/// Returns [`ERRORS`] as a pattern whose matches go on to the end of their line. It is compiled when it is first needed.
pub fn built_in() -> Option<&'static Pattern> {
    static BUILT_IN: OnceLock<Option<Pattern>> = OnceLock::new();
    BUILT_IN.get_or_init(|| Pattern::to_line_end(ERRORS).ok()).as_ref()
}

/// Matches where an error or a warning begins, as rustc, cargo, gcc, clang, tsc, Python, pytest, Java, npm, go test,
/// make, the shell and loggers write it, in colour or not. Case matters. Each way begins with bytes of its own, so that
/// the regular expression is tried only where these are.
pub const ERRORS: &str = concat!(
    // error: error[E0308]: fatal error: error TS2304: warning C4101: (an `m` ends the escape sequence of a colour)
    r"(?-u)(?:\b|m)(?:error|warning|fatal)(?:\[[\w:-]+\]| [A-Z]+[0-9]+)?(?:\x1b\[[0-9;]*m)*:",
    // ValueError: AssertionError java.lang.Exception: DeprecationWarning:
    r"|Error(?:\x1b\[[0-9;]*m)*(?::|$)|Exception(?:\x1b\[[0-9;]*m)*(?::|$| in thread )|Warning:",
    r"|Traceback \(most recent call last\)",
    r"|panicked at |\bpanic: ",
    r"|\bnpm(?:\x1b\[[0-9;]*m)* (?:\x1b\[[0-9;]*m)*(?:ERR!|error)(?:\x1b\[[0-9;]*m)* ",
    // pytest's reason for a failure
    r"|^E   |mE   ",
    // go test, pytest, cargo test, jest
    r"|(?:\b|m)FAIL(?:ED|URE)?\b",
    r"|(?:\b|m)(?:ERROR|FATAL|CRITICAL|WARN|WARNING)\b",
    // make
    r"|: \*\*\* ",
    r"|undefined reference to |Segmentation fault|command not found",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_s_errors_are_found_once_a_line() {
        let pattern = Pattern::to_line_end(ERRORS).unwrap();
        let count = |line: &str| pattern.in_lines(line).count();
        for line in [
            "error[E0308]: mismatched types",
            "error: could not compile `x` (lib) due to 1 previous error",
            "warning: unused variable: `x`",
            "main.c:3:5: error: expected ';' before '}' token: error: twice",
            "main.c:1:10: fatal error: x.h: No such file or directory",
            "src/a.ts(1,7): error TS2322: Type 'string' is not assignable",
            "Traceback (most recent call last):",
            "ValueError: invalid literal for int() with base 10: 'x'",
            "AssertionError",
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
            "[WARN] deprecated",
            "make: *** [Makefile:2: all] Error 1",
            "sh: 1: foo: command not found",
            "\x1b[0m\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m\x1b[0m\x1b[1m: mismatched types\x1b[0m",
            "\x1b[31merror\x1b[0m: unit_x failed",
            "test x ... \x1b[31mFAILED\x1b[0m",
            "\x1b[1;35mValueError\x1b[0m: \x1b[35mx\x1b[0m",
            "\x1b[1m\x1b[31mE       assert 1 == 2\x1b[0m",
            "npm \x1b[31mERR!\x1b[39m code E404",
            "Exception in thread \"main\" java.lang.NullPointerException",
        ] {
            assert_eq!(count(line), 1, "{line}");
        }
        for line in [
            "0 errors, 0 warnings",
            "test result: ok. 12 passed; 0 failed",
            "checking test_error: ok",
            "compiling thiserror v2.0.0",
            "no error here",
            "WARNINGS_ARE_FINE=1",
        ] {
            assert_eq!(count(line), 0, "{line}");
        }
    }
}
