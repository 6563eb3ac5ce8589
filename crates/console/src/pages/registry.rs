//! Fragments of the page to add servers: registry search results, and the exact entry to add.

use maud::{Markup, html};
use switchboard_registry::{AnswerFormat, RegistryQuestion};

use super::parts::{empty_state, json, page_path, prose};
use super::proposal::dangers;
use crate::views::registry::{Chosen, FilledIn, RegistryRow, RegistryShown, WayShown};

pub(crate) fn registry_rows(rows: &[RegistryRow]) -> Markup {
    html! {
        @if rows.is_empty() {
            (empty_state("No servers found", &html! {
                "Try other words. Registries search names, titles and descriptions."
            }))
        }
        @if rows.iter().any(|row| row.is_old) {
            div class="note" { p { "A registry cannot be reached. These results are cached." } }
        }
        ul class="cards many" {
            @for row in rows {
                li {
                    form class="card line" data-call="/api/v1/registry/show" data-into="found" {
                        input type="hidden" data-member="name" value=(row.name);
                        input type="hidden" data-member="version" value=[row.version.as_deref()];
                        div class="grow" { (row_summary(row)) }
                        button type="submit" class="button" { "Show" }
                    }
                }
            }
        }
    }
}

fn row_summary(row: &RegistryRow) -> Markup {
    html! {
        span class="first" {
            strong { (row.title.as_deref().unwrap_or(&row.name)) }
            @if let Some(version) = &row.version { span class="tag" { (version) } }
            @if row.status != "active" { span class="tag warn" { (row.status) } }
        }
        span class="mono small muted" { (row.name) }
        @if let Some(description) = &row.description { span class="about" { (description) } }
    }
}

pub(crate) fn registry_server(shown: &RegistryShown) -> Markup {
    html! {
        div class="stack" {
            div class="card" {
                (row_summary(&shown.row))
                p class="small muted" { "Listed by " span class="mono" { (shown.row.registry) } }
            }
            @if shown.ways.is_empty() {
                (empty_state("Cannot be added", &html! { "It has neither a package nor a URL." }))
            }
            @for way in &shown.ways { (way_form(shown, way)) }
            div id="filled" aria-live="polite" {}
        }
    }
}

fn way_form(shown: &RegistryShown, way: &WayShown) -> Markup {
    html! {
        form class="card" data-call="/api/v1/registry/look" data-into="filled" data-fields="answers"
            autocomplete="off" {
            input type="hidden" data-member="name" value=(shown.row.name);
            input type="hidden" data-member="version" value=[shown.row.version.as_deref()];
            input type="hidden" data-member="way" data-kind="json" value=(way.number);
            div class="row-heading" {
                span class="first" { span class="tag" { (way.kind) } strong class="mono" { (way.what) } }
                @if way.refused.is_none() {
                    button type="submit" class="button primary" { "Preview" }
                }
            }
            @if let Some(runs) = &way.runs { pre class="code" tabindex="0" { (runs) } }
            @if let Some(why) = &way.refused { p class="note" { "Not available here: " (prose(why)) } }
            @for note in &way.notes { p class="small muted" { (prose(note)) } }
            @if way.refused.is_none() {
                @for (number, asked) in way.asks.iter().enumerate() {
                    (question(&format!("way-{}-{number}", way.number), asked))
                }
            }
        }
    }
}

fn question(id: &str, asked: &RegistryQuestion) -> Markup {
    let needed = asked.required && asked.default.is_none();
    html! {
        div class="field" {
            label for=(id) {
                span class="mono" { (asked.name) }
                @if needed { span class="required" title="required" { " *" } }
                @if asked.secret { " " span class="tag" { "secret" } }
            }
            @if !asked.choices.is_empty() || asked.format == AnswerFormat::Boolean {
                select id=(id) data-field=(asked.name) data-kind="string" {
                    option value="" { "–" }
                    @for choice in choices(asked) {
                        option value=(choice) selected[asked.default.as_deref() == Some(choice)] {
                            (choice)
                        }
                    }
                }
            } @else if asked.repeated {
                textarea id=(id) class="mono" rows="2" data-field=(asked.name) data-kind="lines"
                    placeholder="one per line" spellcheck="false" {}
            } @else {
                // `new-password` keeps browsers from filling in a password of this site.
                input id=(id) type=(if asked.secret { "password" } else { "text" })
                    data-field=(asked.name) data-kind="string" value=[asked.default.as_deref()]
                    placeholder=[asked.placeholder.as_deref()] spellcheck="false"
                    autocomplete=(if asked.secret { "new-password" } else { "off" });
            }
            @if let Some(description) = &asked.description { p class="muted small" { (description) } }
        }
    }
}

fn choices(asked: &RegistryQuestion) -> Vec<&str> {
    match asked.choices.as_slice() {
        [] => vec!["true", "false"],
        some => some.iter().map(String::as_str).collect(),
    }
}

pub(crate) fn registry_filled(chosen: &Chosen, filled: &FilledIn) -> Markup {
    let answers = serde_json::to_string(&chosen.answers).unwrap_or_default();
    html! {
        form class="card attention-card" data-act="/api/v1/registry/add"
            data-then=(page_path(&["servers", &filled.under])) {
            input type="hidden" data-member="name" value=(chosen.name);
            input type="hidden" data-member="version" value=(chosen.version);
            input type="hidden" data-member="way" data-kind="json" value=(chosen.way);
            input type="hidden" data-member="answers" data-kind="json" value=(answers);
            input type="hidden" data-member="digest" value=(filled.digest);
            h2 { @if filled.is_remote { "URL" } @else { "Exact command" } }
            pre class="code" tabindex="0" {
                @for word in &filled.words { (shell_quote(word)) " " }
            }
            @if !filled.pairs.is_empty() {
                dl class="facts" {
                    @for (name, value) in &filled.pairs {
                        div { dt class="mono" { (name) } dd class="mono" { (value) } }
                    }
                }
            }
            @for note in &filled.notes { p class="note" { (prose(note)) } }
            (dangers(&filled.findings, "agree-registry"))
            @if filled.exists {
                label class="check" {
                    input type="checkbox" data-member="replace" data-kind="yes" required;
                    " Replace the existing server of this name"
                }
            }
            div class="actions" {
                label class="inline" {
                    span { "Name" }
                    input type="text" data-member="under" value=(filled.under) required
                        autocomplete="off" spellcheck="false";
                }
                button type="submit" class="button primary" { "Add" }
            }
            details { summary { "Entry" } (json(&serde_json::to_string(&filled.entry).unwrap_or_default())) }
        }
    }
}

fn shell_quote(word: &str) -> String {
    // Quoted as in a shell, so that spaces within a word are visible.
    let is_plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '\'');
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
