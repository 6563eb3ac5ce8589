//! Parses the `command` of a hook into a program with arguments or, if necessary, a shell line.

use crate::hooks::hook::HookAction;

/// Parses a command; anything that needs a shell becomes [`HookAction::Shell`].
pub(super) fn parse_command(text: &str) -> HookAction {
    match split_words(text).as_deref() {
        // An assignment before the program needs a shell.
        Some([program, args @ ..]) if !program.contains('=') => {
            HookAction::Program { program: program.clone(), args: args.to_vec() }
        }
        _ => HookAction::Shell(text.to_owned()),
    }
}

/// Characters that separate words of a shell line, in addition to whitespace.
const SHELL_DELIMITERS: &str = if cfg!(windows) { "|&;<>()\"'`=,^%" } else { "|&;<>()\"'`=" };

/// Returns every word of a command or shell line that may name a file.
pub(super) fn possible_files(run: &HookAction) -> Vec<&str> {
    match run {
        HookAction::Program { program, args } => {
            std::iter::once(program.as_str()).chain(args.iter().map(String::as_str)).collect()
        }
        HookAction::Shell(line) => {
            // Too many words are harmless: only those that name an existing script are sealed.
            let between = |c: char| c.is_whitespace() || SHELL_DELIMITERS.contains(c);
            line.split(between).filter(|word| !word.is_empty()).collect()
        }
        HookAction::Web(_) | HookAction::Unusable(_) => Vec::new(),
    }
}

/// Splits a plain command line into words; `None` if a character in it is special to a shell.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let inner = read_quoted(&mut characters, character)?;
                word.get_or_insert_default().push_str(&inner);
            }
            // A shell expands a leading tilde to the home folder.
            '~' if word.is_none() => return None,
            // A pair of percent signs expands a variable on Windows.
            '%' if cfg!(windows) => return None,
            c if c.is_alphanumeric() || "-_./:@%+=,~".contains(c) => {
                word.get_or_insert_default().push(c);
            }
            _ => return None,
        }
    }
    words.extend(word);
    words.first().is_some_and(|first| !first.is_empty()).then_some(words)
}

/// Reads up to the closing quote; `None` if it is missing or a shell would expand the text.
fn read_quoted(characters: &mut std::str::Chars<'_>, quote: char) -> Option<String> {
    let mut inner = String::new();
    for character in characters {
        match character {
            c if c == quote => return Some(inner),
            '$' | '`' | '\\' | '!' if quote == '"' => return None,
            c => inner.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_need_no_shell() {
        for (text, expected) in [
            ("./hooks/check.sh", vec!["./hooks/check.sh"]),
            ("python3 hooks/check.py --strict", vec!["python3", "hooks/check.py", "--strict"]),
            ("  'my hooks/check'  \"a b\"c ''", vec!["my hooks/check", "a bc", ""]),
            ("check --only=a,b", vec!["check", "--only=a,b"]),
        ] {
            let [program, args @ ..] = expected.as_slice() else { panic!("a program") };
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            let program = (*program).to_owned();
            assert_eq!(parse_command(text), HookAction::Program { program, args }, "{text}");
        }
    }

    #[test]
    fn what_only_a_shell_understands_goes_to_one_as_it_is() {
        for text in [
            "jq -e '.a' | grep b", "cat > /tmp/x", "echo \"$HOME\"", "~/bin/check", "check a*",
            "A=1 check", "check 'open", "a && b", "check\nmore", "'' x",
        ] {
            assert_eq!(parse_command(text), HookAction::Shell(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn files_are_found_in_lines_for_a_shell_too() {
        let run = parse_command("LEVEL=1 sh 'hooks/a.sh'|tee \"log\">x");
        let expected = ["LEVEL", "1", "sh", "hooks/a.sh", "tee", "log", "x"];
        assert_eq!(possible_files(&run), expected);
    }
}
