//! Gemini CLI: `mcpServers` of `settings.json`, and `mcp.excluded` for disabled servers.

use serde_json::Value;

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::fields::OauthNames;
use crate::files::at;
use crate::grammar::{Grammar, OutsideChange, Setting};
use crate::text::Syntax;

const EXCLUDED: &[&str] = &["mcp", "excluded"];

pub(crate) static GEMINI: Grammar = Grammar {
    id: "gemini",
    title: "Gemini CLI",
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Auto, EntryHttpKind::Streamable, EntryHttpKind::Sse],
        cwd: true,
        timeout: Some(TimeLimit::MILLISECONDS),
        disabled: true,
        approve_all: true,
        allowed: true,
        denied: true,
        oauth: OauthParts { port: false, ..OauthParts::ALL },
        ..ProductAbilities::with_variables(Syntax::DOLLAR_PERCENT)
    },
    keys: &["type", "command", "args", "env", "cwd", "url", "httpUrl", "headers"],
    kinds: &[("http", EntryHttpKind::Streamable), ("sse", EntryHttpKind::Sse)],
    settings: &[
        ("timeout", Setting::Timeout),
        ("trust", Setting::ApproveAll),
        ("includeTools", Setting::Allowed),
        ("excludeTools", Setting::Denied),
        ("oauth", Setting::Oauth(OauthNames { port: "", ..OauthNames::CAMEL })),
    ],
    read: |grammar, fields| {
        if fields.has("tcp") {
            return Err("uses `tcp`, which only Gemini CLI supports".to_owned());
        }
        // `httpUrl` is always streamable HTTP; `url` depends on `type`.
        let reach = if fields.has("httpUrl") && !fields.has("command") {
            fields.address("httpUrl", EntryHttpKind::Streamable)?
        } else {
            grammar.read_reach(fields)?
        };
        grammar.read_settings(fields, reach)
    },
    locations: |folders| {
        let file = ".gemini/settings.json";
        folders.with_project(folders.home.join(file), file)
    },
    read_outside: |root, entry| {
        let excluded = at(root, EXCLUDED).and_then(Value::as_array);
        let name = Value::String(entry.name.clone());
        entry.disabled |= excluded.is_some_and(|names| names.contains(&name));
    },
    write_outside,
    ..Grammar::USUAL
};

fn write_outside(root: &Value, entries: &[ServerEntry]) -> Vec<OutsideChange> {
    let there = at(root, EXCLUDED).and_then(Value::as_array);
    let is_there = |name: &Value| there.is_some_and(|names| names.contains(name));
    let mut beside = OutsideChange { path: EXCLUDED, add: Vec::new(), remove: Vec::new() };
    for entry in entries {
        let name = Value::String(entry.name.clone());
        // Exclusions of other servers are left alone.
        match (entry.disabled, is_there(&name)) {
            (true, false) => beside.add.push(name),
            (false, true) => beside.remove.push(name),
            (true, true) | (false, false) => {}
        }
    }
    let is_needed = !beside.add.is_empty() || !beside.remove.is_empty();
    is_needed.then_some(beside).into_iter().collect()
}
