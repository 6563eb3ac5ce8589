//! Cuts texts into the pieces they are streamed in.

/// Pieces of so many characters, the last one shorter.
pub(crate) fn pieces(text: &str, chunk: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(chunk.max(1)).map(|piece| piece.iter().collect()).collect()
}

/// Pieces of JSON: at least two, and every escape sequence is cut behind its backslash.
pub(crate) fn fragments(json: &str, chunk: usize) -> Vec<String> {
    let half = json.chars().count().div_ceil(2);
    let chunk = chunk.clamp(1, half.max(1));
    let mut fragments = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    let mut escaped = false;
    for character in json.chars() {
        piece.push(character);
        length += 1;
        escaped = character == '\\' && !escaped;
        if length == chunk || escaped {
            fragments.push(std::mem::take(&mut piece));
            length = 0;
        }
    }
    if !piece.is_empty() {
        fragments.push(piece);
    }
    fragments
}

#[cfg(test)]
mod tests {
    use super::{fragments, pieces};

    #[test]
    fn text_is_cut_at_characters_and_not_at_bytes() {
        assert_eq!(pieces("Zürich 🌧", 3), ["Zür", "ich", " 🌧"]);
        assert_eq!(pieces("", 3), Vec::<String>::new());
    }

    #[test]
    fn json_is_cut_in_two_at_least_and_inside_its_escapes() {
        let cases: [(&str, usize, &[&str]); 4] = [
            ("{}", 16, &["{", "}"]),
            (r#"{"a":1}"#, 16, &[r#"{"a""#, ":1}"]),
            (r#"{"a":"\n"}"#, 4, &[r#"{"a""#, r#":"\"#, r#"n"}"#]),
            (r#"["\\n"]"#, 9, &[r#"["\"#, r#"\n"]"#]),
        ];
        for (json, chunk, expected) in cases {
            assert_eq!(fragments(json, chunk), expected, "{json}");
        }
    }
}
