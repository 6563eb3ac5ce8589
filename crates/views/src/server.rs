//! View model of one server: its state, configuration, offers, log and messages.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_catalog::ServerStatus;
use switchboard_config::{ServerConfig, Transport};
use switchboard_fleet::{ServerMessage, log_file, memory_below};
use switchboard_host::Host;
use switchboard_oauth::StoredLogin;
use switchboard_vetting::EntryFinding;

use crate::error::ViewError;
use crate::pins::{HeldServerShown, held_servers};
use crate::servers::{ServerRow, row};
use crate::tools::{ToolRow, tool_row};

/// Maximum number of log lines.
const MAX_LOG_LINES: usize = 200;
/// How many bytes are read from the end of a log.
const MAX_TAIL_BYTES: u64 = 64 << 10;

/// One server with everything about it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)] // An older instance may lack some members.
#[schemars(!default)]
pub struct ServerShown {
    /// Its row in the list.
    #[serde(flatten)]
    pub row: ServerRow,
    /// The configuration file that has it.
    pub source: Option<String>,
    /// Whether it can be switched on and off here.
    pub can_switch: bool,
    /// Whether somebody can log in to it here.
    pub can_log_in: bool,
    /// The login that is held for it.
    pub login: Option<StoredLogin>,
    /// What an approval of its entry refers to, where one is wanted.
    pub approval_digest: Option<String>,
    /// What its entry says, line by line, without secrets.
    pub lines: Vec<String>,
    /// What to know about it before it runs.
    pub findings: Vec<EntryFinding>,
    /// What of it is held until somebody approves it.
    pub held: Vec<HeldServerShown>,
    /// What the server calls itself, as JSON.
    pub calls_itself: Option<String>,
    /// What it wants a model to know.
    pub instructions: Option<String>,
    /// Its tools.
    pub offered_tools: Vec<ToolRow>,
    /// What was left out of its lists, and why.
    pub faults: Vec<String>,
    /// What its processes have in memory, where the system says.
    pub memory_bytes: Option<u64>,
    /// Lines on its output that are no messages.
    pub noise_lines: u64,
    /// How its process ended, if it did.
    pub exit: Option<String>,
    /// The last lines of its standard error.
    pub log: Vec<String>,
    /// What it said unasked.
    pub messages: Vec<ServerMessage>,
}

/// Returns the view of a server.
pub async fn server(host: &Host, name: &str) -> Result<ServerShown, ViewError> {
    let fleet = host.fleet().load();
    let found = fleet.servers.get(name);
    let server =
        found.ok_or_else(|| ViewError::NotFound(format!("there is no server `{name}`")))?;
    let file = log_file(host.state_folder(), &server.id);
    let runs = server.instances.iter().filter_map(|instance| instance.health.run());
    let heads: Vec<u32> = runs.filter_map(|run| run.process).collect();
    let looking = tokio::task::spawn_blocking(move || {
        let taken = heads.into_iter().filter_map(memory_below).reduce(|one, other| one + other);
        (tail(&file), taken)
    });
    let (log, memory_bytes) = looking.await.unwrap_or_default();
    let agreement = server.agreement.as_ref();
    let config = server.config.as_deref();
    let login = match config {
        // An unreadable login store shows no login; the next login reports the error.
        Some(config) => host.logins().stored_login(config).await.ok().flatten(),
        None => None,
    };
    let wants_approval = server.status == ServerStatus::NeedsApproval;
    let source = server.config.as_ref().map(|config| config.source.file.display().to_string());
    let source = source.filter(|file| !file.is_empty());
    Ok(ServerShown {
        row: row(server),
        can_switch: source.is_some(),
        can_log_in: config.is_some_and(|it| matches!(it.transport, Transport::Http { .. })),
        login,
        approval_digest: config
            .filter(|_| wants_approval)
            .map(|config| config.approval_digest.clone()),
        held: held_servers(host).into_iter().filter(|held| held.server == name).collect(),
        lines: config.map(ServerConfig::lines).unwrap_or_default(),
        findings: config.map(|config| config.findings.clone()).unwrap_or_default(),
        source,
        calls_itself: agreement.map(|agreement| agreement.server.as_str().to_owned()),
        instructions: agreement.and_then(|agreement| agreement.instructions.clone()),
        offered_tools: server.offers.tools.iter().map(|tool| tool_row(server, tool)).collect(),
        faults: server.offers.faults.clone(),
        memory_bytes,
        noise_lines: server.noise_lines(),
        exit: server.status.failure().and_then(|failure| failure.exit.clone()),
        log,
        messages: host.messages().list(&server.id),
    })
}

/// Returns the last lines of a file, or an empty list if it cannot be read.
fn tail(file: &Path) -> Vec<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(MAX_TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.get(lines.len().saturating_sub(MAX_LOG_LINES)..).unwrap_or_default();
    last.iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_shown_and_a_missing_one_is_empty() {
        let folder = std::env::temp_dir().join(format!("switchboard-tail-{}", std::process::id()));
        let all: Vec<String> =
            (0..MAX_LOG_LINES + 5).map(|number| format!("line {number}")).collect();
        std::fs::write(&folder, all.join("\n")).unwrap();
        let shown = tail(&folder);
        std::fs::remove_file(&folder).unwrap();
        assert_eq!(shown, all[5..]);
        assert_eq!(tail(&folder), Vec::<String>::new());
    }
}
