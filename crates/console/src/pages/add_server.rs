//! The page to add servers: typed, pasted, found on this machine, or from a registry.

use axum::response::Response;
use maud::{Markup, html};

use super::layout::{ConsolePage, ConsoleSection, PageRequest};

pub(crate) async fn add_server(asked: PageRequest) -> Response {
    let products = asked.console.elsewhere.products();
    let body = body(&products);
    let page =
        ConsolePage { title: "Add a server".to_owned(), section: ConsoleSection::Servers, body };
    asked.show(page).await
}

fn body(products: &[(&str, &str)]) -> Markup {
    html! {
        p class="crumbs" { a href="/servers" { "Servers" } " / add" }
        div class="heading" {
            h1 { "Add a server" }
            p class="muted" { "Nothing runs and nothing is written before you have seen what it is." }
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
            h2 id="preview" { "What would be added" }
            div id="found" aria-live="polite" {
                p class="muted" { "Look first; then add it here." }
            }
        }
    }
}

fn from_registry() -> Markup {
    html! {
        form data-call="/api/v1/registry/search" data-into="found" autocomplete="off" role="search" {
            (line("add-words", "words", "What it is about, or its name", "files, github, io.github.owner/server"))
            button type="submit" class="button primary" { "Search" }
            p class="muted small" {
                "Asks the registries of your settings, or the official one. You see the exact command "
                "or address before anything is added."
            }
        }
    }
}

fn from_this_machine(products: &[(&str, &str)]) -> Markup {
    let names: Vec<&str> = products.iter().map(|(_, title)| *title).collect();
    html! {
        form data-call="/api/v1/configurations/installed" data-into="found" {
            p class="muted" {
                "Reads the files of other products on this machine and shows which servers they have. "
                "Their files stay as they are."
            }
            button type="submit" class="button primary" { "Look at this machine" }
            p class="muted small" { (names.join(", ")) "." }
        }
    }
}

fn by_hand() -> Markup {
    html! {
        form data-call="/api/v1/configurations/read" data-into="found" autocomplete="off" {
            (line("add-name", "name", "Name", "github"))
            (line("add-target", "target", "Command or address", "npx -y @scope/server, or https://mcp.example"))
            details {
                summary { "Variables and headers" }
                (lines("add-environment", "environment", "Variables of a command", "API_KEY=${keyring:NAME}"))
                (lines("add-headers", "headers", "Headers of an address", "X-Key: ${keyring:NAME}"))
                p class="muted small" {
                    code { "${NAME}" } " takes a variable, " code { "${keyring:NAME}" }
                    " what " code { "switchboard secrets set" } " keeps."
                }
            }
            button type="submit" class="button primary" { "Look" }
        }
    }
}

fn from_text(products: &[(&str, &str)]) -> Markup {
    html! {
        form data-call="/api/v1/configurations/read" data-into="found" autocomplete="off" {
            div class="field" {
                label for="add-text" { "A file of any product, or a link that installs a server" }
                textarea id="add-text" class="mono" rows="6" data-member="text" spellcheck="false"
                    placeholder="{ \"mcpServers\": { … } }" {}
            }
            div class="pair" {
                div class="field" {
                    label for="add-product" { "Whose it is" }
                    select id="add-product" data-member="product" {
                        option value="" { "Find out" }
                        @for (id, title) in products { option value=(id) { (title) } }
                    }
                }
                (line("add-text-name", "name", "Name, for an entry alone", ""))
            }
            button type="submit" class="button primary" { "Look" }
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
