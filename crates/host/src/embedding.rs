//! What a program that embeds the host needs beside the line: short ways to start it and to answer.

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
    /// What the user has configured, as the program `switchboard` would find it.
    ///
    /// # Errors
    /// When there is no home folder.
    pub fn for_user() -> Result<Self, ConfigError> {
        let environment = Environment::from_process_checked()?;
        Ok(Self::new(Places::find(&environment, &[])?, environment))
    }

    /// Nothing but what the program says: no file of the user or of a project is read. Records and
    /// other state are kept in this folder.
    #[must_use]
    pub fn standalone(state: impl Into<PathBuf>) -> Self {
        Self::new(Places::without_files(state.into()), Environment::from_process())
    }

    /// The same with this file of servers and settings, and no other.
    #[must_use]
    pub fn with_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.places.explicit.push(file.into());
        self
    }

    /// The same with somebody who decides where the rules leave it to a person.
    #[must_use]
    pub fn with_reviewer(mut self, reviewer: impl Reviewer + 'static) -> Self {
        self.reviewer = Arc::new(reviewer);
        self
    }

    /// The same with somebody who answers what servers ask: forms to fill in, addresses to visit.
    ///
    /// Without one, servers are told that nobody can be asked.
    #[must_use]
    pub fn with_asker(self, asker: impl Asker + 'static) -> Self {
        self.with_answers(|waiting| {
            FaceAnswers::new(Arc::new(asker), Vec::new()).with_queue(waiting)
        })
    }

    /// The same, and with models for the servers whose entry says that they may ask one.
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
        self.answers = Arc::new(answers(waiting.clone()));
        self.waiting = Some(waiting);
        self
    }

    /// The same with a server whose tools are functions of the program. It takes the place of one
    /// of the same name in a file.
    ///
    /// # Errors
    /// When that is no name for a server.
    pub fn with_server(mut self, name: &str, server: InProcess) -> Result<Self, ServerIdError> {
        self.in_process.insert(ServerId::new(name)?, Arc::new(server));
        Ok(self)
    }
}

impl Host {
    /// Answers what waits for a person, as they saw it: [`Host::reviews`] lists it, and `by` says
    /// where they saw it. The first answer counts, whoever gives it.
    ///
    /// # Errors
    /// When it does not wait any more, or it is no answer to what was asked.
    pub async fn answer(
        &self,
        entry: &QueueEntry,
        given: UserDecision,
        by: &str,
    ) -> Result<(), QueueError> {
        self.reviews().answer(&entry.id, &entry.digest, given, by).await
    }
}

/// A function that decides at once is a reviewer.
impl<F: Fn(&Question) -> Answer + Send + Sync> Reviewer for F {
    fn ask<'a>(&'a self, question: &'a Question) -> review::ReviewFuture<'a> {
        Box::pin(async move { Ok(self(question)) })
    }
}

/// A function that replies at once is an asker.
impl<F: Fn(&Ask) -> AskReply + Send + Sync> Asker for F {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        Box::pin(async move { self(ask) })
    }
}
