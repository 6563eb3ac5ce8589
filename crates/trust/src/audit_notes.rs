//! Audit notes about findings in definitions.

use std::collections::HashSet;

use switchboard_catalog::Flagged;
use switchboard_core::{EventKind, Events};
use switchboard_scan::{DefinitionKind, ScanFinding, Severity, overall_severity};
use switchboard_store::{Audit, AuditNote};

use crate::compromised::{definition_kind, findings_in};
use crate::quarantine::Quarantine;
use crate::screening::VisibleFleet;

/// Definitions already noted, by server, kind, name and fingerprint.
pub(crate) type Noted = HashSet<(String, DefinitionKind, String, String)>;

/// Returns notes about findings in visible definitions that are not noted yet.
pub fn visible_notes(visible: &VisibleFleet, noted: &mut Noted) -> Vec<AuditNote> {
    let worth_it = visible.flagged.iter().filter(|one| one.severity >= Severity::Ask);
    let new = worth_it.filter(|one| {
        noted.insert((one.server.to_string(), one.kind, one.name.clone(), one.pin.clone()))
    });
    new.map(flagged_note).collect()
}

/// Returns notes about findings in quarantined definitions that are not noted yet.
pub fn held_notes(held: &Quarantine, noted: &mut Noted) -> Vec<AuditNote> {
    let mut notes = Vec::new();
    for (server, one) in held.servers.iter().flat_map(|(server, held)| {
        held.definitions.iter().map(move |definition| (server, definition))
    }) {
        let kind = definition_kind(one.kind);
        if !noted.insert((server.to_string(), kind, one.name.clone(), one.digest.clone())) {
            continue;
        }
        let findings = findings_in(one);
        if let Some(severity) = overall_severity(&findings).filter(|found| *found >= Severity::Ask)
        {
            notes.push(AuditNote {
                event: AuditNote::FLAGGED,
                server: server.to_string(),
                kind: kind.as_str().to_owned(),
                name: one.name.clone(),
                digest: one.digest.clone(),
                detail: detail(severity, &findings),
            });
        }
    }
    notes
}

/// Writes notes to the audit log; a failure is reported as an event.
pub async fn write_notes(audit: &Audit, notes: Vec<AuditNote>, events: &Events) {
    if notes.is_empty() {
        return;
    }
    // Adding notes waits for the disk.
    let audit = audit.clone();
    let written = tokio::task::spawn_blocking(move || audit.add(&notes)).await;
    let problem = match written {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    // Screening does not depend on the audit log, so the failure is only reported.
    events.emit(|| EventKind::ConfigChanged { problems: vec![problem] });
}

fn flagged_note(flagged: &Flagged) -> AuditNote {
    AuditNote {
        event: AuditNote::FLAGGED,
        server: flagged.server.to_string(),
        kind: flagged.kind.as_str().to_owned(),
        name: flagged.name.clone(),
        digest: flagged.pin.clone(),
        detail: detail(flagged.severity, &flagged.findings),
    }
}

fn detail(severity: Severity, findings: &[ScanFinding]) -> String {
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
    format!("{}: {}", severity.as_str(), rules.join(", "))
}
