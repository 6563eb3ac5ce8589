//! Errors of registries, plans and bundles, with exit codes.

use switchboard_registry::RegistryError;
use switchboard_registry::bundle::BundleError;
use switchboard_registry::plan::PlanError;
use switchboard_terminal::{CliError, exit_code};

/// Converts an error for the terminal.
pub(crate) fn registry_error(error: RegistryError) -> CliError {
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
    CliError { message: error.to_string(), hint: error.hint().map(str::to_owned), code }
}

/// Converts an error for the terminal.
pub(crate) fn plan_error(error: PlanError) -> CliError {
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
    CliError { message: error.to_string(), hint: error.hint(), code }
}

/// Converts an error for the terminal.
pub(crate) fn bundle_error(error: BundleError) -> CliError {
    let code = match error {
        BundleError::Plan(error) => return plan_error(error),
        BundleError::NotRead(_) => exit_code::USAGE,
        BundleError::NotInstalled(_) => exit_code::TROUBLE,
        BundleError::NoArchive(_)
        | BundleError::TooLarge(_)
        | BundleError::BadEntry { .. }
        | BundleError::NoManifest(_)
        | BundleError::OtherPlatform { .. }
        | BundleError::OtherDigest { .. } => exit_code::NOT_ALLOWED,
    };
    CliError::new(code, error.to_string())
}
