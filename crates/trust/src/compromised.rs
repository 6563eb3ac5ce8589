//! A server of which a definition has turned into an attack since it was approved: nothing of it is used.

use switchboard_catalog::Server;
use switchboard_scan::{Finding, Kind, Severity, is_gross, scan_definition, scan_text, verdict};

use crate::pins::{Screened, whole_of};
use crate::pins_file::PinKind;
use crate::quarantine::{Held, Why};

/// Holds all of a server if what is held of it is an attack: who turns is not trusted in the rest.
#[must_use]
pub(crate) fn hold_turned(server: &Server, screened: Screened) -> Screened {
    if screened.held.whole.is_some() {
        return screened;
    }
    let Some(turned) = screened.held.definitions.iter().find(|held| has_turned(held)) else {
        return screened;
    };
    let why = Why::Turned { name: turned.name.clone() };
    whole_of(server, screened.held.definitions, why)
}

/// What the scanner finds in a definition that is held.
#[must_use]
pub fn findings_in(held: &Held) -> Vec<Finding> {
    match held.kind {
        PinKind::Instructions => {
            scan_text("", &serde_json::from_str::<String>(&held.now).unwrap_or_default())
        }
        PinKind::Tool | PinKind::Prompt | PinKind::Template => {
            scan_definition(kind_of(held.kind), &held.now)
        }
    }
}

/// The scanner's word for a kind.
#[must_use]
pub(crate) const fn kind_of(kind: PinKind) -> Kind {
    match kind {
        PinKind::Instructions => Kind::Instructions,
        PinKind::Tool => Kind::Tool,
        PinKind::Prompt => Kind::Prompt,
        PinKind::Template => Kind::Template,
    }
}

/// Names of prompts and templates may be somebody else's words; a tool is the server's own.
fn has_turned(held: &Held) -> bool {
    if held.kind != PinKind::Tool {
        return false;
    }
    match held.why {
        Why::Changed => verdict(&findings_in(held)) == Some(Severity::Block),
        // Nobody stood by it before: it weighs as much as at first sight.
        Why::New | Why::NotLocked => is_gross(&findings_in(held)),
        Why::Renamed { .. }
        | Why::FirstUse
        | Why::Instructions
        | Why::Gone
        | Why::Revoked
        | Why::NotKept(_)
        | Why::Turned { .. } => false,
    }
}

#[cfg(test)]
#[path = "compromised_tests.rs"]
mod tests;
