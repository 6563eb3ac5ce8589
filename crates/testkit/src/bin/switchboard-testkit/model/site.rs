//! A model server: journals a request, checks it as the vendor does, and answers from the script.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use clap::Args;
use serde_json::{Value, json};

use super::script::Turns;
use super::vendor::{Delivery, GenerateRequest, Vendor, VendorProblem, VendorProblemKind};
use super::wire;
use crate::http;
use crate::http::{FixtureReply, FixtureRequest, HttpSite};
use crate::journal::FixtureJournal;
use crate::options::FixtureOptions;

/// Name of a model that no vendor has.
const MISSING: &str = "missing";

#[derive(Args, Clone, Debug)]
pub(crate) struct ModelOptions {
    /// model: vendor whose API is served: openai, anthropic or gemini
    #[arg(long)]
    vendor: Option<String>,
    /// model: JSON file with the answers, turn by turn
    #[arg(long)]
    script: Option<PathBuf>,
    /// model: reject requests without this key
    #[arg(long)]
    key: Option<String>,
}

enum VendorRequest {
    Models,
    Model(String),
    Answer(GenerateRequest),
}

struct ModelSite {
    vendor: &'static Vendor,
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
    fn reply(&self, asked: &FixtureRequest) -> FixtureReply {
        let body = serde_json::from_slice::<Value>(&asked.body);
        let noted = match &body {
            Ok(body) => body.clone(),
            Err(_) if asked.body.is_empty() => Value::Null,
            Err(_) => json!(String::from_utf8_lossy(&asked.body)),
        };
        self.journal.line(&asked.record(noted).to_string());
        self.check_key(asked)
            .and_then(|()| self.parse_request(asked, body.ok()))
            .and_then(|wanted| match wanted {
                VendorRequest::Models => {
                    Ok(FixtureReply::json(200, self.vendor.list_models().to_string()))
                }
                VendorRequest::Model(id) => {
                    self.check_model(&id)?;
                    Ok(FixtureReply::json(200, (self.vendor.model)(&id).to_string()))
                }
                VendorRequest::Answer(generate) => self.generate(&generate),
            })
            .unwrap_or_else(|problem| self.vendor.refuse(&problem))
    }

    fn check_key(&self, asked: &FixtureRequest) -> Result<(), VendorProblem> {
        let Some(wanted) = &self.key else { return Ok(()) };
        match (self.vendor.key)(asked) {
            Some(given) if given == wanted => Ok(()),
            Some(_) => Err(VendorProblem::new(VendorProblemKind::WrongKey, "the key is not valid")),
            None => Err(VendorProblem::new(VendorProblemKind::NoKey, "the request carries no key")),
        }
    }

    fn check_model(&self, id: &str) -> Result<(), VendorProblem> {
        if id == MISSING {
            return Err(VendorProblem::new(
                VendorProblemKind::Model,
                (self.vendor.no_such_model)(id),
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
        let models = format!("{}/models", self.vendor.models_path);
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
        let target = (self.vendor.target)(asked).ok_or_else(nothing_here)?;
        let of_type = asked.header("content-type").unwrap_or_default();
        if !of_type.starts_with("application/json") {
            return Err(VendorProblem::request(format!(
                "the content type `{of_type}` is not JSON"
            )));
        }
        let body = body.filter(Value::is_object);
        let body = body.ok_or_else(|| VendorProblem::request("the body is not a JSON object"))?;
        let missing = self.vendor.required_header.filter(|name| asked.header(name).is_none());
        if let Some(name) = missing {
            return Err(VendorProblem::request(format!("{name}: the header is required")));
        }
        target.with(body).map(VendorRequest::Answer)
    }

    fn generate(&self, generate: &GenerateRequest) -> Result<FixtureReply, VendorProblem> {
        let vendor = self.vendor;
        self.check_model(&generate.model)?;
        (vendor.check)(&generate.body, &self.turns)?;
        let answer = self.turns.answer(&(vendor.messages)(&generate.body))?;
        let fault = answer.fault.as_ref();
        if let Some(reply) = fault.and_then(|fault| wire::fault_reply(vendor, fault)) {
            return Ok(reply);
        }
        Ok(match generate.delivery {
            Delivery::Events => {
                let delay = Duration::from_millis(answer.delay_ms);
                wire::events(vendor, (vendor.events)(generate, &answer), delay, fault)
            }
            Delivery::Whole => {
                wire::whole(vendor, &(vendor.whole)(generate, &answer).to_string(), fault)
            }
            Delivery::Array => {
                let events = (vendor.events)(generate, &answer);
                let texts: Vec<String> = events.into_iter().map(|event| event.data).collect();
                wire::whole(vendor, &format!("[{}]", texts.join("\n,\r\n")), fault)
            }
        })
    }
}

pub(crate) async fn serve(options: FixtureOptions) {
    let ModelOptions { vendor, script, key } = options.model.clone();
    let vendor = Vendor::from_name(&vendor.expect("`model` needs `--vendor`"));
    let turns = Turns::load(&script.expect("`model` needs `--script`"));
    let journal = FixtureJournal::open(options.journal.as_deref());
    let listener = http::listen(&options, vendor.base_path).await;
    http::serve_raw(listener, Arc::new(ModelSite { vendor, turns, journal, key })).await;
}
