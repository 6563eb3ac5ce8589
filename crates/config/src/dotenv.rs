//! Parses `KEY=VALUE` files with comments and with quoted values, which may span several lines.

/// An invalid line of the file.
// The error does not repeat the line, which may contain a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DotenvError {
    pub(crate) line: usize,
    pub(crate) message: &'static str,
}

/// Parses the variables in file order. Duplicates are kept; the caller lets the last one win.
pub(crate) fn parse(text: &str) -> Result<Vec<Variable>, DotenvError> {
    // A quoted value must not depend on the line endings of the file.
    let text = text.replace("\r\n", "\n");
    let mut rest = text.as_str();
    let mut line = 1;
    let mut variables = Vec::new();
    while !rest.is_empty() {
        let (found, after) =
            parse_variable(rest).map_err(|message| DotenvError { line, message })?;
        let read = rest.strip_suffix(after).unwrap_or(rest);
        line += read.matches('\n').count();
        variables.extend(found);
        rest = after;
    }
    Ok(variables)
}

type Variable = (String, String);

/// Parses the variable that begins in the first line, if any, and returns the rest of the text.
fn parse_variable(text: &str) -> Result<(Option<Variable>, &str), &'static str> {
    let (line, after) = text.split_once('\n').unwrap_or((text, ""));
    if line.trim().is_empty() || line.trim_start().starts_with('#') {
        return Ok((None, after));
    }
    let text = text.trim_start();
    // Shells can source the same file if its lines begin with `export`.
    let text = text.strip_prefix("export ").unwrap_or(text);
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.contains('\n'))
        .ok_or("the line has no `=`")?;
    let name = name.trim();
    if name.is_empty() || name.contains(|character: char| character.is_whitespace()) {
        return Err("the line has no valid name before the `=`");
    }
    let value = value.trim_start_matches([' ', '\t']);
    let (value, after) = if value.starts_with(['\'', '"']) {
        let (value, behind) = parse_quoted(value)?;
        let (behind, after) = behind.split_once('\n').unwrap_or((behind, ""));
        let behind = behind.trim();
        if !behind.is_empty() && !behind.starts_with('#') {
            return Err("text follows the closing quote");
        }
        (value, after)
    } else {
        let (value, after) = value.split_once('\n').unwrap_or((value, ""));
        (parse_plain(value).to_owned(), after)
    };
    Ok((Some((name.to_owned(), value)), after))
}

/// Returns an unquoted value, up to a comment.
fn parse_plain(text: &str) -> &str {
    // A `#` inside a word, such as the fragment of a URL, does not begin a comment.
    if text.starts_with('#') {
        return "";
    }
    let end = text.find(" #").or_else(|| text.find("\t#")).unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim_end()
}

/// Parses a quoted value, and returns it with the text after the closing quote.
fn parse_quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut characters = text.chars();
    let quote = characters.next();
    while let Some(character) = characters.next() {
        if Some(character) == quote {
            return Ok((value, characters.as_str()));
        }
        // As in a shell, only double quotes support escapes.
        if character != '\\' || quote == Some('\'') {
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
    Err("the quote is never closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_read_line_by_line() {
        let text = "# comment\n\nA=1\r\nexport B = two words # note\nC='it''s'#x\n";
        assert_eq!(
            parse(text),
            Err(DotenvError { line: 5, message: "text follows the closing quote" })
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
            ("A=\"one\n two # three\n\" # note", "one\n two # three\n"),
            ("A='one\r\n\\ntwo'\r\n", "one\n\\ntwo"),
            ("A=\"one\\\n\\\"two\"", "one\\\n\"two"),
        ];
        for (line, value) in cases {
            assert_eq!(parse(line), Ok(vec![("A".to_owned(), value.to_owned())]), "{line}");
        }
    }

    #[test]
    fn what_follows_a_value_of_several_lines_is_read_and_counted() {
        let text = "A='1\n2'\nB=3\n";
        let pairs = [("A", "1\n2"), ("B", "3")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(parse(text), Ok(pairs.to_vec()));
        assert_eq!(parse("A='1\n2'\nwrong\n").unwrap_err().line, 3);
    }

    #[test]
    fn an_unreadable_line_is_named_by_number_alone() {
        let cases = [
            "A=1\nsecret",
            "\n=secret",
            "\nA='secret",
            "\nA='secret\nB=2\n",
            "\nA=\"secret\nB=\"2\"\n",
            "\n\"A\" B=secret",
        ];
        for text in cases {
            let error = parse(text).unwrap_err();
            assert_eq!(error.line, 2);
            assert!(!error.message.contains("secret"));
        }
    }
}
