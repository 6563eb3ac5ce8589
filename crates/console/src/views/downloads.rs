//! Downloads: the export of recorded calls as JSON Lines, and results as files.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::{Stream, stream};
use schemars::{Schema, SchemaGenerator, json_schema};
use switchboard_core::Item;
use switchboard_files::file_name_for;
use switchboard_store::{CallId, Filter};
use switchboard_views::{CallQuery, CallShown, call_with_result};

use crate::console::{Console, SharedConsole};
use crate::pages::parse_reply;
use crate::reply::{ApiError, DownloadFile, ErrorBody};

/// How many calls are read per batch; results make them large.
const PAGE_SIZE: u32 = 100;

/// Streams all calls that match the query, newest first, as JSON Lines.
pub(crate) fn export(
    console: SharedConsole,
    query: &CallQuery,
) -> Result<impl Stream<Item = String> + Send + use<>, ApiError> {
    let filter = query.filter(PAGE_SIZE)?;
    Ok(stream::unfold(Some((console, filter)), |state| async move {
        let (console, filter) = state?;
        let (text, last) = page(&console, filter.clone()).await;
        let next = last.map(|last| (console, Filter { before_id: Some(last), ..filter }));
        Some((text, next))
    }))
}

pub(crate) fn export_schema(generator: &mut SchemaGenerator) -> Schema {
    let call = generator.subschema_for::<CallShown>();
    let refusal = generator.subschema_for::<ErrorBody>();
    json_schema!({"oneOf": [call, refusal]})
}

/// Returns the lines of a batch, and the id of its last call if there may be another batch.
async fn page(console: &Console, filter: Filter) -> (String, Option<CallId>) {
    let listed = match console.host.ledger().list_full(filter).await {
        Ok(listed) => listed,
        // The status is sent before the first batch, so an error becomes a line.
        Err(error) => return (line(&ErrorBody::from(ApiError::internal(error))), None),
    };
    let is_full = u32::try_from(listed.len()).is_ok_and(|count| count == PAGE_SIZE);
    let last = listed.last().filter(|_| is_full).map(|last| last.summary.id);
    let mut text = String::new();
    for full in listed {
        text.push_str(&match call_with_result(&console.host, full).await {
            Ok(shown) => line(&shown),
            Err(problem) => line(&ErrorBody::from(ApiError::from(problem))),
        });
    }
    (text, last)
}

fn line(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    // Embedded server JSON is unchanged and may contain line breaks, but only between tokens.
    text.replace(['\n', '\r'], " ") + "\n"
}

pub(crate) async fn call_result(console: &Console, id: &str) -> Result<DownloadFile, ApiError> {
    let (_, bytes) = result(console, id).await?;
    let name = format!("call-{}.json", safe_file_name(id));
    Ok(DownloadFile { name, kind: "application/json", bytes })
}

pub(crate) async fn call_part(
    console: &Console,
    id: &str,
    number: usize,
) -> Result<DownloadFile, ApiError> {
    let (kind, bytes) = result(console, id).await?;
    let missing = || ApiError::not_found(format!("call `{id}` has no part {number} to download"));
    let reply = parse_reply(kind, &String::from_utf8_lossy(&bytes)).map_err(|_| missing())?;
    let item = reply.items.into_iter().nth(number).ok_or_else(missing)?;
    let name = format!("call-{}-{number}", safe_file_name(id));
    let (name, bytes) = content(item, &name).ok_or_else(missing)?;
    // Never the declared type: the browser must not render it, whatever it is.
    Ok(DownloadFile { name, kind: "application/octet-stream", bytes })
}

async fn result(console: &Console, id: &str) -> Result<(&'static str, Vec<u8>), ApiError> {
    let missing = || ApiError::not_found(format!("no result of call `{id}` is recorded"));
    let number: CallId = id.parse().map_err(|_| missing())?;
    let ledger = console.host.ledger();
    let full = ledger.show(number).await.map_err(ApiError::internal)?.ok_or_else(missing)?;
    let whole = ledger.load_result(&full).await.map_err(ApiError::internal)?.ok_or_else(missing)?;
    Ok((full.summary.kind.as_str(), whole.to_vec()))
}

/// Returns a file name and the bytes of a content block.
fn content(item: Item, name: &str) -> Option<(String, Vec<u8>)> {
    // Some servers wrap base64 at 76 columns, as MIME does.
    let decoded = |data: &str| {
        let plain: String = data.split_ascii_whitespace().collect();
        BASE64_STANDARD.decode(plain).ok()
    };
    match item {
        Item::Text(text) => Some((format!("{name}.txt"), text.into_bytes())),
        Item::Image { mime, data } | Item::Audio { mime, data } => {
            let ending = mime.rsplit('/').next().map(safe_file_name).unwrap_or_default();
            Some((format!("{name}.{ending}"), decoded(&data)?))
        }
        Item::Resource { uri, text, blob, .. } => {
            let bytes = match (blob, text) {
                (Some(blob), _) => decoded(&blob)?,
                (None, Some(text)) => text.into_bytes(),
                (None, None) => return None,
            };
            Some((file_name_for(&uri), bytes))
        }
        Item::Message { content: inner, .. } => content(*inner, name),
        Item::ResourceLink { .. } | Item::Other { .. } => None,
    }
}

fn safe_file_name(text: &str) -> String {
    // Safe in a header and in every file system.
    text.chars().filter(char::is_ascii_alphanumeric).take(20).collect()
}
