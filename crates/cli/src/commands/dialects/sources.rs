//! Finds and reads the configuration files of other products.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use switchboard_config::{Environment, Places};
use switchboard_dialects::{
    FileScope, FileSection, Location, Note, OperatingSystem, ProductDialect, ServerEntry,
    UserFolders, is_link, read_link,
};
use switchboard_terminal::{CliError, exit_code};

use crate::context::CommandContext;

/// Maximum size of a configuration file, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1_024 * 1_024;

pub(super) struct ImportSource {
    pub(super) dialect: ProductDialect,
    pub(super) place: String,
    pub(super) scope: &'static str,
    pub(super) entries: Vec<ServerEntry>,
    pub(super) notes: Vec<Note>,
}

/// A file that cannot be read; the others are still used.
pub(super) struct UnreadableFile {
    pub(super) place: String,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

pub(super) fn installed_sources(
    environment: &Environment,
    places: &Places,
    from: Option<ProductDialect>,
) -> (Vec<ImportSource>, Vec<UnreadableFile>) {
    let mut sources = Vec::new();
    let mut unreadable = Vec::new();
    let mut seen: Vec<(ProductDialect, Location)> = Vec::new();
    for surroundings in user_folders(environment, places) {
        for dialect in
            ProductDialect::ALL.into_iter().filter(|one| from.is_none_or(|from| from == *one))
        {
            for location in dialect.locations(&surroundings) {
                // The current folder and its project share the user's files.
                if seen.contains(&(dialect, location.clone())) {
                    continue;
                }
                match read(dialect, &location, surroundings.project.as_deref()) {
                    Ok(Some(source)) => sources.push(source),
                    Ok(None) => {}
                    Err(problem) => unreadable.push(problem),
                }
                seen.push((dialect, location));
            }
        }
    }
    (sources, unreadable)
}

pub(super) fn named_source(
    context: &CommandContext,
    name: &str,
    from: Option<ProductDialect>,
) -> Result<ImportSource, CliError> {
    if is_link(name) || name.contains("://") || name.starts_with("vscode:") {
        let (dialect, entry, notes) = read_link(name)
            .map_err(|cause| CliError::usage(format!("the link cannot be parsed: {cause}")))?;
        let place = format!("a link of {}", dialect.title());
        return Ok(ImportSource { dialect, place, scope: "link", entries: vec![entry], notes });
    }
    let file = context.environment.current_dir.join(name);
    let text = read_text(&file)
        .map_err(|cause| CliError::new(exit_code::CONFIG, format!("`{name}` {cause}")))?
        .ok_or_else(|| CliError::usage(format!("`{name}` does not exist")))?;
    let dialect = from.or_else(|| ProductDialect::guess(&file, &text)).ok_or_else(|| {
        CliError::usage(format!("cannot tell which product `{name}` belongs to"))
            .with_hint("name the product with `--from`")
    })?;
    let read = dialect.read(&text, &FileSection::Top).map_err(|cause| {
        let message = format!("`{name}` cannot be read as a file of {}: {cause}", dialect.title());
        CliError::new(exit_code::CONFIG, message).with_hint(cause.hint())
    })?;
    let around = user_folders(&context.environment, &context.places);
    let project = around.into_iter().find(|around| {
        // Relative paths of a project's file start at the project, not at the current folder.
        let mut projects = dialect.locations(around).into_iter();
        projects.any(|location| location.scope == FileScope::Project && location.file == file)
    });
    let mut entries = read.entries;
    if let Some(project) = project.and_then(|around| around.project) {
        entries = entries.iter().map(|entry| entry.with_project_folder(&project)).collect();
    }
    let place = file.display().to_string();
    Ok(ImportSource { dialect, place, scope: "file", entries, notes: read.notes })
}

fn read(
    dialect: ProductDialect,
    location: &Location,
    project: Option<&Path>,
) -> Result<Option<ImportSource>, UnreadableFile> {
    let place = location.file.display().to_string();
    let problem = |message: String, hint| UnreadableFile { place: place.clone(), message, hint };
    let text = read_text(&location.file)
        .map_err(|cause| problem(cause, "check the file and its permissions"))?;
    let Some(text) = text else { return Ok(None) };
    let read = dialect
        .read(&text, &location.section)
        .map_err(|cause| problem(cause.to_string(), cause.hint()))?;
    let is_projects = location.scope == FileScope::Project || location.section != FileSection::Top;
    let mut entries = read.entries;
    if let Some(project) = project.filter(|_| is_projects) {
        entries = entries.iter().map(|entry| entry.with_project_folder(project)).collect();
    }
    if entries.is_empty() && read.notes.is_empty() {
        return Ok(None);
    }
    let scope = match (location.scope, &location.section) {
        (FileScope::Project, _) => "project",
        (FileScope::User, FileSection::Top) => "user",
        (FileScope::User, FileSection::Folder(_)) => "folder",
    };
    Ok(Some(ImportSource { dialect, place, scope, entries, notes: read.notes }))
}

/// Reads a regular file; `None` if it does not exist.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, String> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(cause) => return Err(format!("cannot be read: {cause}")),
    };
    // Reading a pipe or a device may block forever.
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let file = fs::File::open(path).map_err(|cause| format!("cannot be read: {cause}"))?;
    let mut text = String::new();
    // The limit holds for the read itself: the file may grow after its size was checked.
    file.take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|cause| format!("cannot be read: {cause}"))?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("is longer than {MAX_FILE_BYTES} bytes"));
    }
    Ok(Some(text))
}

pub(super) fn user_folders(environment: &Environment, places: &Places) -> Vec<UserFolders> {
    let Some(home) = environment.home.clone() else { return Vec::new() };
    let system = match () {
        () if cfg!(windows) => OperatingSystem::Windows,
        () if cfg!(target_os = "macos") => OperatingSystem::MacOs,
        () => OperatingSystem::Linux,
    };
    let folder = |name: &str| {
        let value = environment.variable(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let here = environment.current_dir.clone();
    let around = places.project_folder.clone().filter(|around| *around != here);
    let for_project = |project: PathBuf| UserFolders {
        system,
        home: home.clone(),
        config: folder("XDG_CONFIG_HOME"),
        roaming: folder("APPDATA"),
        project: Some(project),
        cline_settings: folder("CLINE_MCP_SETTINGS_PATH"),
        codex_home: folder("CODEX_HOME"),
    };
    std::iter::once(here).chain(around).map(for_project).collect()
}
