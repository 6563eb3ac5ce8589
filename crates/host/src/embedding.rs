//! Shortcuts for programs that embed the host: options, reviewers and askers.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_builtin::InProcess;
use switchboard_config::{Environment, Places};
use switchboard_core::{Answer, Sampler, ServerId, ServerIdError};
use switchboard_document::ConfigError;
use switchboard_policy::Question;
use switchboard_store::{AskReply, QueueEntry, QueueError, QueueFile, UserDecision};

use crate::host::Host;
use crate::options::{Options, Recording};
use crate::review;
use crate::review::{
    Ask, Asker, DEFAULT_REVIEW_LIMIT, FaceAnswers, ReplyFuture, ReviewQueue, Reviewer,
};

impl Options {
    /// Uses the user's configuration, found as the program `switchboard` finds it.
    pub fn for_user() -> Result<Self, ConfigError> {
        let environment = Environment::from_process_checked()?;
        Ok(Self::new(Places::find(&environment, &[])?, environment))
    }

    /// Uses only the program's own settings, and no file of the user or of a project. The folder
    /// `state` holds the record and other state.
    #[must_use]
    pub fn standalone(state: impl Into<PathBuf>) -> Self {
        Self::new(Places::without_files(state.into()), Environment::from_process())
    }

    /// Adds a file of servers and settings.
    #[must_use]
    pub fn with_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.places.explicit.push(file.into());
        self
    }

    /// Sets the reviewer that decides calls whose verdict is *ask*.
    #[must_use]
    pub fn with_reviewer(mut self, reviewer: impl Reviewer + 'static) -> Self {
        self.reviewer = Arc::new(reviewer);
        self
    }

    /// Sets the asker that answers elicitations: forms to fill in, URLs to visit. Without one, the
    /// host does not declare the elicitation capability to servers.
    #[must_use]
    pub fn with_asker(self, asker: impl Asker + 'static) -> Self {
        self.with_answers(|waiting| {
            FaceAnswers::new(Arc::new(asker), Vec::new()).with_queue(waiting)
        })
    }

    /// Like [`Options::with_asker`], and sets a sampler for servers that are configured to use one.
    #[must_use]
    pub fn with_asker_and_sampler(
        self,
        asker: impl Asker + 'static,
        sampler: impl Sampler + 'static,
    ) -> Self {
        self.with_answers(|waiting| {
            FaceAnswers::new(Arc::new(asker), Vec::new())
                .with_queue(waiting)
                .with_sampler(Arc::new(sampler))
        })
    }

    fn with_answers(mut self, answers: impl FnOnce(ReviewQueue) -> FaceAnswers) -> Self {
        let store = match self.record {
            Recording::On => QueueFile::in_state_folder(&self.places.state),
            Recording::Off => QueueFile::in_memory(),
        };
        let waiting = ReviewQueue::new(store, DEFAULT_REVIEW_LIMIT);
        // One queue for both: other faces find the questions of `answers` in the host's queue.
        self.answers = Arc::new(answers(waiting.clone()));
        self.waiting = Some(waiting);
        self
    }

    /// Adds a server whose tools are functions of the program. It replaces a configured server with
    /// the same id. Fails if `name` is not a valid id.
    pub fn with_server(mut self, name: &str, server: InProcess) -> Result<Self, ServerIdError> {
        self.in_process.insert(ServerId::new(name)?, Arc::new(server));
        Ok(self)
    }
}

impl Host {
    /// Answers a pending entry of [`Host::reviews`]; `by` records where it was answered. Fails if
    /// the entry is no longer pending, or if the answer does not fit it.
    pub async fn answer(
        &self,
        entry: &QueueEntry,
        given: UserDecision,
        by: &str,
    ) -> Result<(), QueueError> {
        self.reviews().answer(&entry.id, &entry.digest, given, by).await
    }
}

/// A function that decides immediately is a reviewer.
impl<F: Fn(&Question) -> Answer + Send + Sync> Reviewer for F {
    fn ask<'a>(&'a self, question: &'a Question) -> review::ReviewFuture<'a> {
        Box::pin(async move { Ok(self(question)) })
    }
}

/// A function that replies immediately is an asker.
impl<F: Fn(&Ask) -> AskReply + Send + Sync> Asker for F {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        Box::pin(async move { self(ask) })
    }
}
