//! One server: its state, what it offers, what it wrote and said, and what can be done with it.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{Page, Section, respond};
use super::parts::{count, empty, json, place, prose, state};
use super::tools::list;
use super::when::when;
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::{self, ServerShown};

/// One server.
pub(crate) async fn server(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
    Path(name): Path<String>,
) -> Response {
    let shown = shown::server(&console, &name).await;
    let page = shown.map(|shown| Page {
        title: shown.row.name.clone(),
        section: Section::Servers,
        body: body(&shown),
    });
    respond(&console, &signed, page).await
}

fn body(shown: &ServerShown) -> Markup {
    let row = &shown.row;
    html! {
        p class="crumbs" { a href="/servers" { "Servers" } " / " (row.name) }
        div data-live="server" {
            div class="row-heading" {
                h1 { (row.name) " " (state(row.state)) }
                (buttons(shown))
            }
            @if let Some(reason) = &row.reason {
                div class="note bad" {
                    p { (prose(reason)) }
                    @if let Some(exit) = &shown.exit { p class="small" { "Its process: " (exit) } }
                    @if let Some(step) = &row.next_step { p { "Next: " (prose(step)) } }
                }
            } @else if let Some(step) = &row.next_step {
                div class="note" { p { "Next: " (prose(step)) } }
            }
            (facts(shown))
        }
        @if let Some(instructions) = &shown.instructions {
            details class="card" {
                summary { "What it tells models" }
                pre class="code" tabindex="0" { (instructions) }
            }
        }
        section aria-labelledby="tools" {
            h2 id="tools" { "Tools" }
            div data-live="server-tools" {
                @if shown.offered_tools.is_empty() {
                    (empty("No tools", &html! { "This server offers none at the moment." }))
                } @else { (list(&shown.offered_tools)) }
                @if !shown.faults.is_empty() {
                    div class="note" {
                        p { "Left out of its lists:" }
                        ul { @for fault in &shown.faults { li { (fault) } } }
                    }
                }
            }
        }
        section aria-labelledby="log" {
            h2 id="log" { "Log" }
            div data-live="server-log" { (log(shown)) }
        }
    }
}

fn buttons(shown: &ServerShown) -> Markup {
    let api = |what: &str| format!("/api/v1{}/{what}", place(&["servers", &shown.row.name]));
    let is_off = shown.row.state == "disabled";
    html! {
        div class="actions" {
            @if !is_off && shown.row.state != "needs approval" {
                button type="button" class="button" data-post=(api("restart"))
                    data-done="The server is being restarted" { "Restart" }
            }
            @if shown.can_switch && is_off {
                button type="button" class="button primary" data-post=(api("enable"))
                    data-done="Enabled" { "Enable" }
            }
            @if shown.can_switch && !is_off {
                button type="button" class="button" data-post=(api("disable"))
                    data-done="Disabled" { "Disable" }
            }
        }
    }
}

fn facts(shown: &ServerShown) -> Markup {
    let row = &shown.row;
    html! {
        dl class="facts card" {
            div { dt { "Reached by" } dd { (row.transport) } }
            @if !row.place.is_empty() { div { dt { "At" } dd class="mono" { (row.place) } } }
            div { dt { "Revision" } dd class="mono" { (row.revision.unwrap_or("–")) } }
            div { dt { "Instances" } dd { (row.instances) } }
            div { dt { "Calls under way" } dd { (row.in_flight) } }
            div { dt { "Offers" } dd {
                (count(row.tools, "tool")) ", " (count(row.resources, "resource")) ", "
                (count(row.prompts, "prompt"))
            } }
            @if let Some(source) = &shown.source {
                div { dt { "Configured in" } dd class="mono" { (source) } }
            }
            @if shown.noise_lines > 0 {
                div { dt { "Lines that are no messages" } dd { (shown.noise_lines) } }
            }
            @if let Some(calls_itself) = &shown.calls_itself {
                div class="wide" { dt { "Calls itself" } dd { (json(calls_itself)) } }
            }
        }
    }
}

fn log(shown: &ServerShown) -> Markup {
    html! {
        @if shown.log.is_empty() && shown.messages.is_empty() {
            (empty("Nothing written", &html! {
                "What the server writes to its standard error, and the messages it sends, are here."
            }))
        }
        @if !shown.log.is_empty() {
            pre class="code log" tabindex="0" aria-label="Standard error" { (shown.log.join("\n")) }
        }
        @if !shown.messages.is_empty() {
            h3 { "Messages" }
            ul class="plain messages" {
                @for message in shown.messages.iter().rev() {
                    li {
                        span class="first" {
                            (when(&message.at)) span class="tag" { (message.level) }
                            @if let Some(logger) = &message.logger { span class="muted" { (logger) } }
                        }
                        span { (message.text) }
                    }
                }
            }
        }
    }
}
