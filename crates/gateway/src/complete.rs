//! How the value of an argument may go on, asked of the server that has the prompt or template.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use switchboard_core::Target;
use switchboard_fleet::{Completing, Completion, CompletionOf, NoCompletion};
use switchboard_wire::{Json, RequestError, RpcError};

use crate::answer::{Cache, Reply, dressed};
use crate::asked::{Asked, missing};
use crate::gateway::Gateway;

#[derive(Deserialize)]
struct Wanted {
    #[serde(rename = "ref")]
    of: Reference,
    argument: Argument,
    context: Option<Context>,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "type")]
    kind: String,
    name: Option<String>,
    uri: Option<String>,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Default, Deserialize)]
struct Context {
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

impl Gateway {
    /// Asks the server behind a prompt or template.
    pub(crate) async fn complete(&self, asked: &Asked) -> Result<Reply, RpcError> {
        let params = asked.params.as_ref().ok_or_else(|| missing("ref"))?;
        let wanted: Wanted = params.read().map_err(|error| {
            let why = format!("the parameters cannot be read: {error}");
            RpcError::new(RpcError::INVALID_PARAMS, why)
        })?;
        let listing = self.listing(&asked.client.view);
        let unknown = |what: &str| {
            RpcError::new(RpcError::INVALID_PARAMS, format!("there is no such {what}"))
        };
        let (target, is_prompt): (Target, bool) = match wanted.of.kind.as_str() {
            "ref/prompt" => {
                let name = wanted.of.name.ok_or_else(|| missing("ref.name"))?;
                (listing.prompt(&name).ok_or_else(|| unknown("prompt"))?, true)
            }
            "ref/resource" => {
                let uri = wanted.of.uri.ok_or_else(|| missing("ref.uri"))?;
                let template = listing.template(&uri).or_else(|| listing.resource(&uri));
                (template.ok_or_else(|| unknown("template"))?, false)
            }
            _ => return Err(unknown("kind of reference")),
        };
        let of = match is_prompt {
            true => CompletionOf::Prompt(&target.name),
            false => CompletionOf::Template(&target.name),
        };
        let context = wanted.context.unwrap_or_default().arguments;
        let (argument, value) = (wanted.argument.name.as_str(), wanted.argument.value.as_str());
        let completing = Completing { of, argument, value, context: &context };
        let completion =
            match self.host().complete(&listing.lease, &target.server, &completing).await {
                Ok(completion) => completion,
                // Nothing to offer is no failure.
                Err(NoCompletion::NotOffered(_)) => Completion::default(),
                Err(NoCompletion::Failed(_, RequestError::Rpc(error))) => return Err(error),
                Err(error) => {
                    return Err(RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()));
                }
            };
        let mut body = json!({"values": completion.values, "hasMore": completion.has_more});
        if let (Some(total), Some(members)) = (completion.total, body.as_object_mut()) {
            members.insert("total".to_owned(), total.into());
        }
        let result = json!({"completion": body}).to_string();
        Ok(dressed(Json::trusted(result), asked.client.era(), Cache::Silent))
    }
}
