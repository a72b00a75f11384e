//! Which argument the cursor is at, read off the words before it and the definition of the command line.

use clap::{Arg, Command};

pub(super) struct TypedWord<'a> {
    /// The subcommand that the words before name, or the program.
    pub command: &'a Command,
    pub policy: Option<&'a str>,
    pub positionals: usize,
    pub place: WordPlace<'a>,
    /// What the word begins with and is not part of the value, as `--policy=`.
    pub prefix: String,
    pub typed: String,
}

#[derive(Clone, Copy)]
pub(super) enum WordPlace<'a> {
    Flag,
    Value(&'a Arg),
    /// A positional argument, or a subcommand.
    Positional(Option<&'a Arg>),
    /// A word of another command, which begins at this word (0 is the program).
    Command(usize),
}

impl<'a> TypedWord<'a> {
    /// Reads the words after the program's name; the last is the one at the cursor.
    pub(super) fn parse(root: &'a Command, words: &'a [String]) -> Self {
        let (typed, before) =
            words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
        let mut cursor = Self {
            command: root,
            policy: None,
            positionals: 0,
            place: WordPlace::Positional(None),
            prefix: String::new(),
            typed: typed.to_owned(),
        };
        let mut awaits: Option<&Arg> = None;
        let mut has_options = true;
        for (at, word) in before.iter().enumerate() {
            if let Some(arg) = awaits.take() {
                cursor.note(arg, word);
            } else if has_options && word == "--" {
                has_options = false;
            } else if has_options && word.len() > 1 && word.starts_with('-') {
                awaits = cursor.option(word);
            } else if has_options
                // A subcommand comes before all positional arguments.
                && cursor.positionals == 0
                && let Some(sub) = cursor.command.find_subcommand(word)
            {
                cursor.command = sub;
            } else if cursor.next_positional().is_some_and(Arg::is_trailing_var_arg_set) {
                cursor.place = WordPlace::Command(at + 1);
                return cursor;
            } else {
                cursor.positionals += 1;
            }
        }
        let (positional, is_option) = (cursor.next_positional(), has_options && typed.starts_with('-'));
        cursor.place = match awaits {
            Some(arg) => WordPlace::Value(arg),
            None if is_option => cursor.attached().unwrap_or(WordPlace::Flag),
            None if positional.is_some_and(Arg::is_trailing_var_arg_set) => {
                WordPlace::Command(before.len() + 1)
            }
            None => WordPlace::Positional(positional),
        };
        cursor
    }

    /// Returns the option whose value is typed in the same word: `--policy=op`, `-pop`, `-qpop`.
    fn attached(&mut self) -> Option<WordPlace<'a>> {
        let word = self.typed.clone();
        let (arg, from) = match word.split_once('=') {
            Some((name, _)) => (self.long(name.strip_prefix("--")?)?, name.len() + 1),
            None => self.in_shorts(&word)?,
        };
        let (prefix, typed) = word
            .split_at_checked(from)
            .filter(|(_, typed)| takes_value(arg) && (!typed.is_empty() || word.contains('=')))?;
        (self.prefix, self.typed) = (prefix.to_owned(), typed.to_owned());
        Some(WordPlace::Value(arg))
    }

    /// Reads an option, and returns it if the next word is its value.
    fn option(&mut self, word: &'a str) -> Option<&'a Arg> {
        let (arg, value) = if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            (self.long(name).filter(|arg| takes_value(arg))?, value)
        } else {
            let (arg, at) = self.in_shorts(word)?;
            (arg, word.get(at..).filter(|value| !value.is_empty()))
        };
        let Some(value) = value else { return Some(arg) };
        self.note(arg, value);
        None
    }

    /// Returns the first option with a value in a word of short ones, and where the value begins.
    fn in_shorts(&self, word: &str) -> Option<(&'a Arg, usize)> {
        let mut shorts = word.char_indices().skip(1).take_while(|_| !word.starts_with("--"));
        shorts.find_map(|(at, short)| {
            Some((self.short(short).filter(|arg| takes_value(arg))?, at + short.len_utf8()))
        })
    }

    fn note(&mut self, arg: &Arg, value: &'a str) {
        if arg.get_id() == "policy" {
            self.policy = Some(value);
        }
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some(name))
    }

    fn short(&self, name: char) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| arg.get_short() == Some(name))
    }

    /// Returns the positional argument that comes next; the last may take several.
    fn next_positional(&self) -> Option<&'a Arg> {
        let is_several = |arg: &&Arg| arg.get_num_args().is_some_and(|count| count.max_values() > 1);
        let last = self.command.get_positionals().last().filter(is_several);
        self.command.get_positionals().nth(self.positionals).or(last)
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.takes_values())
}

/// Splits bash's line into the words after the program's name, without quotes and assignments; the last is at the cursor.
pub(super) fn split_line(line: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut quote, mut is_word) = (None, false);
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let escaped = if char == '\\' && quote != Some('\'') { chars.next() } else { None };
        match (quote, char) {
            (_, '\\') if escaped.is_some() => word.extend(escaped),
            (Some(open), char) if char == open => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, ' ' | '\t' | '\n') => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
                continue;
            }
            _ => word.push(char),
        }
        is_word = true;
    }
    words.push(word);
    let is_assignment = |word: &&String| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    let assignments = words.iter().take_while(is_assignment).count();
    words.into_iter().skip(assignments + 1).collect()
}

/// Returns the part that bash replaces: after the last character at which it breaks words (`COMP_WORDBREAKS`).
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
        assert_eq!(split_line("overspill preview "), ["preview", ""]);
        assert_eq!(split_line("A=1 overspill pre"), ["pre"]);
        assert_eq!(split_line(r#"overspill 'a b' "c\"d" e\ f 'un fin"#), ["a b", "c\"d", "e f", "un fin"]);
        assert_eq!(split_line("overspill  \t -p  x"), ["-p", "x"]);
        assert_eq!(split_line("overspill"), Vec::<String>::new());
        assert_eq!(split_line(""), Vec::<String>::new());
        assert_eq!(split_line("overspill \\"), ["\\"]);
    }

    #[test]
    fn bash_replaces_only_the_text_after_its_last_word_break() {
        assert_eq!(tail("--policy=pi/bash", "--policy=p", " =:"), "pi/bash");
        assert_eq!(tail("1111:toolu", "1111:to", " =:"), "toolu");
        assert_eq!(tail("1111:toolu", "1111:to", " "), "1111:toolu");
        assert_eq!(tail("pi/bash", "pi", " =:"), "pi/bash");
    }
}
