//! The pages of resources, templates and prompts.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use switchboard_views::{OfferedPrompt, OfferedResource, ResourcesShown};

use super::fields::fields;
use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{empty_state, heading, page_path, server_link};

pub(crate) async fn resources(asked: PageRequest) -> Response {
    let body = body(&switchboard_views::resources(&asked.console.host));
    asked.show(ConsolePage::new("Resources and prompts", ConsoleSection::Resources, body)).await
}

fn body(shown: &ResourcesShown) -> Markup {
    html! {
        (heading("Resources and prompts", &html! { "Resources, templates and prompts of all servers." }))
        div class="columns" {
            div data-live="resources" {
                h2 { "Resources" }
                @if shown.resources.is_empty() {
                    (empty_state("No resources", &html! { "No ready server offers any." }))
                }
                ul class="cards" { @for resource in &shown.resources { (resource_row(resource)) } }
                @if !shown.templates.is_empty() {
                    h2 { "Templates" }
                    p class="muted small" { "Fill in the variables. The server suggests values." }
                    ul class="cards" {
                        @for (number, template) in shown.templates.iter().enumerate() {
                            (template_form(template, number))
                        }
                    }
                }
                h2 { "Prompts" }
                @if shown.prompts.is_empty() {
                    (empty_state("No prompts", &html! { "No ready server offers any." }))
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

/// Renders a template with a field and completions for each variable.
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
                    // Too complex for separate fields, such as `{x:3}`.
                    input type="text" class="mono rest" data-member="uri" value=(template.uri)
                        aria-label="URI" autocomplete="off";
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

pub(crate) async fn prompt(
    asked: PageRequest,
    Path((server, name)): Path<(String, String)>,
) -> Response {
    let shown = switchboard_views::prompt(&asked.console.host, &server, &name);
    let page = shown.map(|prompt| {
        ConsolePage::new(&prompt.name, ConsoleSection::Resources, prompt_body(&prompt))
    });
    asked.respond(page).await
}

fn prompt_body(prompt: &OfferedPrompt) -> Markup {
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
                h2 id="gives" { "Prompt" }
                div id="ran" aria-live="polite" { p class="muted" { "The prompt appears here." } }
            }
        }
    }
}

fn names(arguments: &Value) -> Vec<String> {
    let all = arguments.as_array().into_iter().flatten();
    all.filter_map(|argument| argument["name"].as_str().map(str::to_owned)).collect()
}

/// Returns a schema for the arguments of a prompt, which are all strings.
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

/// Supported operators of a template expression (RFC 6570).
const OPERATORS: [char; 4] = ['+', '/', '?', '&'];

/// Returns the variables of a template, or `None` if it cannot be filled in with a form.
pub(super) fn variables(template: &str) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once('{') {
        let (gap, after) = after.split_once('}')?;
        // `{#x}` and `{x:3}` fail the check below, because their names are not plain.
        for name in gap.trim_start_matches(OPERATORS).split(',') {
            let name = name.trim_end_matches('*');
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            if name.is_empty() || !name.chars().all(is_plain) {
                return None;
            }
            if !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
        }
        rest = after;
    }
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gaps_of_an_address_are_found() {
        for (template, expected) in [
            ("file:///{path}", Some(vec!["path"])),
            ("db://{table}/{+rest}{?limit,page}", Some(vec!["table", "rest", "limit", "page"])),
            ("a://{x}/{x*}", Some(vec!["x"])),
            ("a://plain", None),
            ("a://{x", None),
            ("a://{}", None),
            ("a://{x:3}", None),
            ("a://{#x}", None),
        ] {
            let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(variables(template), expected, "{template}");
        }
    }
}
