//! All servers with their states.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{Page, Section, respond};
use super::parts::{empty, heading, prose, state, to_server};
use crate::console::Shared;
use crate::door::Signed;
use crate::shown::{self, ServerRow};

/// All servers.
pub(crate) async fn servers(
    State(console): State<Shared>,
    Extension(signed): Extension<Signed>,
) -> Response {
    let page = Page {
        title: "Servers".to_owned(),
        section: Section::Servers,
        body: body(&shown::servers(&console)),
    };
    respond(&console, &signed, Ok(page)).await
}

fn body(servers: &[ServerRow]) -> Markup {
    html! {
        (heading("Servers", &html! { "Everything that is configured, and how it is doing." }))
        div data-live="servers" {
            @if servers.is_empty() {
                (empty("No servers yet", &html! {
                    "Add one: " code { "switchboard servers add NAME -- COMMAND" }
                }))
            } @else {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Server" } th { "State" } th { "Reached by" }
                            th class="number" { "Tools" } th class="number" { "Resources" }
                            th class="number" { "Prompts" } th class="number" { "Running" }
                            th { "Revision" }
                        } }
                        tbody { @for server in servers { (row(server)) } }
                    }
                }
            }
        }
    }
}

fn row(server: &ServerRow) -> Markup {
    html! {
        tr {
            td class="strong name" { (to_server(&server.name)) }
            td class="state" {
                (state(server.state))
                @if let Some(reason) = &server.reason { div class="why" { (prose(reason)) } }
                @if let Some(step) = &server.next_step {
                    div class="muted small" {
                        "Next: " (prose(step))
                        @if let Some(seconds) = server.retry_in_seconds {
                            " (tried again in " (seconds) " s)"
                        }
                    }
                }
            }
            td {
                span class="tag" { (server.transport) }
                @if !server.place.is_empty() {
                    " " span class="mono cut" title=(server.place) { (server.place) }
                }
            }
            td class="number" { (server.tools) }
            td class="number" { (server.resources) }
            td class="number" { (server.prompts) }
            td class="number" { (server.in_flight) }
            td class="mono small nowrap" { (server.revision.unwrap_or("–")) }
        }
    }
}
