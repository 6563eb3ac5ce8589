//! Who is measured, and how each is started.

use std::path::Path;

use serde::Serialize;
use tokio::process::Command;

use crate::error::Result;
use crate::load::CallLoad;

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ClientContestant {
    Floor,
    Wire,
    Line,
    Ledger,
    Rmcp,
    TypeScript,
    Python,
}

impl ClientContestant {
    pub(super) const ALL: [Self; 7] = [
        Self::Floor,
        Self::Wire,
        Self::Line,
        Self::Ledger,
        Self::Rmcp,
        Self::TypeScript,
        Self::Python,
    ];

    /// What the tables call it.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Floor => "floor: a bare client",
            Self::Wire => "ours: the wire",
            Self::Line => "ours: the whole line",
            Self::Ledger => "ours: the whole line, recorded",
            Self::Rmcp => "rmcp 3.8.0",
            Self::TypeScript => "TypeScript SDK",
            Self::Python => "Python SDK",
        }
    }

    /// How many turns it runs before it is as fast as it gets: V8 compiles what is called often, in
    /// the background and in several steps.
    pub(super) const fn warm_up(self) -> u64 {
        if matches!(self, Self::TypeScript) { 20 } else { 3 }
    }

    /// Whether what it needs is there.
    pub(super) fn is_available(self, testenv: Option<&Path>) -> bool {
        match (self, testenv) {
            (Self::TypeScript, Some(testenv)) => {
                testenv.join("npm/node_modules/@modelcontextprotocol/sdk").is_dir()
            }
            (Self::Python, Some(testenv)) => testenv.join("python/bin/python").exists(),
            (Self::TypeScript | Self::Python, None) => false,
            _ => true,
        }
    }

    /// The program that measures it, told by its input.
    pub(super) fn command(
        self,
        load: CallLoad,
        url: Option<&str>,
        testenv: Option<&Path>,
    ) -> Result<Command> {
        let ours = std::env::current_exe()?;
        let mut command = match (self, testenv) {
            (Self::TypeScript, Some(testenv)) => {
                let modules = testenv.join("npm/node_modules");
                let mut command = Command::new(modules.join("node/bin/node"));
                command.arg(script("client.mjs")).arg("--modules").arg(modules);
                command
            }
            (Self::Python, Some(testenv)) => {
                let mut command = Command::new(testenv.join("python/bin/python"));
                command.arg(script("client.py"));
                command
            }
            _ => {
                let mut command = Command::new(&ours);
                command.args(["client", self.word()]);
                command
            }
        };
        command.args(load.to_words());
        match url {
            Some(url) => command.arg("--url").arg(url),
            None if matches!(self, Self::TypeScript | Self::Python) => {
                command.arg("--server").arg(&ours)
            }
            None => &mut command,
        };
        Ok(command)
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Wire => "wire",
            Self::Line => "line",
            Self::Ledger => "ledger",
            Self::Rmcp => "rmcp",
            Self::TypeScript | Self::Python => "",
        }
    }
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}
