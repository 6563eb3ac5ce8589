//! What a call gave: how it ended, and each part of its result by kind.

use maud::{Markup, html};
use switchboard_core::{InvalidOutput, Item, Reply};

use super::item::{ItemSource, item, structured_json, truncate};
use super::parts::{json, outcome, page_path, prose};
use super::relative_time::duration;
use switchboard_views::Ran;

/// A call that was just made, as a piece of a page.
pub(crate) fn finished_call(ran: &Ran) -> Markup {
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

/// Why it ended so, and what to do.
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

/// A result by kind; what is not understood is shown as it is. Parts of a call that is recorded can
/// be downloaded.
pub(super) fn result_block(kind: &str, call: Option<&str>, text: &str) -> Markup {
    let Ok(reply) = parse_reply(kind, text) else { return json(text) };
    let own = reply.structured.as_deref().filter(|it| !repeats_structured(it, &reply));
    html! {
        div class="result" {
            @for (number, shown) in reply.items.iter().enumerate() {
                (item(shown, ItemSource { call, number }))
            }
            @if let Some(own) = own {
                h4 { "Structured" }
                (structured_json(own))
            }
            @if reply.items.is_empty() && reply.structured.is_none() {
                p class="muted" { "It is empty." }
            }
            details { summary { "As it was sent" } (json(&truncate(text))) }
        }
    }
}

/// The parts of a result.
pub(crate) fn parse_reply(kind: &str, text: &str) -> Result<Reply, InvalidOutput> {
    match kind {
        "resource" => Reply::from_resource_json(text),
        "prompt" => Reply::from_prompt_json(text),
        _ => Reply::from_json(text),
    }
}

/// Whether a text of the result is the structured part once more, as the protocol advises.
fn repeats_structured(structured: &str, reply: &Reply) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let Some(structured) = read(structured) else { return false };
    reply.items.iter().any(|item| match item {
        Item::Text(text) => read(text).as_ref() == Some(&structured),
        _ => false,
    })
}
