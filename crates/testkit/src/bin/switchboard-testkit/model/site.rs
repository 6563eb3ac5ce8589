//! A model server: notes a request, checks it as the vendor does, and answers as the script says.

use std::sync::Arc;

use axum::http::Method;
use serde_json::{Value, json};

use super::asked::{Delivery, Generate, Wanted};
use super::problem::{Problem, ProblemKind};
use super::script::Script;
use super::turns::Turns;
use super::vendor::Vendor;
use super::{faulty, wire};
use crate::http::{Asked, Reply, Site};
use crate::journal::Journal;

/// The name of the model that no vendor has.
const MISSING: &str = "missing";

#[derive(Debug)]
pub(crate) struct ModelSite {
    vendor: Vendor,
    turns: Turns,
    journal: Journal,
    key: Option<String>,
}

impl Site for ModelSite {
    async fn answer(self: Arc<Self>, asked: Asked) -> Reply {
        std::future::ready(self.reply(&asked)).await
    }
}

impl ModelSite {
    pub(crate) fn new(
        vendor: Vendor,
        script: Script,
        journal: Journal,
        key: Option<String>,
    ) -> Self {
        Self { vendor, turns: Turns::new(script), journal, key }
    }

    fn reply(&self, asked: &Asked) -> Reply {
        let body = serde_json::from_slice::<Value>(&asked.body);
        let noted = match &body {
            Ok(body) => body.clone(),
            Err(_) if asked.body.is_empty() => Value::Null,
            Err(_) => json!(String::from_utf8_lossy(&asked.body)),
        };
        self.journal.line(&line(asked, &noted));
        self.check_key(asked)
            .and_then(|()| self.wanted(asked, body.ok()))
            .and_then(|wanted| match wanted {
                Wanted::Models => Ok(Reply::json(200, self.vendor.models().to_string())),
                Wanted::Model(id) => {
                    self.check_model(&id)?;
                    Ok(Reply::json(200, self.vendor.model(&id).to_string()))
                }
                Wanted::Answer(generate) => self.generate(&generate),
            })
            .unwrap_or_else(|problem| self.vendor.refusal(&problem))
    }

    fn check_key(&self, asked: &Asked) -> Result<(), Problem> {
        let Some(wanted) = &self.key else { return Ok(()) };
        match self.vendor.key(asked) {
            Some(given) if given == wanted => Ok(()),
            Some(_) => Err(Problem::new(ProblemKind::WrongKey, "the key is not valid")),
            None => Err(Problem::new(ProblemKind::NoKey, "the request carries no key")),
        }
    }

    fn check_model(&self, id: &str) -> Result<(), Problem> {
        if id == MISSING {
            return Err(Problem::new(ProblemKind::Model, self.vendor.no_such_model(id)));
        }
        Ok(())
    }

    fn wanted(&self, asked: &Asked, body: Option<Value>) -> Result<Wanted, Problem> {
        let path = asked.path.as_str();
        let nothing_here = || {
            let message = format!("there is nothing at `{} {path}`", asked.verb);
            Problem::new(ProblemKind::Route, message)
        };
        let models = format!("{}/models", self.vendor.models_path());
        if asked.verb == Method::GET {
            let rest = path.strip_prefix(&models).ok_or_else(nothing_here)?;
            return match rest.strip_prefix('/') {
                None if rest.is_empty() => Ok(Wanted::Models),
                Some(id) if !id.is_empty() => Ok(Wanted::Model(id.to_owned())),
                _ => Err(nothing_here()),
            };
        }
        if asked.verb != Method::POST {
            return Err(nothing_here());
        }
        let target = self.vendor.target(asked).ok_or_else(nothing_here)?;
        let of_type = asked.header("content-type").unwrap_or_default();
        if !of_type.starts_with("application/json") {
            return Err(Problem::request(format!("the content type `{of_type}` is not JSON")));
        }
        let body = body.filter(Value::is_object);
        let body = body.ok_or_else(|| Problem::request("the body is not a JSON object"))?;
        self.vendor.check_headers(asked)?;
        target.with(body).map(Wanted::Answer)
    }

    fn generate(&self, generate: &Generate) -> Result<Reply, Problem> {
        let vendor = self.vendor;
        self.check_model(&generate.model)?;
        vendor.check(generate, &self.turns)?;
        let answer = self.turns.answer(&vendor.said(&generate.body))?;
        let fault = answer.fault.as_ref();
        if let Some(reply) = fault.and_then(|fault| faulty::instead(vendor, fault)) {
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
fn line(asked: &Asked, body: &Value) -> String {
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
