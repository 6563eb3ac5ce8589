//! Converts untrusted texts to Rust comments and string literals.

const MAX_LINES: usize = 40;
const MAX_LINE_CHARS: usize = 400;

/// Returns the lines of a doc comment, each with its line ending.
///
/// The comment cannot become code: it is split into line comments without invisible characters, and
/// contains no example that `cargo test` would run. HTML and links are escaped.
pub(crate) fn comment(text: &str, indent: &str) -> String {
    let lines = lines(text);
    lines.iter().map(|line| format!("{indent}/// {line}").trim_end().to_owned() + "\n").collect()
}

pub(crate) fn line(text: &str) -> String {
    lines(text).into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn lines(text: &str) -> Vec<String> {
    // All line breaks of Unicode: an editor may show the rest of the line as code.
    let broken = text.replace("\r\n", "\n").replace(['\r', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    let mut lines: Vec<String> = Vec::new();
    for line in broken.lines().map(plain) {
        // Keep a single blank line between paragraphs.
        if !line.is_empty() || lines.last().is_some_and(|before| !before.is_empty()) {
            lines.push(line);
        }
        if lines.len() == MAX_LINES {
            lines.push("…".to_owned());
            break;
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn plain(line: &str) -> String {
    let seen: String = line.chars().map(|c| if is_shown(c) { c } else { ' ' }).collect();
    // Collapse spaces, because an indentation of four begins a code block, also in a list item.
    let words: Vec<&str> = seen.split_whitespace().collect();
    let mut text = words.join(" ");
    if text.chars().count() > MAX_LINE_CHARS {
        text = text.chars().take(MAX_LINE_CHARS).collect();
        text.push('…');
    }
    // Three of these in a row begin a code block as well.
    while text.contains("```") {
        text = text.replace("```", "''");
    }
    while text.contains("~~~") {
        text = text.replace("~~~", "''");
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        // Rustdoc would render HTML, and resolve links to items of the user's crate.
        if matches!(c, '\\' | '<' | '[' | ']') {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            ' '..='~' => literal.push(c),
            c if c.is_alphanumeric() => literal.push(c),
            // Escaped, so that a reviewer of the source sees bidirectional characters.
            c => literal.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    literal.push('"');
    literal
}

/// Returns whether a character is visible and does not affect others.
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(
            u32::from(c),
            0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F
                | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F
                | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
                | 0xE000..=0xF8FF | 0xE0000..=0x0010_FFFF
        )
}

#[cfg(test)]
mod tests {
    use super::{comment, line, literal};

    #[test]
    fn a_comment_holds_nothing_that_could_be_run_or_hide() {
        for (text, shown) in [
            ("Adds.\nTwice.", "/// Adds.\n/// Twice.\n"),
            ("a\rfn evil() {}", "/// a\n/// fn evil() {}\n"),
            ("a\u{2028}fn evil() {}", "/// a\n/// fn evil() {}\n"),
            ("```\nevil()\n```", "/// ''\n/// evil()\n/// ''\n"),
            ("- ````rust\nevil()", "/// - ''`rust\n/// evil()\n"),
            ("~~~~~~\nevil()", "/// ''''\n/// evil()\n"),
            ("a\n\n\n\n    evil()", "/// a\n///\n/// evil()\n"),
            ("-     evil()\n>\t\tevil()", "/// - evil()\n/// > evil()\n"),
            ("<script>x</script>", "/// \\<script>x\\</script>\n"),
            ("\\<b> [x](y)", "/// \\\\\\<b> \\[x\\](y)\n"),
            ("a\u{202e}b\u{200b}c\0d", "/// a b c d\n"),
            ("*/ #![feature(x)] /*", "/// */ #!\\[feature(x)\\] /*\n"),
            ("/ a", "/// / a\n"),
            ("", ""),
            ("\n \n", ""),
        ] {
            assert_eq!(comment(text, ""), shown, "{text:?}");
        }
        assert_eq!(comment(&"x\n".repeat(100), "").lines().count(), 41);
        assert_eq!(line("a\n\nb\tc"), "a b c");
    }

    #[test]
    fn a_literal_reads_back_as_the_text() {
        for (text, written) in [
            ("plain", r#""plain""#),
            ("\"); evil(", r#""\"); evil(""#),
            ("a\\", r#""a\\""#),
            ("é名", "\"é名\""),
            ("a\nb\0\u{202e}", r#""a\u{a}b\u{0}\u{202e}""#),
        ] {
            assert_eq!(literal(text), written);
        }
    }
}
