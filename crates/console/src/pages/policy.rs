//! The policy page: rules by level, a form to explain a verdict, and a replay of changed rules.

use std::io::Read as _;

use axum::extract::Query;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use switchboard_rules::PolicyLevel;
use switchboard_views::{ExplainedShown, LevelShown, PolicyShown, WhatIfShown};

use super::layout::{ConsolePage, ConsoleSection, PageRequest};
use super::parts::{empty_state, heading, page_path, prose};
use super::relative_time::when;
use crate::console::Console;

const MAX_RULES_BYTES: u64 = 1 << 20;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct TryCallQuery {
    server: Option<String>,
    name: Option<String>,
}

pub(crate) async fn policy(asked: PageRequest, Query(to_try): Query<TryCallQuery>) -> Response {
    let servers = asked.server_names();
    let rules = own_rules(&asked.console);
    let shown = switchboard_views::policy(&asked.console.host);
    let body = body(&shown, &servers, &to_try, &rules);
    asked.show(ConsolePage::new("Policy", ConsoleSection::Policy, body)).await
}

fn own_rules(console: &Console) -> String {
    // Without a readable file, the form starts empty.
    let file = console.places.level_files(PolicyLevel::User, "policy.json").pop();
    let open = file.and_then(|file| std::fs::File::open(file).ok());
    let mut text = String::new();
    let read = open.map(|file| file.take(MAX_RULES_BYTES).read_to_string(&mut text));
    if read.is_some_and(|read| read.is_ok()) { text } else { String::new() }
}

fn body(shown: &PolicyShown, servers: &[String], to_try: &TryCallQuery, rules: &str) -> Markup {
    html! {
        (heading("Policy", &html! {
            "Rules that allow calls, ask for approval or deny them. The strictest level wins."
        }))
        div data-live="policy" {
            (switches(shown))
            @if shown.levels.iter().all(|level| level.rules.is_empty()) {
                (empty_state("No rules", &html! {
                    "Calls that nothing allows need approval. Write rules to " code { "policy.json" }
                    "; see " code { "switchboard policy --help" } "."
                }))
            }
            @for level in shown.levels.iter().filter(|level| level.file.is_some()) { (level_card(level)) }
        }
        div class="columns" {
            section class="card" aria-labelledby="try" {
                h2 id="try" { "Try a call" }
                (try_form(servers, to_try))
                div id="explained" aria-live="polite" {}
            }
            section class="card" aria-labelledby="what-if" {
                h2 id="what-if" { "Test changed rules" }
                (what_if_form(rules))
                div id="compared" aria-live="polite" {}
            }
        }
    }
}

fn switches(shown: &PolicyShown) -> Markup {
    let switch = |label: &str, is_on: bool, about: &str| {
        html! {
            div {
                dt { (label) }
                dd { strong { @if is_on { "on" } @else { "off" } } span class="muted small" { " " (prose(about)) } }
            }
        }
    };
    html! {
        dl class="facts card" {
            (switch("Auto-approval", shown.auto_approve, "tools in `autoApprove` run without approval"))
            (switch("Taint", shown.taint, "after untrusted data, calls with side effects need approval"))
            (switch("Pins", shown.pins, "changed definitions are quarantined"))
            (switch("Scanner", shown.scan, "definitions that contain attacks are quarantined"))
        }
    }
}

fn level_card(level: &LevelShown) -> Markup {
    let file = level.file.as_deref().unwrap_or_default();
    html! {
        section aria-label={ "Rules of the " (level.level) " level" } {
            div class="row-heading" {
                h2 class="cap" { (level.level) }
                span class="mono small muted" { (file) }
            }
            div class="scroll" {
                table {
                    thead { tr { th { "Effect" } th { "Target" } th { "When" } th { "Name" } th { "Line" } } }
                    tbody {
                        @for rule in &level.rules {
                            tr {
                                td { (effect(rule.effect)) }
                                td class="mono" { (rule.target) }
                                td class="mono" { (rule.when.as_deref().unwrap_or("always")) }
                                td { (rule.name.as_deref().unwrap_or("")) }
                                td class="mono small nowrap" title={ (file) ":" (rule.line) } {
                                    (file_name(file)) ":" (rule.line)
                                }
                            }
                        }
                        @if level.rules.is_empty() {
                            tr { td colspan="5" class="muted" { "This file has no rules for calls." } }
                        }
                    }
                }
            }
        }
    }
}

fn file_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

pub(super) fn effect(word: &str) -> Markup {
    let tone = match word {
        "allow" => "good",
        "ask" => "warn",
        _ => "bad",
    };
    super::parts::badge(tone, word)
}

fn try_form(servers: &[String], to_try: &TryCallQuery) -> Markup {
    let chosen = to_try.server.as_deref();
    html! {
        form data-call="/api/v1/policy/explain" data-into="explained" autocomplete="off" {
            div class="pair" {
                div class="field" {
                    label for="try-server" { "Server" }
                    select id="try-server" data-member="server" {
                        @for server in servers {
                            option value=(server) selected[chosen == Some(server.as_str())] { (server) }
                        }
                    }
                }
                div class="field" {
                    label for="try-name" { "Tool" }
                    input id="try-name" class="mono" type="text" data-member="name"
                        value=[to_try.name.as_deref()] spellcheck="false";
                }
            }
            div class="field" {
                label for="try-arguments" { "Arguments" }
                textarea id="try-arguments" class="mono" rows="3" data-member="arguments"
                    placeholder="{}" spellcheck="false" {}
            }
            div class="pair" {
                div class="field" {
                    label for="try-caller" { "Caller" }
                    select id="try-caller" data-member="caller" {
                        option value="model" { "a model" } option value="client" { "a client" }
                        option value="person" { "a person" }
                    }
                }
                div class="field" {
                    label for="try-after" { "After reading from" }
                    select id="try-after" data-member="after" {
                        option value="" { "nothing" }
                        @for server in servers { option value=(server) { (server) } }
                    }
                }
            }
            div class="actions" {
                button type="submit" class="button primary" { "Try" }
                span class="muted small" { "Nothing is called." }
            }
        }
    }
}

fn what_if_form(rules: &str) -> Markup {
    html! {
        form data-call="/api/v1/policy/what-if" data-into="compared" autocomplete="off" {
            div class="field" {
                label for="what-if-text" { "User rules" }
                textarea id="what-if-text" class="mono" rows="8" data-member="text"
                    spellcheck="false" placeholder="{ \"rules\": [ … ] }" { (rules) }
            }
            div class="actions" {
                button type="submit" class="button primary" { "Compare with the last day" }
                span class="muted small" { "Nothing is saved." }
            }
        }
    }
}

pub(crate) fn explanation(shown: &ExplainedShown) -> Markup {
    html! {
        div class="ran" {
            div class="row-heading" {
                span class="first" { (effect(shown.verdict)) span class="mono" { (shown.target) } }
                span class="muted small" { "risk " (shown.risk) " of 100" }
            }
            p { (prose(&shown.by)) }
            @if shown.is_readonly { p class="muted" { "Only read-only tools may run here." } }
            @if !shown.levels.is_empty() {
                ul class="plain" {
                    @for ruling in &shown.levels {
                        li {
                            span class="first" {
                                (effect(ruling.effect)) span class="tag" { (ruling.level) }
                                span class="mono" { (ruling.rule) }
                            }
                            @if let Some(why) = &ruling.why { span class="muted" { (why) } }
                            span class="mono small muted" { (ruling.file) ":" (ruling.line) }
                        }
                    }
                }
            }
            @if !shown.reasons.is_empty() {
                h4 { "Why it is risky" }
                ul { @for reason in &shown.reasons { li { (prose(reason)) } } }
            }
        }
    }
}

pub(crate) fn what_if(shown: &WhatIfShown) -> Markup {
    html! {
        div class="ran" {
            p {
                strong { (shown.differences.len()) } " of " (shown.calls) " calls of the last "
                (shown.hours) " hours would get a different verdict."
                @if shown.calls >= shown.most as usize {
                    span class="muted" { " Only the newest " (shown.most) " were replayed." }
                }
            }
            @if !shown.differences.is_empty() {
                div class="scroll" {
                    table {
                        thead { tr { th { "Time" } th { "Target" } th { "Current" } th { "New" } th { "Rule" } } }
                        tbody {
                            @for one in &shown.differences {
                                tr {
                                    td class="nowrap" {
                                        a href=(page_path(&["calls", &one.call])) { (when(&one.created_at)) }
                                    }
                                    td class="mono nowrap" { (one.target) }
                                    td { (effect(one.today)) } td { (effect(one.then)) }
                                    td class="small" { (prose(&one.by)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
