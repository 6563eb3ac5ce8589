//! The hooks of all levels: which files there are, which of them count, and in which order.

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

/// The name of the files, and of their approvals.
const HOOKS_FILE: &str = "hooks.json";

/// Where hooks are found.
#[derive(Clone, Debug)]
pub struct HookSource {
    /// Where the files are.
    pub places: Places,
    /// Where the team's file is, if the settings name one.
    pub team: Team,
}

/// All hooks, in the order in which they are asked.
#[derive(Clone, Debug, Default)]
pub struct HookSet {
    /// Every place that was looked at, the strongest level first.
    pub files: Vec<HookFile>,
    before: Vec<Arc<Hook>>,
    after: Vec<Arc<Hook>>,
}

/// One file of hooks.
#[derive(Clone, Debug)]
pub struct HookFile {
    pub level: PolicyLevel,
    /// Where it is, or would be.
    pub path: PathBuf,
    pub state: HookFileState,
    /// Which rules it is written for.
    pub rules: Option<HookRules>,
    /// What it holds, whether it counts or not.
    pub hooks: Vec<Arc<Hook>>,
    /// What an approval of it, as it is, refers to.
    pub digest: Option<String>,
    /// What is there and does not count here.
    pub notes: Vec<String>,
    /// The project's scripts that it names.
    pub scripts: Vec<PathBuf>,
}

/// Whether a file of hooks counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookFileState {
    Absent,
    /// Its hooks are asked.
    InForce,
    /// A project's, and nobody has approved it: its hooks are not asked.
    NotApproved,
    /// No call may run before it is put right.
    Broken(HookError),
}

impl HookSource {
    /// Where hooks are found by these settings.
    #[must_use]
    pub fn new(places: &Places, config: &Config) -> Self {
        Self { places: places.clone(), team: config.team.clone() }
    }

    /// Reads all files as they are now.
    #[must_use]
    pub fn read(&self) -> HookSet {
        let approvals = Approvals::load(&self.places.state);
        let of_level = |level: PolicyLevel| {
            let files = self.places.level_files(level, HOOKS_FILE).into_iter();
            files.map(move |path| {
                let text = read_text(&path);
                load_trusted(level, path, text)
            })
        };
        // Each time: a file that is another one than its digest says does not count.
        let team = team_file(&self.team, &self.places.state, HOOKS_FILE);
        let missing = team.as_ref().err().map(|error| HookFile {
            state: HookFileState::Broken(HookError::Unreadable(error.clone())),
            ..HookFile::absent(PolicyLevel::Team, error.file.to_path_buf())
        });
        let team = team.unwrap_or_default();
        // Those of every folder up to the top of the repository: none takes the place of another.
        let folders = self.places.project_folders().into_iter();
        let of_project = folders.flat_map(|folder| {
            [".switchboard", ".cursor"].map(|beside| {
                load_project(folder.join(beside).join(HOOKS_FILE), folder, &approvals)
            })
        });
        let files = of_level(PolicyLevel::Enterprise)
            .chain(team.map(|(path, text)| load_trusted(PolicyLevel::Team, path, Ok(Some(text)))))
            .chain(of_project)
            .chain(of_level(PolicyLevel::User));
        HookSet::new(files.chain(missing).collect())
    }

    /// The files whose change means something, for hooks as they were read.
    pub fn watched_files(&self, set: &HookSet) -> Vec<PathBuf> {
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

    /// Those that are asked before a call.
    #[must_use]
    pub fn before(&self) -> &[Arc<Hook>] {
        &self.before
    }

    /// Those that are told after a call.
    #[must_use]
    pub fn after(&self) -> &[Arc<Hook>] {
        &self.after
    }

    /// Why no call may run: a file that should count cannot be followed.
    #[must_use]
    pub fn first_error(&self) -> Option<&HookError> {
        self.files.iter().find_map(|file| match &file.state {
            HookFileState::Broken(error) => Some(error),
            HookFileState::Absent | HookFileState::InForce | HookFileState::NotApproved => None,
        })
    }

    /// Whether calls have nothing to do with it.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.first_error().is_none()
    }

    /// What a person should know about the files.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let problem = |file: &HookFile| match &file.state {
            HookFileState::Absent | HookFileState::InForce => None,
            HookFileState::NotApproved => Some(format!(
                "the project's hooks have not been approved and are not run ({})",
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

/// The file of somebody whose word counts as it is.
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

/// The file of a project: it counts exactly as a person approved it, or not at all.
///
/// One that was approved and is something else by now, or gone, stops every call: whoever changed
/// it may have wanted to get rid of it.
fn load_project(path: PathBuf, project: &Path, approvals: &Approvals) -> HookFile {
    let file = HookFile::absent(PolicyLevel::Project, path);
    let owner = HookFileOwner { file: &file.path, level: PolicyLevel::Project, folder: project };
    let approved = approvals.hooks_digest(&file.path);
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
    // Who approved what cannot be told, so it may have been this.
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
