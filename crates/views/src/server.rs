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

const MAX_LOG_LINES: usize = 200;
/// How many bytes are read from the end of a log, which may be huge.
const MAX_TAIL_BYTES: u64 = 64 << 10;

/// A server with its configuration, offers, log and messages.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)] // An older instance may lack some members.
#[schemars(!default)]
pub struct ServerShown {
    #[serde(flatten)]
    pub row: ServerRow,
    /// Configuration file with the server's entry.
    pub source: Option<String>,
    /// Whether the server can be enabled and disabled here.
    pub can_switch: bool,
    /// Whether the server supports a login here.
    pub can_log_in: bool,
    /// Stored login, if there is one.
    pub login: Option<StoredLogin>,
    /// Digest that an approval of the entry must quote, if one is needed.
    pub approval_digest: Option<String>,
    /// Configuration entry in lines, without secrets.
    pub lines: Vec<String>,
    /// Security findings in the configuration entry.
    pub findings: Vec<EntryFinding>,
    /// Definitions that need approval.
    pub held: Vec<HeldServerShown>,
    /// Name and version that the server reports, as JSON.
    pub calls_itself: Option<String>,
    /// Instructions of the server for models.
    pub instructions: Option<String>,
    /// Tools that the server offers.
    pub offered_tools: Vec<ToolRow>,
    /// Definitions that were rejected, with reasons.
    pub faults: Vec<String>,
    /// Memory of its processes in bytes, if the system reports it.
    pub memory_bytes: Option<u64>,
    /// Number of lines on standard output that are not messages.
    pub noise_lines: u64,
    /// Exit status of the process, if it ended.
    pub exit: Option<String>,
    /// Last lines of standard error.
    pub log: Vec<String>,
    /// Log messages and notifications of the server.
    pub messages: Vec<ServerMessage>,
}

/// Returns the view of a server.
pub async fn server(host: &Host, name: &str) -> Result<ServerShown, ViewError> {
    let fleet = host.fleet().load();
    let found = fleet.servers.get(name);
    let server = found.ok_or_else(|| ViewError::NotFound(format!("unknown server `{name}`")))?;
    let file = log_file(host.state_folder(), &server.id);
    let runs = server.instances.iter().filter_map(|instance| instance.health.run());
    let heads: Vec<u32> = runs.filter_map(|run| run.process).collect();
    // Reading the log and the process table blocks.
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
        // The built-in server has no file in which `disabled` could be set.
        can_switch: source.is_some(),
        can_log_in: config.is_some_and(|it| matches!(it.transport, Transport::Http { .. })),
        login,
        approval_digest: config.filter(|_| wants_approval).map(|it| it.approval_digest.clone()),
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
    // A missing log is normal: the server may never have written to standard error.
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(MAX_TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    // The first byte may be in the middle of a character, and logs need not be UTF-8.
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
