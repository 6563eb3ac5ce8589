//! A model server: notes a request, checks it as the vendor does, and answers as the script says.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};

use super::problem::{VendorProblem, VendorProblemKind};
use super::request::{Delivery, GenerateRequest, VendorRequest};
use super::script::FixtureScript;
use super::turns::Turns;
use super::vendor::FixtureVendor;
use super::{faulty, wire};
use crate::http::{FixtureReply, FixtureRequest, HttpSite};
use crate::journal::FixtureJournal;

/// The name of the model that no vendor has.
const MISSING: &str = "missing";

#[derive(Debug)]
pub(crate) struct ModelSite {
    vendor: FixtureVendor,
    turns: Turns,
    journal: FixtureJournal,
    key: Option<String>,
}

impl HttpSite for ModelSite {
    async fn answer(self: Arc<Self>, asked: FixtureRequest) -> FixtureReply {
        std::future::ready(self.reply(&asked)).await
    }
}

impl ModelSite {
    pub(crate) fn new(
        vendor: FixtureVendor,
        script: FixtureScript,
        journal: FixtureJournal,
        key: Option<String>,
    ) -> Self {
        Self { vendor, turns: Turns::new(script), journal, key }
    }

    fn reply(&self, asked: &FixtureRequest) -> FixtureReply {
        let body = serde_json::from_slice::<Value>(&asked.body);
        let noted = match &body {
            Ok(body) => body.clone(),
            Err(_) if asked.body.is_empty() => Value::Null,
            Err(_) => json!(String::from_utf8_lossy(&asked.body)),
        };
        self.journal.line(&line(asked, &noted));
        self.check_key(asked)
            .and_then(|()| self.parse_request(asked, body.ok()))
            .and_then(|wanted| match wanted {
                VendorRequest::Models => {
                    Ok(FixtureReply::json(200, self.vendor.models().to_string()))
                }
                VendorRequest::Model(id) => {
                    self.check_model(&id)?;
                    Ok(FixtureReply::json(200, self.vendor.model(&id).to_string()))
                }
                VendorRequest::Answer(generate) => self.generate(&generate),
            })
            .unwrap_or_else(|problem| self.vendor.refusal(&problem))
    }

    fn check_key(&self, asked: &FixtureRequest) -> Result<(), VendorProblem> {
        let Some(wanted) = &self.key else { return Ok(()) };
        match self.vendor.key(asked) {
            Some(given) if given == wanted => Ok(()),
            Some(_) => Err(VendorProblem::new(VendorProblemKind::WrongKey, "the key is not valid")),
            None => Err(VendorProblem::new(VendorProblemKind::NoKey, "the request carries no key")),
        }
    }

    fn check_model(&self, id: &str) -> Result<(), VendorProblem> {
        if id == MISSING {
            return Err(VendorProblem::new(
                VendorProblemKind::Model,
                self.vendor.no_such_model(id),
            ));
        }
        Ok(())
    }

    fn parse_request(
        &self,
        asked: &FixtureRequest,
        body: Option<Value>,
    ) -> Result<VendorRequest, VendorProblem> {
        let path = asked.path.as_str();
        let nothing_here = || {
            let message = format!("there is nothing at `{} {path}`", asked.verb);
            VendorProblem::new(VendorProblemKind::Route, message)
        };
        let models = format!("{}/models", self.vendor.models_path());
        if asked.verb == Method::GET {
            let rest = path.strip_prefix(&models).ok_or_else(nothing_here)?;
            return match rest.strip_prefix('/') {
                None if rest.is_empty() => Ok(VendorRequest::Models),
                Some(id) if !id.is_empty() => Ok(VendorRequest::Model(id.to_owned())),
                _ => Err(nothing_here()),
            };
        }
        if asked.verb != Method::POST {
            return Err(nothing_here());
        }
        let target = self.vendor.target(asked).ok_or_else(nothing_here)?;
        let of_type = asked.header("content-type").unwrap_or_default();
        if !of_type.starts_with("application/json") {
            return Err(VendorProblem::request(format!(
                "the content type `{of_type}` is not JSON"
            )));
        }
        let body = body.filter(Value::is_object);
        let body = body.ok_or_else(|| VendorProblem::request("the body is not a JSON object"))?;
        self.vendor.check_headers(asked)?;
        target.with(body).map(VendorRequest::Answer)
    }

    fn generate(&self, generate: &GenerateRequest) -> Result<FixtureReply, VendorProblem> {
        let vendor = self.vendor;
        self.check_model(&generate.model)?;
        vendor.check(generate, &self.turns)?;
        let answer = self.turns.answer(&vendor.messages(&generate.body))?;
        let fault = answer.fault.as_ref();
        if let Some(reply) = fault.and_then(|fault| faulty::fault_reply(vendor, fault)) {
            return Ok(reply);
        }
        Ok(match generate.delivery {
            Delivery::Events => {
                wire::events(vendor, vendor.events(generate, &answer), answer.delay, fault)
            }
            Delivery::Whole => {
                wire::whole(vendor, &vendor.whole(generate, &answer).to_string(), fault)
            }
            Delivery::Array => {
                let events = vendor.events(generate, &answer);
                let texts: Vec<String> = events.into_iter().map(|event| event.data).collect();
                wire::whole(vendor, &format!("[{}]", texts.join("\n,\r\n")), fault)
            }
        })
    }
}

/// One line of the journal.
fn line(asked: &FixtureRequest, body: &Value) -> String {
    let headers: serde_json::Map<String, Value> = asked
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), json!(String::from_utf8_lossy(value.as_bytes()))))
        .collect();
    json!({
        "verb": asked.verb.as_str(), "path": asked.path, "query": asked.query,
        "headers": headers, "body": body,
    })
    .to_string()
}
