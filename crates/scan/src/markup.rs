//! Indicators in markup: tags that imitate those of a conversation, and hidden markup.

use switchboard_text::fold_char;

use crate::finding::Indicator;

// Tag names by which a text claims importance or another speaker.
const SPEAKER_TAGS: [&str; 26] = [
    "important", "system", "instruction", "instructions", "secret", "critical", "hidden", "admin",
    "assistant", "developer", "override", "urgent", "mandatory", "sys", "inst", "user_query",
    "system_prompt", "sidenote", "internal", "priority", "directive", "directives", "thinking",
    "user", "human", "tool_result",
];

// Tokens of chat templates, which occur in no ordinary text.
const CHAT_TEMPLATE_MARKERS: [&str; 12] = [
    "<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>",
    "<|start_header_id|>", "<<sys>>", "[/inst]", "<|eot_id|>", "<start_of_turn>",
    "<function_calls>",
];

// Markup that a person does not see, but a model reads.
const HIDDEN_MARKUP: [&str; 5] =
    ["<!--", "display:none", "display: none", "visibility:hidden", "font-size:0"];

// Beginnings of lines by which a text imitates another speaker.
const SPEAKER_PREFIXES: [&str; 8] = [
    "system:", "### system", "### instruction", "assistant:", "[system]", "\nhuman:", "### user",
    "end of description",
];

pub(crate) fn find_indicators(text: &str, signs: &mut Vec<Indicator>) {
    if !text.contains(['<', '[', ':', '＜', '‹', '#', '{', '&']) {
        return;
    }
    let folded: String = text.chars().filter_map(fold_char).collect();
    let has = |parts: &[&str]| parts.iter().find_map(|part| folded.find(part));
    if let Some(at) = has(&CHAT_TEMPLATE_MARKERS) {
        signs.push(Indicator::new("template_tokens", 10, at.min(text.len())));
    }
    if let Some(at) = find_speaker_tag(&folded) {
        signs.push(Indicator::new("speaking_tag", 6, at.min(text.len())));
    }
    if let Some(at) = has(&HIDDEN_MARKUP) {
        signs.push(Indicator::new("unshown_markup", 4, at.min(text.len())));
    }
    if let Some(at) = find_image_request(&folded) {
        signs.push(Indicator::new("telling_picture", 3, at.min(text.len())));
    }
    let turn = SPEAKER_PREFIXES.iter().find_map(|turn| {
        folded.match_indices(turn).map(|(at, _)| at).find(|at| begins_line(&folded, *at))
    });
    if let Some(at) = turn {
        signs.push(Indicator::new("another_speaker", 5, at.min(text.len())));
    }
}

/// Finds an image whose URL carries data in its query, which could exfiltrate it.
fn find_image_request(text: &str) -> Option<usize> {
    text.match_indices("](http").map(|(at, _)| at).find(|at| {
        let address = text.get(at + 2..).unwrap_or_default();
        let end = address.find([')', ' ', '\n']).unwrap_or(address.len());
        let is_picture = text.get(..*at).is_some_and(|before| {
            before
                .rfind('[')
                .is_some_and(|open| before.get(..open).is_some_and(|b| b.ends_with('!')))
        });
        is_picture && address.get(..end).is_some_and(|it| it.contains('?') && it.contains('='))
    })
}

fn begins_line(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| {
        before.trim_end_matches([' ', '\t', '*', '#', '-']).ends_with('\n')
            || before.trim().is_empty()
    })
}

/// Finds a tag with one of the names: `<IMPORTANT>`, `[ system ]`, `{{admin}}`.
fn find_speaker_tag(text: &str) -> Option<usize> {
    text.match_indices(['<', '[', '{']).map(|(at, _)| at).find(|at| {
        let inner = text.get(at + 1..).unwrap_or_default();
        let inner = inner.trim_start_matches(['/', ' ', '<', '[', '{', '!', '|', '\\']);
        let end = inner.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inner.len());
        let Some((name, rest)) = inner.split_at_checked(end) else { return false };
        let closes = rest.trim_start().starts_with(['>', ']', '}', '/', '|', ':'])
            || rest
                .split(['<', '\n'])
                .next()
                .is_some_and(|line| line.len() < 80 && line.contains('>'));
        SPEAKER_TAGS.contains(&name) && closes && is_tag_like(text, *at, name)
    })
}

/// Excludes placeholders, which also have brackets or braces, often with these names.
fn is_tag_like(text: &str, at: usize, name: &str) -> bool {
    let angle = text.get(at..).is_some_and(|text| text.starts_with('<'));
    let placeholder = ["user", "human", "internal", "priority", "hidden", "admin"].contains(&name);
    let closed = text.contains(&format!("</{name}"));
    if angle {
        !placeholder || closed
    } else {
        !placeholder && !["secret", "important", "thinking", "critical"].contains(&name)
    }
}
