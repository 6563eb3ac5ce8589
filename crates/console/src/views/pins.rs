//! Definitions that are held until a person approves them, and what the scanner found.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_catalog::Flagged;
use switchboard_config::Transport;
use switchboard_host::NewServer;
use switchboard_scan::Severity;
use switchboard_trust::{
    PinKind, Pins, QuarantineReason, QuarantinedDefinition, QuarantinedServer,
};

use crate::actions::can_be_approved;
use crate::console::Console;

/// What is held of one server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HeldServerShown {
    /// The server.
    pub(crate) server: String,
    /// Why all of the server is held, if it is.
    pub(crate) whole: Option<String>,
    /// What is held.
    pub(crate) definitions: Vec<HeldShown>,
    /// Everything about it, if it waits for its first approval.
    pub(crate) new: Option<NewServer>,
}

/// A definition that is held.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct HeldShown {
    /// The server.
    pub(crate) server: String,
    /// What it describes.
    pub(crate) kind: PinKind,
    /// Its name; empty for instructions.
    pub(crate) name: String,
    /// Why it is held.
    pub(crate) why: String,
    /// Its fingerprint, which an approval quotes.
    pub(crate) digest: String,
    /// What is different: lines that begin with `-` or `+`.
    pub(crate) diff: Vec<String>,
    /// Whether a person's approval is what it waits for.
    pub(crate) can_be_approved: bool,
}

/// Something that the scanner found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FoundShown {
    /// The server.
    pub(crate) server: String,
    /// What the definition describes.
    pub(crate) kind: &'static str,
    /// Its name; empty for instructions.
    pub(crate) name: String,
    /// `held` or `asked about`.
    pub(crate) state: &'static str,
    /// What was found, in words.
    pub(crate) findings: Vec<String>,
}

/// How a definition stands to what was approved.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PinShown {
    /// `approved`, `not seen before` or `not pinned`.
    pub(crate) state: &'static str,
    /// The fingerprint that was approved.
    pub(crate) digest: Option<String>,
}

/// Everything that is held, by server.
pub(crate) fn held_servers(console: &Console) -> Vec<HeldServerShown> {
    let quarantine = console.host.quarantine().load();
    let mut new = console.host.first_use().new_servers();
    let is_shown = |held: &QuarantinedServer| {
        !held.definitions.is_empty() || held.whole == Some(QuarantineReason::FirstUse)
    };
    let servers = quarantine.servers.iter().filter(|(_, held)| is_shown(held));
    servers
        .map(|(id, held)| HeldServerShown {
            server: id.to_string(),
            whole: held.whole.as_ref().map(QuarantineReason::to_string),
            definitions: held.definitions.iter().map(|one| held_view(id.as_str(), one)).collect(),
            new: new.iter().position(|one| one.server == *id).map(|at| new.swap_remove(at)),
        })
        .collect()
}

/// How many definitions wait for an approval.
pub(crate) fn held_count(console: &Console) -> usize {
    let quarantine = console.host.quarantine().load();
    quarantine.servers.values().map(|held| held.definitions.len()).sum()
}

/// The held definition of a tool, if it is held.
pub(crate) fn held_tool(console: &Console, server: &str, name: &str) -> Option<HeldShown> {
    let quarantine = console.host.quarantine().load();
    let held = quarantine.servers.get(server)?.definitions.iter();
    let own = held.clone().find(|held| held.kind == PinKind::Tool && held.name == name);
    own.map(|held| held_view(server, held))
}

fn held_view(server: &str, held: &QuarantinedDefinition) -> HeldShown {
    HeldShown {
        server: server.to_owned(),
        kind: held.kind,
        name: held.name.clone(),
        why: held.why.to_string(),
        digest: held.digest.clone(),
        diff: held.diff().lines().map(str::to_owned).collect(),
        can_be_approved: can_be_approved(&held.why),
    }
}

/// What the scanner found that a person should look at.
pub(crate) fn scan_findings(console: &Console) -> Vec<FoundShown> {
    let flagged = console.host.flagged();
    flagged.iter().filter(|one| one.severity >= Severity::Ask).map(scan_finding).collect()
}

pub(crate) fn scan_finding(flagged: &Flagged) -> FoundShown {
    let findings = flagged.findings.iter().map(|finding| {
        let place = if finding.place.is_empty() { "the text" } else { &finding.place };
        format!("{} at {place}: {}", finding.rule.replace('_', " "), finding.excerpt)
    });
    FoundShown {
        server: flagged.server.to_string(),
        kind: flagged.kind.as_str(),
        name: flagged.name.clone(),
        state: if flagged.is_held() { "held" } else { "asked about" },
        findings: findings.collect(),
    }
}

/// How a tool that may be used stands to what was approved.
pub(crate) async fn pin_view(console: &Console, server: &str, tool: &str) -> PinShown {
    let none = PinShown { state: "not pinned", digest: None };
    let config = console.host.config().load();
    let found = config.servers.get(server).filter(|it| it.transport != Transport::Builtin);
    let Some(config) = found.filter(|_| config.settings.pins) else { return none };
    let state = console.places.state.clone();
    let identity = config.identity();
    let reading = tokio::task::spawn_blocking(move || Pins::load(&state, &identity));
    let Ok(Ok(pins)) = reading.await else { return none };
    let approved = pins.approved.get(&PinKind::Tool).and_then(|tools| tools.get(tool));
    match approved {
        Some(pinned) => PinShown { state: "approved", digest: Some(pinned.digest.clone()) },
        None => PinShown { state: "not seen before", digest: None },
    }
}
