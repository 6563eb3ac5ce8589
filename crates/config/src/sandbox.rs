//! The `sandbox` section of a server entry: the resources that the server may use.

use std::path::PathBuf;

use switchboard_document::{ConfigError, Node, NodeValue};

use crate::reader::ConfigReader;

/// The resources that a confined server may use, in addition to essential system files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// Paths for reading and for executing programs.
    pub read: Vec<PathBuf>,
    /// Paths for reading, executing and writing.
    pub write: Vec<PathBuf>,
    pub network: NetworkAccess,
    /// Memory limit of each process, in megabytes.
    pub memory_mb: Option<usize>,
    /// Maximum number of processes of the server's user.
    pub processes: Option<usize>,
    /// CPU time limit of each process, in seconds.
    pub cpu_seconds: Option<usize>,
}

/// Whether a server may use the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetworkAccess {
    #[default]
    Open,
    /// No network, not even the loopback interface.
    Off,
}

/// How a server is confined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Confinement {
    #[default]
    None,
    /// Observes the accesses of the server to suggest a profile, without confining it.
    Learn,
    Profile(Sandbox),
}

const KEYS: &[&str] = &["read", "write", "network", "memoryMb", "processes", "cpuSeconds"];

pub(crate) fn read(
    reader: &mut ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<Confinement, ConfigError> {
    match &node.value {
        NodeValue::Bool(false) => return Ok(Confinement::None),
        NodeValue::Bool(true) => return Ok(Confinement::Profile(Sandbox::default())),
        NodeValue::Text(word) if word == "learn" => return Ok(Confinement::Learn),
        NodeValue::Object(_) => {}
        _ => {
            let wanted = "must be true, false, `learn` or an object";
            return Err(reader.key_error(node.at, key, wanted));
        }
    }
    let members = reader.members(node, key)?;
    // Not a warning as elsewhere: a misspelled limit would not limit anything.
    if let Some(other) = members.iter().find(|member| !KEYS.contains(&member.name.as_str())) {
        let name = format!("{key}.{}", other.name);
        return Err(reader.key_error(other.at, &name, "is not known"));
    }
    let mut sandbox = Sandbox::default();
    for member in members.iter().filter(|member| !member.value.is_null()) {
        let node = &member.value;
        let key = &format!("{key}.{}", member.name);
        match member.name.as_str() {
            "read" => sandbox.read = paths(reader, node, key)?,
            "write" => sandbox.write = paths(reader, node, key)?,
            "network" => {
                let open = reader.flag(node, key)?;
                sandbox.network = if open { NetworkAccess::Open } else { NetworkAccess::Off };
            }
            "memoryMb" => sandbox.memory_mb = Some(reader.count(node, key, 16..=1_048_576)?),
            "processes" => sandbox.processes = Some(reader.count(node, key, 1..=100_000)?),
            "cpuSeconds" => sandbox.cpu_seconds = Some(reader.count(node, key, 1..=31_536_000)?),
            _ => {}
        }
    }
    Ok(Confinement::Profile(sandbox))
}

fn paths(reader: &ConfigReader<'_>, node: &Node, key: &str) -> Result<Vec<PathBuf>, ConfigError> {
    let base = reader.variables.workspace;
    let texts = reader.texts(node, key)?;
    Ok(texts.iter().map(|text| reader.resolve(text, base)).collect())
}
