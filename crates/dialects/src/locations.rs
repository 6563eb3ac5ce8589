//! Where the products keep their files.

use std::path::{Path, PathBuf};

/// What the files' places depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFolders {
    pub system: OperatingSystem,
    pub home: PathBuf,
    /// The folder for configuration, if it is not the usual one (`XDG_CONFIG_HOME`).
    pub config: Option<PathBuf>,
    /// The folder for data of programs on Windows (`APPDATA`).
    pub roaming: Option<PathBuf>,
    /// The folder of the project.
    pub project: Option<PathBuf>,
    /// Cline's file, if it is not where it usually is (`CLINE_MCP_SETTINGS_PATH`).
    pub cline_settings: Option<PathBuf>,
    /// Codex's folder, if it is not the usual one (`CODEX_HOME`).
    pub codex_home: Option<PathBuf>,
}

/// An operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatingSystem {
    /// Linux and other Unixes.
    Linux,
    MacOs,
    Windows,
}

/// A file in which servers may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub scope: FileScope,
    pub file: PathBuf,
    /// The part of it.
    pub section: FileSection,
}

/// For whom a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileScope {
    User,
    /// Everybody who works on the project.
    Project,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSection {
    /// Where servers usually are.
    Top,
    /// What Claude Code keeps about this folder in the user's file.
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
    /// The folder in which programs of a desktop keep their settings.
    pub(crate) fn application(&self, name: &str) -> PathBuf {
        match self.system {
            OperatingSystem::Linux => self.dot_config(name),
            OperatingSystem::MacOs => self.home.join("Library/Application Support").join(name),
            OperatingSystem::Windows => self.roaming_folder().join(name),
        }
    }

    /// The folder in which programs of a terminal keep their settings on Unix.
    pub(crate) fn dot_config(&self, name: &str) -> PathBuf {
        self.config.clone().unwrap_or_else(|| self.home.join(".config")).join(name)
    }

    pub(crate) fn roaming_folder(&self) -> PathBuf {
        self.roaming.clone().unwrap_or_else(|| self.home.join("AppData/Roaming"))
    }

    /// A file in the home folder.
    pub(crate) fn at_home(&self, name: &str) -> Location {
        Location::user(self.home.join(name))
    }

    /// A file of the user, and a file in the folder of the project, if there is one.
    pub(crate) fn with_project(&self, user: PathBuf, name: &str) -> Vec<Location> {
        std::iter::once(Location::user(user)).chain(self.in_project(name)).collect()
    }

    /// A file in the folder of the project, if there is one.
    pub(crate) fn in_project(&self, name: &str) -> Option<Location> {
        // A file below home is the user's own, also where somebody works in the home folder.
        let project = self.project.as_deref().filter(|project| *project != self.home);
        project.map(|project: &Path| Location::project(project.join(name)))
    }
}
