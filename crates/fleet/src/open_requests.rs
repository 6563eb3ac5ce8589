//! What a server asks on one connection: so much at a time, and given up when it says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_wire::{Json, RpcError};
use tokio_util::sync::CancellationToken;

/// So many requests of one server are answered at the same time.
const AT_ONCE: usize = 32;

/// The requests of a server that are being answered. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    open: Arc<Mutex<HashMap<Box<str>, CancellationToken>>>,
}

/// One request that is being answered, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenAsk {
    asked: Asked,
    id: Box<str>,
    withdrawn: CancellationToken,
}

impl Asked {
    /// Takes a request on, or says why not.
    pub(crate) fn begin(&self, id: &Json) -> Result<OpenAsk, RpcError> {
        let mut open = self.open();
        if open.len() >= AT_ONCE {
            let why = format!("this client answers {AT_ONCE} requests at a time, and no more");
            return Err(RpcError::new(RpcError::INTERNAL_ERROR, why));
        }
        let id: Box<str> = id.as_str().trim().into();
        if open.contains_key(&id) {
            let why = "a request with this id is being answered";
            return Err(RpcError::new(-32_600, why));
        }
        let withdrawn = CancellationToken::new();
        open.insert(id.clone(), withdrawn.clone());
        Ok(OpenAsk { asked: self.clone(), id, withdrawn })
    }

    /// The server no longer wants an answer, as its `notifications/cancelled` says.
    pub(crate) fn withdraw(&self, params: Option<&Json>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            #[serde(borrow)]
            request_id: Option<&'a RawValue>,
        }
        let Some(Ok(cancelled)) = params.map(Json::read::<Cancelled<'_>>) else { return };
        let Some(id) = cancelled.request_id else { return };
        if let Some(withdrawn) = self.open().get(id.get()) {
            withdrawn.cancel();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Box<str>, CancellationToken>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenAsk {
    /// The answer, unless the server takes its question back first.
    pub(crate) async fn unless_withdrawn<T>(
        &self,
        answering: impl Future<Output = T>,
    ) -> Option<T> {
        self.withdrawn.run_until_cancelled(answering).await
    }
}

impl Drop for OpenAsk {
    fn drop(&mut self) {
        self.asked.open().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::trusted(text.to_owned())
    }

    #[tokio::test]
    async fn a_request_that_is_taken_back_has_no_answer_and_its_siblings_do() {
        let asked = Asked::default();
        let (one, two) = (asked.begin(&json("1")).unwrap(), asked.begin(&json("\"1\"")).unwrap());
        for nothing in ["{}", "{\"requestId\":2}", "[]"] {
            asked.withdraw(Some(&json(nothing)));
        }
        asked.withdraw(None);
        assert_eq!(one.unless_withdrawn(async { 1 }).await, Some(1));
        asked.withdraw(Some(&json(r#"{"requestId": 1, "reason": "enough"}"#)));
        assert_eq!(one.unless_withdrawn(std::future::pending::<u8>()).await, None);
        assert_eq!(two.unless_withdrawn(async { 2 }).await, Some(2));
    }

    #[test]
    fn so_many_at_once_and_an_id_only_once() {
        let asked = Asked::default();
        let open: Vec<OpenAsk> =
            (0..AT_ONCE).map(|id| asked.begin(&json(&id.to_string())).unwrap()).collect();
        assert_eq!(asked.begin(&json("100")).unwrap_err().code, RpcError::INTERNAL_ERROR);
        drop(open);
        let _first = asked.begin(&json("100")).unwrap();
        assert_eq!(asked.begin(&json("100")).unwrap_err().code, -32_600);
    }
}
