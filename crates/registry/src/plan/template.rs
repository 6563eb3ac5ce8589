//! Text with placeholders for answers.

/// A text that consists of literals and placeholders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    pub(crate) pieces: Vec<TemplatePiece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplatePiece {
    Text(String),
    /// The answer to the question with this name.
    RegistryQuestion(String),
}

impl Template {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { pieces: vec![TemplatePiece::Text(text.into())] }
    }

    pub(crate) fn from_answer(name: impl Into<String>) -> Self {
        Self { pieces: vec![TemplatePiece::RegistryQuestion(name.into())] }
    }

    /// Parses a text in which `{name}` is a placeholder; `key` returns the name of its question.
    /// Unknown names stay literal.
    pub(crate) fn read(text: &str, key: impl Fn(&str) -> Option<String>) -> Self {
        Self::between(text, "{", key)
    }

    /// Parses a text like [`Self::read`], with `${name}` as the placeholder.
    pub(crate) fn read_dollar(text: &str, key: impl Fn(&str) -> Option<String>) -> Self {
        Self::between(text, "${", key)
    }

    fn between(text: &str, open: &str, key: impl Fn(&str) -> Option<String>) -> Self {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            plain.push_str(before);
            let asked = after.split_once('}').and_then(|(name, end)| Some((key(name)?, end)));
            match asked {
                Some((name, end)) => {
                    if !plain.is_empty() {
                        pieces.push(TemplatePiece::Text(std::mem::take(&mut plain)));
                    }
                    pieces.push(TemplatePiece::RegistryQuestion(name));
                    rest = end;
                }
                // Braces that are not a placeholder are part of the text.
                None => {
                    plain.push_str(open);
                    rest = after;
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() || pieces.is_empty() {
            pieces.push(TemplatePiece::Text(plain));
        }
        Self { pieces }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            TemplatePiece::RegistryQuestion(name) => Some(name.as_str()),
            TemplatePiece::Text(_) => None,
        })
    }

    /// Returns the text for display, with `<name>` for answers.
    #[must_use]
    pub fn display_text(&self) -> String {
        let shown = |piece: &TemplatePiece| match piece {
            TemplatePiece::Text(text) => text.clone(),
            TemplatePiece::RegistryQuestion(name) => format!("<{name}>"),
        };
        self.pieces.iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_asked_for_are_places() {
        let key = |name: &str| (name == "a").then(|| "A".to_owned());
        for (text, expected) in [
            ("x{a}y", "x<A>y"),
            ("{a}{a}", "<A><A>"),
            ("{b}", "{b}"),
            ("{{a}}", "{<A>}"),
            ("{a", "{a"),
            ("", ""),
            ("${a}", "$<A>"),
        ] {
            assert_eq!(Template::read(text, key).display_text(), expected, "{text}");
        }
        assert_eq!(Template::read_dollar("{a}${a}$", key).display_text(), "{a}<A>$");
    }
}
