//! The hooks of all levels: their files, which of them are in force, and their order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_config::{Config, Consents, Places, team_file};
use switchboard_document::{ConfigError, json_value, read_text};
use switchboard_rules::{PolicyLevel, Team};
use switchboard_trust::Approvals;

use crate::hooks::file::HookError;
use crate::hooks::file::{HookFileContents, HookFileOwner, parse_contents};
use crate::hooks::hook::{Hook, HookEvent, HookRules};
use crate::hooks::seal::ApprovalSeal;

const HOOKS_FILE: &str = "hooks.json";

/// The locations of all hook files.
#[derive(Clone, Debug)]
pub struct HookSource {
    pub places: Places,
    /// The team's file, if the settings name one.
    pub team: Team,
}

/// All hooks, in the order in which they run.
#[derive(Clone, Debug, Default)]
pub struct HookSet {
    /// Every location that was read, the strongest level first.
    pub files: Vec<HookFile>,
    before: Vec<Arc<Hook>>,
    after: Vec<Arc<Hook>>,
}

/// One hook file and its state.
#[derive(Clone, Debug)]
pub struct HookFile {
    pub level: PolicyLevel,
    /// Its path, whether or not it exists.
    pub path: PathBuf,
    pub state: HookFileState,
    pub rules: Option<HookRules>,
    /// The hooks of the file, whether or not they are in force.
    pub hooks: Vec<Arc<Hook>>,
    /// The digest that an approval of its current state refers to.
    pub digest: Option<String>,
    /// Warnings about entries that are ignored.
    pub notes: Vec<String>,
    /// The scripts of the project that it names.
    pub scripts: Vec<PathBuf>,
}

/// Whether a hook file is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookFileState {
    Absent,
    InForce,
    /// An unapproved file of a project: its hooks do not run.
    NotApproved,
    /// No call may run until the file is fixed.
    Broken(HookError),
}

impl HookSource {
    /// Returns the locations for this configuration.
    pub fn new(places: &Places, config: &Config) -> Self {
        Self { places: places.clone(), team: config.team.clone() }
    }

    /// Reads the hook files of all levels.
    pub fn read(&self) -> HookSet {
        let approvals = Approvals::load(&self.places.state);
        let of_level = |level: PolicyLevel| {
            let files = self.places.level_files(level, HOOKS_FILE).into_iter();
            files.map(move |path| {
                let text = read_text(&path);
                load_trusted(level, path, text)
            })
        };
        // Verified on every read: a file that does not match its digest is rejected.
        let team = team_file(&self.team, &self.places.state, HOOKS_FILE);
        let missing = team.as_ref().err().map(|error| HookFile {
            state: HookFileState::Broken(HookError::Unreadable(error.clone())),
            ..HookFile::absent(PolicyLevel::Team, error.file.to_path_buf())
        });
        let team = team.unwrap_or_default();
        // All folders up to the root of the repository; none overrides another.
        let folders = self.places.project_folders().into_iter();
        let of_project = folders.flat_map(|folder| {
            [".switchboard", ".cursor"].map(|settings| {
                load_project(folder.join(settings).join(HOOKS_FILE), folder, &approvals)
            })
        });
        let files = of_level(PolicyLevel::Enterprise)
            .chain(team.map(|(path, text)| load_trusted(PolicyLevel::Team, path, Ok(Some(text)))))
            .chain(of_project)
            .chain(of_level(PolicyLevel::User));
        HookSet::new(files.chain(missing).collect())
    }

    /// Returns the files to watch for changes of this set.
    pub fn watched_files(&self, set: &HookSet) -> Vec<PathBuf> {
        // Scripts too: an edited script makes its project's approval void.
        let files = set.files.iter().flat_map(|file| {
            std::iter::once(file.path.clone()).chain(file.scripts.iter().cloned())
        });
        files.chain([Approvals::file(&self.places.state)]).collect()
    }
}

impl HookSet {
    fn new(files: Vec<HookFile>) -> Self {
        let of = |when: HookEvent| {
            let counting = files.iter().filter(|file| file.state == HookFileState::InForce);
            let hooks = counting.flat_map(|file| &file.hooks).filter(|hook| hook.event == when);
            hooks.cloned().collect()
        };
        Self { before: of(HookEvent::Before), after: of(HookEvent::After), files }
    }

    /// Returns the hooks that run before a call.
    pub fn before(&self) -> &[Arc<Hook>] {
        &self.before
    }

    /// Returns the hooks that run after a call.
    pub fn after(&self) -> &[Arc<Hook>] {
        &self.after
    }

    /// Returns the error of the first broken file, because of which no call may run.
    pub fn first_error(&self) -> Option<&HookError> {
        self.files.iter().find_map(|file| match &file.state {
            HookFileState::Broken(error) => Some(error),
            HookFileState::Absent | HookFileState::InForce | HookFileState::NotApproved => None,
        })
    }

    /// Returns whether the set has no effect on calls.
    pub fn is_idle(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.first_error().is_none()
    }

    /// Returns the problems of the files that a user should know about.
    pub fn problems(&self) -> Vec<String> {
        let problem = |file: &HookFile| match &file.state {
            HookFileState::Absent | HookFileState::InForce => None,
            HookFileState::NotApproved => Some(format!(
                "the project's hooks have not been approved and do not run ({})",
                file.path.display()
            )),
            HookFileState::Broken(error) => Some(format!("no call may run: {error}")),
        };
        self.files.iter().filter_map(problem).collect()
    }
}

impl HookFile {
    fn absent(level: PolicyLevel, path: PathBuf) -> Self {
        Self {
            level,
            path,
            state: HookFileState::Absent,
            rules: None,
            hooks: Vec::new(),
            digest: None,
            notes: Vec::new(),
            scripts: Vec::new(),
        }
    }

    fn with_contents(mut self, read: HookFileContents, seal: Option<&Arc<ApprovalSeal>>) -> Self {
        self.rules = Some(read.rules);
        self.notes = read.notes;
        let sealed = |hook: Hook| Arc::new(Hook { seal: seal.cloned(), ..hook });
        self.hooks = read.hooks.into_iter().map(sealed).collect();
        self
    }
}

/// Loads a file of a level that needs no approval.
fn load_trusted(
    level: PolicyLevel,
    path: PathBuf,
    text: Result<Option<String>, ConfigError>,
) -> HookFile {
    let file = HookFile::absent(level, path);
    let folder = file.path.parent().unwrap_or(Path::new(".")).to_owned();
    let owner = HookFileOwner { file: &file.path, level, folder: &folder };
    match text {
        Ok(None) => file,
        Err(error) => {
            HookFile { state: HookFileState::Broken(HookError::Unreadable(error)), ..file }
        }
        Ok(Some(text)) => match parse_text(&text, owner) {
            Ok(read) => {
                HookFile { state: HookFileState::InForce, ..file }.with_contents(read, None)
            }
            Err(error) => HookFile { state: HookFileState::Broken(error), ..file },
        },
    }
}

/// Loads a project's file, which is in force only if it is exactly as approved.
///
/// An approved file that has changed or disappeared stops every call.
fn load_project(path: PathBuf, project: &Path, approvals: &Approvals) -> HookFile {
    let file = HookFile::absent(PolicyLevel::Project, path);
    let owner = HookFileOwner { file: &file.path, level: PolicyLevel::Project, folder: project };
    let approved = approvals.hooks_digest(&file.path);
    // A model with file access could otherwise disable a hook by editing or deleting its file.
    let changed = || HookFileState::Broken(HookError::Changed { file: file.path.clone() });
    let unapproved = |noted: Option<String>| {
        let state = if approved.is_some() { changed() } else { HookFileState::NotApproved };
        HookFile { state, notes: noted.into_iter().collect(), ..file.clone() }
    };
    let text = match read_text(&file.path) {
        Ok(Some(text)) => text,
        Ok(None) if approved.is_some() => return HookFile { state: changed(), ..file },
        Ok(None) => return file,
        Err(error) => return unapproved(Some(error.to_string())),
    };
    // Without readable approvals this file may have been approved, so it must not be skipped.
    if let Some(error) = approvals.problem() {
        let state = HookFileState::Broken(HookError::Unreadable(error.clone()));
        return HookFile { state, ..file };
    }
    let read = match parse_text(&text, owner) {
        Ok(read) => read,
        Err(error) => return unapproved(Some(error.to_string())),
    };
    let seal = match ApprovalSeal::new(&text, &read.hooks, project) {
        Ok(seal) => Arc::new(seal),
        Err(problem) => return unapproved(Some(problem)),
    };
    let state = match approved {
        Some(approved) if approved == seal.digest() => HookFileState::InForce,
        Some(_) => changed(),
        None => HookFileState::NotApproved,
    };
    let scripts = seal.scripts().cloned().collect();
    let digest = Some(seal.digest().to_owned());
    HookFile { state, digest, scripts, ..file }.with_contents(read, Some(&seal))
}

fn parse_text(text: &str, owner: HookFileOwner<'_>) -> Result<HookFileContents, HookError> {
    parse_contents(&json_value(owner.file, text).map_err(HookError::Unreadable)?, owner)
}
