//! Elements that several pages share: badges, links, formatted JSON and headings.

use maud::{Markup, html};
use switchboard_core::Risk;
use switchboard_text::encode_component;

pub(super) fn state(word: &str) -> Markup {
    let tone = match word {
        "ready" => "good",
        "starting" => "busy",
        "waiting to retry" | "needs login" | "needs approval" => "warn",
        "failed" => "bad",
        _ => "quiet",
    };
    badge(tone, word)
}

pub(super) fn outcome(word: &str) -> Markup {
    let tone = match word {
        "ok" => "good",
        "running" | "under way" => "busy",
        // Decisions of people and rules, not failures.
        "denied" | "rejected" | "cancelled" => "quiet",
        "tool_error" | "not_sent" | "refused" => "warn",
        _ => "bad",
    };
    badge(tone, &word.replace('_', " "))
}

pub(super) fn badge(tone: &str, word: &str) -> Markup {
    // The word is always there: color alone is not accessible.
    html! { span class={ "badge " (tone) } { span class="dot" aria-hidden="true" {} (word) } }
}

/// Returns the path of a page, with each segment percent-encoded.
pub(super) fn page_path(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", encode_component(part))).collect()
}

pub(super) fn server_link(name: &str) -> Markup {
    html! { a href=(page_path(&["servers", name])) { (name) } }
}

/// Renders JSON over several lines. Only whitespace outside of strings changes.
pub(super) fn json(text: &str) -> Markup {
    html! { pre class="code" tabindex="0" { (pretty(text)) } }
}

/// Renders a sentence with the text between backticks as code.
pub(super) fn prose(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Returns a number with its noun, in the plural unless the number is one.
pub(super) fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// Renders the message of an empty list: the reason and the next step.
pub(super) fn empty_state(title: &str, hint: &Markup) -> Markup {
    html! { div class="empty" { h2 { (title) } p class="muted" { (hint) } } }
}

pub(super) fn heading(title: &str, about: &Markup) -> Markup {
    html! { div class="heading" { h1 { (title) } p class="muted" { (about) } } }
}

pub(super) fn risk_line(risk: &Risk) -> Markup {
    let tone = match risk.score {
        70.. => "bad",
        30..70 => "warn",
        _ => "quiet",
    };
    html! {
        div class="risk" {
            (badge(tone, &format!("Risk {} of 100", risk.score)))
            @if !risk.reasons.is_empty() {
                span class="muted small" {
                    @for (number, reason) in risk.reasons.iter().enumerate() {
                        @if number > 0 { " · " } (prose(reason))
                    }
                }
            }
        }
    }
}

/// Formats JSON with one member per line. A text that does not look like JSON stays unchanged.
pub(super) fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    // A scan, not a parser: parsing would drop duplicate keys and normalize numbers.
    if !text.trim_start().starts_with(['{', '[']) {
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

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    // Limited, so that deeply nested values do not multiply the length of a document.
    for _ in 0..depth.min(40) {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_address_stay_parts() {
        for (parts, expected) in [
            (&["servers", "a"][..], "/servers/a"),
            (&["servers", "a/b c"], "/servers/a%2Fb%20c"),
            (&["servers", ".."], "/servers/%2E%2E"),
            (&["tools", "x", "\"><script>"], "/tools/x/%22%3E%3Cscript%3E"),
        ] {
            assert_eq!(page_path(parts), expected);
        }
    }

    #[test]
    fn names_in_a_sentence_stand_out() {
        let shown = prose("run `a <b>`, then `c").into_string();
        assert_eq!(shown, "run <code>a &lt;b&gt;</code>, then <code>c</code>");
    }

    #[test]
    fn a_text_of_somebody_else_is_shown_and_not_run() {
        let shown = json("<img src=x onerror=alert(1)>").into_string();
        assert_eq!(
            shown,
            "<pre class=\"code\" tabindex=\"0\">&lt;img src=x onerror=alert(1)&gt;</pre>"
        );
    }

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
