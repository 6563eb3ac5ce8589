//! View models of quarantined definitions, pins and scanner findings.

use schemars::JsonSchema;
use serde::de::{Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};
use switchboard_catalog::Flagged;
use switchboard_config::Transport;
use switchboard_host::{Host, NewServer};
use switchboard_scan::Severity;
use switchboard_trust::{
    PinKind, Pins, QuarantineReason, QuarantinedDefinition, QuarantinedServer,
};

/// Quarantined definitions of one server.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)] // An older instance may lack some members.
#[schemars(!default)]
pub struct HeldServerShown {
    /// Name of the server.
    pub server: String,
    /// Reason why the whole server is quarantined, if it is.
    pub whole: Option<String>,
    /// Definitions that are in quarantine.
    pub definitions: Vec<HeldShown>,
    /// Full description of a server that needs its first approval.
    #[serde(deserialize_with = "ignore")]
    pub new: Option<NewServer>,
}

/// Skips the member: only the console's pages show it, and they build it in the same process.
fn ignore<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<Option<T>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}

/// A definition in quarantine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HeldShown {
    /// Name of the server.
    pub server: String,
    /// Kind of the definition.
    pub kind: PinKind,
    /// Name of the definition; empty for instructions.
    pub name: String,
    /// Reason for the quarantine.
    pub why: String,
    /// Fingerprint that an approval must quote.
    pub digest: String,
    /// Diff to the approved definition: lines that begin with `-` or `+`.
    pub diff: Vec<String>,
    /// Whether an approval releases the definition.
    pub can_be_approved: bool,
}

/// A definition with scanner findings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundShown {
    /// Name of the server.
    pub server: String,
    /// Kind of the definition.
    pub kind: &'static str,
    /// Name of the definition; empty for instructions.
    pub name: String,
    /// State: `held` or `asked about`.
    pub state: &'static str,
    /// Findings of the scanner, as text.
    pub findings: Vec<String>,
}

/// The approval state of a definition.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct PinShown {
    /// State: `approved`, `not seen before` or `not pinned`.
    pub state: &'static str,
    /// Fingerprint of the approved definition.
    pub digest: Option<String>,
}

/// Returns all quarantined definitions, by server.
pub fn held_servers(host: &Host) -> Vec<HeldServerShown> {
    let quarantine = host.quarantine().load();
    let mut new = host.first_use().new_servers();
    // A server that needs its first approval may have no definitions, but still needs an answer.
    let is_shown = |held: &QuarantinedServer| {
        !held.definitions.is_empty() || held.whole == Some(QuarantineReason::FirstUse)
    };
    let servers = quarantine.servers.iter().filter(|(_, held)| is_shown(held));
    let views = servers.map(|(id, held)| HeldServerShown {
        server: id.to_string(),
        whole: held.whole.as_ref().map(QuarantineReason::to_string),
        definitions: held.definitions.iter().map(|one| held_view(id.as_str(), one)).collect(),
        new: new.iter().position(|one| one.server == *id).map(|at| new.swap_remove(at)),
    });
    views.collect()
}

/// Returns the number of quarantined definitions.
pub fn held_count(host: &Host) -> usize {
    let quarantine = host.quarantine().load();
    quarantine.servers.values().map(|held| held.definitions.len()).sum()
}

pub(crate) fn held_tool(host: &Host, server: &str, name: &str) -> Option<HeldShown> {
    let quarantine = host.quarantine().load();
    let mut held = quarantine.servers.get(server)?.definitions.iter();
    // A prompt of the same name has its own pin.
    let own = held.find(|held| held.kind == PinKind::Tool && held.name == name)?;
    Some(held_view(server, own))
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

pub(crate) fn scan_findings(host: &Host) -> Vec<FoundShown> {
    let flagged = host.flagged();
    flagged.iter().filter(|one| one.severity >= Severity::Ask).map(scan_finding).collect()
}

/// Returns a flagged definition with its findings in words.
pub fn scan_finding(flagged: &Flagged) -> FoundShown {
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

/// Returns whether the definition of a usable tool is pinned, and its approved fingerprint.
pub(crate) async fn pin_view(host: &Host, server: &str, tool: &str) -> PinShown {
    let none = PinShown { state: "not pinned", digest: None };
    let config = host.config().load();
    // The built-in server is part of this program, so its definitions have no pins.
    let found = config.servers.get(server).filter(|it| it.transport != Transport::Builtin);
    let Some(config) = found.filter(|_| config.settings.pins) else { return none };
    let state = host.state_folder().to_owned();
    let identity = config.identity();
    let reading = tokio::task::spawn_blocking(move || Pins::load(&state, &identity));
    let Ok(Ok(pins)) = reading.await else { return none };
    let approved = pins.approved.get(&PinKind::Tool).and_then(|tools| tools.get(tool));
    match approved {
        Some(pinned) => PinShown { state: "approved", digest: Some(pinned.digest.clone()) },
        None => PinShown { state: "not seen before", digest: None },
    }
}

/// Returns whether an approval by a person releases the definition.
pub const fn can_be_approved(why: &QuarantineReason) -> bool {
    match why {
        QuarantineReason::FirstUse
        | QuarantineReason::New
        | QuarantineReason::Changed
        | QuarantineReason::Renamed { .. }
        | QuarantineReason::Instructions
        | QuarantineReason::Gone
        | QuarantineReason::Revoked
        | QuarantineReason::Turned { .. } => true,
        // The pin file or the lock file has to be fixed first; an approval has no effect.
        QuarantineReason::NotKept(_) | QuarantineReason::NotLocked => false,
    }
}
