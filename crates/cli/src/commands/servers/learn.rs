//! Observes an unconfined server and proposes a sandbox profile for it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_config::{Environment, Transport};
use switchboard_terminal::{CliError, exit_code};

use crate::context::CommandContext;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

const SYSTEM_PATHS: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/proc", "/sys", "/dev",
    "/etc",
];

/// Files and network that a server was observed to use.
#[derive(Debug, Default)]
struct ObservedUse {
    read: BTreeSet<PathBuf>,
    write: BTreeSet<PathBuf>,
    /// Paths in the command line; they may be read and closed between two inspections.
    named: BTreeSet<PathBuf>,
    network: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProfileAction {
    Propose,
    Enforce,
}

pub(crate) async fn learn(
    context: &CommandContext,
    name: &str,
    seconds: u64,
    then: ProfileAction,
) -> Result<u8, CliError> {
    if !cfg!(target_os = "linux") {
        return Err(CliError::usage("servers can be observed only on Linux"));
    }
    let config = context.config()?;
    let only = vec![context.server_id(&config, name)?];
    let host = context.start(Some(only.clone()))?;
    let transport = config.servers.get(name).map(|server| &server.transport);
    let mut seen = ObservedUse {
        named: command_paths(transport, &context.environment),
        ..ObservedUse::default()
    };
    let end = Instant::now() + Duration::from_secs(seconds);
    let watching = async {
        while Instant::now() < end {
            for process in descendants(std::process::id()) {
                seen.observe(process);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    context.interrupts.token().run_until_cancelled(watching).await;
    context.wait_ready(&host, Some(&only)).await?;
    host.stop().await;
    let profile = seen.profile();
    context.printer.json(&json!({"sandbox": profile}))?;
    if let (ProfileAction::Enforce, Some(server)) = (then, config.servers.get(name)) {
        switchboard_config::set_sandbox(&server.source.file, name, &profile)?;
        let file = server.source.file.display();
        context.printer.say(&format!("wrote the sandbox to the entry of `{name}` in {file}"));
    }
    context.printer.say(
        "The profile lists what was open at each poll, not what was used in between. Use the \
         server while it is observed, review the profile and add what is missing.",
    );
    Ok(exit_code::OK)
}

impl ObservedUse {
    fn observe(&mut self, process: u32) {
        let folder = PathBuf::from(format!("/proc/{process}"));
        self.read.extend(fs::read_link(folder.join("cwd")).ok());
        // Libraries and mapped files are closed again after `mmap`, so `fd` does not list them.
        let maps = fs::read_to_string(folder.join("maps")).unwrap_or_default();
        let mapped = maps.lines().filter_map(|line| line.split_once('/').map(|(_, path)| path));
        self.read.extend(mapped.map(|path| PathBuf::from(format!("/{path}"))));
        let Ok(open) = fs::read_dir(folder.join("fd")) else { return };
        for entry in open.flatten() {
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            if target.to_string_lossy().starts_with("socket:") {
                self.network = true;
            } else if target.is_absolute() {
                let info = folder.join("fdinfo").join(entry.file_name());
                let writes = writes(&fs::read_to_string(info).unwrap_or_default());
                let into = if writes { &mut self.write } else { &mut self.read };
                into.insert(target);
            }
        }
    }

    fn profile(&self) -> Value {
        let write = folders(&self.write);
        let is_written = |path: &PathBuf| write.iter().any(|written| path.starts_with(written));
        let mut read = folders(&self.read);
        let more: Vec<PathBuf> =
            self.named.iter().filter(|path| !within(path, &read)).cloned().collect();
        read.extend(more);
        read.retain(|path| !is_written(path));
        json!({"read": read, "write": write, "network": self.network})
    }
}

/// Returns the folders of the files that a command names, or the files if the folder is too broad.
fn command_paths(transport: Option<&Transport>, environment: &Environment) -> BTreeSet<PathBuf> {
    let Some(Transport::Stdio { command, args, cwd, .. }) = transport else {
        return BTreeSet::new();
    };
    let cwd = cwd.as_deref().unwrap_or(&environment.current_dir);
    let words = std::iter::once(command).filter(|command| command.contains('/')).chain(args);
    let real = words.filter_map(|word| fs::canonicalize(cwd.join(word)).ok());
    // A folder such as `/home` or the home folder itself would give the server everything in it.
    let is_broad = |folder: &Path| {
        environment.home.as_deref().is_some_and(|home| home.starts_with(folder))
            || folder.components().count() <= 2
    };
    let place = |path: PathBuf| match path.parent() {
        Some(folder) if path.is_file() && !is_broad(folder) => folder.to_owned(),
        _ => path,
    };
    let is_new = |path: &PathBuf| !is_system(path) && (path.is_file() || !is_broad(path));
    real.map(place).filter(is_new).collect()
}

fn is_system(path: &Path) -> bool {
    SYSTEM_PATHS.iter().any(|system| path.starts_with(system))
}

fn within(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Returns whether a file is open for writing, from the flags in its `fdinfo`.
fn writes(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // The lowest two bits are the access mode; zero is `O_RDONLY`.
    flags.is_some_and(|flags| flags & 0o3 != 0)
}

/// Returns the folders of the files, without nested ones and system paths.
fn folders(paths: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let exists = paths.iter().filter(|path| path.exists());
    let folder = |path: &PathBuf| match path.is_dir() {
        true => Some(path.clone()),
        false => path.parent().map(Path::to_owned),
    };
    let is_own = |path: &PathBuf| !is_system(path) && path != Path::new("/");
    let all: BTreeSet<PathBuf> = exists.filter_map(folder).filter(is_own).collect();
    let inside = |path: &PathBuf| all.iter().any(|other| other != path && path.starts_with(other));
    all.iter().filter(|path| !inside(path)).cloned().collect()
}

/// Returns the descendants of a process that are servers, not keepers.
fn descendants(of: u32) -> Vec<u32> {
    let own = fs::read_link("/proc/self/exe").ok();
    let parent_of = |process: u32| -> Option<u32> {
        let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of a process may contain spaces and parentheses, so parse after the last one.
        line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parents: Vec<(u32, u32)> =
        numbers.filter_map(|process| Some((process, parent_of(process)?))).collect();
    let mut family = BTreeSet::from([of]);
    // A child may be listed before its parent, so repeat until nothing is added.
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(process, parent)| family.contains(parent) && !family.contains(process))
            .map(|(process, _)| *process)
            .collect();
        if more.is_empty() {
            break;
        }
        family.extend(more);
    }
    let is_keeper = |process: &u32| fs::read_link(format!("/proc/{process}/exe")).ok() == own;
    family.into_iter().filter(|process| *process != of && !is_keeper(process)).collect()
}
