//! Requests of a server that are being answered: bounded, and cancelled on its notification.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_wire::{Json, RpcError};
use tokio_util::sync::CancellationToken;

/// Maximum number of requests of one server that are answered concurrently. Each of them is a task
/// and may be a question to a person.
const MAX_OPEN_REQUESTS: usize = 32;

/// The requests of a server that are being answered. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenRequests {
    open: Arc<Mutex<HashMap<Box<str>, CancellationToken>>>,
}

/// A request that is being answered; removed on drop.
#[derive(Debug)]
pub(crate) struct OpenRequestGuard {
    requests: OpenRequests,
    id: Box<str>,
    cancelled: CancellationToken,
}

impl OpenRequests {
    /// Registers a request; returns an error if there are too many or the id is in use.
    pub(crate) fn begin(&self, id: &Json) -> Result<OpenRequestGuard, RpcError> {
        let mut open = self.open.lock();
        if open.len() >= MAX_OPEN_REQUESTS {
            let why = format!("too many open requests; the limit is {MAX_OPEN_REQUESTS}");
            return Err(RpcError::new(RpcError::INTERNAL_ERROR, why));
        }
        // The id as JSON text: `1` and `"1"` are different ids.
        let id: Box<str> = id.as_str().trim().into();
        if open.contains_key(&id) {
            return Err(RpcError::new(-32_600, "a request with this id is already open"));
        }
        let withdrawn = CancellationToken::new();
        open.insert(id.clone(), withdrawn.clone());
        Ok(OpenRequestGuard { requests: self.clone(), id, cancelled: withdrawn })
    }

    /// Cancels the request that a `notifications/cancelled` names.
    pub(crate) fn cancel(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CancelledNotification<'a> {
            #[serde(borrow)]
            request_id: Option<&'a RawValue>,
        }
        let Some(Ok(cancelled)) = params.map(Json::read::<CancelledNotification<'_>>) else {
            return;
        };
        let Some(id) = cancelled.request_id else { return };
        if let Some(withdrawn) = self.open.lock().get(id.get()) {
            withdrawn.cancel();
        }
    }
}

impl OpenRequestGuard {
    /// Awaits the answer; returns `None` if the server cancels the request first.
    pub(crate) async fn unless_cancelled<T>(
        &self,
        answering: impl Future<Output = T>,
    ) -> Option<T> {
        self.cancelled.run_until_cancelled(answering).await
    }
}

impl Drop for OpenRequestGuard {
    fn drop(&mut self) {
        self.requests.open.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::from_trusted(text.to_owned())
    }

    #[tokio::test]
    async fn a_request_that_is_taken_back_has_no_answer_and_its_siblings_do() {
        let asked = OpenRequests::default();
        let one = asked.begin(&json("1")).unwrap();
        let two = asked.begin(&json("\"1\"")).unwrap();
        for nothing in ["{}", "{\"requestId\":2}", "[]"] {
            asked.cancel(Some(&json(nothing)));
        }
        asked.cancel(None);
        assert_eq!(one.unless_cancelled(async { 1 }).await, Some(1));
        asked.cancel(Some(&json(r#"{"requestId": 1, "reason": "enough"}"#)));
        assert_eq!(one.unless_cancelled(std::future::pending::<u8>()).await, None);
        assert_eq!(two.unless_cancelled(async { 2 }).await, Some(2));
    }

    #[test]
    fn so_many_at_once_and_an_id_only_once() {
        let asked = OpenRequests::default();
        let open: Vec<OpenRequestGuard> =
            (0..MAX_OPEN_REQUESTS).map(|id| asked.begin(&json(&id.to_string())).unwrap()).collect();
        assert_eq!(asked.begin(&json("100")).unwrap_err().code, RpcError::INTERNAL_ERROR);
        drop(open);
        let _first = asked.begin(&json("100")).unwrap();
        assert_eq!(asked.begin(&json("100")).unwrap_err().code, -32_600);
    }
}
