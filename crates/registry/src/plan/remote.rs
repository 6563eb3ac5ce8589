//! One remote of `server.json` as a plan.

use crate::client::RegistryReach;
use crate::plan::arguments::check_input;
use crate::plan::error::PlanError;
use crate::plan::install_plan::{
    InstallPlan, PlanBody, PlanItem, PlanQuestions, check_header, check_text,
};
use crate::server_json::RegistryRemote;

/// What visiting a remote would be.
pub(crate) fn remote_plan(
    remote: &RegistryRemote,
    reach: RegistryReach,
) -> Result<InstallPlan, PlanError> {
    let kind = match remote.kind.as_str() {
        "sse" => "sse",
        "streamable-http" | "streamable_http" | "streamableHttp" | "streamable" | "http" => "http",
        other => return Err(PlanError::NoRunner(other.to_owned())),
    };
    check_text("the address", &remote.url)?;
    for (name, variable) in &remote.variables {
        check_input(&format!("the variable `{name}`"), variable)?;
    }
    let mut questions = PlanQuestions::default();
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
        let item = PlanItem { required: input.is_required, ..PlanItem::new(vec![value]) };
        headers.push((header.name.clone(), item));
    }
    let body = PlanBody::Remote { kind, url, headers };
    Ok(InstallPlan { body, asked: questions.into_asked(), notes: Vec::new(), reach })
}

pub(crate) fn not_visited(why: &str) -> PlanError {
    PlanError::Hostile { what: "the address".to_owned(), why: format!("cannot be visited: {why}") }
}
