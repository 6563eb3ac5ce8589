//! Pages of apps that wait for their frames. Each has a random path, is served once, and expires.
//!
//! A frame is served under the other loopback name than the console's page: `localhost` for
//! `127.0.0.1` and vice versa. The frame therefore has another origin and gets no cookie.

use std::collections::HashMap;
use std::future::{Ready, ready};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;
use serde_json::Value;
use switchboard_core::random_token;
use switchboard_net::single_header;

use crate::console::ConsoleState;

/// How long a page waits for its frame, which loads at once.
const FRAME_LIFETIME: Duration = Duration::from_secs(60);
/// Maximum number of waiting pages, which have up to 8 MiB each.
const MAX_PENDING_FRAMES: usize = 16;

#[derive(Default)]
pub(crate) struct Frames {
    waiting: Mutex<HashMap<String, PendingFrame>>,
}

struct PendingFrame {
    html: String,
    policy: HeaderValue,
    /// The only host name under which the page is served.
    host: String,
    until: Instant,
}

/// Marks a response that brings its own content security policy.
#[derive(Clone, Copy)]
pub(crate) struct OwnContentPolicy;

impl Frames {
    /// Stores a page for a frame in the console's page at `host`, and returns the URL of the frame.
    pub(crate) fn insert(&self, html: String, declared: &Value, host: &str) -> Option<String> {
        let other = sibling_host(host)?;
        let policy = content_policy(declared, &format!("http://{host}"));
        let policy = HeaderValue::from_str(&policy).ok()?;
        let word = random_token()?;
        let address = format!("http://{other}/frame/{word}");
        let until = Instant::now() + FRAME_LIFETIME;
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, page| page.until > Instant::now());
        if waiting.len() >= MAX_PENDING_FRAMES {
            return None;
        }
        waiting.insert(word, PendingFrame { html, policy, host: other, until });
        Some(address)
    }

    fn take(&self, word: &str, host: &str) -> Option<PendingFrame> {
        let mut waiting = self.waiting.lock();
        let is_for_it = waiting.get(word).is_some_and(|page| page.host == host);
        // Removed even if the host is wrong, so that a path works for one request only.
        waiting.remove(word).filter(|page| is_for_it && page.until > Instant::now())
    }
}

fn sibling_host(host: &str) -> Option<String> {
    let (name, port) = host.rsplit_once(':')?;
    match name {
        "127.0.0.1" => Some(format!("localhost:{port}")),
        "localhost" => Some(format!("127.0.0.1:{port}")),
        // Behind a proxy there is no second origin, and an app in ours could use the session.
        _ => None,
    }
}

pub(crate) fn frame(
    State(console): ConsoleState,
    Path(word): Path<String>,
    headers: HeaderMap,
) -> Ready<Response> {
    let host = single_header(&headers, HOST).ok().flatten().unwrap_or_default();
    let Some(page) = console.frames.take(&word, host) else {
        return ready(StatusCode::NOT_FOUND.into_response());
    };
    let mut response = page.html.into_response();
    let given = response.headers_mut();
    given.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    given.insert(CONTENT_SECURITY_POLICY, page.policy);
    response.extensions_mut().insert(OwnContentPolicy);
    ready(response)
}

/// The members of `_meta.ui.csp` that a page's resource may declare (MCP Apps).
const CSP_MEMBERS: [&str; 4] =
    ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"];

/// Returns the declared sources that are plain web origins. All others are dropped.
pub(crate) fn approved_origins(declared: &Value) -> Value {
    let of = |member: &str| -> Value {
        let places = declared[member].as_array().into_iter().flatten();
        places.filter(|place| place.as_str().is_some_and(is_web_origin)).cloned().collect()
    };
    CSP_MEMBERS.into_iter().map(|member| (member.to_owned(), of(member))).collect()
}

/// Returns the content security policy of a frame, with the approved sources.
pub(super) fn content_policy(declared: &Value, around: &str) -> String {
    let approved = approved_origins(declared);
    let of = |member: &str| -> String {
        let places = approved.get(member).and_then(Value::as_array).into_iter().flatten();
        let places = places.filter_map(Value::as_str);
        places.map(|place| format!(" {place}")).collect()
    };
    // An empty source list blocks everything as well, but looks like a mistake.
    let or_none = |places: String| if places.is_empty() { " 'none'".to_owned() } else { places };
    let resources = of("resourceDomains");
    let connections = or_none(of("connectDomains"));
    let frames = or_none(of("frameDomains"));
    let bases = or_none(of("baseUriDomains"));
    format!(
        "default-src 'none'; sandbox allow-scripts allow-forms; \
         script-src 'unsafe-inline'{resources}; style-src 'unsafe-inline'{resources}; \
         img-src data: blob:{resources}; font-src data:{resources}; \
         media-src data: blob:{resources}; connect-src{connections}; frame-src{frames}; \
         base-uri{bases}; form-action 'none'; frame-ancestors {around}"
    )
}

/// Returns whether a text is an `https` or `wss` origin without a path.
fn is_web_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("wss://"));
    let Some(rest) = rest else { return false };
    let name = rest.strip_prefix("*.").unwrap_or(rest);
    // A space or a semicolon would end the source and add another to the header.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
    // A dot excludes `localhost` and other single-label names of the local network.
    name.contains('.') && name.len() < 256 && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_is_given_once_and_only_under_the_other_name() {
        let frames = Frames::default();
        let kept = || frames.insert("<p>".to_owned(), &Value::Null, "127.0.0.1:80").unwrap();
        let word = |address: &str| address.rsplit('/').next().unwrap().to_owned();
        let address = kept();
        assert!(address.starts_with("http://localhost:80/frame/"), "{address}");
        assert!(frames.take(&word(&address), "localhost:80").is_some());
        assert!(frames.take(&word(&address), "localhost:80").is_none());
        assert!(frames.take(&word(&kept()), "127.0.0.1:80").is_none());
        assert!(frames.insert(String::new(), &Value::Null, "tools.example").is_none());
    }

    #[test]
    fn a_frame_reaches_what_was_declared_and_nothing_else() {
        let closed = content_policy(&Value::Null, "http://127.0.0.1:1");
        for part in ["default-src 'none'", "connect-src 'none'", "script-src 'unsafe-inline';"] {
            assert!(closed.contains(part), "{closed}");
        }
        let declared = json!({
            "connectDomains": ["https://api.example.com", "https://x.example; script-src *", "*"],
            "resourceDomains": ["https://*.cdn.example", "http://plain.example", "data:", 7],
            "frameDomains": ["https://video.example", "javascript:alert(1)"],
        });
        let open = content_policy(&declared, "http://127.0.0.1:1");
        assert!(open.contains("connect-src https://api.example.com;"), "{open}");
        assert!(open.contains("script-src 'unsafe-inline' https://*.cdn.example;"), "{open}");
        assert!(open.contains("frame-src https://video.example; base-uri 'none';"), "{open}");
        assert_eq!(approved_origins(&declared)["frameDomains"], json!(["https://video.example"]));
        assert!(!open.contains("plain.example") && !open.contains("script-src *"), "{open}");
    }
}
