//! Paginated listing of a server's tools, resources and prompts. Items are decoded one by one, so a
//! bad entry never hides its siblings.

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{RequestError, RpcError, truncate};
use crate::http::param_headers;
use crate::peer::{Peer, PeerLink};
use crate::request::Request;
use crate::revision::Era;
use switchboard_json::Json;

/// Maximum number of faults reported per list.
const MAX_FAULTS: usize = 20;
/// Delays before a failed page is requested again.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];

/// The kinds of items that a server lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl ItemKind {
    /// All kinds, in listing order.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Templates, Self::Prompts];

    const fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// Returns the capability that a server with such items declares.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        }
    }
}

/// Limits on the size of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListBounds {
    pub pages: usize,
    pub items: usize,
    /// Maximum size of a single definition.
    pub item_bytes: usize,
}

impl Default for ListBounds {
    fn default() -> Self {
        Self { pages: 100, items: 2_048, item_bytes: 512 << 10 }
    }
}

/// A tool, resource, resource template or prompt of a server.
#[derive(Clone, Debug)]
pub struct ListedItem {
    /// The name or URI.
    pub key: Box<str>,
    /// The definition, exactly as the server sent it.
    pub raw: Box<RawValue>,
}

/// The result of a listing.
#[derive(Clone, Debug, Default)]
pub struct ListResult {
    pub items: Vec<ListedItem>,
    /// Why entries were left out; only the first reasons if there are many.
    pub faults: Vec<String>,
    pub left_out: usize,
    /// How long the list may be cached, if the server says so; the minimum over its pages.
    pub ttl: Option<Duration>,
}

#[derive(Deserialize)]
struct ListPage<'a> {
    #[serde(borrow)]
    tools: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    resources: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "resourceTemplates")]
    templates: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    prompts: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "nextCursor")]
    next: Option<&'a RawValue>,
    /// Parsed leniently: an invalid hint must not invalidate the list.
    #[serde(borrow, rename = "ttlMs")]
    lasts: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ListEntry<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "uriTemplate")]
    template: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "inputSchema")]
    schema: Option<&'a RawValue>,
}

/// Lists all items of one kind. A server without the method has none.
pub async fn fetch_list(
    peer: &Peer,
    kind: ItemKind,
    timeout: Duration,
    bounds: ListBounds,
) -> Result<ListResult, RequestError> {
    let mut listing = ListResult::default();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    for page in 1.. {
        let params = match &cursor {
            None => String::new(),
            Some(cursor) => format!(r#"{{"cursor":{}}}"#, serde_json::Value::from(cursor.as_str())),
        };
        let answer = match request_page(peer, kind, &params, timeout).await {
            Err(RequestError::Rpc(error)) if error.code == RpcError::METHOD_NOT_FOUND => break,
            answer => answer?,
        };
        let next = add_page(peer, kind, &answer, bounds, &mut listing, &mut seen)?;
        match next {
            None => break,
            // Such a list would never end.
            Some(next) if cursor.as_deref() == Some(&*next) => {
                listing.faults.push("the list repeats the same page".to_owned());
                break;
            }
            Some(_) if page >= bounds.pages || listing.items.len() >= bounds.items => {
                let count = listing.items.len();
                let why = format!("more than {count} items on {page} pages; the rest is left out");
                listing.faults.push(why);
                break;
            }
            Some(next) => cursor = Some(next),
        }
    }
    if listing.left_out > MAX_FAULTS {
        listing.faults.push(format!("{} entries are left out in all", listing.left_out));
    }
    Ok(listing)
}

/// Requests a page and retries transport failures, since listing is idempotent.
async fn request_page(
    peer: &Peer,
    kind: ItemKind,
    params: &str,
    timeout: Duration,
) -> Result<Json, RequestError> {
    for pause in RETRY_DELAYS {
        match peer.request(Request::new(kind.method(), params, timeout)).await {
            Err(
                RequestError::Unknown(_)
                | RequestError::NotSent(_)
                | RequestError::Http { status: 500.., .. },
            ) if !peer.is_closed() => tokio::time::sleep(pause).await,
            answer => return answer,
        }
    }
    peer.request(Request::new(kind.method(), params, timeout)).await
}

fn add_page(
    peer: &Peer,
    kind: ItemKind,
    answer: &Json,
    bounds: ListBounds,
    listing: &mut ListResult,
    seen: &mut HashSet<String>,
) -> Result<Option<String>, RequestError> {
    let invalid = |error| RequestError::Protocol(format!("invalid list: {error}"));
    let page: ListPage<'_> = answer.read().map_err(invalid)?;
    let lasts = page.lasts.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let lasts = lasts.map(Duration::from_millis);
    listing.ttl = listing.ttl.into_iter().chain(lasts).min();
    let entries = match kind {
        ItemKind::Tools => page.tools,
        ItemKind::Resources => page.resources,
        ItemKind::Templates => page.templates,
        ItemKind::Prompts => page.prompts,
    };
    for raw in entries.unwrap_or_default() {
        // Bad entries count too, so that a list of nothing but bad entries also ends.
        if listing.items.len() + listing.left_out >= bounds.items {
            listing.faults.push(format!("more than {} items; the rest is left out", bounds.items));
            return Ok(None);
        }
        let fault = match parse_entry(peer, kind, raw, bounds) {
            Ok(item) if seen.insert(item.key.to_string()) => {
                listing.items.push(item);
                continue;
            }
            Ok(item) => format!("`{}` is listed twice", item.key),
            Err(fault) => fault,
        };
        listing.left_out += 1;
        if listing.left_out <= MAX_FAULTS {
            listing.faults.push(fault);
        }
    }
    let next = page.next.map(|raw| serde_json::from_str::<String>(raw.get()));
    let next = next.transpose().unwrap_or_else(|_| {
        listing.faults.push("`nextCursor` is not a string; the rest is left out".into());
        None
    });
    Ok(next)
}

fn parse_entry(
    peer: &Peer,
    kind: ItemKind,
    raw: &RawValue,
    bounds: ListBounds,
) -> Result<ListedItem, String> {
    let excerpt = || truncate(raw.get(), 80);
    let entry: ListEntry<'_> = serde_json::from_str(raw.get())
        .map_err(|error| format!("invalid entry ({error}): {}", excerpt()))?;
    let key = match kind {
        ItemKind::Tools | ItemKind::Prompts => entry.name,
        ItemKind::Resources => entry.uri,
        ItemKind::Templates => entry.template,
    };
    let key = key.filter(|key| !key.is_empty()).ok_or_else(|| {
        let wanted = match kind {
            ItemKind::Tools | ItemKind::Prompts => "name",
            ItemKind::Resources => "URI",
            ItemKind::Templates => "URI template",
        };
        format!("an entry has no {wanted}: {}", excerpt())
    })?;
    if raw.get().len() > bounds.item_bytes {
        let limit = bounds.item_bytes;
        return Err(format!("`{key}` has {} bytes, more than {limit}", raw.get().len()));
    }
    // The protocol forbids clients to use a tool whose header annotations are invalid.
    if kind == ItemKind::Tools
        && let Some(schema) = entry.schema
        && matches!(peer.shared.link, PeerLink::Http(_))
        && peer.protocol().revision.era() == Era::Modern
        && schema.get().contains("x-mcp-header")
    {
        let schema: serde_json::Value = serde_json::from_str(schema.get())
            .map_err(|error| format!("the schema of `{key}` is invalid: {error}"))?;
        param_headers(&schema, &serde_json::Value::Null)
            .map_err(|why| format!("`{key}` cannot be called over HTTP: {why}"))?;
    }
    Ok(ListedItem { key: key.into(), raw: raw.to_owned() })
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
