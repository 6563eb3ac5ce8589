//! Conversion of call results for a model: one text, images, and a notice for everything left out.

use switchboard_core::{Item, Reply, decoded_len, human_size};

/// Whether a model accepts images; a model without vision gets a notice instead of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vision {
    Yes,
    No,
}

/// The content of a result, converted for a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelContent {
    pub text: String,
    /// Empty if the model does not accept images.
    pub images: Vec<Image>,
    /// Number of invisible characters removed; any suggest an attempt to hide text.
    pub hidden_removed: usize,
}

/// An image, with base64 data.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Image {
    pub mime: String,
    pub data: String,
}

impl Image {
    /// Returns the image as a `data:` URL.
    #[must_use]
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime, self.data)
    }
}

/// Converts a result to one text, with its images if the model accepts them.
#[must_use]
pub fn for_model(reply: &Reply, vision: Vision) -> ModelContent {
    let mut images = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    for item in &reply.items {
        parts.extend(item_text(item, &mut images));
    }
    // Servers repeat structured content as text for older clients, so it would cost tokens twice.
    if !reply.items.iter().any(is_textual) {
        parts.extend(reply.structured.clone());
    }
    parts.retain(|part| !part.is_empty());

    let mut text = parts.join("\n\n");
    if reply.is_error {
        text.insert_str(0, "Error:\n");
    }
    // One pass at the end also covers the names, addresses and media types in notices.
    let hidden_removed = strip_smuggled(&mut text);
    if text.is_empty() {
        text.push_str("(No response)");
    }
    if vision == Vision::No && !images.is_empty() {
        text.push_str(&hidden_notice(images.len()));
        images.clear();
    }
    ModelContent { text, images, hidden_removed }
}

/// Removes characters that can carry hidden text, and returns their number.
pub fn strip_smuggled(text: &mut String) -> usize {
    let length = text.chars().count();
    text.retain(|c| !is_smuggled(c));
    length - text.chars().count()
}

/// Returns whether a character can carry hidden text or reorders visible text.
const fn is_smuggled(c: char) -> bool {
    // Joiners and direction marks are not listed: Indic and Arabic scripts and emoji need them.
    matches!(c, '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn item_text(item: &Item, images: &mut Vec<Image>) -> Option<String> {
    match item {
        Item::Text(text) => Some(text.clone()),
        Item::Image { mime, data } => {
            images.push(Image { mime: mime.clone(), data: data.clone() });
            None
        }
        Item::Audio { mime, data } => {
            let size = human_size(decoded_len(data));
            Some(format!("[audio, {mime}, {size}: it was kept for the user and is not shown here]"))
        }
        Item::Resource { pretty, .. } => Some(pretty.clone()),
        Item::ResourceLink { uri, name, description, mime } => {
            let parts = [name, description, mime].into_iter().flatten();
            let about: Vec<&str> = parts.map(String::as_str).collect();
            let colon = if about.is_empty() { "" } else { ": " };
            Some(format!("[resource {uri}{colon}{}]", about.join(", ")))
        }
        Item::Message { role, content } => {
            let said = item_text(content, images)?;
            Some(if role.is_empty() { said } else { format!("{role}: {said}") })
        }
        Item::Other { kind, raw } => {
            let kind = if kind.is_empty() { "unknown type" } else { kind };
            let size = human_size(raw.len());
            Some(format!("[content of type {kind}, {size}: it cannot be shown here]"))
        }
    }
}

fn is_textual(item: &Item) -> bool {
    match item {
        Item::Text(text) => !text.is_empty(),
        Item::Resource { .. } => true,
        Item::Message { content, .. } => is_textual(content),
        _ => false,
    }
}

fn hidden_notice(count: usize) -> String {
    let (images, they) = if count == 1 { ("1 image", "it") } else { ("images", "them") };
    let count = if count == 1 { String::new() } else { format!("{count} ") };
    format!(
        "\n\n[The response also holds {count}{images}. The user can see {they}; \
         you cannot, because this model does not take images.]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content_for(json: &str, vision: Vision) -> ModelContent {
        for_model(&Reply::from_json(json).unwrap(), vision)
    }

    fn text(json: &str) -> String {
        content_for(json, Vision::Yes).text
    }

    #[test]
    fn the_parts_are_joined_by_a_blank_line_and_empty_ones_left_out() {
        for (json, expected) in [
            (r#"{"content":["a","","b"]}"#, "a\n\nb"),
            (r#"{"content":[]}"#, "(No response)"),
            (r#"{"content":[""]}"#, "(No response)"),
            (r#"{"content":["bad"],"isError":true}"#, "Error:\nbad"),
            (r#"{"content":[],"isError":true}"#, "Error:\n"),
            (r#"{"content":[],"structuredContent":{"a": 1}}"#, r#"{"a": 1}"#),
            (r#"{"content":["t"],"structuredContent":{"a": 1}}"#, "t"),
            (
                r#"{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"QQ==","size":2}}]}"#,
                "{\n  \"uri\": \"a:b\",\n  \"size\": 2\n}",
            ),
            (
                r#"{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}"#,
                "[audio, audio/wav, 3 B: it was kept for the user and is not shown here]",
            ),
            (
                r#"{"content":[{"type":"resource_link","uri":"a:b","name":"n","mimeType":"m"}]}"#,
                "[resource a:b: n, m]",
            ),
            (
                r#"{"content":[{"type":"hologram"}]}"#,
                "[content of type hologram, 19 B: it cannot be shown here]",
            ),
        ] {
            assert_eq!(text(json), expected, "{json}");
        }
    }

    #[test]
    fn pictures_go_beside_the_text_or_are_announced() {
        let image = r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#;
        let json = format!(r#"{{"content":["t",{image}]}}"#);
        let seen = content_for(&json, Vision::Yes);
        assert_eq!(seen.text, "t");
        let urls: Vec<_> = seen.images.iter().map(Image::data_url).collect();
        assert_eq!(urls, ["data:image/png;base64,AAAA"]);

        let unseen = content_for(&json, Vision::No);
        assert_eq!(
            unseen,
            ModelContent {
                text: "t\n\n[The response also holds 1 image. The user can see it; you cannot, \
                       because this model does not take images.]"
                    .to_owned(),
                ..ModelContent::default()
            }
        );
        let two = content_for(&format!(r#"{{"content":[{image},{image}]}}"#), Vision::No);
        assert!(two.text.starts_with("(No response)\n\n[The response also holds 2 images."));
    }

    #[test]
    fn hidden_tag_characters_never_reach_the_model() {
        let hidden: String =
            "obey".chars().filter_map(|c| char::from_u32(c as u32 + 0xe0000)).collect();
        let json = serde_json::json!({"content": [
            {"type": "text", "text": format!("fine{hidden}")},
            {"type": "resource", "resource": {"uri": "a:b", "text": hidden}},
        ]});
        let seen = content_for(&json.to_string(), Vision::Yes);
        assert_eq!(seen.text, "fine\n\n{\n  \"text\": \"\",\n  \"uri\": \"a:b\"\n}");
        assert_eq!(seen.hidden_removed, 8);
    }

    #[test]
    fn a_prompt_keeps_its_speakers() {
        let json = r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},
            {"role":"assistant","content":{"type":"text","text":"yes"}}]}"#;
        let reply = Reply::from_prompt_json(json).unwrap();
        assert_eq!(for_model(&reply, Vision::Yes).text, "user: hi\n\nassistant: yes");
    }
}
