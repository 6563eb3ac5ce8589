//! The keeper program, `switchboard`, next to the running test; built if stale.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

/// Returns the command line that makes `switchboard` the keeper between the host and a server.
pub(crate) fn words() -> Vec<String> {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| find().to_str().unwrap().to_owned());
    vec![program.clone(), "__keep".to_owned()]
}

fn find() -> PathBuf {
    let running = std::env::current_exe().unwrap();
    let profile = running.ancestors().nth(2).expect("a test lies in a profile's `deps`");
    let program = profile.join(format!("switchboard{}", std::env::consts::EXE_SUFFIX));
    if !is_fresh(&program) {
        switchboard_testkit::build("switchboard", profile);
    }
    assert!(program.is_file(), "no `{}` after building it", program.display());
    program
}

/// Only the keeper matters here: it is part of the host, its entry point part of the command.
fn is_fresh(program: &Path) -> bool {
    let modified = |path: &Path| path.metadata().ok()?.modified().ok();
    let Some(built) = modified(program) else { return false };
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = ["src/connect/keeper.rs", "../cli/src/main.rs"];
    let changed: Option<SystemTime> =
        sources.iter().filter_map(|source| modified(&host.join(source))).max();
    changed.is_none_or(|changed| changed <= built)
}
