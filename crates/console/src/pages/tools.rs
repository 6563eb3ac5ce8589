//! The page that lists and searches tools.

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use switchboard_views::{ToolQuery, ToolRow};

use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::media::picture;
use super::parts::{empty_state, heading, page_path};

pub(crate) async fn tools(asked: PageRequest, Query(query): Query<ToolQuery>) -> Response {
    let found = switchboard_views::tools(&asked.console.host, &query);
    let servers = asked.server_names();
    let body = body(&found, &servers, &query);
    asked.show(ConsolePage::new("Tools", ConsoleSection::Tools, body)).await
}

fn body(found: &[ToolRow], servers: &[String], query: &ToolQuery) -> Markup {
    let chosen = query.server.as_deref().unwrap_or_default();
    html! {
        (heading("Tools", &html! { "The tools of all servers. Choose one to try it." }))
        form class="filters" method="get" action="/tools" role="search" data-auto="" {
            label class="grow" {
                span { "Search" }
                input type="search" name="q" value=[query.q.as_deref()] placeholder="read a file"
                    autocomplete="off" data-hotkey="/";
            }
            label {
                span { "Server" }
                select name="server" {
                    option value="" { "All" }
                    @for server in servers {
                        option value=(server) selected[server == chosen] { (server) }
                    }
                }
            }
            button type="submit" class="button" { "Search" }
        }
        div data-live="tools" {
            @if found.is_empty() {
                (empty_state("No matching tools", &html! {
                    "Try fewer words, or check on the " a href="/servers" { "Servers" }
                    " page that the server is ready."
                }))
            } @else { (list(found)) }
        }
    }
}

pub(super) fn list(tools: &[ToolRow]) -> Markup {
    html! {
        ul class="cards many" {
            @for tool in tools {
                li {
                    a class="card tool" href=(page_path(&["tools", &tool.server, &tool.name])) {
                        span class="first" {
                            (icon(tool))
                            strong { (tool.name) }
                            span class="muted" { (tool.server) }
                            (marks(tool))
                        }
                        @if let Some(description) = &tool.description {
                            span class="about" { (description) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn icon(tool: &ToolRow) -> Markup {
    // The same checks as for images in results: the bytes come from the server.
    let address = tool.icon.as_deref().and_then(|data| picture(data).ok());
    html! { @if let Some(address) = address { img class="tool-icon" src=(address) alt="" width="18" height="18"; } }
}

pub(super) fn marks(tool: &ToolRow) -> Markup {
    html! {
        @for mark in &tool.marks {
            span class={ "tag " @if mark == "destructive" { "bad" } } title="Claimed by the server" {
                (mark)
            }
        }
    }
}
