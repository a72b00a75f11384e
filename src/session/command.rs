//! What a call did, in one line: the command, the file, or the most telling argument.

use super::json::{Json, Kind, Tape};
use super::model::Call;
use super::transcript::Transcript;

/// How many bytes of the arguments are looked at.
const MAX_INPUT: u64 = 64 << 10;
/// How many bytes of a command are returned.
const MAX_COMMAND: usize = 4 << 10;

/// The most telling arguments, best first.
const ARGUMENTS_BY_PRIORITY: &str = "command cmd commands script code file_path filePath filepath files path absolute_path pattern query url \
                       description prompt";

/// Returns the first 64 KiB of a call's arguments, in JSON: some agents write it in a string. `None` without arguments.
pub fn arguments(transcript: &Transcript, call: &Call) -> Option<Vec<u8>> {
    // Longer arguments are those of tools that write files: their path comes first, the outline is not whole.
    transcript.read(call.input?, MAX_INPUT).ok().map(unquoted)
}

fn unquoted(input: Vec<u8>) -> Vec<u8> {
    let mut tape = Tape::default();
    let quoted = if input.starts_with(b"\"") { tape.read(&input).ok() } else { None };
    let inner = quoted.and_then(|quoted| quoted.text());
    inner.map(|text| text.to_text(MAX_INPUT as usize).text.into_bytes()).unwrap_or(input)
}

/// Returns a call's command or most telling argument, at most 4 KiB, of any characters; empty without arguments.
pub fn command(transcript: &Transcript, call: &Call) -> String {
    arguments(transcript, call).map(|input| describe_input(&input)).unwrap_or_default()
}

/// Returns the first line of a command with any text.
pub fn one_line(command: &str) -> &str {
    command.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

fn describe_input(input: &[u8]) -> String {
    let mut tape = Tape::default();
    match tape.read(input) {
        Ok(object) if object.kind() == Kind::Object => describe_object(object),
        // The outline of arguments that are longer than what is looked at does not close.
        _ => shortened(&String::from_utf8_lossy(input)),
    }
}

fn describe_object(input: Json) -> String {
    let telling = ARGUMENTS_BY_PRIORITY.split(' ').find_map(|key| input.get(key).and_then(describe));
    telling.unwrap_or_else(|| match input.members().next() {
        // Some agents write it with indents.
        Some(_) => {
            shortened(&String::from_utf8_lossy(input.raw()).lines().map(str::trim).collect::<String>())
        }
        None => String::new(),
    })
}

/// A string; or a list of words or of files, of which a shell with `-c` is left out.
fn describe(value: Json) -> Option<String> {
    match value.kind() {
        Kind::String => value.text().map(|text| text.to_text(MAX_COMMAND).text),
        Kind::Array => {
            let start = |word: Json| Some(word.text()?.to_text(MAX_COMMAND).text);
            let word = |word: Json| start(word).or_else(|| start(word.get("path")?));
            let words: Vec<String> = value.items().filter_map(word).collect();
            let script = match &words[..] {
                [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => script.clone(),
                _ => words.join(" "),
            };
            (!script.is_empty()).then(|| shortened(&script))
        }
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_COMMAND / 4).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_a_call_by_its_most_telling_argument() {
        let of = |input: &str| describe_input(&unquoted(input.into()));
        assert_eq!(of(r#"{"description":"d","command":"make all"}"#), "make all");
        assert_eq!(of(r#""{\"cmd\": \"seq 1 3\"}""#), "seq 1 3");
        assert_eq!(of(r#"{"command":["/bin/bash","-lc","ls"]}"#), "ls");
        assert_eq!(of(r#"{"command":["git","log"]}"#), "git log");
        assert_eq!(of(r#"{"commands":["a","b"]}"#), "a b");
        assert_eq!(of(r#"{"file_path":"/x"}"#), "/x");
        assert_eq!(of(r#"{"files":[{"path":"/x"},{"path":"/y"}]}"#), "/x /y");
        assert_eq!(of("{\n  \"other\": 1\n}"), r#"{"other": 1}"#);
        assert_eq!(of(r#"{"other":1}"#), r#"{"other":1}"#);
        assert_eq!((of("{}"), of(r#""plain""#), of("[1]")), (String::new(), "plain".into(), "[1]".into()));
        assert_eq!(of(r#"{"file_path":"/x","content":"half"#), r#"{"file_path":"/x","content":"half"#);
    }
}
