//! Messages: where they are, and what their errors mean.

use reqwest::Url;
use serde_json::Value;
use switchboard_prompting::{About, Request};

use super::{request, stream};
use crate::access::Access;
use crate::protocol::{Checks, Form, Meaning, Protocol, Reader, Refusal};

/// Anthropic's messages.
pub(crate) struct Anthropic;

impl Protocol for Anthropic {
    fn address(&self, access: &Access, _model: &str) -> Url {
        at(access, &["messages"])
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn fullest(&self) -> Form {
        Form::Plain
    }

    fn body(&self, request: &Request, about: &About, _form: Form) -> Value {
        request::body(request, about)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(stream::Stream::default())
    }

    fn meaning(&self, refusal: &Refusal) -> Option<Meaning> {
        let too_long = ["prompt is too long", "exceed context limit", "exceeds context limit"];
        if refusal.says(&too_long) || refusal.has_code("request_too_large") {
            return Some(Meaning::TooLong);
        }
        if refusal.says(&["credit balance is too low"]) || refusal.has_code("billing_error") {
            return Some(Meaning::UsedUp);
        }
        refusal.meaning_by_code(&[
            ("authentication_error", Meaning::BadKey),
            ("permission_error", Meaning::BadKey),
            ("not_found_error", Meaning::UnknownModel),
            ("rate_limit_error", Meaning::Busy),
            ("overloaded_error", Meaning::Busy),
            ("api_error", Meaning::Busy),
            ("timeout_error", Meaning::Busy),
            ("invalid_request_error", Meaning::BadRequest),
        ])
    }

    fn checks(&self, access: &Access, model: &str) -> Checks {
        let mut list = at(access, &["models"]);
        list.query_pairs_mut().append_pair("limit", "1000");
        Checks { key: None, model: Some(at(access, &["models", model])), list }
    }
}

/// Addresses are written with and without the version, so both are understood.
fn at(access: &Access, path: &[&str]) -> Url {
    let has_version = access.base.path().trim_end_matches('/').ends_with("/v1");
    let version: &[&str] = if has_version { &[] } else { &["v1"] };
    access.at(&[version, path].concat())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use switchboard_config::{Environment, ModelProfile, Provider};

    use super::*;
    use crate::access::KeyHeader;

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
            let key = KeyHeader::Named("x-api-key");
            let access = Access::find(&profile, &environment, key).ok().unwrap();
            let address = Anthropic.address(&access, "m 1");
            assert_eq!(address.as_str(), "https://a.example/v1/messages");
            let checks = Anthropic.checks(&access, "m 1");
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
                Meaning::TooLong,
            ),
            (
                Some(400),
                error("invalid_request_error", "Your credit balance is too low to access"),
                Meaning::UsedUp,
            ),
            (Some(400), error("invalid_request_error", "messages: bad"), Meaning::BadRequest),
            (Some(401), error("authentication_error", "invalid x-api-key"), Meaning::BadKey),
            (Some(404), error("not_found_error", "model: m"), Meaning::UnknownModel),
            (Some(413), error("request_too_large", "too large"), Meaning::TooLong),
            (Some(529), error("overloaded_error", "Overloaded"), Meaning::Busy),
            (None, error("overloaded_error", "Overloaded"), Meaning::Busy),
            (None, error("invalid_request_error", "bad"), Meaning::BadRequest),
            (Some(502), "bad gateway".to_owned(), Meaning::Busy),
        ] {
            let refusal = Refusal::read(status, &body);
            let meaning =
                Anthropic.meaning(&refusal).unwrap_or_else(|| refusal.meaning_of_status());
            assert_eq!(meaning, expected, "{status:?} {body}");
        }
    }
}
