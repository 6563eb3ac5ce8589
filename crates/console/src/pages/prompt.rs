//! One prompt: its arguments, and what it gives.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::fields::fields;
use super::layout::{ConsolePage, ConsoleSection, respond};
use super::parts::{page_path, server_link};
use crate::auth::Principal;
use crate::console::SharedConsole;
use switchboard_views::OfferedPrompt;

/// One prompt.
pub(crate) async fn prompt(
    State(console): State<SharedConsole>,
    Extension(signed): Extension<Principal>,
    Path((server, name)): Path<(String, String)>,
) -> Response {
    let page = switchboard_views::prompt(&console.host, &server, &name).map(|prompt| ConsolePage {
        title: prompt.name.clone(),
        section: ConsoleSection::Resources,
        body: body(&prompt),
    });
    respond(&console, &signed, page).await
}

fn body(prompt: &OfferedPrompt) -> Markup {
    let api = format!("/api/v1{}/get", page_path(&["prompts", &prompt.server, &prompt.name]));
    html! {
        p class="crumbs" {
            a href="/resources" { "Resources and prompts" } " / " (server_link(&prompt.server)) " / "
            (prompt.name)
        }
        h1 { (prompt.title.as_deref().unwrap_or(&prompt.name)) }
        @if let Some(description) = &prompt.description { p class="description" { (description) } }
        div class="columns" {
            section class="card" aria-labelledby="fill" {
                h2 id="fill" { "Arguments" }
                form data-call=(api) data-into="ran" autocomplete="off" data-complete=(prompt.server)
                    data-complete-prompt=(prompt.name) {
                    (fields(&as_schema(&prompt.arguments), &names(&prompt.arguments), "argument"))
                    div class="actions" { button type="submit" class="button primary" { "Fetch" } }
                }
            }
            section class="card" aria-labelledby="gives" {
                h2 id="gives" { "What it gives" }
                div id="ran" aria-live="polite" { p class="muted" { "It is shown here." } }
            }
        }
    }
}

/// The names of its arguments, in the server's order.
fn names(arguments: &Value) -> Vec<String> {
    let all = arguments.as_array().into_iter().flatten();
    all.filter_map(|argument| argument["name"].as_str().map(str::to_owned)).collect()
}

/// A prompt's arguments are texts; this is the schema that says so.
fn as_schema(arguments: &Value) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in arguments.as_array().into_iter().flatten() {
        let Some(name) = argument["name"].as_str() else { continue };
        let member = json!({"type": "string", "description": argument["description"]});
        properties.insert(name.to_owned(), member);
        if argument["required"] == true {
            required.push(name);
        }
    }
    json!({"properties": properties, "required": required})
}
