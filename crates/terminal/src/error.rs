//! Errors of commands: message, cause and remedy.

use std::process::ExitCode;

use switchboard_document::ConfigError;
use switchboard_host::{StartError, TaskError};
use switchboard_oauth::LoginError;
use switchboard_store::{QueueError, SessionError};
use switchboard_text::escape;

use crate::exit_code;
use crate::printer::talk;

/// An error that ends a command: the message, a remedy and the exit code.
#[derive(Debug)]
pub struct CliError {
    pub message: String,
    pub hint: Option<String>,
    pub code: u8,
}

impl CliError {
    /// Returns an error without a hint.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code }
    }

    /// Returns an error in the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(exit_code::USAGE, message)
    }

    /// Adds the remedy to the error.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the error and returns the exit code.
    pub fn show(&self) -> ExitCode {
        talk(&format!("error: {}", escape(&self.message)));
        if let Some(hint) = &self.hint {
            talk(&format!("hint: {}", escape(hint)));
        }
        ExitCode::from(self.code)
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        let hint = error.hint.as_deref().map(str::to_owned);
        Self { message: error.to_string(), hint, code: exit_code::CONFIG }
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        let message = error.to_string();
        match error {
            StartError::Ledger(ledger) => {
                let hint = ledger.hint().map(str::to_owned);
                Self { message, hint, code: exit_code::TROUBLE }
            }
            StartError::Policy(problem) => {
                let hint = problem.hint.as_deref().map(str::to_owned);
                Self { message, hint, code: exit_code::CONFIG }
            }
        }
    }
}

impl From<switchboard_store::LedgerError> for CliError {
    fn from(error: switchboard_store::LedgerError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { message: error.to_string(), hint, code: exit_code::TROUBLE }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::new(exit_code::TROUBLE, error.to_string())
    }
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        let code = match &error {
            SessionError::Unknown { .. }
            | SessionError::Ambiguous { .. }
            | SessionError::BadName(_)
            | SessionError::BadId(_)
            | SessionError::InUse { .. }
            | SessionError::NoSuchStep { .. } => exit_code::USAGE,
            _ => exit_code::TROUBLE,
        };
        Self { message: error.to_string(), hint: error.hint(), code }
    }
}

impl From<QueueError> for CliError {
    fn from(error: QueueError) -> Self {
        let code = match &error {
            QueueError::Unknown(_) | QueueError::OtherDigest { .. } | QueueError::DoesNotFit(_) => {
                exit_code::USAGE
            }
            QueueError::Over { .. } => exit_code::NOT_RUN,
            QueueError::Store { .. } => exit_code::TROUBLE,
        };
        Self { message: error.to_string(), hint: error.hint().map(str::to_owned), code }
    }
}

impl From<LoginError> for CliError {
    fn from(error: LoginError) -> Self {
        let code = match &error {
            LoginError::NotForLogin { .. } => exit_code::USAGE,
            LoginError::NoKey { .. }
            | LoginError::NoClient { .. }
            | LoginError::NoSecret { .. } => exit_code::CONFIG,
            LoginError::Unreadable { .. } | LoginError::NotStored { .. } => exit_code::TROUBLE,
            LoginError::Refused { code, .. } if code == "access_denied" => exit_code::NOT_ALLOWED,
            LoginError::Blocked { .. }
            | LoginError::Failed { .. }
            | LoginError::Untrusted { .. }
            | LoginError::Refused { .. }
            | LoginError::BadAnswer(_)
            | LoginError::TooLate(_)
            | LoginError::Over
            | LoginError::NotVisited(_) => exit_code::NOT_RUN,
        };
        Self { message: error.to_string(), hint: error.hint(), code }
    }
}

impl From<TaskError> for CliError {
    fn from(error: TaskError) -> Self {
        let hint = error.hint().map(str::to_owned);
        let code = match &error {
            TaskError::Ledger(_) => exit_code::TROUBLE,
            TaskError::NoCall(_) | TaskError::NoTask(_) => exit_code::USAGE,
            TaskError::Server { .. } => exit_code::FAILED,
        };
        Self { message: error.to_string(), hint, code }
    }
}
