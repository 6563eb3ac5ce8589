//! The style sheet, the scripts and the icon, which are embedded in the binary and have `ETag`s.

use std::future::{Ready, ready};
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use switchboard_text::hex_digest;

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($name:literal, $kind:expr) => {
        Asset { name: $name, kind: $kind, text: include_str!(concat!("../assets/", $name)) }
    };
}

const ASSETS: [Asset; 8] = [
    asset!("style.css", CSS),
    asset!("script.js", JAVASCRIPT),
    asset!("forms.js", JAVASCRIPT),
    asset!("live.js", JAVASCRIPT),
    asset!("haste.js", JAVASCRIPT),
    asset!("talk.js", JAVASCRIPT),
    asset!("apps.js", JAVASCRIPT),
    asset!("icon.svg", "image/svg+xml"),
];

// Computed once, because embedded files never change.
static ETAGS: LazyLock<[String; ASSETS.len()]> = LazyLock::new(|| {
    ASSETS.map(|asset| {
        let digest = hex_digest([asset.text.as_bytes()]);
        format!("\"{}\"", digest.get(..20).unwrap_or(&digest))
    })
});

pub(crate) fn asset(Path(name): Path<String>, headers: HeaderMap) -> Ready<Response> {
    let Some((asset, tag)) = ASSETS.iter().zip(ETAGS.iter()).find(|(asset, _)| asset.name == name)
    else {
        return ready(StatusCode::NOT_FOUND.into_response());
    };
    // `contains` also matches a list of tags, and weak tags that a proxy made of ours.
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = if known.is_some_and(|known| known.contains(tag.as_str())) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        asset.text.into_response()
    };
    let given = response.headers_mut();
    given.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    // Browsers revalidate on each use, so an update of the program takes effect at once.
    given.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        given.insert(ETAG, tag);
    }
    ready(response)
}
