//! Parses the syntax of a product into a `VariableText`.

use crate::text::{
    KnownFolder, Syntax, SyntaxStyle, VariablePiece, VariableText, is_name, secret_name,
};

impl VariableText {
    /// Parses a text as the product interprets it.
    pub(crate) fn parse(text: &str, syntax: Syntax) -> Self {
        if syntax.style == SyntaxStyle::Plain {
            return Self::literal(text);
        }
        if syntax.whole {
            let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
            return match inside.and_then(|inside| reference(inside, syntax)) {
                Some(piece) => Self::from_pieces([piece]),
                None => Self::literal(text),
            };
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            // A character that begins no reference is literal; `from_pieces` joins them again.
            let (piece, after) = parse_piece(rest, syntax).unwrap_or_else(|| {
                let after = rest.strip_prefix(first).unwrap_or_default();
                (VariablePiece::Literal(first.to_string()), after)
            });
            pieces.push(piece);
            rest = after;
        }
        Self::from_pieces(pieces)
    }

    /// Returns whether a literal part looks like an unsupported variable.
    pub(crate) fn looks_variable(&self) -> bool {
        self.pieces().iter().any(|piece| {
            matches!(piece, VariablePiece::Literal(text)
                if text.contains("${") || text.contains("{file:") || text.contains("{env:"))
        })
    }
}

/// Parses a reference or an escape at the start of the text; returns it with the rest.
fn parse_piece(text: &str, syntax: Syntax) -> Option<(VariablePiece, &str)> {
    if syntax.style == SyntaxStyle::Ours
        && let Some(after) = text.strip_prefix("$${")
    {
        return Some((VariablePiece::Literal("${".to_owned()), after));
    }
    if syntax.style == SyntaxStyle::Curly {
        let (name, after) = text.strip_prefix("{env:")?.split_once('}')?;
        return Some((variable(name.trim(), None)?, after));
    }
    if let Some(inside) = text.strip_prefix("${") {
        let (inside, after) = inside.split_once('}')?;
        return Some((reference(inside, syntax)?, after));
    }
    if !matches!(syntax.style, SyntaxStyle::Dollar | SyntaxStyle::DollarPercent) {
        return None;
    }
    if let Some(after) = text.strip_prefix('$') {
        let (name, after) = leading_name(after)?;
        return Some((variable(name, None)?, after));
    }
    let after = text.strip_prefix('%').filter(|_| syntax.style == SyntaxStyle::DollarPercent)?;
    let (name, after) = leading_name(after)?;
    Some((variable(name, None)?, after.strip_prefix('%')?))
}

/// Parses the part between `${` and `}`.
fn reference(inside: &str, syntax: Syntax) -> Option<VariablePiece> {
    if let Some(folder) = KnownFolder::from_word(inside).filter(|_| syntax.folders) {
        return Some(VariablePiece::Folder(folder));
    }
    if syntax.secrets {
        let (kind, name) = inside.split_once(':').unwrap_or_default();
        match (syntax.style, kind) {
            (SyntaxStyle::Ours, "keyring" | "secret") => {
                return Some(VariablePiece::Secret(secret_name(name.trim())));
            }
            (SyntaxStyle::EnvBraces, "input") => {
                return Some(VariablePiece::Secret(secret_name(name)));
            }
            _ => {}
        }
    }
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) if syntax.defaults => (name, Some(default)),
        // Elsewhere, `:-` is an invalid name, and the text stays literal.
        _ => (inside, None),
    };
    match (syntax.style, name.strip_prefix("env:")) {
        (SyntaxStyle::EnvBraces | SyntaxStyle::Ours, Some(name)) => variable(name.trim(), default),
        (SyntaxStyle::EnvBraces, None) => None,
        (_, None) if is_name(name) => variable(name, default),
        _ => None,
    }
}

fn variable(name: &str, default: Option<&str>) -> Option<VariablePiece> {
    let default = default.map(str::to_owned);
    (!name.is_empty()).then(|| VariablePiece::Variable { name: name.to_owned(), default })
}

fn leading_name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|one: char| !one.is_ascii_alphanumeric() && one != '_');
    let (name, after) = text.split_at_checked(end.unwrap_or(text.len()))?;
    is_name(name).then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(name: &str) -> VariablePiece {
        VariablePiece::Variable { name: name.to_owned(), default: None }
    }

    fn text(text: &str) -> VariablePiece {
        VariablePiece::Literal(text.to_owned())
    }

    #[test]
    fn every_product_has_its_own_words_for_a_variable() {
        let cases = [
            (Syntax::PLAIN, "${A} $A", vec![text("${A} $A")]),
            (Syntax::ENV, "x${env: A }y${A}", vec![text("x"), piece("A"), text("y${A}")]),
            (Syntax::ENV_FOLDERS, "${userHome}${/}b", {
                vec![
                    VariablePiece::Folder(KnownFolder::Home),
                    VariablePiece::Folder(KnownFolder::Separator),
                    text("b"),
                ]
            }),
            (Syntax::ENV_INPUTS, "Bearer ${input:my-key}", {
                vec![text("Bearer "), VariablePiece::Secret("my_key".to_owned())]
            }),
            (Syntax::DOLLAR, "$A-${B}$", vec![piece("A"), text("-"), piece("B"), text("$")]),
            (Syntax::DOLLAR_PERCENT, "%A%20$B", vec![piece("A"), text("20"), piece("B")]),
            (Syntax::CURLY, "{env:A}${A}{file:b}", vec![piece("A"), text("${A}{file:b}")]),
            (Syntax::WHOLE, "${A}", vec![piece("A")]),
            (Syntax::WHOLE, "Bearer ${A}", vec![text("Bearer ${A}")]),
            (Syntax::OURS, "$${A}${env:a-b}", vec![text("${A}"), piece("a-b")]),
            (Syntax::BRACES_DEFAULT, "${A:-b:-c}", {
                let default = Some("b:-c".to_owned());
                vec![VariablePiece::Variable { name: "A".to_owned(), default }]
            }),
            (Syntax::BRACES_DEFAULT, "${A", vec![text("${A")]),
        ];
        for (syntax, given, expected) in cases {
            assert_eq!(VariableText::parse(given, syntax).pieces(), expected, "{given}");
        }
    }

    #[test]
    fn what_means_something_else_there_is_told() {
        let cases = [
            (VariableText::variable("A"), Syntax::ENV, "${env:A}", 0),
            (VariableText::variable("A"), Syntax::PLAIN, "${A}", 1),
            (VariableText::variable("a-b"), Syntax::BRACES_DEFAULT, "${a-b}", 1),
            (VariableText::secret("K"), Syntax::ENV, "${env:K}", 1),
            (VariableText::secret("K"), Syntax::ENV_INPUTS, "${input:K}", 0),
            (VariableText::literal("pa$$word"), Syntax::DOLLAR, "pa$$word", 1),
            (VariableText::literal("${A}"), Syntax::OURS, "$${A}", 0),
            (VariableText::from_pieces([text("$"), piece("A")]), Syntax::OURS, "$${A}", 1),
            (VariableText::from_pieces([text("x"), piece("A")]), Syntax::WHOLE, "x${A}", 1),
        ];
        for (given, syntax, expected, problems) in cases {
            let (written, found) = given.render(syntax);
            assert_eq!((written.as_str(), found.len()), (expected, problems), "{found:?}");
        }
    }
}
