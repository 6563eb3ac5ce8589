//! Looks at what would be added, and takes servers over from the files of other products.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_config::Replace;

use super::body::{Answer, read, wants_piece};
use super::done::ServerAdded;
use super::entries::{Change, write};
use crate::console::Shared;
use crate::reply::Problem;
use crate::shown::Proposal;
use crate::{elsewhere, entry, pages, reply, shown};

/// What would be added by what somebody typed or pasted; nothing is changed.
pub(crate) async fn look(State(console): State<Shared>, headers: HeaderMap, body: Bytes) -> Answer {
    let typed: entry::Typed = read(&body)?;
    Ok(answer(&headers, &shown::proposed(&console, typed).await?))
}

/// What other products have on this machine; nothing is changed.
pub(crate) async fn look_around(State(console): State<Shared>, headers: HeaderMap) -> Answer {
    Ok(answer(&headers, &shown::installed(&console).await?))
}

fn answer(headers: &HeaderMap, proposal: &Proposal) -> Response {
    if wants_piece(headers) {
        reply::html(pages::proposed(proposal))
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
pub(crate) async fn take(State(console): State<Shared>, body: Bytes) -> Answer {
    let Taken { place, name, digest, under, agreed } = read(&body)?;
    let found = shown::found_installed(&console).await?;
    let is_it = |one: &elsewhere::FoundServer| {
        one.place == place && one.name == name && shown::digest_of(one) == digest
    };
    let found = found.servers.into_iter().find(is_it).ok_or_else(|| {
        let why = format!("`{name}` is not what was shown any more");
        Problem::new(StatusCode::CONFLICT, why).with_hint("look at it again")
    })?;
    let (file, under) = (console.own_file()?, under.trim().to_owned());
    let entry = entry::object(found.entry)?;
    let change = Change { file, name: under.clone(), entry, agreed, replace: Replace::Refuse };
    write(&console, change).await?;
    console.settled(|servers| servers.contains_key(under.as_str())).await;
    Ok(reply::json(&ServerAdded { added: under }))
}
