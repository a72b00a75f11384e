//! The command line as bash hands it over: quoted, and cut into words in bash's own way.

/// Splits a line into the words after the program's name, without quotes; the last is the one at the cursor, which may be
/// empty or unfinished. Assignments before the program are left out.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut is_word) = (None, false);
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let escaped = if char == '\\' && quote != Some('\'') { chars.next() } else { None };
        match (quote, char) {
            (_, '\\') if escaped.is_some() => push(&mut words, escaped),
            (Some(open), char) if char == open => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, ' ' | '\t' | '\n') => {
                if is_word {
                    words.push(String::new());
                }
                is_word = false;
                continue;
            }
            _ => push(&mut words, Some(char)),
        }
        is_word = true;
    }
    let assignments = words.iter().take_while(|word| is_assignment(word)).count();
    words.into_iter().skip(assignments + 1).collect()
}

fn push(words: &mut [String], char: Option<char>) {
    if let Some((last, char)) = words.last_mut().zip(char) {
        last.push(char);
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Returns the part of a candidate that bash replaces: what comes after the last character of the typed word at which it
/// breaks words (`COMP_WORDBREAKS`).
pub(super) fn tail<'a>(candidate: &'a str, typed: &str, breaks: &str) -> &'a str {
    let is_break = |char: char| matches!(char, '=' | ':') && breaks.contains(char);
    let from = typed.rfind(is_break).map_or(0, |at| at + 1);
    candidate.get(from..).unwrap_or(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_the_shell_does() {
        assert_eq!(split("overspill preview "), ["preview", ""]);
        assert_eq!(split("A=1 overspill pre"), ["pre"]);
        assert_eq!(split(r#"overspill 'a b' "c\"d" e\ f 'un fin"#), ["a b", "c\"d", "e f", "un fin"]);
        assert_eq!(split("overspill  \t -p  x"), ["-p", "x"]);
        assert_eq!(split("overspill"), Vec::<String>::new());
        assert_eq!(split(""), Vec::<String>::new());
        assert_eq!(split("overspill \\"), ["\\"]);
    }

    #[test]
    fn bash_replaces_what_follows_its_last_break() {
        assert_eq!(tail("--policy=pi/bash", "--policy=p", " =:"), "pi/bash");
        assert_eq!(tail("1111:toolu", "1111:to", " =:"), "toolu");
        assert_eq!(tail("1111:toolu", "1111:to", " "), "1111:toolu");
        assert_eq!(tail("pi/bash", "pi", " =:"), "pi/bash");
    }
}
