//! Gemini's paths, which name the model and what is wanted of it.

use crate::http::FixtureRequest;
use crate::model::request::Delivery;
use crate::model::vendor::GenerateTarget;

pub(crate) fn target(asked: &FixtureRequest) -> Option<GenerateTarget> {
    let (model, method) = asked.path.strip_prefix("/v1beta/models/")?.split_once(':')?;
    let delivery = match method {
        "generateContent" => Delivery::Whole,
        "streamGenerateContent" if asked.query("alt") == Some("sse") => Delivery::Events,
        "streamGenerateContent" => Delivery::Array,
        _ => return None,
    };
    Some(GenerateTarget::InPath(model.to_owned(), delivery))
}
