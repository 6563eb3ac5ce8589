//! References to secrets inside texts, which are resolved only when the secret is needed.
//!
//! A reference is a name between two NUL characters.

// Configuration texts and environment variables cannot contain that character, so only the
// configuration reader can create a reference.
const DELIMITER: char = '\0';

pub(crate) fn reference(name: &str) -> String {
    format!("{DELIMITER}{name}{DELIMITER}")
}

/// Returns whether the text refers to a secret.
pub fn contains_reference(text: &str) -> bool {
    text.contains(DELIMITER)
}

/// Returns the text with references written as `${keyring:NAME}`.
pub(crate) fn display_text(text: &str) -> String {
    let mut inside = false;
    text.split(DELIMITER).fold(String::new(), |mut whole, part| {
        whole.push_str(&if inside { format!("${{keyring:{part}}}") } else { part.to_owned() });
        inside = !inside;
        whole
    })
}

/// Returns the names of the secrets that the text refers to.
pub fn secret_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(DELIMITER).skip(1).step_by(2)
}

/// Returns the text with every reference replaced by its secret.
pub fn fill_references(text: &str, secret: impl Fn(&str) -> String) -> String {
    let parts = text.split(DELIMITER).enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { secret(part) } else { part.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_shown_and_filled() {
        let text = format!("Bearer {}!{}", reference("A"), reference("B"));
        assert!(contains_reference(&text) && !contains_reference("Bearer x"));
        assert_eq!(secret_names(&text).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(display_text(&text), "Bearer ${keyring:A}!${keyring:B}");
        assert_eq!(fill_references(&text, |name| format!("<{name}>")), "Bearer <A>!<B>");
        assert_eq!(fill_references("plain", |_| String::new()), "plain");
    }
}
