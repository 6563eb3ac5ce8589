//! What a call gave, by kind: text, JSON, pictures, resources.

use maud::{Markup, html};
use switchboard_host::format::{Item, Reply};

use super::parts::{json, outcome, place, prose};
use super::picture::picture;
use super::rows::table_of;
use super::when::{duration, size};
use crate::shown::Ran;

/// The longest text that a page shows whole.
const LONGEST: usize = 200_000;

/// A call that was just made, as a piece of a page.
pub(crate) fn ran(ran: &Ran) -> Markup {
    html! {
        div class="ran" {
            div class="row-heading" {
                (outcome(ran.outcome))
                span class="muted small" {
                    (duration(ran.milliseconds))
                    @if let Some(id) = &ran.id {
                        " · " a href=(place(&["calls", id])) { "call " (id) }
                    }
                }
            }
            (words(ran.message.as_deref(), ran.hint.as_deref()))
            @if let Some(result) = &ran.result { (result_of(ran.kind, result.get())) }
        }
    }
}

/// Why it ended so, and what to do.
pub(super) fn words(message: Option<&str>, hint: Option<&str>) -> Markup {
    html! {
        @if message.is_some() || hint.is_some() {
            div class="note" {
                @if let Some(message) = message { p { (prose(message)) } }
                @if let Some(hint) = hint { p class="muted" { (prose(hint)) } }
            }
        }
    }
}

/// A result by kind; what is not understood is shown as it is.
pub(super) fn result_of(kind: &str, text: &str) -> Markup {
    let reply = match kind {
        "resource" => Reply::from_resource_json(text),
        "prompt" => Reply::from_prompt_json(text),
        _ => Reply::from_json(text),
    };
    let Ok(reply) = reply else { return json(text) };
    html! {
        div class="result" {
            @for shown in &reply.items { (item(shown)) }
            @if let Some(structured) = reply.structured.as_deref().filter(|it| !says_the_same(it, &reply)) {
                h4 { "Structured" }
                (table_of(structured).unwrap_or_else(|| json(structured)))
            }
            @if reply.items.is_empty() && reply.structured.is_none() {
                p class="muted" { "It is empty." }
            }
            details { summary { "As it was sent" } (json(&cut(text))) }
        }
    }
}

/// Whether a text of the result is the structured part once more, as the protocol advises.
fn says_the_same(structured: &str, reply: &Reply) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let Some(structured) = read(structured) else { return false };
    reply.items.iter().any(|item| match item {
        Item::Text(text) => read(text).as_ref() == Some(&structured),
        _ => false,
    })
}

fn item(shown: &Item) -> Markup {
    match shown {
        Item::Text(text) => text_of(text),
        Item::Image { data, .. } => match picture(data) {
            Ok(address) => {
                html! { img class="picture" src=(address) alt="A picture of the result"; }
            }
            Err(why) => html! { p class="muted" { "A picture that is not shown: " (why) "." } },
        },
        Item::Audio { mime, data } => {
            let bytes = u64::try_from(data.len() / 4 * 3).unwrap_or(u64::MAX);
            html! { p class="muted" { "A sound, " (mime) ", " (size(bytes)) "." } }
        }
        Item::Resource { uri, mime, text, blob, .. } => html! {
            div class="resource" {
                p class="small" {
                    span class="mono" { (uri) }
                    @if let Some(mime) = mime { " " span class="tag" { (mime) } }
                }
                @if let Some(text) = text { (text_of(text)) }
                @if let Some(blob) = blob {
                    @if let Ok(address) = picture(blob) {
                        img class="picture" src=(address) alt="A picture of the resource";
                    } @else {
                        p class="muted" { "Data, " (size(blob.len() as u64 / 4 * 3)) "." }
                    }
                }
            }
        },
        Item::ResourceLink { uri, name, description, .. } => html! {
            p {
                span class="tag" { "resource" } " "
                @if let Some(name) = name { (name) " " }
                // Never a link: what it is an address of is the server's word.
                span class="mono" { (uri) }
                @if let Some(description) = description { " " span class="muted" { (description) } }
            }
        },
        Item::Message { role, content } => html! {
            div class="message" { span class="tag" { (role) } (item(content)) }
        },
        Item::Other { raw, .. } => json(raw),
    }
}

/// Text; one that is JSON over several lines.
fn text_of(text: &str) -> Markup {
    let is_json = text.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json {
        return table_of(text).unwrap_or_else(|| json(&cut(text)));
    }
    html! { pre class="text" tabindex="0" { (cut(text)) } }
}

/// The beginning of a text that is too long for a page.
fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}\n… {} more bytes", text.len() - end)
}
