//! URLs and errors of chat completions.

use reqwest::Url;
use serde_json::Value;
use switchboard_prompting::{ModelInfo, ModelRequest};

use super::{request, stream};
use crate::access::VendorAccess;
use crate::protocol::{
    AnswerReader, ModelChecks, RefusalMeaning, RequestForm, VendorProtocol, VendorRefusal,
};

// Compatible servers have no common error code for this, so their messages are searched.
const TOO_LONG_PHRASES: [&str; 8] = [
    "maximum context length",
    "context length exceeded",
    "context_length_exceeded",
    "exceeds the available context size",
    "exceed context window",
    "exceeds the context window",
    // A typing error in LM Studio's message.
    "context the overflows",
    "reduce the length of the messages",
];

/// Chat completions, and the differences between compatible providers.
pub(crate) struct OpenAiProtocol {
    /// A path that validates the key, for a provider whose list of models is public.
    pub(crate) key_path: Option<&'static str>,
    /// The member of a request that limits the length of the answer.
    pub(crate) max_tokens_member: &'static str,
}

impl VendorProtocol for OpenAiProtocol {
    fn address(&self, access: &VendorAccess, _model: &str) -> Url {
        access.url_with_path(&["chat", "completions"])
    }

    fn default_form(&self) -> RequestForm {
        RequestForm::Full
    }

    fn body(&self, request: &ModelRequest, about: &ModelInfo, form: RequestForm) -> Value {
        request::body(request, about, form, self.max_tokens_member)
    }

    fn reader(&self) -> Box<dyn AnswerReader> {
        Box::new(stream::OpenAiStream::default())
    }

    fn refusal_meaning(&self, refusal: &VendorRefusal) -> Option<RefusalMeaning> {
        let used_up = ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];
        if used_up.iter().any(|code| refusal.has_code(code)) {
            return Some(RefusalMeaning::UsedUp);
        }
        if refusal.has_code("context_length_exceeded")
            || refusal.has_code("exceed_context_size_error")
            || refusal.says(&TOO_LONG_PHRASES)
        {
            return Some(RefusalMeaning::TooLong);
        }
        if refusal.has_code("invalid_api_key") {
            return Some(RefusalMeaning::BadKey);
        }
        let no_model = refusal.has_code("model_not_found")
            || refusal.says(&["is not a valid model id", "model not found"]);
        if no_model {
            return Some(RefusalMeaning::UnknownModel);
        }
        // An error within a stream has no status to classify it by.
        let is_ours = refusal.status.is_none() && refusal.has_code("invalid_request_error");
        is_ours.then_some(RefusalMeaning::BadRequest)
    }

    fn checks(&self, access: &VendorAccess, _model: &str) -> ModelChecks {
        let key = self.key_path.map(|path| access.url_with_path(&[path]));
        ModelChecks { key, model: None, list: access.url_with_path(&["models"]) }
    }
}

#[cfg(test)]
mod tests {
    use switchboard_config::Provider;

    use super::*;
    use crate::providers::provider_spec;

    #[test]
    fn errors_of_many_servers_are_understood() {
        let protocol = provider_spec(Provider::OpenAi).protocol;
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
                RefusalMeaning::TooLong,
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","code":400}"#,
                RefusalMeaning::TooLong,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
                RefusalMeaning::UsedUp,
            ),
            (
                429,
                r#"{"error":{"message":"Rate limit reached","type":"tokens"}}"#,
                RefusalMeaning::Busy,
            ),
            (
                402,
                r#"{"error":{"message":"Insufficient credits","code":402}}"#,
                RefusalMeaning::UsedUp,
            ),
            (401, r#"{"error":{"message":"Incorrect API key provided"}}"#, RefusalMeaning::BadKey),
            (403, "", RefusalMeaning::BadKey),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                RefusalMeaning::UnknownModel,
            ),
            (
                400,
                r#"{"error":{"message":"x/y is not a valid model ID","code":400}}"#,
                RefusalMeaning::UnknownModel,
            ),
            (400, r#"{"error":{"message":"bad schema"}}"#, RefusalMeaning::BadRequest),
            (422, "nonsense", RefusalMeaning::BadRequest),
            (301, "", RefusalMeaning::WrongAddress),
            (500, "", RefusalMeaning::Busy),
            (529, "", RefusalMeaning::Busy),
        ] {
            let refusal = VendorRefusal::read(Some(status), body);
            let meaning =
                protocol.refusal_meaning(&refusal).unwrap_or_else(|| refusal.status_meaning());
            assert_eq!(meaning, expected, "{status} {body}");
        }
    }
}
