//! Pages for browsers without a session: sign-in, login results and the 404 page.

use maud::{DOCTYPE, Markup, html};

use super::layout::{HeadExtras, head};
use super::parts::prose;

#[derive(Clone, Copy)]
pub(crate) enum SignInReason {
    Nobody,
    UsedLink,
}

pub(crate) fn page(why: SignInReason) -> Markup {
    let (title, words) = match why {
        SignInReason::Nobody => {
            ("Sign in", "Open the link that switchboard serve printed in its terminal.")
        }
        SignInReason::UsedLink => (
            "This link is no longer valid",
            "A link signs in one browser, once, and expires after ten minutes.",
        ),
    };
    card(
        title,
        &HeadExtras::Nothing,
        html! {
            p { (words) }
            p {
                button type="button" class="button primary" data-post="/sign-in/link"
                    data-done="A new link is in the terminal" { "Print a new link" }
            }
            p class="muted small" {
                "Only people who can see that terminal can sign in."
            }
            div id="toast" role="status" aria-live="polite" {}
        },
    )
}

pub(crate) fn welcome() -> Markup {
    let body = html! { p { a class="button primary" href="/" { "Open the console" } } };
    // The navigation starts on our own page, so the browser sends the `SameSite` cookie.
    card("You are signed in", &HeadExtras::Onward, body)
}

/// Renders the result of a login: the server, the error, or `None` if no login is pending.
pub(crate) fn login_result(what: Option<Result<&str, &str>>) -> Markup {
    let title = match what {
        Some(Ok(_)) => "Logged in",
        Some(Err(_)) => "Not logged in",
        None => "No pending login",
    };
    card(
        title,
        &HeadExtras::Nothing,
        html! {
            @match what {
                Some(Ok(server)) => { p { "The login to " strong { (server) } " is stored." } },
                Some(Err(why)) => { p { (prose(why)) } },
                None => { p { "This login is already complete, has expired or is unknown." } },
            }
            p { a class="button primary" href="/servers" { "Show the servers" } }
        },
    )
}

pub(crate) fn not_found() -> Markup {
    // The same for everyone, so that strangers learn nothing about sessions or paths.
    card(
        "Page not found",
        &HeadExtras::Nothing,
        html! {
            p { "The URL may be outdated or mistyped." }
            p { a class="button primary" href="/" { "Open the console" } }
            p class="muted small" { "MCP clients connect to " code { "/mcp" } "." }
        },
    )
}

fn card(title: &str, more: &HeadExtras<'_>, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, more))
            body class="alone" {
                main class="card sign-in" {
                    img src="/assets/icon.svg" alt="" width="36" height="36";
                    h1 { (title) }
                    (body)
                }
            }
        }
    }
}
