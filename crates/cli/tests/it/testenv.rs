//! The entries of real servers, as installed by `cargo xtask setup`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub(crate) const NODE: &str = "npm/node_modules/node/bin/node";

/// Returns the path of an installed file.
pub(crate) fn installed_path(name: &str) -> String {
    let folder = match std::env::var_os("SWITCHBOARD_TESTENV") {
        Some(folder) => PathBuf::from(folder),
        None => target().join("testenv"),
    };
    let path = folder.join(name);
    assert!(path.exists(), "`{}` is not there: run `cargo xtask setup`", path.display());
    path.to_str().expect("the test environment has a plain name").to_owned()
}

/// Returns the target folder of a test at `target/debug/deps/it-hash`.
fn target() -> PathBuf {
    let running = std::env::current_exe().expect("the path of the running test is known");
    running.ancestors().nth(3).expect("a test lies in a target folder").to_owned()
}

/// Returns Node and the script of a package.
pub(crate) fn node(package: &str) -> [String; 2] {
    let script = format!("npm/node_modules/@modelcontextprotocol/{package}/dist/index.js");
    [installed_path(NODE), installed_path(&script)]
}

pub(crate) fn everything() -> Value {
    let [node, script] = node("server-everything");
    json!({"command": node, "args": [script, "stdio"]})
}

pub(crate) fn filesystem(folder: &Path) -> Value {
    let [node, script] = node("server-filesystem");
    json!({"command": node, "args": [script, folder]})
}

pub(crate) fn memory(file: &Path) -> Value {
    let [node, script] = node("server-memory");
    json!({"command": node, "args": [script], "env": {"MEMORY_FILE_PATH": file}})
}

pub(crate) fn time() -> Value {
    json!({"command": installed_path("python/bin/mcp-server-time")})
}

/// Returns the entry of the fetching server; `flags` may allow it to fetch from this machine.
pub(crate) fn fetch(flags: &[&str]) -> Value {
    json!({
        "command": installed_path("python/bin/mcp-server-fetch"),
        "args": flags,
        // With Node in `PATH`, the first page would install packages from the network.
        "env": {"PATH": "/nowhere"},
    })
}

pub(crate) fn git(repository: &Path) -> Value {
    json!({
        "command": installed_path("python/bin/mcp-server-git"),
        "args": ["--repository", repository],
    })
}

pub(crate) fn fastmcp() -> Value {
    json!({
        "command": installed_path("python/bin/python"),
        "args": [installed_path("fastmcp_server.py")],
    })
}

pub(crate) fn sqlite(file: &Path) -> Value {
    json!({
        "command": installed_path("python-legacy/bin/mcp-server-sqlite"),
        "args": ["--db-path", file],
    })
}
