//! Formats a result for a terminal: text verbatim, other content described, everything escaped.

use switchboard_text::{escape_line, escape_prose};

use crate::content::{Item, Reply};
use crate::media::{decoded_len, human_size};

/// Formats a result for a person, without a trailing line feed.
#[must_use]
pub fn for_person(reply: &Reply) -> String {
    // Structured content usually repeats the text, so it is shown only if there is no other.
    if let ([], Some(structured)) = (reply.items.as_slice(), reply.structured_pretty()) {
        return escape_prose(&structured).into_owned();
    }
    if reply.items.is_empty() {
        return "(no content)".to_owned();
    }
    let parts: Vec<String> = reply.items.iter().map(show_item).collect();
    parts.join("\n")
}

// Every string of a server is escaped: a control sequence could otherwise forge terminal output.
fn show_item(item: &Item) -> String {
    match item {
        Item::Text(text) => escape_prose(text).into_owned(),
        Item::Image { mime, data } => format!("[image {}]", describe_media(mime, data)),
        Item::Audio { mime, data } => format!("[audio {}]", describe_media(mime, data)),
        Item::Resource { uri, mime, text, blob, .. } => {
            let mut head = format!("[resource {}", escape_line(uri));
            if let Some(mime) = mime {
                head.push_str(", ");
                head.push_str(&escape_line(mime));
            }
            if let Some(blob) = blob {
                head.push_str(", ");
                head.push_str(&human_size(decoded_len(blob)));
            }
            match text {
                Some(text) => format!("{head}]\n{}", escape_prose(text)),
                None => format!("{head}]"),
            }
        }
        Item::ResourceLink { uri, name, description, mime } => {
            let parts = [name, description, mime].into_iter().flatten();
            let about: Vec<_> = parts.map(|part| escape_line(part)).collect();
            let colon = if about.is_empty() { "" } else { ": " };
            format!("[link {}{colon}{}]", escape_line(uri), about.join(", "))
        }
        Item::Message { role, content } => {
            let role = if role.is_empty() { "?".into() } else { escape_line(role) };
            format!("{role}: {}", show_item(content))
        }
        Item::Other { kind, raw } => {
            let kind = if kind.is_empty() { "untyped".into() } else { escape_line(kind) };
            format!("[{kind} content, {}] {}", human_size(raw.len()), escape_line(raw))
        }
    }
}

fn describe_media(mime: &str, data: &str) -> String {
    format!("{}, {}", escape_line(mime), human_size(decoded_len(data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show_json(json: &str) -> String {
        for_person(&Reply::from_json(json).unwrap())
    }

    #[test]
    fn each_kind_of_content_has_its_line() {
        let data = "A".repeat(16_400);
        let json = serde_json::json!({"content": [
            {"type": "text", "text": "two\nlines"},
            {"type": "image", "mimeType": "image/png", "data": data},
            {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/x", "text": "t"}},
            {"type": "resource", "resource": {"uri": "a:c", "blob": "AAAA"}},
            {"type": "resource_link", "uri": "a:d", "name": "n", "mimeType": "m"},
            {"type": "resource_link", "uri": "a:e"},
            {"type": "hologram", "beam": 1},
        ]});
        assert_eq!(
            show_json(&json.to_string()),
            "two\nlines\n\
             [image image/png, 12.3 KB]\n\
             [audio audio/wav, 3 B]\n\
             [resource a:b, text/x]\nt\n\
             [resource a:c, 3 B]\n\
             [link a:d: n, m]\n\
             [link a:e]\n\
             [hologram content, 28 B] {\"beam\":1,\"type\":\"hologram\"}"
        );
    }

    #[test]
    fn structured_content_is_shown_only_when_it_stands_alone() {
        assert_eq!(show_json(r#"{"structuredContent":{"a":1}}"#), "{\n  \"a\": 1\n}");
        assert_eq!(show_json(r#"{"content":["t"],"structuredContent":{"a":1}}"#), "t");
        assert_eq!(show_json(r#"{"content":[]}"#), "(no content)");
    }

    #[test]
    fn nothing_a_server_says_reaches_the_terminal_raw() {
        let bad = "x\u{1b}[2J\r\u{202e}\u{200b}";
        let json = serde_json::json!({"content": [
            {"type": "text", "text": bad},
            {"type": "image", "mimeType": bad, "data": bad},
            {"type": "resource", "resource": {"uri": bad, "mimeType": bad, "text": bad}},
            {"type": "resource_link", "uri": bad, "name": bad, "description": bad},
            {"type": bad, "x": bad},
        ], "structuredContent": {bad: bad}});
        let mut reply = Reply::from_json(&json.to_string()).unwrap();
        let content = Box::new(Item::Text(bad.to_owned()));
        reply.items.push(Item::Message { role: bad.to_owned(), content });
        let mut all = for_person(&reply);
        reply.items.clear();
        all.push_str(&for_person(&reply));
        let raw = |c: char| (c.is_control() && c != '\n') || switchboard_text::is_hidden(c);
        assert_eq!(all.chars().find(|c| raw(*c)), None);
    }
}
