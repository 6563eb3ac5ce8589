//! One tool: what it says of itself, and a form to try it.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::fields::fields;
use super::layout::{Page, Section, respond};
use super::parts::{json, place, to_server};
use super::tools::marks;
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::{self, ToolShown};

/// One tool.
pub(crate) async fn tool(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
    Path((server, name)): Path<(String, String)>,
) -> Response {
    let page = shown::tool(&console, &server, &name).map(|shown| Page {
        title: shown.row.name.clone(),
        section: Section::Tools,
        body: body(&shown),
    });
    respond(&console, &signed, page).await
}

fn body(shown: &ToolShown) -> Markup {
    let row = &shown.row;
    let schema = shown.input_schema.clone().unwrap_or_default();
    html! {
        p class="crumbs" {
            a href="/tools" { "Tools" } " / " (to_server(&row.server)) " / " (row.name)
        }
        div class="row-heading" {
            h1 { (row.name) }
            div class="actions" {
                (marks(row))
                @if shown.auto_approved { span class="tag" { "runs without a question" } }
            }
        }
        @if let Some(title) = &row.title { p class="lead" { (title) } }
        @if let Some(description) = &row.description { p class="description" { (description) } }
        div class="columns" {
            section class="card" aria-labelledby="try" {
                h2 id="try" { "Try it" }
                (try_form(shown, &schema))
            }
            section class="card" aria-labelledby="result" {
                h2 id="result" { "Result" }
                div id="ran" aria-live="polite" {
                    p class="muted" { "What the call gives is shown here, and kept under Calls." }
                }
            }
        }
        details class="card" { summary { "Definition" } (definition(shown, &schema)) }
    }
}

fn try_form(shown: &ToolShown, schema: &Value) -> Markup {
    let row = &shown.row;
    let api = format!("/api/v1{}/call", place(&["tools", &row.server, &row.name]));
    html! {
        form data-call=(api) data-into="ran" autocomplete="off" {
            (fields(schema, "argument"))
            details { summary { "Write the arguments as JSON" }
                textarea class="mono" rows="4" data-raw="" spellcheck="false" placeholder="{}"
                    aria-label="Arguments as JSON" {}
            }
            div class="actions" {
                button type="submit" class="button primary" { "Call" }
                span class="muted small" { "It runs as you, and is recorded." }
            }
        }
    }
}

fn definition(shown: &ToolShown, schema: &Value) -> Markup {
    html! {
        p class="small muted" { "Fingerprint " span class="mono" { (shown.digest) } }
        p class="small muted" {
            "In the terminal: "
            code { "switchboard call " (shown.row.server) " " (shown.row.name) " --json-args '{…}'" }
        }
        h3 { "Input" }
        (json(&schema.to_string()))
        @if let Some(output) = &shown.output_schema { h3 { "Output" } (json(&output.to_string())) }
        @if let Some(annotations) = &shown.annotations {
            h3 { "What the server says about its effects" }
            (json(&annotations.to_string()))
        }
    }
}
