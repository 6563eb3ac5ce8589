//! The page that lists all servers.

use axum::response::Response;
use maud::{Markup, html};
use switchboard_views::ServerRow;

use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{count, empty_state, heading, prose, server_link, state};
use super::relative_time::rounded_duration;

pub(crate) async fn servers(asked: PageRequest) -> Response {
    let page = ConsolePage {
        title: "Servers".to_owned(),
        section: ConsoleSection::Servers,
        body: body(&switchboard_views::servers(&asked.console.host)),
    };
    asked.show(page).await
}

fn body(servers: &[ServerRow]) -> Markup {
    html! {
        div class="row-heading" {
            (heading("Servers", &html! { "Everything that is configured, and how it is doing." }))
            a class="button primary" href="/add-server" { "Add a server" }
        }
        div data-live="servers" {
            @if servers.is_empty() {
                (empty_state("No servers yet", &html! {
                    a href="/add-server" { "Add one here" } ", or in a terminal: "
                    code { "switchboard servers add NAME -- COMMAND" }
                }))
            } @else {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Server" } th { "State" } th { "Reached by" } th { "Offers" }
                            th class="number" { "Up for" } th class="number" { "Running" }
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
            td class="strong name" { (server_link(&server.name)) }
            td class="state" {
                (state(&server.state))
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
                @if let Some(revision) = &server.revision {
                    " " span class="mono small muted nowrap" { (revision) }
                }
                @if !server.place.is_empty() {
                    div { span class="mono small cut" title=(server.place) { (server.place) } }
                }
            }
            td class="small" { (offers(server)) }
            td class="number nowrap small" {
                (server.up_seconds.map_or_else(|| "–".to_owned(), rounded_duration))
            }
            td class="number" { (server.in_flight) }
        }
    }
}

/// Returns the number of tools, resources and prompts of a server, without those that are zero.
fn offers(server: &ServerRow) -> String {
    let all = [(server.tools, "tool"), (server.resources, "resource"), (server.prompts, "prompt")];
    let there = all.into_iter().filter(|(number, _)| *number > 0);
    let words: Vec<String> = there.map(|(number, one)| count(number, one)).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}
