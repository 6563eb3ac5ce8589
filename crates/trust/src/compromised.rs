//! Quarantines a whole server when one of its approved tools turns into an attack.

use switchboard_catalog::Server;
use switchboard_scan::{
    DefinitionKind, ScanFinding, Severity, is_clear_attack, overall_severity, scan_definition,
    scan_text,
};

use crate::pins::{ScreenedOffers, withhold_server};
use crate::pins_file::PinKind;
use crate::quarantine::{QuarantineReason, QuarantinedDefinition};

/// Quarantines the whole server if one of its held definitions is an attack: a server that turned
/// malicious is not trusted with its other tools.
pub(crate) fn quarantine_server(server: &Server, screened: ScreenedOffers) -> ScreenedOffers {
    if screened.held.whole.is_some() {
        return screened;
    }
    let Some(turned) = screened.held.definitions.iter().find(|held| is_compromised(held)) else {
        return screened;
    };
    let why = QuarantineReason::Turned { name: turned.name.clone() };
    withhold_server(server, screened.held.definitions, why)
}

/// Returns the scanner's findings in a quarantined definition.
#[must_use]
pub fn findings_in(held: &QuarantinedDefinition) -> Vec<ScanFinding> {
    match held.kind {
        PinKind::Instructions => {
            scan_text("", &serde_json::from_str::<String>(&held.now).unwrap_or_default())
        }
        PinKind::Tool | PinKind::Prompt | PinKind::Template => {
            scan_definition(definition_kind(held.kind), &held.now)
        }
    }
}

pub(crate) const fn definition_kind(kind: PinKind) -> DefinitionKind {
    match kind {
        PinKind::Instructions => DefinitionKind::Instructions,
        PinKind::Tool => DefinitionKind::Tool,
        PinKind::Prompt => DefinitionKind::Prompt,
        PinKind::Template => DefinitionKind::Template,
    }
}

/// Returns whether a held definition marks its server as compromised. Only tools count: prompts and
/// templates may contain third-party text.
fn is_compromised(held: &QuarantinedDefinition) -> bool {
    if held.kind != PinKind::Tool {
        return false;
    }
    match held.why {
        QuarantineReason::Changed => overall_severity(&findings_in(held)) == Some(Severity::Block),
        // The tool was never approved, so only an unmistakable attack counts, as at first use.
        QuarantineReason::New | QuarantineReason::NotLocked => is_clear_attack(&findings_in(held)),
        QuarantineReason::Renamed { .. }
        | QuarantineReason::FirstUse
        | QuarantineReason::Instructions
        | QuarantineReason::Gone
        | QuarantineReason::Revoked
        | QuarantineReason::NotKept(_)
        | QuarantineReason::Turned { .. } => false,
    }
}

#[cfg(test)]
#[path = "compromised_tests.rs"]
mod tests;
