//! Installs the gateways of other projects, each once, in pinned versions.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use tokio::process::Command;

use crate::error::Result;

/// Maximum duration of an installation.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PeerGateway {
    Supergateway,
    OneMcp,
    PythonProxy,
    Mcpo,
    FastMcp,
    CrateProxy,
}

/// A package in a pinned version, and the folder for it.
struct PeerPackage {
    title: &'static str,
    name: &'static str,
    version: &'static str,
    folder: &'static str,
}

/// The folder of the peers, with the installed and the missing ones.
pub(super) struct PeerGateways {
    pub(super) folder: PathBuf,
    pub(super) installed: Vec<PeerGateway>,
    pub(super) missing: Vec<(PeerGateway, String)>,
}

impl PeerGateway {
    /// Peers that install within about a minute.
    pub(super) const USUAL: [Self; 5] =
        [Self::Supergateway, Self::OneMcp, Self::PythonProxy, Self::Mcpo, Self::FastMcp];

    const fn package(self) -> PeerPackage {
        let (title, name, version, folder) = match self {
            Self::Supergateway => {
                ("supergateway 4.0.0, Node", "supergateway", "4.0.0", "supergateway")
            }
            Self::OneMcp => ("1MCP 0.35.0, Node", "@1mcp/agent", "0.35.0", "1mcp"),
            Self::PythonProxy => {
                ("mcp-proxy 0.13.0, Python", "mcp-proxy", "0.13.0", "mcp-proxy-python")
            }
            Self::Mcpo => ("mcpo 0.0.20, Python", "mcpo", "0.0.20", "mcpo"),
            Self::FastMcp => ("FastMCP 4.1.2 proxy, Python", "fastmcp", "4.1.2", "fastmcp"),
            Self::CrateProxy => ("mcp-proxy 0.6.0, Rust", "mcp-proxy", "0.6.0", "mcp-proxy-rust"),
        };
        PeerPackage { title, name, version, folder }
    }

    pub(super) const fn title(self) -> &'static str {
        self.package().title
    }

    /// Returns pinned packages that it needs but does not declare.
    const fn extra_packages(self) -> &'static [&'static str] {
        match self {
            // Does not load with version 2 of the SDK, nor with a newer FastAPI.
            Self::Mcpo => &["mcp==1.30.0", "fastapi==0.115.14"],
            _ => &[],
        }
    }

    pub(super) fn home(self, folder: &Path) -> PathBuf {
        folder.join(self.package().folder)
    }
}

/// Installs the wanted peers below `folder`. A peer that fails is listed as missing, with the
/// reason.
pub(super) async fn install(folder: PathBuf, wanted: &[PeerGateway]) -> Result<PeerGateways> {
    let mut peers = PeerGateways { folder, installed: Vec::new(), missing: Vec::new() };
    for peer in wanted {
        let home = peer.home(&peers.folder);
        let stamp = home.join("installed");
        let PeerPackage { name, version, .. } = peer.package();
        let beside = peer.extra_packages().join(" ");
        let pin = format!("{name} {version}, {beside}\n{}\n", home.display());
        if std::fs::read_to_string(&stamp).is_ok_and(|found| found == pin) {
            peers.installed.push(*peer);
            continue;
        }
        eprintln!("installing {}", peer.title());
        if home.exists() {
            std::fs::remove_dir_all(&home)?;
        }
        std::fs::create_dir_all(&home)?;
        match install_one(*peer, &home).await {
            Ok(()) => {
                std::fs::write(&stamp, pin)?;
                peers.installed.push(*peer);
            }
            Err(failure) => peers.missing.push((*peer, failure.to_string())),
        }
    }
    Ok(peers)
}

async fn install_one(peer: PeerGateway, home: &Path) -> Result<()> {
    let PeerPackage { name, version, .. } = peer.package();
    match peer {
        PeerGateway::Supergateway | PeerGateway::OneMcp => {
            let manifest =
                serde_json::json!({ "private": true, "dependencies": { name: version } });
            std::fs::write(home.join("package.json"), manifest.to_string())?;
            let mut npm = Command::new("npm");
            npm.current_dir(home);
            npm.args(["install", "--no-package-lock", "--no-audit", "--no-fund"]);
            run_installer(&mut npm).await
        }
        PeerGateway::PythonProxy | PeerGateway::Mcpo | PeerGateway::FastMcp => {
            run_installer(Command::new("python3").args(["-m", "venv"]).arg(home)).await?;
            let mut pip = Command::new(home.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            run_installer(pip.arg(format!("{name}=={version}")).args(peer.extra_packages())).await
        }
        PeerGateway::CrateProxy => {
            let mut cargo =
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["install", "--quiet", "--locked", name, "--version", version, "--root"]);
            run_installer(cargo.arg(home)).await
        }
    }
}

/// Runs an installer. If it fails, the reason is the first line of standard error with the word
/// "error", or the last line.
async fn run_installer(command: &mut Command) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let running = tokio::time::timeout(INSTALL_TIMEOUT, command.spawn()?.wait_with_output()).await;
    let output = running.map_err(|_| format!("it took longer than {INSTALL_TIMEOUT:?}"))??;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_reason = |line: &&str| line.to_lowercase().contains("error");
    let reason = said.lines().find(is_reason).or_else(|| said.lines().last());
    Err(format!("{}: {}", output.status, reason.unwrap_or("no reason given")).into())
}
