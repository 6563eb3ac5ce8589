//! A model at a vendor: asks it, as often as it makes sense.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use serde_json::{Map, Value};
use switchboard_config::Provider;
use switchboard_prompting::{
    About, Answering, Checking, Delta, Model, ModelError, Request, Said, Trouble,
};
use switchboard_wire::http::HttpClient;
use tokio::sync::mpsc;

use super::attempt::attempt;
use super::failure::Remedy;
use super::listing;
use super::patience::Patience;
use super::plan::{Next, Plan};
use crate::access::Access;
use crate::history::merge;
use crate::listener::Listener;
use crate::protocol::{Form, Protocol};

/// What a model at a vendor is made of.
pub(crate) struct Parts {
    pub(crate) about: About,
    pub(crate) provider: Provider,
    pub(crate) access: Access,
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) extra: Map<String, Value>,
    pub(crate) patience: Patience,
    pub(crate) client: HttpClient,
}

/// A model at a vendor.
pub(crate) struct Remote {
    parts: Parts,
    /// Whether the server turned out to know only the plain form of a request.
    is_plain: AtomicBool,
}

impl Remote {
    pub(crate) fn new(parts: Parts) -> Self {
        Self { parts, is_plain: AtomicBool::new(false) }
    }

    async fn ask(
        &self,
        request: &Request,
        heard: &mpsc::Sender<Delta>,
    ) -> Result<Said, ModelError> {
        let mut listener = Listener::new(heard);
        let is_plain = self.is_plain.load(Ordering::Relaxed);
        let form = if is_plain { Form::Plain } else { self.parts.protocol.fullest() };
        let mut plan = Plan::new(&self.parts.patience, form);
        loop {
            let form = plan.form();
            let failure = match attempt(&self.parts, self.body(request, form), &mut listener).await
            {
                Ok(said) => {
                    self.is_plain.store(form == Form::Plain, Ordering::Relaxed);
                    return Ok(said);
                }
                Err(failure) => failure,
            };
            let (why, remedy) = (failure.error.message.clone(), failure.remedy);
            match plan.after(failure) {
                Next::GiveUp(error) => return Err(self.with_near_names(error).await),
                Next::Ask { wait } => {
                    let broke_off = matches!(remedy, Remedy::AskAgain | Remedy::ReadAgain);
                    if broke_off || listener.has_heard() {
                        listener.tell(Delta::Again { why: why.clone() }).await;
                    }
                    if let Some(delay) = wait {
                        listener.tell(Delta::Waiting { delay, why }).await;
                        tokio::time::sleep(delay).await;
                    }
                }
            }
        }
    }

    fn body(&self, request: &Request, form: Form) -> Bytes {
        let mut body = self.parts.protocol.body(request, &self.parts.about, form);
        merge(&mut body, &self.parts.extra);
        body.to_string().into()
    }

    /// Says which models there are, where the one that was asked for is not.
    async fn with_near_names(&self, error: ModelError) -> ModelError {
        if error.trouble != Trouble::UnknownModel {
            return error;
        }
        match listing::near(&self.parts).await {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

impl Model for Remote {
    fn about(&self) -> &About {
        &self.parts.about
    }

    fn answer<'a>(&'a self, request: &'a Request, heard: &'a mpsc::Sender<Delta>) -> Answering<'a> {
        Box::pin(self.ask(request, heard))
    }

    fn check(&self) -> Checking<'_> {
        Box::pin(listing::check(&self.parts))
    }
}
