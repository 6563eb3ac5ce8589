//! Rendering of a call's outcome and of each content block of its result.

use maud::{Markup, html};
use switchboard_core::{InvalidOutput, Item, Reply};
use switchboard_views::CompletedCall;

use super::markdown::{looks_like_markdown, markdown};
use super::media::{picture, sound};
use super::parts::{json, outcome, page_path, prose};
use super::relative_time::{duration, size};
use super::tree::{table, tree};

pub(crate) fn finished_call(ran: &CompletedCall) -> Markup {
    html! {
        div class="ran" {
            div class="row-heading" {
                (outcome(ran.outcome))
                span class="muted small" {
                    (duration(ran.milliseconds))
                    @if let Some(id) = &ran.id {
                        " · " a href=(page_path(&["calls", id])) { "call " (id) }
                    }
                }
            }
            (outcome_text(ran.message.as_deref(), ran.hint.as_deref()))
            @if let Some(result) = &ran.result {
                (result_block(ran.kind, ran.id.as_deref(), result.get()))
            }
        }
    }
}

pub(super) fn outcome_text(message: Option<&str>, hint: Option<&str>) -> Markup {
    html! {
        @if message.is_some() || hint.is_some() {
            div class="note" {
                @if let Some(message) = message { p { (prose(message)) } }
                @if let Some(hint) = hint { p class="muted" { (prose(hint)) } }
            }
        }
    }
}

/// Renders a result by the kind of its target, or as plain JSON if it cannot be parsed.
pub(super) fn result_block(kind: &str, call: Option<&str>, text: &str) -> Markup {
    let Ok(reply) = parse_reply(kind, text) else { return json(text) };
    let own = reply.structured.as_deref().filter(|it| !repeats_structured(it, &reply));
    html! {
        div class="result" {
            @for (number, shown) in reply.items.iter().enumerate() {
                (item(shown, ItemSource { call, number }))
            }
            @if let Some(own) = own {
                h4 { "Structured content" }
                (structured_json(own))
            }
            @if reply.items.is_empty() && reply.structured.is_none() {
                p class="muted" { "The result is empty." }
            }
            details { summary { "Raw JSON" } (json(&truncate(text))) }
        }
    }
}

pub(crate) fn parse_reply(kind: &str, text: &str) -> Result<Reply, InvalidOutput> {
    match kind {
        "resource" => Reply::from_resource_json(text),
        "prompt" => Reply::from_prompt_json(text),
        _ => Reply::from_json(text),
    }
}

fn repeats_structured(structured: &str, reply: &Reply) -> bool {
    // The protocol recommends a copy of structured content as text, for older clients.
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let Some(structured) = read(structured) else { return false };
    reply.items.iter().any(|item| match item {
        Item::Text(text) => read(text).as_ref() == Some(&structured),
        _ => false,
    })
}

/// Maximum length of a text on a page, which browsers render without delay.
const MAX_TEXT_BYTES: usize = 200_000;

/// The position of a block in a recorded call, for its download link.
#[derive(Clone, Copy)]
pub(super) struct ItemSource<'a> {
    pub(super) call: Option<&'a str>,
    pub(super) number: usize,
}

pub(super) fn item(shown: &Item, from: ItemSource<'_>) -> Markup {
    match shown {
        Item::Text(text) => text_block(text, TextKind::Unspecified),
        Item::Image { data, .. } => html! {
            @match picture(data) {
                Ok(address) => { img class="picture" src=(address) alt="Image in the result"; },
                Err(why) => { p class="muted" { "Image not shown: " (why) "." } },
            }
            (download(from))
        },
        Item::Audio { mime, data } => html! { (audio(mime, data)) (download(from)) },
        Item::Resource { uri, mime, text, blob, .. } => html! {
            div class="resource" {
                p class="small" {
                    span class="mono" { (uri) }
                    @if let Some(mime) = mime { " " span class="tag" { (mime) } }
                }
                @if let Some(text) = text { (text_block(text, TextKind::detect(mime.as_deref(), uri))) }
                @if let Some(blob) = blob { (blob_block(mime.as_deref(), blob)) }
                (download(from))
            }
        },
        Item::ResourceLink { uri, name, description, .. } => html! {
            p {
                span class="tag" { "resource" } " "
                @if let Some(name) = name { (name) " " }
                // Never a link, because the URI is untrusted.
                span class="mono" { (uri) }
                @if let Some(description) = description { " " span class="muted" { (description) } }
            }
        },
        Item::Message { role, content } => html! {
            div class="message" { span class="tag" { (role) } (item(content, from)) }
        },
        Item::Other { raw, .. } => structured_json(raw),
    }
}

/// Renders JSON as a table if it has that shape, or else as a tree.
pub(super) fn structured_json(text: &str) -> Markup {
    table(text).or_else(|| tree(text)).unwrap_or_else(|| json(&truncate(text)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Markdown,
    Plain,
    Unspecified,
}

impl TextKind {
    fn detect(mime: Option<&str>, uri: &str) -> Self {
        let ends = |ending: &str| uri.to_ascii_lowercase().ends_with(ending);
        match mime.and_then(|mime| mime.split(';').next()).map(str::trim) {
            Some("text/markdown" | "text/x-markdown") => Self::Markdown,
            // Servers often declare `text/plain` for every text file.
            Some("text/plain") | None if ends(".md") || ends(".markdown") => Self::Markdown,
            Some(_) => Self::Plain,
            None => Self::Unspecified,
        }
    }
}

fn text_block(text: &str, kind: TextKind) -> Markup {
    // The cheap check first: most texts are not JSON, and parsing a long one is slow.
    let is_json = text.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json {
        return structured_json(text);
    }
    let is_markdown = match kind {
        TextKind::Markdown => true,
        TextKind::Plain => false,
        TextKind::Unspecified => looks_like_markdown(text),
    };
    if !is_markdown {
        return html! { pre class="text" tabindex="0" { (truncate(text)) } };
    }
    let text = truncate(text);
    html! {
        (markdown(&text))
        details class="below" { summary { "Source" } pre class="text" tabindex="0" { (text) } }
    }
}

fn audio(mime: &str, data: &str) -> Markup {
    html! {
        @match sound(data) {
            Ok(address) => {
                audio controls preload="metadata" src=(address) aria-label="Audio in the result" {}
            },
            Err(why) => {
                p class="muted" { "Audio (" (mime) ", " (decoded_size(data)) ") not played: " (why) "." }
            },
        }
    }
}

fn blob_block(mime: Option<&str>, blob: &str) -> Markup {
    html! {
        @if let Ok(address) = picture(blob) {
            img class="picture" src=(address) alt="Image in the resource";
        } @else if let (true, Ok(address)) = (mime.is_some_and(|mime| mime.starts_with("audio/")), sound(blob)) {
            audio controls preload="metadata" src=(address) aria-label="Audio in the resource" {}
        } @else {
            p class="muted" { "Binary data, " (decoded_size(blob)) "." }
        }
    }
}

fn decoded_size(base64: &str) -> String {
    size(base64.len() as u64 / 4 * 3)
}

fn download(from: ItemSource<'_>) -> Markup {
    html! {
        @if let Some(call) = from.call {
            p class="small" {
                a href={ "/api/v1" (page_path(&["calls", call, "parts", &from.number.to_string()])) }
                    download { "Download" }
            }
        }
    }
}

pub(super) fn truncate(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let mut end = MAX_TEXT_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}\n… {} more bytes", text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(item_: &Item) -> String {
        item(item_, ItemSource { call: Some("7"), number: 2 }).into_string()
    }

    fn resource(uri: &str, mime: Option<&str>, text: Option<&str>, blob: Option<&str>) -> Item {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let uri = uri.to_owned();
        let pretty = String::new();
        Item::Resource { uri, mime: owned(mime), text: owned(text), blob: owned(blob), pretty }
    }

    #[test]
    fn each_kind_is_shown_as_what_it_is() {
        let wave = "UklGRiQAAABXQVZFZm10IA==";
        let sounds = || Item::Audio { mime: "audio/wav".to_owned(), data: wave.to_owned() };
        for (one, part) in [
            (Item::Text("plain".to_owned()), "<pre class=\"text\" tabindex=\"0\">plain</pre>"),
            (Item::Text("# a\n\n- b\n- c".to_owned()), "<h4>a</h4>"),
            (Item::Text("{\"a\": [1]}".to_owned()), "<div class=\"tree\">"),
            (Item::Text("[{\"a\": 1}, {\"a\": 2}]".to_owned()), "<th>a</th>"),
            (sounds(), "<audio controls preload=\"metadata\" src=\"data:audio/wav;base64,"),
            (sounds(), "href=\"/api/v1/calls/7/parts/2\" download"),
            (resource("a.md", None, Some("*x*"), None), "<em>x</em>"),
            (resource("a", Some("text/markdown"), Some("*x*"), None), "<em>x</em>"),
            (resource("a.md", Some("text/x-rust"), Some("*x*"), None), ">*x*</pre>"),
            (resource("a", Some("audio/wav"), None, Some(wave)), "<audio controls"),
            (resource("a", Some("text/html"), None, Some("PGI+")), "Binary data, 3 B."),
        ] {
            let shown = shown(&one);
            assert!(shown.contains(part), "no `{part}` in {shown}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let long = "ä".repeat(MAX_TEXT_BYTES);
        assert!(
            truncate(&long).ends_with(&format!("\n… {MAX_TEXT_BYTES} more bytes")),
            "{}",
            truncate(&long).len()
        );
    }
}
