//! Recorded calls in lines of JSON, a few of them at a time.

use futures_util::{Stream, stream};
use schemars::{Schema, SchemaGenerator, json_schema};
use switchboard_store::{CallId, Filter};
use switchboard_views::{CallQuery, CallShown, call_with_result};

use crate::console::{Console, SharedConsole};
use crate::reply::{ApiError, ErrorBody};

/// So many calls are read at once.
const PAGE_SIZE: u32 = 100;

/// Every call that matches, the newest first, a JSON text in each line.
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

/// What a line looks like.
pub(crate) fn export_schema(generator: &mut SchemaGenerator) -> Schema {
    let call = generator.subschema_for::<CallShown>();
    let refusal = generator.subschema_for::<ErrorBody>();
    json_schema!({"oneOf": [call, refusal]})
}

/// The lines of a page, and its last call if there may be another page.
async fn page(console: &Console, filter: Filter) -> (String, Option<CallId>) {
    let listed = match console.host.ledger().list_full(filter).await {
        Ok(listed) => listed,
        Err(error) => return (line(&ErrorBody::from(ApiError::internal(error.to_string()))), None),
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
    // What a server sent is passed on as it is; a line feed there stands between two parts of it.
    text.replace(['\n', '\r'], " ") + "\n"
}
