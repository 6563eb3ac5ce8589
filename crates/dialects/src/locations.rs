//! The locations of the products' files.

use std::path::{Path, PathBuf};

/// The folders and variables that determine the locations of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFolders {
    pub system: OperatingSystem,
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, if it is set.
    pub config: Option<PathBuf>,
    /// `APPDATA`, if it is set.
    pub roaming: Option<PathBuf>,
    pub project: Option<PathBuf>,
    /// `CLINE_MCP_SETTINGS_PATH`, if it is set.
    pub cline_settings: Option<PathBuf>,
    /// `CODEX_HOME`, if it is set.
    pub codex_home: Option<PathBuf>,
}

/// An operating system with its own folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatingSystem {
    /// Linux and other Unixes.
    Linux,
    MacOs,
    Windows,
}

/// A file that may contain servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub scope: FileScope,
    pub file: PathBuf,
    pub section: FileSection,
}

/// The audience of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileScope {
    User,
    Project,
}

/// The part of a file that contains the servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSection {
    Top,
    /// The section of this folder in the user's file of Claude Code.
    Folder(String),
}

impl Location {
    pub(crate) const fn user(file: PathBuf) -> Self {
        Self { scope: FileScope::User, file, section: FileSection::Top }
    }

    pub(crate) const fn project(file: PathBuf) -> Self {
        Self { scope: FileScope::Project, file, section: FileSection::Top }
    }
}

impl UserFolders {
    pub(crate) fn application(&self, name: &str) -> PathBuf {
        match self.system {
            OperatingSystem::Linux => self.dot_config(name),
            OperatingSystem::MacOs => self.home.join("Library/Application Support").join(name),
            OperatingSystem::Windows => self.roaming_folder().join(name),
        }
    }

    pub(crate) fn dot_config(&self, name: &str) -> PathBuf {
        self.config.clone().unwrap_or_else(|| self.home.join(".config")).join(name)
    }

    pub(crate) fn roaming_folder(&self) -> PathBuf {
        self.roaming.clone().unwrap_or_else(|| self.home.join("AppData/Roaming"))
    }

    pub(crate) fn at_home(&self, name: &str) -> Location {
        Location::user(self.home.join(name))
    }

    pub(crate) fn with_project(&self, user: PathBuf, name: &str) -> Vec<Location> {
        std::iter::once(Location::user(user)).chain(self.in_project(name)).collect()
    }

    pub(crate) fn in_project(&self, name: &str) -> Option<Location> {
        // A file in the home folder is the user's own, even if it is the current project folder.
        let project = self.project.as_deref().filter(|project| *project != self.home);
        project.map(|project: &Path| Location::project(project.join(name)))
    }
}
