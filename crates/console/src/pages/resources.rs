//! Resources to read and prompts to fetch.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::layout::{ConsolePage, ConsoleSection, respond};
use super::parts::{empty_state, heading, page_path, server_link};
use super::template::variables;
use crate::auth::Principal;
use crate::console::SharedConsole;
use crate::reply::ApiError;
use switchboard_views::{OfferedPrompt, OfferedResource, ResourcesShown};

/// Resources, templates and prompts.
pub(crate) async fn resources(
    State(console): State<SharedConsole>,
    Extension(signed): Extension<Principal>,
) -> Response {
    let page = ConsolePage {
        title: "Resources and prompts".to_owned(),
        section: ConsoleSection::Resources,
        body: body(&switchboard_views::resources(&console.host)),
    };
    respond(&console, &signed, Ok::<_, ApiError>(page)).await
}

fn body(shown: &ResourcesShown) -> Markup {
    html! {
        (heading("Resources and prompts", &html! { "What servers have to read, and what they suggest to say." }))
        div class="columns" {
            div data-live="resources" {
                h2 { "Resources" }
                @if shown.resources.is_empty() {
                    (empty_state("No resources", &html! { "No server that is ready offers any." }))
                }
                ul class="cards" { @for resource in &shown.resources { (resource_row(resource)) } }
                @if !shown.templates.is_empty() {
                    h2 { "Templates" }
                    p class="muted small" { "Fill in the gaps; what the server knows is suggested." }
                    ul class="cards" {
                        @for (number, template) in shown.templates.iter().enumerate() {
                            (template_form(template, number))
                        }
                    }
                }
                h2 { "Prompts" }
                @if shown.prompts.is_empty() {
                    (empty_state("No prompts", &html! { "No server that is ready offers any." }))
                }
                ul class="cards" { @for prompt in &shown.prompts { (prompt_row(prompt)) } }
            }
            section class="card sticky" aria-labelledby="read" {
                h2 id="read" { "Content" }
                div id="ran" aria-live="polite" { p class="muted" { "Choose a resource to read it." } }
            }
        }
    }
}

fn resource_row(resource: &OfferedResource) -> Markup {
    html! {
        li {
            form class="card line" data-call="/api/v1/resources/read" data-into="ran" {
                input type="hidden" data-member="server" value=(resource.server);
                input type="hidden" data-member="uri" value=(resource.uri);
                (about(resource))
                button type="submit" class="button" { "Read" }
            }
        }
    }
}

/// A field for each gap, with what the server knows to put there; the address itself for what has
/// no simple gaps.
fn template_form(template: &OfferedResource, number: usize) -> Markup {
    let names = variables(&template.uri);
    html! {
        li {
            form class="card line template" data-call="/api/v1/resources/read" data-into="ran"
                data-template=[names.is_some().then_some(&template.uri)]
                data-complete=[names.is_some().then_some(&template.server)]
                data-complete-template=[names.is_some().then_some(&template.uri)] {
                input type="hidden" data-member="server" value=(template.server);
                (about(template))
                @if let Some(names) = &names {
                    @for (at, name) in names.iter().enumerate() {
                        label class="gap" for={ "gap-" (number) "-" (at) } {
                            span class="mono small" { (name) }
                            input id={ "gap-" (number) "-" (at) } type="text" class="mono"
                                data-field=(name) data-kind="string" autocomplete="off"
                                spellcheck="false";
                        }
                    }
                } @else {
                    input type="text" class="mono rest" data-member="uri" value=(template.uri)
                        aria-label="Address" autocomplete="off";
                }
                button type="submit" class="button" { "Read" }
            }
        }
    }
}

fn about(resource: &OfferedResource) -> Markup {
    html! {
        div class="grow" {
            span class="first" {
                strong { (resource.name.as_deref().unwrap_or(&resource.uri)) }
                span class="muted" { (server_link(&resource.server)) }
                @if let Some(mime) = &resource.mime_type { span class="tag" { (mime) } }
            }
            span class="mono small cut" { (resource.uri) }
            @if let Some(description) = &resource.description {
                span class="about" { (description) }
            }
        }
    }
}

fn prompt_row(prompt: &OfferedPrompt) -> Markup {
    html! {
        li {
            a class="card tool" href=(page_path(&["prompts", &prompt.server, &prompt.name])) {
                span class="first" {
                    strong { (prompt.title.as_deref().unwrap_or(&prompt.name)) }
                    span class="muted" { (prompt.server) }
                }
                @if let Some(description) = &prompt.description {
                    span class="about" { (description) }
                }
            }
        }
    }
}
