//! The page that lists all servers.

use axum::response::Response;
use maud::{Markup, html};
use switchboard_views::ServerRow;

use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{count, empty_state, heading, prose, server_link, state};
use super::relative_time::rounded_duration;

pub(crate) async fn servers(asked: PageRequest) -> Response {
    let body = body(&switchboard_views::servers(&asked.console.host));
    asked.show(ConsolePage::new("Servers", ConsoleSection::Servers, body)).await
}

fn body(servers: &[ServerRow]) -> Markup {
    html! {
        div class="row-heading" {
            (heading("Servers", &html! { "All configured servers and their states." }))
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
                            th { "Server" } th { "State" } th { "Transport" } th { "Offers" }
                            th class="number" { "Uptime" } th class="number" { "In flight" }
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
                            " (retry in " (seconds) " s)"
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

fn offers(server: &ServerRow) -> String {
    let all = [(server.tools, "tool"), (server.resources, "resource"), (server.prompts, "prompt")];
    let there = all.into_iter().filter(|(number, _)| *number > 0);
    let words: Vec<String> = there.map(|(number, one)| count(number, one)).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}
