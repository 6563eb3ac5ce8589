//! Changing the entry of a server, with what may be secret left in its file.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{ConsolePage, ConsoleSection, respond};
use super::parts::{page_path, server_link};
use super::pretty::pretty;
use crate::auth::Principal;
use crate::console::SharedConsole;
use crate::entry::UNCHANGED_PLACEHOLDER;
use crate::views::{self, EntryShown};

/// The page to change a server.
pub(crate) async fn edit_server(
    State(console): State<SharedConsole>,
    Extension(signed): Extension<Principal>,
    Path(name): Path<String>,
) -> Response {
    let page = views::entry(&console, &name).await.map(|shown| ConsolePage {
        title: format!("Edit {name}"),
        section: ConsoleSection::Servers,
        body: body(&shown),
    });
    respond(&console, &signed, page).await
}

fn body(shown: &EntryShown) -> Markup {
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
                    code { (UNCHANGED_PLACEHOLDER) } " stands for a value of " code { "env" } " or "
                    code { "headers" } " that stays as it is in the file. It is not sent to this page."
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
