//! Converts arbitrary names to unique ASCII identifiers that are not keywords.

use std::collections::BTreeSet;

const MAX_NAME_CHARS: usize = 60;

/// Keywords that are valid as raw identifiers (`r#`).
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Keywords that are not valid as raw identifiers.
const NEVER_IDENTIFIERS: [&str; 4] = ["self", "super", "crate", "Self"];

/// Names that a module imports, which its own types must not use.
const IMPORTED_NAMES: [&str; 20] = [
    "BTreeMap", "Box", "Call", "CallError", "Caller", "Default", "Deserialize", "Err", "Host",
    "None", "Ok", "Option", "Reply", "Result", "Self", "Serialize", "Some", "String", "Value",
    "Vec",
];

#[derive(Debug, Default)]
pub(crate) struct NameScope {
    taken: BTreeSet<String>,
}

impl NameScope {
    pub(crate) fn for_types() -> Self {
        Self { taken: IMPORTED_NAMES.iter().map(|&name| name.to_owned()).collect() }
    }

    /// Returns an identifier for a field or function, in `snake_case`.
    pub(crate) fn snake(&mut self, name: &str, otherwise: &str) -> String {
        let wanted = match words(name).join("_") {
            empty if empty.is_empty() => otherwise.to_owned(),
            // An identifier must not begin with a digit.
            number if number.starts_with(|c: char| c.is_ascii_digit()) => format!("n{number}"),
            wanted => wanted,
        };
        let wanted = match wanted.as_str() {
            word if KEYWORDS.contains(&word) => format!("r#{word}"),
            word if NEVER_IDENTIFIERS.contains(&word) => format!("{word}_"),
            _ => wanted,
        };
        self.unique(wanted, "_")
    }

    /// Returns an identifier for a type or variant, in `CamelCase`.
    pub(crate) fn camel(&mut self, name: &str, otherwise: &str) -> String {
        let wanted = match camel(name) {
            empty if empty.is_empty() => otherwise.to_owned(),
            wanted => wanted,
        };
        let wanted = if NEVER_IDENTIFIERS.contains(&wanted.as_str()) {
            format!("{wanted}_")
        } else {
            wanted
        };
        self.unique(wanted, "")
    }

    fn unique(&mut self, wanted: String, between: &str) -> String {
        if self.taken.insert(wanted.clone()) {
            return wanted;
        }
        // With a number at its end, the name is not a keyword any more.
        let plain = wanted.trim_start_matches("r#");
        let mut number = 2_u64;
        loop {
            let other = format!("{plain}{between}{number}");
            if self.taken.insert(other.clone()) {
                return other;
            }
            number += 1;
        }
    }
}

/// Converts a name to `CamelCase`; empty if it contains no ASCII letters or digits.
pub(crate) fn camel(name: &str) -> String {
    let capital = |word: String| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    let joined: String = words(name).into_iter().map(capital).collect();
    if joined.starts_with(|c: char| c.is_ascii_digit()) { format!("N{joined}") } else { joined }
}

/// Splits a name into words of lowercase ASCII letters and digits.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().take(MAX_NAME_CHARS).collect();
    for (place, &c) in letters.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| letters.get(place));
        let after = letters.get(place + 1);
        // The last capital of several begins a word: `HTTPServer` is `http_server`.
        let begins = c.is_ascii_uppercase()
            && (before.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                || after.is_some_and(char::is_ascii_lowercase));
        if (begins || !c.is_ascii_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{IMPORTED_NAMES, NameScope};

    #[test]
    fn names_become_identifiers_that_rust_takes() {
        for (name, snake, camel) in [
            ("get-sum", "get_sum", "GetSum"),
            ("getHTTPServer2", "get_http_server2", "GetHttpServer2"),
            ("files.read/text", "files_read_text", "FilesReadText"),
            ("type", "r#type", "Type"),
            ("self", "self_", "Self_"),
            ("gen", "r#gen", "Gen"),
            ("3d", "n3d", "N3d"),
            ("Größe", "gr_e", "GrE"),
            ("名前", "field", "Field"),
            ("", "field", "Field"),
            ("a\"; fn evil() {} //", "a_fn_evil", "AFnEvil"),
            ("__proto__", "proto", "Proto"),
        ] {
            assert_eq!(NameScope::default().snake(name, "field"), snake, "{name}");
            assert_eq!(NameScope::default().camel(name, "Field"), camel, "{name}");
        }
    }

    #[test]
    fn equal_names_are_told_apart() {
        let mut names = NameScope::default();
        let all = ["a-b", "a_b", "aB", "a_b_2"].map(|name| names.snake(name, "field"));
        assert_eq!(all, ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]);
        let mut names = NameScope::default();
        assert_eq!(["type", "Type"].map(|name| names.snake(name, "field")), ["r#type", "type_2"]);
    }

    #[test]
    fn a_type_never_takes_a_name_that_the_module_uses() {
        for used in IMPORTED_NAMES {
            let name = NameScope::for_types().camel(used, "Type");
            assert!(!IMPORTED_NAMES.contains(&name.as_str()), "{name}");
        }
    }
}
