//! Looks at what would be added, and takes servers over from the files of other products.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_config::Replace;

use super::body::{ApiResult, parse_body, wants_fragment};
use super::entries::{EntryWrite, write};
use super::responses::ServerAdded;
use crate::console::SharedConsole;
use crate::reply::ApiError;
use crate::views::Proposal;
use crate::{entry, other_products, pages, reply, views};

/// What would be added by what somebody typed or pasted; nothing is changed.
pub(crate) async fn preview(
    State(console): State<SharedConsole>,
    headers: HeaderMap,
    body: Bytes,
) -> ApiResult {
    let typed: entry::TypedEntry = parse_body(&body)?;
    Ok(answer(&headers, &views::propose_typed(&console, typed).await?))
}

/// What other products have on this machine; nothing is changed.
pub(crate) async fn discover(
    State(console): State<SharedConsole>,
    headers: HeaderMap,
) -> ApiResult {
    Ok(answer(&headers, &views::propose_installed(&console).await?))
}

fn answer(headers: &HeaderMap, proposal: &Proposal) -> Response {
    if wants_fragment(headers) {
        reply::html(pages::proposal(proposal))
    } else {
        reply::json(proposal)
    }
}

/// What is to be taken over.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Taken {
    /// The file that has it.
    place: String,
    /// Its name there.
    name: String,
    /// The `digest` of what was shown.
    digest: String,
    /// Its name here.
    under: String,
    /// The words of the dangers that were agreed to.
    #[serde(default)]
    agreed: Vec<String>,
}

/// Takes a server over from the file of another product, exactly as it was shown.
pub(crate) async fn import(State(console): State<SharedConsole>, body: Bytes) -> ApiResult {
    let Taken { place, name, digest, under, agreed } = parse_body(&body)?;
    let found = views::discover_installed(&console).await?;
    let is_it = |one: &other_products::DiscoveredServer| {
        one.place == place && one.name == name && views::entry_digest(one) == digest
    };
    let found = found.servers.into_iter().find(is_it).ok_or_else(|| {
        let why = format!("`{name}` is not what was shown any more");
        ApiError::new(StatusCode::CONFLICT, why).with_hint("look at it again")
    })?;
    let file = console.own_file()?;
    let under = under.trim().to_owned();
    let entry = entry::parse_object(found.entry)?;
    let change = EntryWrite { file, name: under.clone(), entry, agreed, replace: Replace::Refuse };
    write(&console, change).await?;
    console.wait_for_fleet(|servers| servers.contains_key(under.as_str())).await;
    Ok(reply::json(&ServerAdded { added: under }))
}
