//! The ledger as the source of details about calls, and its numbers as names of calls.

use switchboard_store::{CallId, Ledger};

use crate::review::call_askers::WhichCall;
use crate::review::review_queue::{CallDetails, CallLookup, CallLookupFuture};

impl CallLookup for Ledger {
    fn look_up(&self, call: u64) -> CallLookupFuture<'_> {
        Box::pin(async move {
            // Without the record the question is asked with fewer details.
            match self.show(CallId::new(call.cast_signed())).await {
                Ok(Some(full)) => CallDetails {
                    target: Some(full.summary.target),
                    reference: full.reference,
                    caller: Some(full.summary.caller),
                },
                Ok(None) | Err(_) => CallDetails::default(),
            }
        })
    }
}

impl From<CallId> for WhichCall {
    fn from(id: CallId) -> Self {
        Self::Number(id.get().cast_unsigned())
    }
}
