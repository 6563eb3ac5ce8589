//! A model at a vendor, with retries.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use serde_json::{Map, Value};
use switchboard_prompting::{
    Model, ModelAnswer, ModelAnswerFuture, ModelCheckFuture, ModelDelta, ModelError,
    ModelErrorKind, ModelInfo, ModelRequest,
};
use switchboard_wire::HttpClient;
use tokio::sync::mpsc;

use super::attempt::attempt;
use super::failure::Remedy;
use super::listing;
use super::retry_plan::{NextAttempt, RetryPlan, RetryPolicy};
use crate::access::VendorAccess;
use crate::history::merge;
use crate::listener::DeltaListener;
use crate::protocol::RequestForm;
use crate::providers::ProviderSpec;

pub(crate) struct RemoteParts {
    pub(crate) about: ModelInfo,
    pub(crate) spec: &'static ProviderSpec,
    pub(crate) access: VendorAccess,
    pub(crate) extra: Map<String, Value>,
    pub(crate) patience: RetryPolicy,
    pub(crate) client: HttpClient,
}

pub(crate) struct RemoteModel {
    parts: RemoteParts,
    /// Whether the server rejected the full form, to save later requests the detour.
    is_plain: AtomicBool,
}

impl RemoteModel {
    pub(crate) fn new(parts: RemoteParts) -> Self {
        Self { parts, is_plain: AtomicBool::new(false) }
    }

    async fn ask(
        &self,
        request: &ModelRequest,
        heard: &mpsc::Sender<ModelDelta>,
    ) -> Result<ModelAnswer, ModelError> {
        let mut listener = DeltaListener::new(heard);
        let is_plain = self.is_plain.load(Ordering::Relaxed);
        let form =
            if is_plain { RequestForm::Plain } else { self.parts.spec.protocol.default_form() };
        let mut plan = RetryPlan::new(&self.parts.patience, form);
        loop {
            let form = plan.form();
            let failure = match attempt(&self.parts, self.body(request, form), &mut listener).await
            {
                Ok(said) => {
                    self.is_plain.store(form == RequestForm::Plain, Ordering::Relaxed);
                    return Ok(said);
                }
                Err(failure) => failure,
            };
            let why = failure.error.message.clone();
            let remedy = failure.remedy;
            match plan.after(failure) {
                NextAttempt::GiveUp(error) => return Err(self.with_near_names(error).await),
                NextAttempt::Ask { wait } => {
                    // The listener discards its partial text, or it would show both answers.
                    let broke_off = matches!(remedy, Remedy::AskAgain | Remedy::ReadAgain);
                    if broke_off || listener.has_partial_answer() {
                        listener.send(ModelDelta::Restarted { why: why.clone() }).await;
                    }
                    if let Some(delay) = wait {
                        listener.send(ModelDelta::Waiting { delay, why }).await;
                        tokio::time::sleep(delay).await;
                    }
                }
            }
        }
    }

    fn body(&self, request: &ModelRequest, form: RequestForm) -> Bytes {
        let mut body = self.parts.spec.protocol.body(request, &self.parts.about, form);
        merge(&mut body, &self.parts.extra);
        body.to_string().into()
    }

    // The vendor's own list is the best hint for a mistyped name.
    async fn with_near_names(&self, error: ModelError) -> ModelError {
        if error.kind != ModelErrorKind::UnknownModel {
            return error;
        }
        match listing::near_names(&self.parts).await {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

impl Model for RemoteModel {
    fn info(&self) -> &ModelInfo {
        &self.parts.about
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a mpsc::Sender<ModelDelta>,
    ) -> ModelAnswerFuture<'a> {
        Box::pin(self.ask(request, heard))
    }

    fn check(&self) -> ModelCheckFuture<'_> {
        Box::pin(listing::check(&self.parts))
    }
}
