//! One remote of `server.json` as a plan.

use crate::client::Reach;
use crate::plan::arguments::check_input;
use crate::plan::error::PlanError;
use crate::plan::plan_type::{Body, Item, Plan, Questions, check_header, check_text};
use crate::server_json::Remote;

/// What visiting a remote would be.
pub(crate) fn of(remote: &Remote, reach: Reach) -> Result<Plan, PlanError> {
    let kind = match remote.kind.as_str() {
        "sse" => "sse",
        "streamable-http" | "streamable_http" | "streamableHttp" | "streamable" | "http" => "http",
        other => return Err(PlanError::NoRunner(other.to_owned())),
    };
    check_text("the address", &remote.url)?;
    for (name, variable) in &remote.variables {
        check_input(&format!("the variable `{name}`"), variable)?;
    }
    let mut questions = Questions::default();
    let url = questions.template("url", &remote.url, &remote.variables, false);
    if url.names().next().is_none() {
        reach.check(&remote.url).map_err(|why| not_visited(&why))?;
    }
    let mut headers = Vec::new();
    for header in &remote.headers {
        check_header(&header.name)?;
        check_input(&format!("the header `{}`", header.name), &header.input)?;
        let mut input = header.input.clone();
        // Whoever forgets to say so still has a key there.
        let is_key = ["authorization", "api-key", "apikey", "token", "secret"];
        let name = header.name.to_ascii_lowercase();
        input.is_secret |= is_key.iter().any(|word| name.contains(word));
        let value = questions.value(&header.name, &input);
        let item = Item { required: input.is_required, ..Item::new(vec![value]) };
        headers.push((header.name.clone(), item));
    }
    let body = Body::Remote { kind, url, headers };
    Ok(Plan { body, asked: questions.into_asked(), notes: Vec::new(), reach })
}

pub(crate) fn not_visited(why: &str) -> PlanError {
    PlanError::Hostile { what: "the address".to_owned(), why: format!("cannot be visited: {why}") }
}
