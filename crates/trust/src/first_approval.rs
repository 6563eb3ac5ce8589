//! The answer to a server's first use: approves its definitions as shown, or refuses the server.

use std::path::Path;

use switchboard_core::ServerId;
use switchboard_store::{Audit, AuditNote};
use switchboard_text::Digest;

use crate::pins::quarantine_book;
use crate::pins_file::Pins;
use crate::quarantine::{Quarantine, QuarantineReason, QuarantinedDefinition};

/// Returns the fingerprint of all definitions of a server that waits for its first approval.
pub fn first_use_version(quarantine: &Quarantine, server: &ServerId) -> Option<String> {
    let held = quarantine.servers.get(server)?;
    if held.whole != Some(QuarantineReason::FirstUse) {
        return None;
    }
    let all = held.definitions.iter().fold(Digest::new("first use"), |all, one| {
        all.with(one.kind.as_str()).with(&one.name).with(&one.digest)
    });
    Some(all.hex())
}

/// Approves exactly the definitions that a person was shown.
pub fn approve_first_use(
    state: &Path,
    audit: &Audit,
    server: &str,
    identity: &str,
    shown: &[QuarantinedDefinition],
) -> Result<(), String> {
    let note = |held: &QuarantinedDefinition| AuditNote {
        event: AuditNote::APPROVED,
        server: server.to_owned(),
        kind: held.kind.as_str().to_owned(),
        name: held.name.clone(),
        digest: held.digest.clone(),
        detail: "first use".to_owned(),
    };
    let notes: Vec<AuditNote> = shown.iter().map(note).collect();
    // First the audit log: an approval that cannot be recorded must not take effect.
    audit.add(&notes).map_err(|error| error.to_string())?;
    let book = quarantine_book(shown);
    let changed = Pins::edit(state, identity, |pins| {
        pins.server = server.to_owned();
        // Another process may have recorded other definitions meanwhile.
        pins.approve_exact(&book);
    });
    changed.map(drop).map_err(|error| error.to_string())
}

/// Records that a person refused a server, so that processes without a person hold it too.
pub fn refuse_first_use(state: &Path, server: &str, identity: &str) -> Result<(), String> {
    let changed = Pins::edit(state, identity, |pins| {
        pins.server = server.to_owned();
        // A server that was approved meanwhile by another process stays approved.
        pins.asked = pins.approved.is_empty();
    });
    changed.map(drop).map_err(|error| error.to_string())
}
