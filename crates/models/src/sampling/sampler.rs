//! Answers sampling requests with the configured models, each opened on first use.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_config::{Environment, ModelProfile};
use switchboard_core::{
    ChosenModel, ModelPreferences, SampleFuture, SampleRequest, SampleResult, Sampler, ToolUse,
};
use switchboard_prompting::{CallMode, Model};
use tokio::sync::mpsc;

use super::answer::sample_result;
use super::choose::choose;
use super::question::question;
use crate::open::open;
use crate::providers::model_info;

/// Answers sampling requests of servers with the configured models.
pub struct ModelSampler {
    profiles: BTreeMap<String, ModelProfile>,
    usual: Option<String>,
    environment: Environment,
    open: Mutex<BTreeMap<String, Arc<dyn Model>>>,
}

impl ModelSampler {
    /// Creates a sampler with the default `usual`, which is a profile or `provider:model`.
    #[must_use]
    pub fn new(
        profiles: BTreeMap<String, ModelProfile>,
        usual: Option<&str>,
        environment: Environment,
    ) -> Self {
        // With several profiles and no default, guessing could spend the user's money.
        let only = || profiles.keys().next().filter(|_| profiles.len() == 1).cloned();
        let usual = usual.map(str::to_owned).or_else(only);
        Self { profiles, usual, environment, open: Mutex::default() }
    }

    fn profile(&self, name: &str) -> Option<ModelProfile> {
        self.profiles.get(name).cloned().or_else(|| ModelProfile::from_spec(name))
    }

    fn model(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        let mut models = self.open.lock();
        if let Some(model) = models.get(name) {
            return Ok(Arc::clone(model));
        }
        let profile = self.profile(name).ok_or_else(|| format!("unknown model `{name}`"))?;
        let model = open(&profile, &self.environment).map_err(|error| error.to_string())?;
        models.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    async fn ask(&self, request: &SampleRequest) -> Result<SampleResult, String> {
        let model = self.model(&request.profile)?;
        let about = model.info();
        let (question, definitions) = question(request, about)?;
        // A closed channel discards the deltas: the server gets the complete answer.
        let (heard, nobody) = mpsc::channel(1);
        drop(nobody);
        let said = model.answer(&question, &heard).await.map_err(|error| error.to_string())?;
        sample_result(said, about, &question, definitions.as_ref())
    }
}

impl Sampler for ModelSampler {
    fn choose(&self, wishes: &ModelPreferences) -> Option<ChosenModel> {
        let name = choose(&self.profiles, self.usual.as_deref(), wishes)?;
        let about = model_info(&self.profile(&name)?);
        let tools = match about.calls {
            CallMode::Native(_) => ToolUse::Native,
            CallMode::Text(_) => ToolUse::None,
        };
        Some(ChosenModel { profile: name, model: about.model, tools })
    }

    fn sample<'a>(&'a self, request: &'a SampleRequest) -> SampleFuture<'a> {
        Box::pin(self.ask(request))
    }
}

impl std::fmt::Debug for ModelSampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelSampler").field("usual", &self.usual).finish_non_exhaustive()
    }
}
