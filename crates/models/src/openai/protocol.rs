//! Chat completions: where they are, and what their errors mean.

use reqwest::Url;
use serde_json::Value;
use switchboard_config::Provider;
use switchboard_prompting::{About, Request};

use super::{request, stream};
use crate::access::Access;
use crate::protocol::{Checks, Form, Meaning, Protocol, Reader, Refusal};

/// Words of servers whose model has no room for the conversation.
const TOO_LONG: [&str; 8] = [
    "maximum context length",
    "context length exceeded",
    "context_length_exceeded",
    "exceeds the available context size",
    "exceed context window",
    "exceeds the context window",
    "context the overflows",
    "reduce the length of the messages",
];

/// Chat completions at some provider.
pub(crate) struct OpenAi {
    pub(crate) provider: Provider,
}

impl Protocol for OpenAi {
    fn address(&self, access: &Access, _model: &str) -> Url {
        access.at(&["chat", "completions"])
    }

    fn fullest(&self) -> Form {
        Form::Full
    }

    fn body(&self, request: &Request, about: &About, form: Form) -> Value {
        request::body(request, about, form)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(stream::Stream::default())
    }

    fn meaning(&self, refusal: &Refusal) -> Option<Meaning> {
        let used_up = ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];
        if used_up.iter().any(|code| refusal.has_code(code)) {
            return Some(Meaning::UsedUp);
        }
        if refusal.has_code("context_length_exceeded")
            || refusal.has_code("exceed_context_size_error")
            || refusal.says(&TOO_LONG)
        {
            return Some(Meaning::TooLong);
        }
        if refusal.has_code("invalid_api_key") {
            return Some(Meaning::BadKey);
        }
        let no_model = refusal.has_code("model_not_found")
            || refusal.says(&["is not a valid model id", "model not found"]);
        if no_model {
            return Some(Meaning::UnknownModel);
        }
        // In the middle of an answer there is no status that would say it.
        let is_ours = refusal.status.is_none() && refusal.has_code("invalid_request_error");
        is_ours.then_some(Meaning::BadRequest)
    }

    fn checks(&self, access: &Access, _model: &str) -> Checks {
        // OpenRouter shows its list to everybody, so the list says nothing about the key.
        let key = (self.provider == Provider::OpenRouter).then(|| access.at(&["key"]));
        Checks { key, model: None, list: access.at(&["models"]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_many_servers_are_understood() {
        let protocol = OpenAi { provider: Provider::OpenAi };
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
                Meaning::TooLong,
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","code":400}"#,
                Meaning::TooLong,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
                Meaning::UsedUp,
            ),
            (429, r#"{"error":{"message":"Rate limit reached","type":"tokens"}}"#, Meaning::Busy),
            (402, r#"{"error":{"message":"Insufficient credits","code":402}}"#, Meaning::UsedUp),
            (401, r#"{"error":{"message":"Incorrect API key provided"}}"#, Meaning::BadKey),
            (403, "", Meaning::BadKey),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                Meaning::UnknownModel,
            ),
            (
                400,
                r#"{"error":{"message":"x/y is not a valid model ID","code":400}}"#,
                Meaning::UnknownModel,
            ),
            (400, r#"{"error":{"message":"bad schema"}}"#, Meaning::BadRequest),
            (422, "nonsense", Meaning::BadRequest),
            (301, "", Meaning::WrongAddress),
            (500, "", Meaning::Busy),
            (529, "", Meaning::Busy),
        ] {
            let refusal = Refusal::read(Some(status), body);
            let meaning = protocol.meaning(&refusal).unwrap_or_else(|| refusal.meaning_of_status());
            assert_eq!(meaning, expected, "{status} {body}");
        }
    }
}
