//! Finds the configuration files and the state folder.

use std::path::{Path, PathBuf};

use switchboard_document::ConfigError;
use switchboard_rules::PolicyLevel;

use crate::environment::Environment;
use crate::resolved::ConfigLayer;

const PROJECT_FILE: &str = "switchboard.json";

/// The files of one host and its state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub user: Option<PathBuf>,
    /// The file of the project that contains the current folder, or the path where it would be.
    pub project: Option<PathBuf>,
    /// Files given on the command line; if there are any, `user` and `project` are not read.
    pub explicit: Vec<PathBuf>,
    /// The folder for approvals and other state, never inside a project.
    pub state: PathBuf,
    /// The organisation's folder on this machine, which users cannot write to.
    pub system: Option<PathBuf>,
    /// The user's own folder; also set if the files are given on the command line.
    pub user_folder: Option<PathBuf>,
    /// The folder of the project that contains the current folder.
    pub project_folder: Option<PathBuf>,
    /// Further folders up to the root of the repository, which may contain rules and hooks.
    pub outer_folders: Vec<PathBuf>,
}

impl Places {
    /// Creates places with a state folder and without configuration files.
    pub const fn without_files(state: PathBuf) -> Self {
        Self {
            user: None,
            project: None,
            explicit: Vec::new(),
            state,
            system: None,
            user_folder: None,
            project_folder: None,
            outer_folders: Vec::new(),
        }
    }

    /// Finds the default places. If there are `explicit` files, only those are read.
    pub fn find(environment: &Environment, explicit: &[PathBuf]) -> Result<Self, ConfigError> {
        let own = environment
            .folder("SWITCHBOARD_HOME")
            .map(|folder| environment.current_dir.join(folder));
        let (config, state) = match own {
            Some(own) => (Some(own.clone()), Some(own.join("state"))),
            None if cfg!(windows) => (
                base_folder(environment, "APPDATA", "AppData/Roaming"),
                base_folder(environment, "LOCALAPPDATA", "AppData/Local"),
            ),
            None => (
                base_folder(environment, "XDG_CONFIG_HOME", ".config"),
                base_folder(environment, "XDG_STATE_HOME", ".local/state"),
            ),
        };
        let state = state.ok_or_else(|| {
            ConfigError::new(Path::new(""), "no home folder found to keep state in")
                .hint("set `SWITCHBOARD_HOME` to a folder")
        })?;
        let project = project_file(environment);
        let around = project.parent().map(Path::to_owned);
        let further = further_folders(environment, around.as_deref());
        // Explicit files replace the other files, but not the rules: `--config` must not be a way
        // around a policy.
        let is_default = explicit.is_empty();
        let user = config.as_ref().map(|folder| folder.join("config.json"));
        Ok(Self {
            user: user.filter(|_| is_default),
            project: Some(project).filter(|_| is_default),
            explicit: explicit.iter().map(|file| environment.current_dir.join(file)).collect(),
            state,
            system: system_folder(environment),
            user_folder: config,
            project_folder: around,
            outer_folders: further,
        })
    }

    /// Returns the paths of a level's rules or hooks.
    pub fn level_files(&self, level: PolicyLevel, name: &str) -> Vec<PathBuf> {
        let in_folder = |folder: &Option<PathBuf>| {
            folder.iter().map(|folder| folder.join(name)).collect::<Vec<_>>()
        };
        match level {
            PolicyLevel::Enterprise => in_folder(&self.system),
            // The settings name the files of the team.
            PolicyLevel::Team => Vec::new(),
            PolicyLevel::Project => {
                let folders = self.project_folders().into_iter();
                folders.map(|folder| folder.join(".switchboard").join(name)).collect()
            }
            PolicyLevel::User => in_folder(&self.user_folder),
        }
    }

    /// Returns the folders that may contain a project's rules and hooks, the project's own first.
    pub fn project_folders(&self) -> Vec<&Path> {
        self.project_folder.iter().chain(&self.outer_folders).map(PathBuf::as_path).collect()
    }

    /// Returns every file to read, the layer with the lowest precedence first.
    pub(crate) fn layers(&self) -> Vec<(&Path, ConfigLayer)> {
        let user = self.user.as_deref().map(|file| (file, ConfigLayer::User));
        let project = self.project.as_deref().map(|file| (file, ConfigLayer::Project));
        let explicit = self.explicit.iter().map(|file| (file.as_path(), ConfigLayer::Explicit));
        if self.explicit.is_empty() {
            user.into_iter().chain(project).collect()
        } else {
            explicit.collect()
        }
    }
}

/// Returns the organisation's folder.
fn system_folder(environment: &Environment) -> Option<PathBuf> {
    // The variable is for packagers and tests. It does not weaken security: a user who can set it
    // could as well start another program.
    environment.folder("SWITCHBOARD_SYSTEM").or_else(|| {
        Some(if cfg!(windows) {
            // Every user may create folders in `ProgramData`, so that folder cannot be trusted.
            environment.folder("ProgramFiles")?.join("Switchboard")
        } else if cfg!(target_os = "macos") {
            PathBuf::from("/Library/Application Support/Switchboard")
        } else {
            PathBuf::from("/etc/switchboard")
        })
    })
}

/// Returns the folder `switchboard` below a base folder.
fn base_folder(environment: &Environment, variable: &str, below_home: &str) -> Option<PathBuf> {
    // The XDG specification requires that relative paths are ignored.
    environment
        .folder(variable)
        .filter(|folder| folder.is_absolute())
        .or_else(|| environment.home.as_ref().map(|home| home.join(below_home)))
        .map(|folder| folder.join("switchboard"))
}

/// Returns the nearest project file in the current folder or an ancestor, up to the home folder or
/// the root of a repository.
fn project_file(environment: &Environment) -> PathBuf {
    for folder in environment.current_dir.ancestors() {
        let file = folder.join(PROJECT_FILE);
        if file.is_file() {
            return file;
        }
        if Some(folder) == environment.home.as_deref() || folder.join(".git").exists() {
            break;
        }
    }
    // A missing file has a path too, so that its creation can be watched.
    environment.current_dir.join(PROJECT_FILE)
}

/// Returns the other folders from the current one up to the project's folder or the root of the
/// repository, the higher of the two.
fn further_folders(environment: &Environment, around: Option<&Path>) -> Vec<PathBuf> {
    // Not the home folder, since other products keep the user's files in it.
    let home = environment.home.as_deref();
    let folders = environment.current_dir.ancestors();
    let folders: Vec<&Path> = folders.take_while(|folder| Some(*folder) != home).collect();
    let top = folders.iter().position(|folder| folder.join(".git").exists());
    let project = folders.iter().position(|folder| Some(*folder) == around);
    let last = top.max(project).unwrap_or(0);
    let up_to = folders.into_iter().take(last + 1);
    up_to.filter(|folder| Some(*folder) != around).map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    fn environment(variables: &[(&str, &str)], home: &Path, current: &Path) -> Environment {
        Environment {
            variables: variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            home: Some(home.to_owned()),
            current_dir: current.to_owned(),
        }
    }

    #[cfg(windows)]
    #[test]
    fn the_user_file_and_the_state_folder_are_where_windows_has_them() {
        let variables =
            [("AppData", r"C:\r"), ("LocalAppData", r"C:\l"), ("ProgramFiles", r"C:\p")];
        let found = |variables: &[(&str, &str)]| {
            let environment = environment(variables, Path::new(r"C:\h"), Path::new(r"C:\here"));
            let places = Places::find(&environment, &[]).unwrap();
            (places.user.unwrap(), places.state, places.system)
        };
        assert_eq!(
            found(&variables),
            (
                r"C:\r\switchboard\config.json".into(),
                r"C:\l\switchboard".into(),
                Some(r"C:\p\Switchboard".into())
            )
        );
        assert_eq!(
            found(&[]),
            (
                r"C:\h\AppData\Roaming\switchboard\config.json".into(),
                r"C:\h\AppData\Local\switchboard".into(),
                None
            )
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_user_file_and_the_state_folder_follow_the_environment() {
        type TestVariables = &'static [(&'static str, &'static str)];
        let cases: [(TestVariables, &str, &str); 5] = [
            (&[], "/h/.config/switchboard/config.json", "/h/.local/state/switchboard"),
            (
                &[("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s")],
                "/c/switchboard/config.json",
                "/s/switchboard",
            ),
            (
                &[("XDG_CONFIG_HOME", "relative"), ("XDG_STATE_HOME", "")],
                "/h/.config/switchboard/config.json",
                "/h/.local/state/switchboard",
            ),
            (
                &[("SWITCHBOARD_HOME", "/own"), ("XDG_STATE_HOME", "/s")],
                "/own/config.json",
                "/own/state",
            ),
            (&[("SWITCHBOARD_HOME", "own")], "/here/own/config.json", "/here/own/state"),
        ];
        for (variables, user, state) in cases {
            let environment = environment(variables, Path::new("/h"), Path::new("/here"));
            let places = Places::find(&environment, &[]).unwrap();
            assert_eq!((places.user, places.state), (Some(user.into()), state.into()));
        }
    }

    #[test]
    fn explicit_files_replace_the_usual_ones() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PROJECT_FILE), "{}").unwrap();
        let environment = environment(&[], folder.path(), folder.path());
        let places = Places::find(&environment, &["a.json".into()]).unwrap();
        let named = folder.path().join("a.json");
        assert_eq!(places.layers(), [(named.as_path(), ConfigLayer::Explicit)]);
        assert_eq!((places.user, places.project), (None, None));
    }

    #[test]
    fn the_nearest_project_file_counts_but_not_one_outside_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let [outer, repository, inner] = ["o", "o/r", "o/r/i"].map(|path| top.path().join(path));
        fs::create_dir_all(&inner).unwrap();
        let found = || {
            let environment = environment(&[], Path::new("/nowhere"), &inner);
            Places::find(&environment, &[]).unwrap().project.unwrap()
        };
        fs::write(outer.join(PROJECT_FILE), "{}").unwrap();
        assert_eq!(found(), outer.join(PROJECT_FILE));
        fs::create_dir(repository.join(".git")).unwrap();
        assert_eq!(found(), inner.join(PROJECT_FILE));
        fs::write(repository.join(PROJECT_FILE), "{}").unwrap();
        assert_eq!(found(), repository.join(PROJECT_FILE));
    }

    #[test]
    fn rules_and_hooks_may_stand_in_every_folder_up_to_the_top_of_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let names = ["home", "home/r", "home/r/a", "home/r/a/b"];
        let [home, repository, middle, inner] = names.map(|name| top.path().join(name));
        fs::create_dir_all(&inner).unwrap();
        let found = |current: &Path| {
            let places = Places::find(&environment(&[], &home, current), &[]).unwrap();
            places.project_folders().into_iter().map(Path::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(found(&inner), [&*inner], "nobody knows where the project ends");
        fs::create_dir(repository.join(".git")).unwrap();
        assert_eq!(found(&inner), [inner.clone(), middle.clone(), repository.clone()]);
        assert_eq!(found(&repository), [&*repository]);
        // A project file in an inner folder does not exclude the outer folders.
        fs::write(middle.join(PROJECT_FILE), "{}").unwrap();
        assert_eq!(found(&inner), [middle.clone(), inner.clone(), repository.clone()]);
        fs::write(home.join(PROJECT_FILE), "{}").unwrap();
        assert_eq!(found(&home), [&*home]);
    }

    #[test]
    fn the_search_ends_at_home() {
        let top = tempfile::tempdir().unwrap();
        let home = top.path().join("home");
        let current = home.join("work");
        fs::create_dir_all(&current).unwrap();
        fs::write(top.path().join(PROJECT_FILE), "{}").unwrap();
        let places = Places::find(&environment(&[], &home, &current), &[]).unwrap();
        assert_eq!(places.project, Some(current.join(PROJECT_FILE)));
    }

    #[test]
    fn a_dotenv_file_in_the_project_moves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".env"), "SWITCHBOARD_HOME=.\n").unwrap();
        let environment = environment(&[], Path::new("/h"), folder.path());
        let places = Places::find(&environment, &[]).unwrap();
        assert!(places.state.starts_with("/h"), "{places:?}");
    }

    #[test]
    fn without_a_home_folder_the_error_says_what_to_set() {
        let nowhere =
            Environment { variables: BTreeMap::new(), home: None, current_dir: PathBuf::from("/") };
        let error = Places::find(&nowhere, &[]).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("set `SWITCHBOARD_HOME` to a folder"));
    }
}
