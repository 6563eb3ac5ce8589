//! Approvals, pins and quarantine: which definitions the user has approved.
//!
//! Takes the fleet that the supervisor publishes, and the user's approvals, pins and lock file.
//! Returns the fleet without definitions that are new, changed or suspicious, and the reasons.
//! Never runs a call or prints a question; the host and the faces ask.

mod accepted;
mod always_answers;
mod approvals;
mod audit_notes;
mod compromised;
mod fetch;
mod first_approval;
mod first_use;
mod lock_file;
mod packages;
mod pin_gate;
mod pins;
mod pins_file;
mod quarantine;
mod screened_server;
mod screening;

pub use accepted::{add_accepted, new_acceptance, remove_accepted};
pub use always_answers::{AlwaysAllowed, AlwaysAnswers, ApprovedDefinition};
pub use approvals::Approvals;
pub use audit_notes::{held_notes, visible_notes, write_notes};
pub use compromised::findings_in;
pub use fetch::fetch_team_files;
pub use first_approval::{approve_first_use, first_use_version, refuse_first_use};
pub use first_use::{FirstUseClaim, PinnedUnseen, Presence};
pub use lock_file::{LockFile, LockedServer, offered_names};
pub use packages::confirmed::ConfirmedPackages;
pub use packages::locked::{Evidence, LockedPackage, PackageSpec, fetched_packages};
pub use packages::lookup::PackageRegistries;
pub use pin_gate::{PinGate, PinGateOptions};
pub use pins::{
    pending_definitions, pin_digest, pinnable_definitions, quarantine_book, reported_version,
};
pub use pins_file::{PinKind, PinnedAnnotations, Pins};
pub use quarantine::{Quarantine, QuarantineReason, QuarantinedDefinition, QuarantinedServer};
pub use screening::{DefinitionScanner, VisibleFleet};
