//! Pages for browsers without a session: sign-in, login results and the 404 page.

use maud::{DOCTYPE, Markup, html};

use super::layout::{HeadExtras, head};
use super::parts::prose;

/// Why a browser has to sign in.
#[derive(Clone, Copy)]
pub(crate) enum SignInReason {
    /// The browser has no session.
    Nobody,
    /// The link was used before, or has expired.
    UsedLink,
}

/// Renders the sign-in page.
pub(crate) fn page(why: SignInReason) -> Markup {
    let (title, words) = match why {
        SignInReason::Nobody => {
            ("Sign in", "Open the link that switchboard serve printed in its terminal.")
        }
        SignInReason::UsedLink => (
            "This link does not work any more",
            "A link signs one browser in, once, and is good for ten minutes.",
        ),
    };
    card(
        title,
        &HeadExtras::Nothing,
        html! {
            p { (words) }
            p {
                button type="button" class="button primary" data-post="/sign-in/link"
                    data-done="A new link is in the terminal now" { "Print a new link there" }
            }
            p class="muted small" {
                "Only who sees that terminal can sign in. Nothing is shown here before."
            }
            div id="toast" role="status" aria-live="polite" {}
        },
    )
}

/// Renders a page that continues to the overview. The navigation starts on our own page, so the
/// browser sends the cookie.
pub(crate) fn welcome() -> Markup {
    card(
        "You are signed in",
        &HeadExtras::Onward,
        html! {
            p { a class="button primary" href="/" { "To the console" } }
        },
    )
}

/// Renders the result of a login: the server, the reason for a failure, or `None` if no login is
/// pending for this callback.
pub(crate) fn login_result(what: Option<Result<&str, &str>>) -> Markup {
    let title = match what {
        Some(Ok(_)) => "Logged in",
        Some(Err(_)) => "Not logged in",
        None => "Nobody waits for this answer",
    };
    card(
        title,
        &HeadExtras::Nothing,
        html! {
            @match what {
                Some(Ok(server)) => { p { "The login to " strong { (server) } " is held from here on." } },
                Some(Err(why)) => { p { (prose(why)) } },
                None => { p { "It was used before, is too old, or belongs to another login." } },
            }
            p { a class="button primary" href="/servers" { "To the servers" } }
        },
    )
}

/// Renders the 404 page, which does not depend on a session.
pub(crate) fn not_found() -> Markup {
    card(
        "There is nothing here",
        &HeadExtras::Nothing,
        html! {
            p { "The address may be old or mistyped." }
            p { a class="button primary" href="/" { "To the console" } }
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
