//! Calls with Rust types for arguments and results, used by generated functions.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard_core::{Caller, Outcome, OutcomeKind, ProposedCall, Reply};
use switchboard_wire::Json;

use crate::host::Host;

/// Why a typed call returned no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments do not serialize to a JSON object; no call was made.
    #[error("the arguments for `{target}` are not a JSON object: {why}")]
    Arguments {
        target: String,
        /// The actual type, or the serialization error.
        why: String,
    },
    #[error("`{target}` ended as {}{}", outcome.kind, outcome_text(outcome))]
    Ended { target: String, outcome: Box<Outcome> },
    /// The result does not deserialize to the requested type.
    #[error("the result of `{target}` does not have the expected type: {why}")]
    Shape { target: String, why: String, outcome: Box<Outcome> },
}

impl CallError {
    /// Returns the outcome, with the raw result if there is one; `None` if no call was made.
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Arguments { .. } => None,
            Self::Ended { outcome, .. } | Self::Shape { outcome, .. } => Some(outcome),
        }
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> Option<&str> {
        self.outcome()?.hint.as_deref()
    }
}

impl Host {
    /// Calls a tool on the current catalog and deserializes its structured result.
    ///
    /// Pass `()` for no arguments. The call is decided and recorded as by [`Host::call`].
    pub async fn call_for<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        server: &str,
        tool: &str,
        arguments: &(impl Serialize + Sync + ?Sized),
    ) -> Result<T, CallError> {
        let (reply, outcome) = self.call_reply(caller, server, tool, arguments).await?;
        let read = match &reply.structured {
            Some(structured) => serde_json::from_str(structured).map_err(|error| error.to_string()),
            None => Err("it has no structured content".to_owned()),
        };
        read.map_err(|why| CallError::Shape {
            target: format!("{server}/{tool}"),
            why,
            outcome: Box::new(outcome),
        })
    }

    /// Like [`Host::call_for`], for a tool without an output schema: returns the content items.
    pub async fn call_for_content(
        &self,
        caller: &Caller,
        server: &str,
        tool: &str,
        arguments: &(impl Serialize + Sync + ?Sized),
    ) -> Result<Reply, CallError> {
        self.call_reply(caller, server, tool, arguments).await.map(|(reply, _)| reply)
    }

    async fn call_reply(
        &self,
        caller: &Caller,
        server: &str,
        tool: &str,
        arguments: &(impl Serialize + Sync + ?Sized),
    ) -> Result<(Reply, Outcome), CallError> {
        let target = || format!("{server}/{tool}");
        let arguments =
            to_object(arguments).map_err(|why| CallError::Arguments { target: target(), why })?;
        let proposed = ProposedCall::tool(server, tool, arguments);
        let record = self.call(&self.lease(), proposed, caller).await;
        let outcome = record.outcome;
        let result = outcome.result.as_ref().filter(|_| outcome.kind == OutcomeKind::Ok);
        let Some(result) = result else {
            return Err(CallError::Ended { target: target(), outcome: Box::new(outcome) });
        };
        match Reply::from_json(&String::from_utf8_lossy(result)) {
            Ok(reply) => Ok((reply, outcome)),
            Err(error) => {
                let why = error.to_string();
                Err(CallError::Shape { target: target(), why, outcome: Box::new(outcome) })
            }
        }
    }
}

fn to_object(arguments: &(impl Serialize + ?Sized)) -> Result<Json, String> {
    match serde_json::to_value(arguments) {
        // `()` serializes to null.
        Ok(Value::Null) => Ok(crate::call::pipeline::no_arguments()),
        Ok(object @ Value::Object(_)) => Ok(Json::from(&object)),
        Ok(Value::Bool(_)) => Err("a boolean".to_owned()),
        Ok(Value::Number(_)) => Err("a number".to_owned()),
        Ok(Value::String(_)) => Err("a string".to_owned()),
        Ok(Value::Array(_)) => Err("an array".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the message of an outcome, or else the first text of the tool's own error.
fn outcome_text(outcome: &Outcome) -> String {
    let text = outcome.message.clone().or_else(|| {
        let result = outcome.result.as_ref()?;
        let reply = Reply::from_json(&String::from_utf8_lossy(result)).ok()?;
        reply.items.into_iter().find_map(|item| match item {
            switchboard_core::Item::Text(text) => Some(text),
            _ => None,
        })
    });
    // The text comes from a server: escape sequences must not reach a terminal.
    text.map(|text| format!(": {}", switchboard_text::escape_line(&text))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;
    use switchboard_core::Outcome;

    use super::{CallError, to_object};

    #[test]
    fn arguments_are_an_object_or_nothing() {
        let shown =
            |value: serde_json::Value| to_object(&value).map(|json| json.as_str().to_owned());
        assert_eq!(shown(json!({"a": 1})), Ok(r#"{"a":1}"#.to_owned()));
        assert_eq!(to_object(&()).map(|json| json.as_str().to_owned()), Ok("{}".to_owned()));
        for (value, word) in [
            (json!(1), "a number"),
            (json!([1]), "an array"),
            (json!("x"), "a string"),
            (json!(true), "a boolean"),
        ] {
            assert_eq!(shown(value), Err(word.to_owned()));
        }
    }

    #[test]
    fn an_error_says_how_the_call_ended_and_what_the_tool_said() {
        let result = r#"{"content":[{"type":"text","text":"no\u001b[2J paper"}],"isError":true}"#;
        let failed = Outcome::tool_error(Bytes::from_static(result.as_bytes()));
        let target = "office/print".to_owned();
        for (outcome, said) in [
            (failed, "`office/print` ended as tool_error: no\\e[2J paper"),
            (
                Outcome::denied("rule", "`deny office` says no").with_hint("ask"),
                "`office/print` ended as denied: `deny office` says no",
            ),
            (
                Outcome::new(switchboard_core::OutcomeKind::Cancelled),
                "`office/print` ended as cancelled",
            ),
        ] {
            let hint = outcome.hint.clone();
            let error = CallError::Ended { target: target.clone(), outcome: Box::new(outcome) };
            assert_eq!(error.to_string(), said);
            assert_eq!(error.hint(), hint.as_deref());
        }
    }
}
