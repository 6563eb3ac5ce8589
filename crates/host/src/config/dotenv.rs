//! `KEY=VALUE` files: one variable per line, with comments and quotes.

/// A line that cannot be read. What it contains is not repeated: it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DotenvError {
    pub(super) line: usize,
    pub(super) message: &'static str,
}

/// Reads the lines in order; a later line with the same name wins where the caller collects them.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, DotenvError> {
    text.lines()
        .enumerate()
        .map(|(index, line)| {
            variable(line).map_err(|message| DotenvError { line: index + 1, message })
        })
        .filter_map(Result::transpose)
        .collect()
}

fn variable(line: &str) -> Result<Option<(String, String)>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=').ok_or("there is no `=` in this line")?;
    let name = name.trim();
    if name.is_empty() || name.contains(|character: char| character.is_whitespace()) {
        return Err("there is no name before the `=`");
    }
    Ok(Some((name.to_owned(), value_of(value.trim())?)))
}

fn value_of(text: &str) -> Result<String, &'static str> {
    let (value, rest) = match text.chars().next() {
        Some('\'') => quoted(text, '\'')?,
        Some('"') => quoted(text, '"')?,
        // A `#` inside a word, as in `#fragment` of a URL, is no comment.
        _ if text.starts_with('#') => return Ok(String::new()),
        _ => {
            let end = text.find(" #").or_else(|| text.find("\t#")).unwrap_or(text.len());
            return Ok(text.get(..end).unwrap_or(text).trim_end().to_owned());
        }
    };
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(value)
    } else {
        Err("there is text after the closing quote")
    }
}

/// The text between quotes and what follows them; only double quotes know escapes.
fn quoted(text: &str, quote: char) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut characters = text.chars();
    characters.next();
    while let Some(character) = characters.next() {
        if character == quote {
            return Ok((value, characters.as_str()));
        }
        if character != '\\' || quote == '\'' {
            value.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some(plain @ ('"' | '\\' | '$')) => value.push(plain),
            Some(other) => value.extend(['\\', other]),
            None => break,
        }
    }
    Err("a quote is not closed in this line")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_read_line_by_line() {
        let text = "# comment\n\nA=1\r\nexport B = two words # note\nC='it''s'#x\n";
        assert_eq!(
            parse(text),
            Err(DotenvError { line: 5, message: "there is text after the closing quote" })
        );
        let cases = [
            ("A=1", "1"),
            ("A=", ""),
            ("A= # note", ""),
            ("A=http://x/#y", "http://x/#y"),
            ("A=a=b", "a=b"),
            ("export A = two words # note", "two words"),
            ("A='$B \\n' # note", "$B \\n"),
            (r#"A="a\nb\t\"c\\ \q""#, "a\nb\t\"c\\ \\q"),
        ];
        for (line, value) in cases {
            assert_eq!(parse(line), Ok(vec![("A".to_owned(), value.to_owned())]), "{line}");
        }
    }

    #[test]
    fn an_unreadable_line_is_named_by_number_alone() {
        let cases = ["A=1\nsecret", "\n=secret", "\nA='secret", "\n\"A\" B=secret"];
        for text in cases {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line, 2);
            assert!(!error.message.contains("secret"));
        }
    }
}
