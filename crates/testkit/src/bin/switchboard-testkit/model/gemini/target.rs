//! Gemini's paths, which name the model and what is wanted of it.

use crate::http::Asked;
use crate::model::asked::Delivery;
use crate::model::vendor::Target;

pub(crate) fn target(asked: &Asked) -> Option<Target> {
    let (model, method) = asked.path.strip_prefix("/v1beta/models/")?.split_once(':')?;
    let delivery = match method {
        "generateContent" => Delivery::Whole,
        "streamGenerateContent" if asked.query("alt") == Some("sse") => Delivery::Events,
        "streamGenerateContent" => Delivery::Array,
        _ => return None,
    };
    Some(Target::InPath(model.to_owned(), delivery))
}
