//! Completion of argument values, by the server that has the prompt or template.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use switchboard_core::Target;
use switchboard_fleet::{Completion, CompletionError, CompletionRequest, CompletionTarget};
use switchboard_wire::{Json, RequestError, RpcError};

use crate::client_request::{ClientRequest, missing_param};
use crate::gateway::Gateway;
use crate::reply::{
    CachePolicy, ClientReply, internal_error, into_reply, invalid_json, invalid_params,
};

#[derive(Deserialize)]
struct CompleteParams {
    #[serde(rename = "ref")]
    of: CompletionReference,
    argument: CompletionArgument,
    context: Option<CompletionContext>,
}

#[derive(Deserialize)]
struct CompletionReference {
    #[serde(rename = "type")]
    kind: String,
    name: Option<String>,
    uri: Option<String>,
}

#[derive(Deserialize)]
struct CompletionArgument {
    name: String,
    value: String,
}

#[derive(Default, Deserialize)]
struct CompletionContext {
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

impl Gateway {
    /// Forwards a completion request to the server that has the prompt or template.
    pub(crate) async fn complete(&self, asked: &ClientRequest) -> Result<ClientReply, RpcError> {
        let params = asked.params.as_ref().ok_or_else(|| missing_param("ref"))?;
        let wanted: CompleteParams = params.read().map_err(invalid_json)?;
        let listing = self.catalog_view(&asked.client.view);
        let unknown = |what: &str| invalid_params(format!("unknown {what}"));
        let (target, is_prompt): (Target, bool) = match wanted.of.kind.as_str() {
            "ref/prompt" => {
                let name = wanted.of.name.ok_or_else(|| missing_param("ref.name"))?;
                (listing.prompt(&name).ok_or_else(|| unknown("prompt"))?, true)
            }
            "ref/resource" => {
                let uri = wanted.of.uri.ok_or_else(|| missing_param("ref.uri"))?;
                // The protocol allows the URI of an instance as well as its template.
                let template = listing.template(&uri).or_else(|| listing.resource(&uri));
                (template.ok_or_else(|| unknown("template"))?, false)
            }
            _ => return Err(unknown("kind of reference")),
        };
        let of = match is_prompt {
            true => CompletionTarget::Prompt(&target.name),
            false => CompletionTarget::Template(&target.name),
        };
        let context = wanted.context.unwrap_or_default().arguments;
        let argument = wanted.argument.name.as_str();
        let value = wanted.argument.value.as_str();
        let completing = CompletionRequest { target: of, argument, value, context: &context };
        let completion =
            match self.host().complete(&listing.lease, &target.server, &completing).await {
                Ok(completion) => completion,
                // A server without completions has no suggestions; that is not an error.
                Err(CompletionError::NotOffered(_)) => Completion::default(),
                Err(CompletionError::Failed(_, RequestError::Rpc(error))) => return Err(error),
                Err(error) => return Err(internal_error(error.to_string())),
            };
        let mut body = json!({"values": completion.values, "hasMore": completion.has_more});
        if let (Some(total), Some(members)) = (completion.total, body.as_object_mut()) {
            members.insert("total".to_owned(), total.into());
        }
        let result = json!({"completion": body}).to_string();
        Ok(into_reply(Json::from_trusted(result), asked.client.era(), CachePolicy::Unspecified))
    }
}
