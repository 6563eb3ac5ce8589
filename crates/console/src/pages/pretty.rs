//! JSON over several lines without reading it: every key, number and escape stays as it was sent.

/// The text with a line for each member; what is no JSON comes out much as it went in.
pub(super) fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    let looks_like_json = text.trim_start().starts_with(['{', '[']);
    if !looks_like_json {
        return text.to_owned();
    }
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if in_string {
            out.push(sign);
            in_string = is_escaped || sign != '"';
            is_escaped = sign == '\\' && !is_escaped;
            continue;
        }
        match sign {
            ' ' | '\n' | '\t' | '\r' => {}
            '"' => {
                in_string = true;
                out.push(sign);
            }
            '{' | '[' => {
                out.push(sign);
                while signs.peek().is_some_and(char::is_ascii_whitespace) {
                    signs.next();
                }
                if let Some(end) = signs.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(sign);
            }
            ',' => {
                out.push(sign);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(sign),
        }
    }
    out
}

/// Deep nesting is shown, but does not make lines long.
fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(40) {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn lines_are_added_and_nothing_else_changes() {
        for (text, expected) in [
            (
                r#"{"a":1,"a":[1.50,{}],"b":"x, {y}: \"z\" \\"}"#,
                "{\n  \"a\": 1,\n  \"a\": [\n    1.50,\n    {}\n  ],\n  \"b\": \"x, {y}: \\\"z\\\" \\\\\"\n}",
            ),
            ("[ ]", "[]"),
            ("plain, text: {x}", "plain, text: {x}"),
            ("\"text\"", "\"text\""),
        ] {
            assert_eq!(pretty(text), expected);
        }
    }
}
