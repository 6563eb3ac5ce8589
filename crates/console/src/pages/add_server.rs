//! The page to add servers: typed, pasted, found on this machine, or from a registry.

use axum::response::Response;
use maud::{Markup, html};

use super::layout::{ConsolePage, ConsoleSection, PageRequest};

pub(crate) async fn add_server(asked: PageRequest) -> Response {
    let products = asked.console.elsewhere.products();
    let body = body(&products);
    asked.show(ConsolePage::new("Add a server", ConsoleSection::Servers, body)).await
}

fn body(products: &[(&str, &str)]) -> Markup {
    html! {
        p class="crumbs" { a href="/servers" { "Servers" } " / add" }
        div class="heading" {
            h1 { "Add a server" }
            p class="muted" { "You see what a server runs before it is added." }
        }
        div class="columns" {
            section class="card" aria-labelledby="registry" {
                h2 id="registry" { "From a registry" }
                (from_registry())
            }
            section class="card" aria-labelledby="installed" {
                h2 id="installed" { "From another product" }
                (from_this_machine(products))
            }
            section class="card" aria-labelledby="by-hand" {
                h2 id="by-hand" { "By hand" }
                (by_hand())
            }
            section class="card" aria-labelledby="pasted" {
                h2 id="pasted" { "From a configuration" }
                (from_text(products))
            }
        }
        section aria-labelledby="preview" {
            h2 id="preview" { "Preview" }
            div id="found" aria-live="polite" {
                p class="muted" { "Servers that you search or preview appear here, ready to add." }
            }
        }
    }
}

fn from_registry() -> Markup {
    html! {
        form data-call="/api/v1/registry/search" data-into="found" autocomplete="off" role="search" {
            (line("add-words", "words", "Topic or name", "files, github, io.github.owner/server"))
            button type="submit" class="button primary" { "Search" }
            p class="muted small" {
                "Searches the registries in your settings, or the official one. You see the exact "
                "command or URL before a server is added."
            }
        }
    }
}

fn from_this_machine(products: &[(&str, &str)]) -> Markup {
    let names: Vec<&str> = products.iter().map(|(_, title)| *title).collect();
    html! {
        form data-call="/api/v1/configurations/installed" data-into="found" {
            p class="muted" {
                "Reads the configuration files of other products on this machine and lists their "
                "servers. The files are not changed."
            }
            button type="submit" class="button primary" { "Search this machine" }
            p class="muted small" { (names.join(", ")) "." }
        }
    }
}

fn by_hand() -> Markup {
    html! {
        form data-call="/api/v1/configurations/read" data-into="found" autocomplete="off" {
            (line("add-name", "name", "Name", "github"))
            (line("add-target", "target", "Command or URL", "npx -y @scope/server, or https://mcp.example"))
            details {
                summary { "Variables and headers" }
                (lines("add-environment", "environment", "Environment variables (for a command)", "API_KEY=${keyring:NAME}"))
                (lines("add-headers", "headers", "HTTP headers (for a URL)", "X-Key: ${keyring:NAME}"))
                p class="muted small" {
                    code { "${NAME}" } " reads an environment variable, " code { "${keyring:NAME}" }
                    " a secret stored with " code { "switchboard secrets set" } "."
                }
            }
            button type="submit" class="button primary" { "Preview" }
        }
    }
}

fn from_text(products: &[(&str, &str)]) -> Markup {
    html! {
        form data-call="/api/v1/configurations/read" data-into="found" autocomplete="off" {
            div class="field" {
                label for="add-text" { "Configuration file of any product, or an install link" }
                textarea id="add-text" class="mono" rows="6" data-member="text" spellcheck="false"
                    placeholder="{ \"mcpServers\": { … } }" {}
            }
            div class="pair" {
                div class="field" {
                    label for="add-product" { "Product" }
                    select id="add-product" data-member="product" {
                        option value="" { "Detect" }
                        @for (id, title) in products { option value=(id) { (title) } }
                    }
                }
                (line("add-text-name", "name", "Name (for a single entry)", ""))
            }
            button type="submit" class="button primary" { "Preview" }
        }
    }
}

fn line(id: &str, member: &str, label: &str, example: &str) -> Markup {
    html! {
        div class="field" {
            label for=(id) { (label) }
            input id=(id) type="text" data-member=(member) placeholder=(example) spellcheck="false";
        }
    }
}

fn lines(id: &str, member: &str, label: &str, example: &str) -> Markup {
    html! {
        div class="field" {
            label for=(id) { (label) }
            textarea id=(id) class="mono" rows="2" data-member=(member) placeholder=(example)
                spellcheck="false" {}
        }
    }
}
