//! Codex: `[mcp_servers.NAME]` of `config.toml`, with variables in separate lists.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::abilities::{CarriedNames, OauthParts, ProductAbilities, TimeLimit, plain_name};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry, ToolRules};
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, Setting, push};
use crate::note::NoteWeight;
use crate::reduce::bearer;
use crate::render;
use crate::text::{VariablePiece, VariableText};

const OAUTH: OauthNames =
    OauthNames { client: "client_id", port: "callback_port", ..OauthNames::NONE };

const APPROVE: &str = "approve";

pub(crate) static CODEX: Grammar = Grammar {
    id: "codex",
    title: "Codex",
    format: FileFormat::Toml,
    path: &["mcp_servers"],
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Streamable],
        cwd: true,
        timeout: Some(TimeLimit::LONG_SECONDS),
        startup_timeout: Some(TimeLimit::LONG_SECONDS),
        disabled: true,
        approved: true,
        approve_all: true,
        allowed: true,
        denied: true,
        oauth: OauthParts { secret: false, ..OauthParts::ALL },
        env_carries: CarriedNames::SameVariable,
        headers_carry: CarriedNames::WholeVariable,
        names: plain_name,
        ..ProductAbilities::MINIMAL
    },
    keys: &[
        "command",
        "args",
        "env",
        "env_vars",
        "cwd",
        "url",
        "bearer_token_env_var",
        "http_headers",
        "env_http_headers",
        "startup_timeout_ms",
        "scopes",
        "oauth",
        "default_tools_approval_mode",
        "tools",
    ],
    settings: &[
        ("startup_timeout_sec", Setting::StartupTimeout),
        ("tool_timeout_sec", Setting::Timeout),
        ("enabled", Setting::Enabled),
        ("enabled_tools", Setting::AllowedOrNone),
        ("disabled_tools", Setting::Denied),
    ],
    read,
    write,
    locations: |folders| {
        let usual = || folders.home.join(".codex");
        let folder = folders.codex_home.clone().unwrap_or_else(usual);
        folders.with_project(folder.join("config.toml"), ".codex/config.toml")
    },
    ..Grammar::USUAL
};

fn read(grammar: &'static Grammar, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
    let reach = match (fields.has("command"), fields.has("url")) {
        (true, true) => return Err("has both a command and a URL".to_owned()),
        (true, false) => program(fields)?,
        (false, true) => address(fields)?,
        (false, false) => return Err("has neither a command nor a URL".to_owned()),
    };
    let mut entry = grammar.read_settings(fields, reach)?;
    // The older key has lower precedence, and is removed when the entry is written.
    let older = fields.time("startup_timeout_ms", Some(TimeLimit::MILLISECONDS));
    entry.startup_timeout_ms = entry.startup_timeout_ms.or(older);
    read_approvals(fields, &mut entry.tools)?;
    entry.oauth = fields.oauth("oauth", &OAUTH)?;
    entry.oauth.scopes = fields.names("scopes");
    Ok(entry)
}

fn write(grammar: &'static Grammar, entry: &ServerEntry) -> Members {
    let mut members = reach_members(&grammar.abilities, &entry.reach);
    grammar.write_settings(entry, &mut members);
    if entry.tools.approve_all {
        push(&mut members, "default_tools_approval_mode", APPROVE);
    }
    let approved = entry.tools.approved.iter();
    let approved: Map<String, Value> =
        approved.map(|tool| (tool.clone(), json!({"approval_mode": APPROVE}))).collect();
    push(&mut members, "tools", Value::Object(approved));
    push(&mut members, "scopes", json!(entry.oauth.scopes));
    push(&mut members, "oauth", render::oauth(&grammar.abilities, &entry.oauth, &OAUTH));
    members
}

fn program(fields: &mut EntryFields<'_>) -> Result<EntryTransport, String> {
    let mut reach = fields.program("env")?;
    let names = fields.value("env_vars").and_then(Value::as_array);
    for one in names.into_iter().flatten() {
        let name = one.as_str().or_else(|| one.get("name")?.as_str());
        if one.get("source").is_some_and(|source| source != "local") {
            fields.note("env_vars", NoteWeight::Changed, "is read from this machine's environment");
        }
        if let (Some(name), EntryTransport::Stdio { env, .. }) = (name, &mut reach) {
            // A value in `env` is more specific than a passed variable.
            env.entry(name.to_owned()).or_insert_with(|| VariableText::variable(name));
        }
    }
    Ok(reach)
}

fn address(fields: &mut EntryFields<'_>) -> Result<EntryTransport, String> {
    let url = fields.text("url", fields.able.address)?.unwrap_or_default();
    let mut headers = fields.map("http_headers", fields.able.headers)?;
    for (name, variable) in fields.object("env_http_headers")?.into_iter().flatten() {
        if let Some(variable) = variable.as_str() {
            headers.insert(name.clone(), VariableText::variable(variable));
        }
    }
    if let Some(variable) = fields.words("bearer_token_env_var")? {
        let variable = VariablePiece::Variable { name: variable.to_owned(), default: None };
        let text =
            VariableText::from_pieces([VariablePiece::Literal("Bearer ".to_owned()), variable]);
        headers.insert("Authorization".to_owned(), text);
    }
    Ok(EntryTransport::Http { kind: EntryHttpKind::Streamable, url, headers })
}

fn read_approvals(fields: &mut EntryFields<'_>, tools: &mut ToolRules) -> Result<(), String> {
    let mode = fields.words("default_tools_approval_mode")?;
    // The other modes have no counterpart, and are kept for Codex.
    if let Some(other) = mode.filter(|mode| *mode != APPROVE) {
        fields.keep("default_tools_approval_mode", json!(other));
    }
    tools.approve_all = mode == Some(APPROVE);
    let mut others = Map::new();
    for (tool, settings) in fields.object("tools")?.into_iter().flatten() {
        let mut settings = settings.clone();
        if settings.get("approval_mode").and_then(Value::as_str) == Some(APPROVE) {
            tools.approved.insert(tool.clone());
            settings.as_object_mut().and_then(|settings| settings.remove("approval_mode"));
        }
        if settings.as_object().is_some_and(|settings| !settings.is_empty()) {
            others.insert(tool.clone(), settings);
        }
    }
    if !others.is_empty() {
        fields.keep("tools", Value::Object(others));
    }
    Ok(())
}

fn reach_members(able: &ProductAbilities, reach: &EntryTransport) -> Members {
    let mut members = Members::new();
    match reach {
        EntryTransport::Stdio { command, args, env, cwd, .. } => {
            // Codex replaces no variables in values; it passes them only under their own name.
            let is_passed = |name: &str, text: &VariableText| text.as_variable() == Some(name);
            let passed = env.iter().filter(|(name, text)| is_passed(name, text));
            let passed: Vec<&String> = passed.map(|(name, _)| name).collect();
            let given = env.iter().filter(|(name, text)| !is_passed(name, text));
            let given: BTreeMap<String, VariableText> =
                given.map(|(name, text)| (name.clone(), text.clone())).collect();
            push(&mut members, "command", render::text(command, able.program));
            push(&mut members, "args", render::list(args, able.program));
            push(&mut members, "env", render::map(&given, able.env));
            push(&mut members, "env_vars", json!(passed));
            push(&mut members, "cwd", render::optional(cwd.as_ref(), able.program));
        }
        EntryTransport::Http { url, headers, .. } => {
            push(&mut members, "url", render::text(url, able.address));
            let mut given = BTreeMap::new();
            let mut passed = Map::new();
            for (name, text) in headers {
                if let Some(variable) = bearer(name, text) {
                    push(&mut members, "bearer_token_env_var", variable);
                } else if let Some(variable) = text.as_variable() {
                    passed.insert(name.clone(), json!(variable));
                } else {
                    given.insert(name.clone(), text.clone());
                }
            }
            push(&mut members, "http_headers", render::map(&given, able.headers));
            push(&mut members, "env_http_headers", Value::Object(passed));
        }
    }
    members
}
