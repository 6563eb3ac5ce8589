//! A shared folder for tests, with secret files outside it.

use std::fs;
use std::path::PathBuf;

use jiff::Zoned;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::error::BuiltinRpcError;
use crate::server::Builtin;

/// The content of every file that must never be shown.
pub(crate) const SECRET: &str = "the-secret-outside";

/// Returns a fixed time: half an hour before the clocks go forward in Berlin.
pub(crate) fn clock() -> Zoned {
    "2026-03-29T01:30:00+01:00[Europe/Berlin]".parse().unwrap()
}

pub(crate) struct TestFolder {
    _temporary: TempDir,
    /// Contains `shared`, and files that must not be reachable from there.
    pub(crate) parent: PathBuf,
    pub(crate) shared: PathBuf,
}

impl TestFolder {
    pub(crate) fn new() -> Self {
        let temporary = TempDir::new().unwrap();
        let parent = temporary.path().canonicalize().unwrap();
        let shared = parent.join("shared");
        for (path, content) in [
            ("shared/hello.txt", "one\ntwo Needle\nthree\n"),
            ("shared/sub/deep/note.md", "# Note\na needle here\n"),
            ("shared/sub/code.rs", "fn needle() {}\n"),
            ("shared/naïve 名.txt", "unicode needle\n"),
            ("shared/.hidden", "hidden needle\n"),
            ("shared/.git/config", "git needle\n"),
            ("shared/target/out.txt", "target needle\n"),
            ("shared/node_modules/a.js", "module needle\n"),
            ("shared/empty.txt", ""),
            ("shared/data.bin", "needle\0needle"),
            ("shared/%2e%2e", "literally percent\n"),
            ("secret.txt", SECRET),
            ("shared_evil/secret.txt", SECRET),
            ("outside/secret.txt", SECRET),
        ] {
            let path = parent.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        fs::write(shared.join("dot.png"), b"\x89PNG\r\n\x1a\nrest").unwrap();
        Self { _temporary: temporary, parent, shared }
    }

    pub(crate) fn server(&self) -> Builtin {
        Builtin::new(vec![self.shared.clone()], clock)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.shared.join(name), content).unwrap();
    }

    #[cfg(unix)]
    pub(crate) fn link(&self, name: &str, target: impl AsRef<std::path::Path>) {
        std::os::unix::fs::symlink(target, self.shared.join(name)).unwrap();
    }
}

pub(crate) async fn ask(
    server: &Builtin,
    method: &str,
    params: Value,
) -> Result<Value, BuiltinRpcError> {
    let text = server.answer(method, Some(&params.to_string())).await?;
    Ok(serde_json::from_str(&text).unwrap())
}

pub(crate) async fn call(server: &Builtin, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    ask(server, "tools/call", params).await.unwrap()
}

pub(crate) fn result_text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

pub(crate) fn error_text(result: &Value) -> String {
    assert_eq!(result["isError"], json!(true), "not an error: {result}");
    result_text(result)
}

pub(crate) fn structured_content(result: &Value) -> Value {
    assert_eq!(result["isError"], json!(false), "an error: {result}");
    result["structuredContent"].clone()
}
