//! The layout of all pages: head, navigation and content.

use std::sync::Arc;

use axum::Extension;
use axum::extract::FromRequestParts;
use axum::extract::rejection::ExtensionRejection;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use switchboard_views::held_count;

use super::parts::prose;
use crate::auth::Principal;
use crate::console::SharedConsole;
use crate::reply::{self, ApiError};

/// The content of a page, without the layout.
pub(super) struct ConsolePage {
    title: String,
    section: ConsoleSection,
    body: Markup,
}

impl ConsolePage {
    pub(super) fn new(title: &str, section: ConsoleSection, body: Markup) -> Self {
        Self { title: title.to_owned(), section, body }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsoleSection {
    Overview,
    Servers,
    Tools,
    Resources,
    Reviews,
    Calls,
    Sessions,
    Policy,
}

impl ConsoleSection {
    const ALL: [Self; 8] = [
        Self::Overview,
        Self::Reviews,
        Self::Servers,
        Self::Tools,
        Self::Resources,
        Self::Calls,
        Self::Sessions,
        Self::Policy,
    ];

    /// Returns its label, its path, and the path data of its icon in a 16 × 16 box.
    const fn link(self) -> [&'static str; 3] {
        match self {
            Self::Overview => ["Overview", "/", "M2 13V8m4 5V3m4 10V6m4 7V9"],
            Self::Servers => {
                ["Servers", "/servers", "M2.5 3h11v4h-11zm0 6h11v4h-11zM5 5h.01M5 11h.01"]
            }
            Self::Tools => [
                "Tools",
                "/tools",
                "M9.5 2.5a3.5 3.5 0 0 0-3.3 4.7L2 11.5 4.5 14l4.3-4.2a3.5 3.5 0 0 0 4.5-4.6L11 7.500 8.600 5.100 10.800 2.800z",
            ],
            Self::Resources => {
                ["Resources", "/resources", "M4 1.500h5.500L13 5v9.500H4zM9.500 1.500V5H13"]
            }
            Self::Reviews => [
                "Reviews",
                "/reviews",
                "M8 1.500 13.500 3.500v4c0 3.500-2.300 5.800-5.500 7-3.200-1.200-5.500-3.500-5.500-7v-4zM5.500 8l1.800 1.800L10.700 6.300",
            ],
            Self::Calls => ["Calls", "/calls", "M2 4h12M2 8h8M2 12h10"],
            Self::Sessions => ["Sessions", "/sessions", "M2 3h12v8H7l-3 3v-3H2z"],
            Self::Policy => {
                let icon = "M8 2v12M3 5h10M3 5 1.500 9.500h3zm10 0-1.500 4.500h3zM5.500 14h5";
                ["Policy", "/policy", icon]
            }
        }
    }
}

pub(crate) struct PageRequest {
    pub(super) console: SharedConsole,
    signed: Principal,
}

impl FromRequestParts<SharedConsole> for PageRequest {
    type Rejection = ExtensionRejection;

    async fn from_request_parts(
        parts: &mut Parts,
        console: &SharedConsole,
    ) -> Result<Self, ExtensionRejection> {
        let Extension(signed) = Extension::from_request_parts(parts, console).await?;
        Ok(Self { console: Arc::clone(console), signed })
    }
}

impl PageRequest {
    pub(super) async fn show(&self, page: ConsolePage) -> Response {
        reply::html(self.frame().await.render(&page))
    }

    /// Renders a page within the layout, or an error page.
    pub(super) async fn respond(&self, page: Result<ConsolePage, impl Into<ApiError>>) -> Response {
        let problem: ApiError = match page {
            Ok(page) => return self.show(page).await,
            Err(problem) => problem.into(),
        };
        let body = html! {
            div class="empty" {
                h1 { "Something went wrong" }
                p { (prose(&problem.to_string())) }
                @if let Some(hint) = problem.hint() { p class="muted" { (hint) } }
                p { a class="button" href="/" { "Back to the overview" } }
            }
        };
        let page = ConsolePage::new("Error", ConsoleSection::Overview, body);
        reply::html_with(problem.status(), self.frame().await.render(&page))
    }

    pub(super) fn server_names(&self) -> Vec<String> {
        let servers = switchboard_views::servers(&self.console.host);
        servers.into_iter().map(|server| server.name).collect()
    }

    async fn frame(&self) -> PageFrame<'_> {
        let host = &self.console.host;
        // The pages work without the queue; the reviews page reports the error.
        let waiting = host.reviews().list().await.map_or(0, |list| list.len());
        PageFrame { token: &self.signed.token, waiting: waiting + held_count(host) }
    }
}

struct PageFrame<'a> {
    token: &'a str,
    waiting: usize,
}

impl PageFrame<'_> {
    fn render(&self, page: &ConsolePage) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(&page.title, &HeadExtras::Token(self.token)))
                body {
                    a class="skip" href="#main" { "Skip to content" }
                    header class="side" {
                        div class="stay" {
                            a class="brand" href="/" {
                                img src="/assets/icon.svg" alt="" width="22" height="22";
                                span { "Switchboard" }
                            }
                            nav aria-label="Pages" {
                                @for section in ConsoleSection::ALL { (self.nav_link(section, page.section)) }
                            }
                            div class="foot" {
                                span class="live" data-live-state="off" title="Live updates" {
                                    span class="dot" {} span class="live-word" { "connecting" }
                                }
                                button type="button" class="link" data-post="/api/v1/sign-out"
                                    data-then="/" { "Sign out" }
                            }
                        }
                    }
                    main id="main" tabindex="-1" { (page.body) }
                    div id="toast" role="status" aria-live="polite" {}
                }
            }
        }
    }

    fn nav_link(&self, section: ConsoleSection, here: ConsoleSection) -> Markup {
        let current = (section == here).then_some("page");
        let [label, path, icon] = section.link();
        html! {
            a href=(path) aria-current=[current] {
                svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" {
                    path d=(PreEscaped(icon)) {}
                }
                span { (label) }
                @if section == ConsoleSection::Reviews {
                    span data-live="waiting-count" {
                        @if self.waiting > 0 {
                            span class="count" aria-label="pending" { (self.waiting) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) enum HeadExtras<'a> {
    Nothing,
    /// The CSRF token, on pages with actions.
    Token(&'a str),
    /// An immediate redirect to the overview. The CSP allows no inline script.
    Onward,
}

pub(super) fn head(title: &str, more: &HeadExtras<'_>) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            // A proxy may make the console public by mistake.
            meta name="robots" content="noindex";
            @match more {
                HeadExtras::Nothing => {},
                HeadExtras::Token(token) => { meta name="token" content=(token); },
                HeadExtras::Onward => { meta http-equiv="refresh" content="0;url=/"; },
            }
            title { (title) " · Switchboard" }
            link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="/assets/style.css";
            script src="/assets/script.js" defer {}
            script src="/assets/forms.js" defer {}
            script src="/assets/live.js" defer {}
            script src="/assets/haste.js" defer {}
            script src="/assets/talk.js" defer {}
            script src="/assets/apps.js" defer {}
        }
    }
}
