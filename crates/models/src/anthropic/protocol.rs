//! Anthropic's URLs and errors.

use reqwest::Url;
use serde_json::Value;
use switchboard_prompting::{ModelInfo, ModelRequest};

use super::{request, stream};
use crate::access::VendorAccess;
use crate::protocol::{
    AnswerReader, ModelChecks, RefusalMeaning, RequestForm, VendorProtocol, VendorRefusal,
};

pub(crate) struct AnthropicProtocol;

impl VendorProtocol for AnthropicProtocol {
    fn address(&self, access: &VendorAccess, _model: &str) -> Url {
        api_url(access, &["messages"])
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn default_form(&self) -> RequestForm {
        RequestForm::Plain
    }

    fn body(&self, request: &ModelRequest, about: &ModelInfo, _form: RequestForm) -> Value {
        request::body(request, about)
    }

    fn reader(&self) -> Box<dyn AnswerReader> {
        Box::new(stream::AnthropicStream::default())
    }

    fn refusal_meaning(&self, refusal: &VendorRefusal) -> Option<RefusalMeaning> {
        let too_long = ["prompt is too long", "exceed context limit", "exceeds context limit"];
        if refusal.says(&too_long) || refusal.has_code("request_too_large") {
            return Some(RefusalMeaning::TooLong);
        }
        // Sent as an `invalid_request_error`, so only the text identifies it.
        if refusal.says(&["credit balance is too low"]) || refusal.has_code("billing_error") {
            return Some(RefusalMeaning::UsedUp);
        }
        refusal.code_meaning(&[
            ("authentication_error", RefusalMeaning::BadKey),
            ("permission_error", RefusalMeaning::BadKey),
            ("not_found_error", RefusalMeaning::UnknownModel),
            ("rate_limit_error", RefusalMeaning::Busy),
            ("overloaded_error", RefusalMeaning::Busy),
            ("api_error", RefusalMeaning::Busy),
            ("timeout_error", RefusalMeaning::Busy),
            ("invalid_request_error", RefusalMeaning::BadRequest),
        ])
    }

    fn checks(&self, access: &VendorAccess, model: &str) -> ModelChecks {
        let mut list = api_url(access, &["models"]);
        // One page: the default is 20 models.
        list.query_pairs_mut().append_pair("limit", "1000");
        ModelChecks { key: None, model: Some(api_url(access, &["models", model])), list }
    }
}

/// Returns the URL of a path below the version.
fn api_url(access: &VendorAccess, path: &[&str]) -> Url {
    // Users copy base URLs with and without the version.
    let has_version = access.base.path().trim_end_matches('/').ends_with("/v1");
    let version: &[&str] = if has_version { &[] } else { &["v1"] };
    access.url_with_path(&[version, path].concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use switchboard_config::{Environment, ModelProfile, Provider};

    use super::*;

    #[test]
    fn addresses_hold_the_version_once() {
        let environment = Environment {
            variables: BTreeMap::from([("ANTHROPIC_API_KEY".to_owned(), "secret".to_owned())]),
            home: None,
            current_dir: PathBuf::from("."),
        };
        for base in ["https://a.example", "https://a.example/", "https://a.example/v1"] {
            let profile = ModelProfile {
                base_url: Some(base.to_owned()),
                api_key_env: Some("ANTHROPIC_API_KEY".to_owned()),
                ..ModelProfile::new("a", Provider::Anthropic, "m 1")
            };
            let access = VendorAccess::find(&profile, &environment).ok().unwrap();
            let address = AnthropicProtocol.address(&access, "m 1");
            assert_eq!(address.as_str(), "https://a.example/v1/messages");
            let checks = AnthropicProtocol.checks(&access, "m 1");
            assert_eq!(checks.model.unwrap().as_str(), "https://a.example/v1/models/m%201");
            assert_eq!(checks.list.as_str(), "https://a.example/v1/models?limit=1000");
        }
    }

    #[test]
    fn errors_are_understood() {
        let error = |kind: &str, message: &str| {
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
        };
        for (status, body, expected) in [
            (
                Some(400),
                error(
                    "invalid_request_error",
                    "prompt is too long: 210000 tokens > 200000 maximum",
                ),
                RefusalMeaning::TooLong,
            ),
            (
                Some(400),
                error("invalid_request_error", "Your credit balance is too low to access"),
                RefusalMeaning::UsedUp,
            ),
            (
                Some(400),
                error("invalid_request_error", "messages: bad"),
                RefusalMeaning::BadRequest,
            ),
            (Some(401), error("authentication_error", "invalid x-api-key"), RefusalMeaning::BadKey),
            (Some(404), error("not_found_error", "model: m"), RefusalMeaning::UnknownModel),
            (Some(413), error("request_too_large", "too large"), RefusalMeaning::TooLong),
            (Some(529), error("overloaded_error", "Overloaded"), RefusalMeaning::Busy),
            (None, error("overloaded_error", "Overloaded"), RefusalMeaning::Busy),
            (None, error("invalid_request_error", "bad"), RefusalMeaning::BadRequest),
            (Some(502), "bad gateway".to_owned(), RefusalMeaning::Busy),
        ] {
            let refusal = VendorRefusal::read(status, &body);
            let meaning = AnthropicProtocol
                .refusal_meaning(&refusal)
                .unwrap_or_else(|| refusal.status_meaning());
            assert_eq!(meaning, expected, "{status:?} {body}");
        }
    }
}
