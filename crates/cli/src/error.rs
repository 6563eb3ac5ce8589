//! What goes wrong at the terminal: what it is, what caused it, what to do next.

use std::process::ExitCode;

use switchboard_host::StartError;
use switchboard_host::config::ConfigError;
use switchboard_host::format::escape;
use switchboard_host::login::LoginError;
use switchboard_host::record::SessionError;
use switchboard_host::review::WaitingError;
use switchboard_registry::RegistryError;
use switchboard_registry::bundle::BundleError;
use switchboard_registry::plan::PlanError;

use crate::exit_code;
use crate::ui::printer::talk;

/// An error for a person.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) code: u8,
}

impl CliError {
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(exit_code::USAGE, message)
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the error and gives the exit code.
    pub(crate) fn show(&self) -> ExitCode {
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

impl From<switchboard_host::record::LedgerError> for CliError {
    fn from(error: switchboard_host::record::LedgerError) -> Self {
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

impl From<WaitingError> for CliError {
    fn from(error: WaitingError) -> Self {
        let code = match &error {
            WaitingError::Unknown(_)
            | WaitingError::OtherDigest { .. }
            | WaitingError::DoesNotFit(_) => exit_code::USAGE,
            WaitingError::Over { .. } => exit_code::NOT_RUN,
            WaitingError::Store { .. } => exit_code::TROUBLE,
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

impl From<RegistryError> for CliError {
    fn from(error: RegistryError) -> Self {
        let code = match &error {
            RegistryError::BadAddress { .. }
            | RegistryError::Unknown { .. }
            | RegistryError::BadName(_) => exit_code::USAGE,
            RegistryError::Unreachable { .. }
            | RegistryError::Refused { .. }
            | RegistryError::LeadsElsewhere { .. }
            | RegistryError::TooLong { .. }
            | RegistryError::Unreadable { .. } => exit_code::NOT_RUN,
        };
        Self { message: error.to_string(), hint: error.hint().map(str::to_owned), code }
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        let code = match &error {
            PlanError::Missing(_) | PlanError::DoesNotFit { .. } | PlanError::NotAsked(_) => {
                exit_code::USAGE
            }
            PlanError::NotPinned { .. }
            | PlanError::NoRunner(_)
            | PlanError::BadPackage(_)
            | PlanError::Listens(_)
            | PlanError::RunnerArgument(_)
            | PlanError::Hostile { .. }
            | PlanError::NoDigest(_) => exit_code::NOT_ALLOWED,
        };
        Self { message: error.to_string(), hint: error.hint(), code }
    }
}

impl From<BundleError> for CliError {
    fn from(error: BundleError) -> Self {
        let code = match error {
            BundleError::Plan(error) => return error.into(),
            BundleError::NotRead(_) => exit_code::USAGE,
            BundleError::NotInstalled(_) => exit_code::TROUBLE,
            BundleError::NoArchive(_)
            | BundleError::TooLarge(_)
            | BundleError::BadEntry { .. }
            | BundleError::NoManifest(_)
            | BundleError::OtherPlatform { .. }
            | BundleError::OtherDigest { .. } => exit_code::NOT_ALLOWED,
        };
        Self::new(code, error.to_string())
    }
}

impl From<switchboard_agent::OpenError> for CliError {
    fn from(error: switchboard_agent::OpenError) -> Self {
        match error {
            switchboard_agent::OpenError::Record(error) => error.into(),
            switchboard_agent::OpenError::Sessions(error) => error.into(),
            switchboard_agent::OpenError::Unreadable(error) => {
                Self::new(exit_code::TROUBLE, error.to_string())
            }
        }
    }
}
