//! Gemini: where its models are, and what its errors mean.

use reqwest::Url;
use serde_json::Value;
use switchboard_prompting::{About, Request};

use super::{request, stream};
use crate::access::Access;
use crate::protocol::{Checks, Form, Meaning, Protocol, Reader, Refusal};

/// Google's Gemini.
pub(crate) struct Gemini;

impl Protocol for Gemini {
    fn address(&self, access: &Access, model: &str) -> Url {
        let mut address = at(access, &format!("{model}:streamGenerateContent"));
        address.query_pairs_mut().append_pair("alt", "sse");
        address
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
        let bad_key = ["api_key_invalid", "unauthenticated", "permission_denied"];
        if bad_key.iter().any(|code| refusal.has_code(code))
            || refusal.says(&["api key not valid", "api key expired"])
        {
            return Some(Meaning::BadKey);
        }
        if refusal.says(&["input token count", "exceeds the maximum number of tokens"]) {
            return Some(Meaning::TooLong);
        }
        // A quota of the day is not back within the time that anybody waits.
        if refusal.codes.iter().any(|code| code.contains("perday")) {
            return Some(Meaning::UsedUp);
        }
        refusal.meaning_by_code(&[
            ("not_found", Meaning::UnknownModel),
            ("resource_exhausted", Meaning::Busy),
            ("unavailable", Meaning::Busy),
            ("internal", Meaning::Busy),
            ("deadline_exceeded", Meaning::Busy),
        ])
    }

    fn checks(&self, access: &Access, model: &str) -> Checks {
        let mut list = access.at(&["models"]);
        list.query_pairs_mut().append_pair("pageSize", "1000");
        Checks { key: None, model: Some(at(access, model)), list }
    }
}

/// The address of a model; one that was tuned has a folder of its own in its name.
fn at(access: &Access, model: &str) -> Url {
    match model.split_once('/') {
        Some((folder, name)) => access.at(&[folder, name]),
        None => access.at(&["models", model]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use switchboard_config::{Environment, ModelProfile, Provider};

    use super::*;
    use crate::access::KeyHeader;

    #[test]
    fn the_key_is_never_part_of_an_address() {
        let environment = Environment {
            variables: BTreeMap::from([("GOOGLE_API_KEY".to_owned(), "secret".to_owned())]),
            home: None,
            current_dir: PathBuf::from("."),
        };
        let profile = ModelProfile::new("g", Provider::Gemini, "g-1");
        let key = KeyHeader::Named("x-goog-api-key");
        let access = Access::find(&profile, &environment, key).ok().unwrap();
        assert_eq!(access.headers["x-goog-api-key"], "secret");
        let base = "https://generativelanguage.googleapis.com/v1beta";
        for (model, path) in [
            ("g-1", "models/g-1"),
            ("models/g-1", "models/g-1"),
            ("tunedModels/x", "tunedModels/x"),
        ] {
            let address = Gemini.address(&access, model);
            let expected = format!("{base}/{path}:streamGenerateContent?alt=sse");
            assert_eq!(address.as_str(), expected);
            let checks = Gemini.checks(&access, model);
            assert_eq!(checks.model.unwrap().as_str(), format!("{base}/{path}"));
        }
    }

    #[test]
    fn errors_are_understood() {
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
                Meaning::BadKey,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                Meaning::TooLong,
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}"#,
                Meaning::UsedUp,
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}"#,
                Meaning::Busy,
            ),
            (
                404,
                r#"{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}"#,
                Meaning::UnknownModel,
            ),
            (
                503,
                r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#,
                Meaning::Busy,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"Invalid JSON payload","status":"INVALID_ARGUMENT"}}"#,
                Meaning::BadRequest,
            ),
        ] {
            let refusal = Refusal::read(Some(status), body);
            let meaning = Gemini.meaning(&refusal).unwrap_or_else(|| refusal.meaning_of_status());
            assert_eq!(meaning, expected, "{body}");
        }
    }
}
