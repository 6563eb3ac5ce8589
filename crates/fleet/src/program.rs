//! Resolves the program of a server once, so that the checked file is the one that runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use switchboard_catalog::ServerFailure;
use switchboard_config::EnvCase;

use crate::process::Launch;

/// Resolves the program of a launch, by its path or on the `PATH` of its environment.
pub(crate) fn find_program(
    launch: &Launch<'_>,
    env: &BTreeMap<String, String>,
) -> Result<PathBuf, ServerFailure> {
    let command = Path::new(launch.command);
    let endings = endings(env);
    if command.components().count() > 1 || command.is_absolute() {
        let base = launch.cwd.unwrap_or(Path::new(""));
        let path = if command.is_absolute() { command.to_owned() } else { base.join(command) };
        let path = std::path::absolute(&path).unwrap_or(path);
        return match first_executable(&candidates(&path, &endings)) {
            ProgramSearch::Program(path) => Ok(path),
            ProgramSearch::NotExecutable(path) => Err(not_executable(&path)),
            ProgramSearch::Nothing => {
                Err(ServerFailure::new(format!("program `{}` not found", path.display()))
                    .with_hint("set `command` to the full path of the program"))
            }
        };
    }
    let path = EnvCase::NATIVE.find(env, "PATH").unwrap_or_default();
    let mut not_runnable = None;
    // Skip relative folders: the working directory may contain another user's program.
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        match first_executable(&candidates(&folder.join(command), &endings)) {
            ProgramSearch::Program(path) => return Ok(path),
            ProgramSearch::NotExecutable(path) => not_runnable = Some(path),
            ProgramSearch::Nothing => {}
        }
    }
    Err(match not_runnable {
        Some(path) => not_executable(&path),
        None => {
            ServerFailure::new(format!("the command `{}` was not found on PATH", launch.command))
                .with_hint(install_hint(launch.command))
        }
    })
}

fn install_hint(command: &str) -> String {
    match command {
        "npx" | "node" | "npm" => "install Node.js, or set `command` to its full path".to_owned(),
        "uvx" | "uv" => "install uv, or set `command` to its full path".to_owned(),
        "docker" => "install Docker, or set `command` to its full path".to_owned(),
        _ if command.contains(char::is_whitespace) => {
            "`command` is only the program; put its arguments into `args`".to_owned()
        }
        _ => format!("install `{command}`, or set `command` to its full path"),
    }
}

fn not_executable(path: &Path) -> ServerFailure {
    let failure = ServerFailure::new(format!("`{}` is not executable", path.display()));
    failure.with_hint(if cfg!(windows) {
        "set `command` to a file that ends with `.exe`, `.cmd` or `.bat`".to_owned()
    } else {
        format!("run `chmod +x {}`, or choose another `command`", path.display())
    })
}

enum ProgramSearch {
    Program(PathBuf),
    NotExecutable(PathBuf),
    Nothing,
}

fn first_executable(paths: &[PathBuf]) -> ProgramSearch {
    let mut not_runnable = None;
    for path in paths.iter().filter(|path| path.is_file()) {
        if is_executable(path) {
            return ProgramSearch::Program(path.clone());
        }
        not_runnable.get_or_insert(path);
    }
    not_runnable.map_or(ProgramSearch::Nothing, |path| ProgramSearch::NotExecutable(path.clone()))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(path, Access::EXEC_OK).is_ok()
}

/// Checks the extension: npm, for example, installs an `npx` for Unix shells next to `npx.cmd`.
#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.to_str().is_some_and(|path| has_ending(path, EXECUTABLE_ENDINGS))
}

/// Extensions that Windows can execute; other scripts need an interpreter.
const EXECUTABLE_ENDINGS: &[&str] = &[".com", ".exe", ".bat", ".cmd"];

/// Extensions that the Windows shell also executes.
const SHELL_ENDINGS: &[&str] =
    &[".vbs", ".vbe", ".js", ".jse", ".wsf", ".wsh", ".msc", ".py", ".pyw", ".ps1"];

/// Returns the extensions that may be omitted, in the order in which they are tried; none on Unix.
fn endings(env: &BTreeMap<String, String>) -> Vec<String> {
    if cfg!(windows) { parse_path_ext(EnvCase::NATIVE.find(env, "PATHEXT")) } else { Vec::new() }
}

/// Returns every file that a path may execute, including in a shell command line.
pub fn executable_candidates(path: &Path) -> Vec<PathBuf> {
    let endings = EXECUTABLE_ENDINGS.iter().chain(SHELL_ENDINGS).filter(|_| cfg!(windows));
    candidates(path, &endings.map(|&ending| ending.to_owned()).collect::<Vec<_>>())
}

/// Returns the executable extensions of `PATHEXT`, or all if it names none.
fn parse_path_ext(path_ext: Option<&str>) -> Vec<String> {
    let named = path_ext.unwrap_or_default().split(';').map(|ending| ending.trim().to_lowercase());
    let startable = |ending: &String| EXECUTABLE_ENDINGS.contains(&ending.as_str());
    let mut endings: Vec<String> = named.filter(startable).collect();
    if endings.is_empty() {
        endings = EXECUTABLE_ENDINGS.iter().map(|&ending| ending.to_owned()).collect();
    }
    endings
}

/// Returns the files that a path may mean: the path itself, or the path with each extension.
fn candidates(path: &Path, endings: &[String]) -> Vec<PathBuf> {
    let text = path.to_str().unwrap_or_default();
    if endings.is_empty() || has_ending(text, EXECUTABLE_ENDINGS) {
        return vec![path.to_owned()];
    }
    let with = |ending: &String| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    // The bare name comes last, only to report that it is not executable.
    endings.iter().map(with).chain([path.to_owned()]).collect()
}

fn has_ending(path: &str, endings: &[&str]) -> bool {
    let lower = path.to_lowercase();
    endings.iter().any(|ending| lower.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_an_ending_means_the_programs_that_windows_can_start() {
        for (path_ext, command, expected) in [
            (None, "npx", &["npx.com", "npx.exe", "npx.bat", "npx.cmd", "npx"][..]),
            (Some(".EXE;.CMD;.JS;.PY"), "npx", &["npx.exe", "npx.cmd", "npx"]),
            (Some(""), "a.b", &["a.b.com", "a.b.exe", "a.b.bat", "a.b.cmd", "a.b"]),
            (Some(".EXE"), "npx.CMD", &["npx.CMD"]),
            (Some(".EXE"), "server.js", &["server.js.exe", "server.js"]),
        ] {
            let found = candidates(Path::new(command), &parse_path_ext(path_ext));
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{path_ext:?} {command}");
        }
        assert_eq!(candidates(Path::new("npx"), &[]), [PathBuf::from("npx")]);
    }
}
