//! Pieces of the page about rules: what would be decided, and what would be decided otherwise.

use maud::{Markup, html};

use super::parts::{page_path, prose};
use super::policy::effect;
use super::relative_time::when;
use switchboard_views::{ExplainedShown, WhatIfShown};

/// What would be decided about a call, and why.
pub(crate) fn explanation(shown: &ExplainedShown) -> Markup {
    html! {
        div class="ran" {
            div class="row-heading" {
                span class="first" { (effect(shown.verdict)) span class="mono" { (shown.target) } }
                span class="muted small" { "risk " (shown.risk) " of 100" }
            }
            p { (prose(&shown.by)) }
            @if shown.is_readonly { p class="muted" { "Only what changes nothing may run." } }
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

/// What changed rules would have decided otherwise.
pub(crate) fn what_if(shown: &WhatIfShown) -> Markup {
    html! {
        div class="ran" {
            p {
                strong { (shown.differences.len()) } " of " (shown.calls) " calls of the last "
                (shown.hours) " hours would be decided otherwise."
                @if shown.calls >= shown.most as usize {
                    span class="muted" { " Only the newest " (shown.most) " were looked at." }
                }
            }
            @if !shown.differences.is_empty() {
                div class="scroll" {
                    table {
                        thead { tr { th { "When" } th { "What" } th { "Today" } th { "Then" } th { "By" } } }
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
