//! The page of one tool: its definition, and a form to call it.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use switchboard_views::{HeldShown, ToolShown};

use super::fields::fields;
use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{json, page_path, risk_line, server_link};
use super::quarantine::{approve_button, diff};
use super::tools::{icon, marks};
use crate::views;

pub(crate) async fn tool(
    asked: PageRequest,
    Path((server, name)): Path<(String, String)>,
) -> Response {
    let page = switchboard_views::tool(&asked.console.host, &server, &name).await.map(|shown| {
        let body = match &shown.held {
            Some(held) => held_body(&shown, held),
            None => body(&shown, !views::models(&asked.console).is_empty()),
        };
        ConsolePage::new(&shown.row.name, ConsoleSection::Tools, body)
    });
    asked.respond(page).await
}

fn body(shown: &ToolShown, can_talk: bool) -> Markup {
    let row = &shown.row;
    let schema = shown.input_schema.clone().unwrap_or_default();
    html! {
        p class="crumbs" {
            a href="/tools" { "Tools" } " / " (server_link(&row.server)) " / " (row.name)
        }
        div class="row-heading" {
            h1 { (icon(row)) (row.name) }
            div class="actions" {
                (marks(row))
                @if shown.auto_approved { span class="tag" { "runs without approval" } }
                (pin_state(shown))
                a class="button" href=(verdict_text(shown)) { "Would it run?" }
            }
        }
        (risk_line(&shown.risk))
        @if let Some(title) = &row.title { p class="lead" { (title) } }
        @if let Some(description) = &row.description { p class="description" { (description) } }
        div class="columns" {
            section class="card" aria-labelledby="try" {
                h2 id="try" { "Try it" }
                (try_form(shown, &schema))
            }
            section class="card" aria-labelledby="result" {
                h2 id="result" { "Result" }
                div data-inline-reviews="" {}
                div id="ran" aria-live="polite" {
                    p class="muted" { "The result appears here and is recorded under Calls." }
                }
            }
        }
        @if shown.app.is_some() {
            section class="card" aria-labelledby="app" {
                h2 id="app" { "App" }
                p class="muted small" {
                    "A page of the server in an isolated frame. Its calls follow the policy for "
                    "clients and may need approval."
                }
                div id="app-place" data-can-talk[can_talk] {}
            }
        }
        details class="card" { summary { "Definition" } (definition(shown, &schema)) }
    }
}

fn held_body(shown: &ToolShown, held: &HeldShown) -> Markup {
    let row = &shown.row;
    let here = page_path(&["tools", &row.server, &row.name]);
    html! {
        p class="crumbs" {
            a href="/tools" { "Tools" } " / " (server_link(&row.server)) " / " (row.name)
        }
        div class="row-heading" {
            h1 { (row.name) " " span class="tag warn" { "in quarantine" } }
            @if held.can_be_approved { (approve_button(&row.server, &[held], "Approve", Some(&here))) }
        }
        div class="note bad" {
            p {
                "The definition is not the approved one (" (held.why)
                "). The tool cannot be called, and no model sees it, until you approve it."
            }
        }
        section class="card" aria-labelledby="difference" {
            h2 id="difference" { "Changes" }
            (diff(held))
            p class="small muted" {
                "Current " span class="mono" { (held.digest) }
                @if let Some(digest) = &shown.pin.digest {
                    br; "Approved " span class="mono" { (digest) }
                }
            }
        }
    }
}

fn pin_state(shown: &ToolShown) -> Markup {
    let about = shown.pin.digest.as_deref().unwrap_or("No approved definition to compare with");
    html! { span class="tag" title=(about) { (shown.pin.state) } }
}

fn verdict_text(shown: &ToolShown) -> String {
    let part = |text: &str| page_path(&[text]).trim_start_matches('/').to_owned();
    format!("/policy?server={}&name={}#try", part(&shown.row.server), part(&shown.row.name))
}

fn try_form(shown: &ToolShown, schema: &Value) -> Markup {
    let row = &shown.row;
    let api = format!("/api/v1{}/call", page_path(&["tools", &row.server, &row.name]));
    html! {
        form data-call=(api) data-into="ran" autocomplete="off" {
            (fields(schema, &shown.order, "argument"))
            details { summary { "Write the arguments as JSON" }
                textarea class="mono" rows="4" data-raw="" spellcheck="false" placeholder="{}"
                    aria-label="Arguments as JSON" {}
            }
            div class="actions" {
                button type="submit" class="button primary" { "Call" }
                @if shown.app.is_some() {
                    button type="button" class="button" data-app=(api.trim_end_matches("/call")) {
                        "Call in its app"
                    }
                }
            }
            p class="muted small" {
                "The call runs as you and is recorded. Copy it as a "
                button type="button" class="link" data-copy="command" data-server=(row.server)
                    data-tool=(row.name) { "command" }
                " or as an "
                button type="button" class="link" data-copy="request" data-server=(row.server)
                    data-tool=(row.name) { "MCP request" }
            }
        }
    }
}

fn definition(shown: &ToolShown, schema: &Value) -> Markup {
    let row = &shown.row;
    html! {
        @if shown.pin.state == "approved" {
            p class="actions" {
                button type="button" class="button" data-post="/api/v1/pins/revoke"
                    data-body=(serde_json::json!({"server": row.server, "name": row.name}))
                    data-sure="Confirm: quarantine the tool" data-then=(page_path(&["tools", &row.server, &row.name])) {
                    "Revoke the approval"
                }
            }
        }
        p class="small muted" { "Fingerprint " span class="mono" { (shown.digest) } }
        h3 { "Input" }
        (json(&schema.to_string()))
        @if let Some(output) = &shown.output_schema { h3 { "Output" } (json(&output.to_string())) }
        @if let Some(annotations) = &shown.annotations {
            h3 { "Annotations (claims of the server)" }
            (json(&annotations.to_string()))
        }
    }
}
