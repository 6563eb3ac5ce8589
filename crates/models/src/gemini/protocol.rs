//! Gemini's URLs and errors.

use reqwest::Url;
use serde_json::Value;
use switchboard_prompting::{ModelInfo, ModelRequest};

use super::{request, stream};
use crate::access::VendorAccess;
use crate::protocol::{
    AnswerReader, ModelChecks, RefusalMeaning, RequestForm, VendorProtocol, VendorRefusal,
};

pub(crate) struct GeminiProtocol;

impl VendorProtocol for GeminiProtocol {
    fn address(&self, access: &VendorAccess, model: &str) -> Url {
        let mut address = model_url(access, &format!("{model}:streamGenerateContent"));
        address.query_pairs_mut().append_pair("alt", "sse");
        address
    }

    fn default_form(&self) -> RequestForm {
        RequestForm::Plain
    }

    fn body(&self, request: &ModelRequest, about: &ModelInfo, _form: RequestForm) -> Value {
        request::body(request, about)
    }

    fn reader(&self) -> Box<dyn AnswerReader> {
        Box::new(stream::GeminiStream::default())
    }

    fn refusal_meaning(&self, refusal: &VendorRefusal) -> Option<RefusalMeaning> {
        let bad_key = ["api_key_invalid", "unauthenticated", "permission_denied"];
        if bad_key.iter().any(|code| refusal.has_code(code))
            || refusal.says(&["api key not valid", "api key expired"])
        {
            return Some(RefusalMeaning::BadKey);
        }
        if refusal.says(&["input token count", "exceeds the maximum number of tokens"]) {
            return Some(RefusalMeaning::TooLong);
        }
        // A daily quota does not reset within any reasonable wait.
        if refusal.codes.iter().any(|code| code.contains("perday")) {
            return Some(RefusalMeaning::UsedUp);
        }
        refusal.code_meaning(&[
            ("not_found", RefusalMeaning::UnknownModel),
            ("resource_exhausted", RefusalMeaning::Busy),
            ("unavailable", RefusalMeaning::Busy),
            ("internal", RefusalMeaning::Busy),
            ("deadline_exceeded", RefusalMeaning::Busy),
        ])
    }

    fn checks(&self, access: &VendorAccess, model: &str) -> ModelChecks {
        let mut list = access.url_with_path(&["models"]);
        list.query_pairs_mut().append_pair("pageSize", "1000");
        ModelChecks { key: None, model: Some(model_url(access, model)), list }
    }
}

/// Returns the URL of a model.
fn model_url(access: &VendorAccess, model: &str) -> Url {
    // The name of a tuned model includes its collection, as in `tunedModels/name`.
    match model.split_once('/') {
        Some((folder, name)) => access.url_with_path(&[folder, name]),
        None => access.url_with_path(&["models", model]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use switchboard_config::{Environment, ModelProfile, Provider};

    use super::*;

    #[test]
    fn the_key_is_never_part_of_an_address() {
        let environment = Environment {
            variables: BTreeMap::from([("GOOGLE_API_KEY".to_owned(), "secret".to_owned())]),
            home: None,
            current_dir: PathBuf::from("."),
        };
        let profile = ModelProfile::new("g", Provider::Gemini, "g-1");
        let access = VendorAccess::find(&profile, &environment).ok().unwrap();
        assert_eq!(access.headers["x-goog-api-key"], "secret");
        let base = "https://generativelanguage.googleapis.com/v1beta";
        for (model, path) in [
            ("g-1", "models/g-1"),
            ("models/g-1", "models/g-1"),
            ("tunedModels/x", "tunedModels/x"),
        ] {
            let address = GeminiProtocol.address(&access, model);
            let expected = format!("{base}/{path}:streamGenerateContent?alt=sse");
            assert_eq!(address.as_str(), expected);
            let checks = GeminiProtocol.checks(&access, model);
            assert_eq!(checks.model.unwrap().as_str(), format!("{base}/{path}"));
        }
    }

    #[test]
    fn errors_are_understood() {
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
                RefusalMeaning::BadKey,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                RefusalMeaning::TooLong,
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}"#,
                RefusalMeaning::UsedUp,
            ),
            (
                429,
                r#"{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}"#,
                RefusalMeaning::Busy,
            ),
            (
                404,
                r#"{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}"#,
                RefusalMeaning::UnknownModel,
            ),
            (
                503,
                r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#,
                RefusalMeaning::Busy,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"Invalid JSON payload","status":"INVALID_ARGUMENT"}}"#,
                RefusalMeaning::BadRequest,
            ),
        ] {
            let refusal = VendorRefusal::read(Some(status), body);
            let meaning = GeminiProtocol
                .refusal_meaning(&refusal)
                .unwrap_or_else(|| refusal.status_meaning());
            assert_eq!(meaning, expected, "{body}");
        }
    }
}
