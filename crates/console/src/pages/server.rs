//! The page of one server, and the page to edit its entry.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use switchboard_views::ServerShown;

use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{count, empty_state, json, page_path, pretty, prose, server_link, state};
use super::proposal::dangers;
use super::quarantine::quarantined_servers;
use super::relative_time::{rounded_duration, size, when};
use super::tools::list;
use crate::entry::UNCHANGED_PLACEHOLDER;
use crate::views::{self, EntryShown};

pub(crate) async fn server(asked: PageRequest, Path(name): Path<String>) -> Response {
    let shown = switchboard_views::server(&asked.console.host, &name).await;
    let page =
        shown.map(|shown| ConsolePage::new(&shown.row.name, ConsoleSection::Servers, body(&shown)));
    asked.respond(page).await
}

fn body(shown: &ServerShown) -> Markup {
    let row = &shown.row;
    html! {
        p class="crumbs" { a href="/servers" { "Servers" } " / " (row.name) }
        div data-live="server" {
            div class="row-heading" {
                h1 { (row.name) " " (state(&row.state)) }
                (buttons(shown))
            }
            @if let Some(reason) = &row.reason {
                div class="note bad" {
                    p { (prose(reason)) }
                    @if let Some(exit) = &shown.exit { p class="small" { "Process: " (exit) } }
                    @if let Some(step) = &row.next_step { p { "Next: " (prose(step)) } }
                }
            } @else if let Some(step) = &row.next_step {
                div class="note" { p { "Next: " (prose(step)) } }
            }
            (facts(shown))
        }
        // A separate part, so that live updates elsewhere do not reset a ticked checkbox.
        div data-live="server-needs" { (needs(shown)) (quarantined_servers(shown.held.as_slice())) }
        @if let Some(instructions) = &shown.instructions {
            details class="card" {
                summary { "Instructions for models" }
                pre class="code" tabindex="0" { (instructions) }
            }
        }
        section aria-labelledby="tools" {
            h2 id="tools" { "Tools" }
            div data-live="server-tools" {
                @if shown.offered_tools.is_empty() {
                    (empty_state("No tools", &html! { "This server currently offers none." }))
                } @else { (list(&shown.offered_tools)) }
                @if !shown.faults.is_empty() {
                    div class="note" {
                        p { "Rejected definitions:" }
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
    let here = page_path(&["servers", &shown.row.name]);
    let api = |what: &str| format!("/api/v1{here}/{what}");
    let is_off = shown.row.state == "disabled";
    html! {
        div class="actions" {
            @if !is_off && shown.row.state != "needs approval" {
                button type="button" class="button" data-post=(api("restart"))
                    data-done="The server is being restarted" { "Restart" }
            }
            @if shown.login.is_some() {
                button type="button" class="button" data-post=(api("logout"))
                    data-done="Logged out" { "Log out" }
            }
            @if shown.can_switch && is_off {
                button type="button" class="button primary" data-post=(api("enable"))
                    data-done="Enabled" { "Enable" }
            }
            @if shown.can_switch && !is_off {
                button type="button" class="button" data-post=(api("disable"))
                    data-done="Disabled" { "Disable" }
            }
            @if shown.can_switch {
                a class="button" href={ (here) "/edit" } { "Edit" }
                button type="button" class="button bad" data-post=(api("remove"))
                    data-sure="Confirm removal" data-then="/servers" { "Remove" }
            }
        }
    }
}

fn needs(shown: &ServerShown) -> Markup {
    let here = page_path(&["servers", &shown.row.name]);
    html! {
        @if let Some(digest) = &shown.approval_digest {
            form class="card attention-card" data-act={ "/api/v1" (here) "/approve" } {
                h2 { "This server needs approval" }
                pre class="code" tabindex="0" { (shown.lines.join("\n")) }
                (dangers(&shown.findings, "approve"))
                input type="hidden" data-member="digest" value=(digest);
                button type="submit" class="button primary" { "Approve" }
            }
        }
        @if shown.row.state == "needs login" {
            section class="card attention-card" aria-labelledby="login" {
                h2 id="login" { "This server needs a login" }
                form data-call={ "/api/v1" (here) "/login" } data-into="login-address" {
                    button type="submit" class="button primary" { "Log in" }
                }
                div id="login-address" aria-live="polite" {}
            }
        }
    }
}

/// Renders an authorization URL with a link. Nothing opens it without a click.
pub(crate) fn login_address(url: &str) -> Markup {
    // The URL comes from the server's metadata: `javascript:` would run in the console's origin.
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    html! {
        p class="muted" { "Check the URL, then open it. This page updates after the login." }
        p class="address mono" { (url) }
        @if is_web {
            p { a class="button" href=(url) target="_blank" rel="noopener noreferrer" { "Open in a new tab" } }
        }
    }
}

fn facts(shown: &ServerShown) -> Markup {
    let row = &shown.row;
    html! {
        dl class="facts card" {
            div { dt { "Transport" } dd { (row.transport) } }
            @if !row.place.is_empty() { div { dt { "Command or URL" } dd class="mono" { (row.place) } } }
            div { dt { "Protocol revision" } dd class="mono" { (row.revision.as_deref().unwrap_or("–")) } }
            div { dt { "Instances" } dd { (row.instances) } }
            div { dt { "Calls in flight" } dd { (row.in_flight) } }
            @if let Some(seconds) = row.up_seconds {
                div { dt { "Uptime" } dd { (rounded_duration(seconds)) } }
            }
            @if let Some(bytes) = shown.memory_bytes {
                div { dt { "Memory" } dd { (size(bytes)) } }
            }
            div { dt { "Offers" } dd {
                (count(row.tools, "tool")) ", " (count(row.resources, "resource")) ", "
                (count(row.prompts, "prompt"))
            } }
            @if let Some(login) = &shown.login {
                div { dt { "Logged in at" } dd {
                    (login.issuer)
                    @if !login.scopes.is_empty() { span class="muted" { " for " (login.scopes.join(" ")) } }
                } }
            }
            @if let Some(source) = &shown.source {
                div { dt { "Configured in" } dd class="mono" { (source) } }
            }
            @if shown.noise_lines > 0 {
                div { dt { "Invalid output lines" } dd { (shown.noise_lines) } }
            }
            @if let Some(calls_itself) = &shown.calls_itself {
                div class="wide" { dt { "Server info" } dd { (json(calls_itself)) } }
            }
        }
    }
}

fn log(shown: &ServerShown) -> Markup {
    html! {
        @if shown.log.is_empty() && shown.messages.is_empty() {
            (empty_state("No log output", &html! {
                "Standard error and log messages of the server appear here."
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

pub(crate) async fn edit_server(asked: PageRequest, Path(name): Path<String>) -> Response {
    let page = views::entry(&asked.console, &name).await.map(|shown| {
        ConsolePage::new(&format!("Edit {name}"), ConsoleSection::Servers, edit_body(&shown))
    });
    asked.respond(page).await
}

fn edit_body(shown: &EntryShown) -> Markup {
    let here = page_path(&["servers", &shown.server]);
    html! {
        p class="crumbs" {
            a href="/servers" { "Servers" } " / " (server_link(&shown.server)) " / edit"
        }
        h1 { "Edit " (shown.server) }
        p class="muted small" { "In " span class="mono" { (shown.file) } }
        form class="card" data-act={ "/api/v1" (here) "/edit" } data-then=(here) {
            div class="field" {
                label for="entry" { "Entry" }
                textarea id="entry" class="mono tall" rows="18" data-member="entry"
                    spellcheck="false" { (pretty(&shown.entry.to_string())) }
                p class="muted small" {
                    code { (UNCHANGED_PLACEHOLDER) } " replaces a value of " code { "env" } " or "
                    code { "headers" } ". The value stays in the file and is not sent to this page."
                }
            }
            div class="asks" {}
            div class="actions" {
                button type="submit" class="button primary" { "Save" }
                a class="button" href=(here) { "Cancel" }
            }
        }
    }
}
