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

/// What is held of one server.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)] // An older instance may lack some members.
#[schemars(!default)]
pub struct HeldServerShown {
    /// The server.
    pub server: String,
    /// Why all of the server is held, if it is.
    pub whole: Option<String>,
    /// What is held.
    pub definitions: Vec<HeldShown>,
    /// Everything about it, if it waits for its first approval.
    #[serde(deserialize_with = "ignore")]
    pub new: Option<NewServer>,
}

/// Skips the member: only the console's pages show it, and they build it in the same process.
fn ignore<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<Option<T>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}

/// A definition that is held.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HeldShown {
    /// The server.
    pub server: String,
    /// What it describes.
    pub kind: PinKind,
    /// Its name; empty for instructions.
    pub name: String,
    /// Why it is held.
    pub why: String,
    /// Its fingerprint, which an approval quotes.
    pub digest: String,
    /// What is different: lines that begin with `-` or `+`.
    pub diff: Vec<String>,
    /// Whether a person's approval is what it waits for.
    pub can_be_approved: bool,
}

/// Something that the scanner found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundShown {
    /// The server.
    pub server: String,
    /// What the definition describes.
    pub kind: &'static str,
    /// Its name; empty for instructions.
    pub name: String,
    /// `held` or `asked about`.
    pub state: &'static str,
    /// What was found, in words.
    pub findings: Vec<String>,
}

/// How a definition stands to what was approved.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PinShown {
    /// `approved`, `not seen before` or `not pinned`.
    pub state: &'static str,
    /// The fingerprint that was approved.
    pub digest: Option<String>,
}

/// Returns all quarantined definitions, by server.
pub fn held_servers(host: &Host) -> Vec<HeldServerShown> {
    let quarantine = host.quarantine().load();
    let mut new = host.first_use().new_servers();
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

/// Returns the number of quarantined definitions.
pub fn held_count(host: &Host) -> usize {
    let quarantine = host.quarantine().load();
    quarantine.servers.values().map(|held| held.definitions.len()).sum()
}

/// Returns the definition of a tool if it is quarantined.
pub(crate) fn held_tool(host: &Host, server: &str, name: &str) -> Option<HeldShown> {
    let quarantine = host.quarantine().load();
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

/// Returns the scanner findings that a person should look at.
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
        QuarantineReason::NotKept(_) | QuarantineReason::NotLocked => false,
    }
}
