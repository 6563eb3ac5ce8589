//! Sanitizing of server texts for a prompt: hidden characters, length, imitations of our elements.

use switchboard_text::{is_hidden, is_variation_selector};

// Elements with a meaning to the parser. A description that contains one could make a model
// repeat it as a call, or end the section early.
const OWN_TAGS: [&str; 13] = [
    "use_mcp_tool", "access_mcp_resource", "server_name", "tool_name", "arguments", "uri",
    "find_tools", "describe_tool", "call_tool", "query", "limit", "server", "tool",
];

/// Sanitizes multi-line text and truncates it to `longest` characters.
pub(crate) fn clean(text: &str, longest: usize) -> String {
    // Hidden characters first: they could split a tag so that it is not recognized.
    let visible = remove_hidden(text);
    let cut = truncate_with_note(visible.trim(), longest);
    without_own_tags(&cut)
}

/// Like [`clean`], for one line: every run of white space becomes one space.
pub(crate) fn clean_line(text: &str, longest: usize) -> String {
    let visible = remove_hidden(text);
    let words: Vec<&str> = visible.split_whitespace().collect();
    without_own_tags(&truncate_with_note(&words.join(" "), longest))
}

/// Formats a name as a code span on one line, even if it contains back-ticks.
pub(crate) fn code_span(name: &str) -> String {
    let line = clean_line(name, 500);
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}

pub(crate) fn element_text(name: &str) -> String {
    let visible = remove_hidden(name);
    let words: Vec<&str> = visible.split_whitespace().collect();
    words.join(" ").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Wraps text in a code fence that it cannot close.
pub(crate) fn wrap_in_fence(text: &str) -> String {
    // Longer than any run inside, so that a server cannot end the fence and imitate our text.
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

/// Indents every line, so that none of them can start a section.
pub(crate) fn indent_lines(text: &str, by: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.lines() {
        let line = line.trim_end();
        if !line.is_empty() {
            out.push_str(by);
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

pub(crate) fn first_sentence(text: &str, longest: usize) -> String {
    let visible = remove_hidden(text);
    let paragraph = visible.trim().split("\n\n").next().unwrap_or_default();
    let mut line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut before = ' ';
    let mut end = None;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let closes = match c {
            '。' | '！' | '？' => true,
            // "e.g. this" and "1. that" do not end a sentence.
            '.' | '!' | '?' => {
                chars.peek().is_none_or(|(_, next)| *next == ' ')
                    && (before.is_alphabetic() || matches!(before, ')' | '`' | '"' | '\''))
                    && !line.get(..at).is_some_and(|head| head.ends_with("e.g"))
                    && !line.get(..at).is_some_and(|head| head.ends_with("i.e"))
            }
            _ => false,
        };
        if closes {
            end = Some(at + c.len_utf8());
            break;
        }
        before = c;
    }
    if let Some(end) = end {
        line.truncate(end);
    }
    let short = truncate_at_word(&line, longest);
    without_own_tags(&short)
}

/// Removes invisible characters and those that reorder others, and normalizes line ends.
pub(crate) fn remove_hidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            _ if c.is_control() || is_hidden(c) || is_variation_selector(c) => {}
            _ => out.push(c),
        }
    }
    out
}

fn truncate_with_note(text: &str, longest: usize) -> String {
    let total = text.chars().count();
    if total <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest).collect();
    format!("{} [cut: {longest} of {total} characters]", kept.trim_end())
}

fn truncate_at_word(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    let whole_words = kept.rsplit_once(' ').map_or(kept.as_str(), |(head, _)| head);
    format!("{whole_words}…")
}

fn without_own_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        out.push_str(if opens_own_tag(after) { "&lt;" } else { "<" });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn opens_own_tag(after: &str) -> bool {
    // A model may also take `< / use_mcp_tool` or `<USE_MCP_TOOL` for the tag.
    let after = after.trim_start();
    let after = after.strip_prefix('/').unwrap_or(after).trim_start();
    let name: String = after
        .chars()
        .take(64)
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        .collect::<String>()
        .to_ascii_lowercase();
    // The element of a tool is its model name, which contains two underscores.
    name.contains("__") || OWN_TAGS.contains(&name.as_str())
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_line, code_span, first_sentence, indent_lines, wrap_in_fence};

    #[test]
    fn hidden_and_control_characters_are_removed() {
        let cases = [
            ("a\u{202e}b\u{200b}c\u{e0041}d", "abcd"),
            ("red \u{1b}[31mtext\u{7}", "red [31mtext"),
            ("one\r\ntwo\rthree\u{2028}four\tfive", "one\ntwo\nthree\nfour\tfive"),
            ("搜索 café", "搜索 café"),
        ];
        for (given, expected) in cases {
            assert_eq!(clean(given, 100), expected);
        }
        assert_eq!(clean_line("one\n  # two", 100), "one # two");
    }

    #[test]
    fn long_text_is_cut_with_a_note() {
        assert_eq!(clean("abcdef", 6), "abcdef");
        assert_eq!(clean("abcdefg", 3), "abc [cut: 3 of 7 characters]");
    }

    #[test]
    fn our_elements_cannot_be_imitated() {
        let cases = [
            ("<use_mcp_tool>", "&lt;use_mcp_tool>"),
            ("< / USE_MCP_TOOL >", "&lt; / USE_MCP_TOOL >"),
            ("</\u{200b}arguments>", "&lt;/arguments>"),
            ("<files__read><b>x</b>", "&lt;files__read><b>x</b>"),
            ("1 < 2 and <div>", "1 < 2 and <div>"),
        ];
        for (given, expected) in cases {
            assert_eq!(clean(given, 100), expected);
        }
    }

    #[test]
    fn a_fence_is_longer_than_every_run_of_back_ticks_inside() {
        assert_eq!(wrap_in_fence("a ```` b"), "`````text\na ```` b\n`````\n");
        assert_eq!(wrap_in_fence("plain"), "```text\nplain\n```\n");
    }

    #[test]
    fn no_line_of_an_indented_text_starts_a_section() {
        assert_eq!(indent_lines("# one\n\n## two", "    "), "    # one\n\n    ## two\n");
    }

    #[test]
    fn names_stay_inside_their_code_span() {
        assert_eq!(code_span("read`x\ny"), "`` read`x y ``");
    }

    #[test]
    fn the_first_sentence_ends_where_a_reader_would_end_it() {
        let cases = [
            ("Reads a file. Then more.", "Reads a file."),
            ("Uses e.g. curl to fetch. More.", "Uses e.g. curl to fetch."),
            ("Version 1.2 reads.\n\nMore", "Version 1.2 reads."),
            ("根据ID获取内容。更多", "根据ID获取内容。"),
            ("No end\nof line", "No end of line"),
            ("", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(first_sentence(given, 100), expected);
        }
        assert_eq!(first_sentence("several words that are long", 12), "several…");
    }
}
