//! How much harm something could do, with the reasons.

use maud::{Markup, html};
use switchboard_core::Risk;

use super::parts::{badge, prose};

/// The risk in a line.
pub(super) fn risk_line(risk: &Risk) -> Markup {
    let tone = match risk.score {
        70.. => "bad",
        30..70 => "warn",
        _ => "quiet",
    };
    html! {
        div class="risk" {
            (badge(tone, &format!("Risk {} of 100", risk.score)))
            @if !risk.reasons.is_empty() {
                span class="muted small" {
                    @for (number, reason) in risk.reasons.iter().enumerate() {
                        @if number > 0 { " · " } (prose(reason))
                    }
                }
            }
        }
    }
}
