//! Codex: `[mcp_servers.NAME]` of `config.toml`; variables stand in lists of their own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::abilities::{
    CarriedNames, OauthParts, ProductAbilities, TimeLimit, TimeUnit, plain_name,
};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry, ToolRules};
use crate::entry_members;
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{FileFormat, Grammar, Members, push};
use crate::locations::{Location, UserFolders};
use crate::note::NoteWeight;
use crate::reduce::bearer;
use crate::text::{VariablePiece, VariableText};

/// Codex.
pub(crate) struct Codex;

static ABILITIES: ProductAbilities = ProductAbilities {
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
};

const OAUTH: OauthNames =
    OauthNames { client: "client_id", secret: "", scopes: "", port: "callback_port" };

/// The mode in which a tool needs no question.
const APPROVE: &str = "approve";

impl Grammar for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn abilities(&self) -> &'static ProductAbilities {
        &ABILITIES
    }

    fn format(&self) -> FileFormat {
        FileFormat::Toml
    }

    fn path(&self) -> &'static [&'static str] {
        &["mcp_servers"]
    }

    fn keys(&self) -> &'static [&'static str] {
        &[
            "command",
            "args",
            "env",
            "env_vars",
            "cwd",
            "url",
            "bearer_token_env_var",
            "http_headers",
            "env_http_headers",
            "enabled",
            "startup_timeout_sec",
            "startup_timeout_ms",
            "tool_timeout_sec",
            "enabled_tools",
            "disabled_tools",
            "scopes",
            "oauth",
            "default_tools_approval_mode",
            "tools",
        ]
    }

    fn read(&self, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
        let reach = match (fields.has("command"), fields.has("url")) {
            (true, true) => return Err("has both a command and an address".to_owned()),
            (true, false) => program(fields)?,
            (false, true) => address(fields)?,
            (false, false) => return Err("has neither a command nor an address".to_owned()),
        };
        let mut entry = ServerEntry::new(fields.name, reach);
        entry.disabled = !fields.flag("enabled").unwrap_or(true);
        let seconds = fields.time("startup_timeout_sec", TimeLimit::LONG_SECONDS);
        let older = fields.time("startup_timeout_ms", TimeLimit::MILLISECONDS);
        entry.startup_timeout_ms = seconds.or(older);
        entry.timeout_ms = fields.time("tool_timeout_sec", TimeLimit::LONG_SECONDS);
        let enabled = fields.value("enabled_tools").and_then(Value::as_array);
        if enabled.is_some_and(Vec::is_empty) {
            fields.note("enabled_tools", NoteWeight::Changed, "allows no tool; taken as disabled");
            entry.disabled = true;
        }
        let (approve_all, approved) = approvals(fields)?;
        let allowed = fields.names("enabled_tools");
        let denied = fields.names("disabled_tools");
        entry.tools = ToolRules { approved, approve_all, allowed, denied };
        entry.oauth = fields.oauth("oauth", &OAUTH)?;
        entry.oauth.scopes = fields.names("scopes");
        Ok(entry)
    }

    fn write(&self, entry: &ServerEntry) -> Members {
        let mut members = reach_members(&entry.reach);
        push(
            &mut members,
            "startup_timeout_sec",
            entry_members::time(entry.startup_timeout_ms, TimeUnit::Seconds),
        );
        push(
            &mut members,
            "tool_timeout_sec",
            entry_members::time(entry.timeout_ms, TimeUnit::Seconds),
        );
        if entry.disabled {
            push(&mut members, "enabled", false);
        }
        push(&mut members, "enabled_tools", json!(entry.tools.allowed));
        push(&mut members, "disabled_tools", json!(entry.tools.denied));
        if entry.tools.approve_all {
            push(&mut members, "default_tools_approval_mode", APPROVE);
        }
        let approved = entry.tools.approved.iter();
        let approved: Map<String, Value> =
            approved.map(|tool| (tool.clone(), json!({"approval_mode": APPROVE}))).collect();
        push(&mut members, "tools", Value::Object(approved));
        push(&mut members, "scopes", json!(entry.oauth.scopes));
        push(&mut members, "oauth", entry_members::oauth(&ABILITIES, &entry.oauth, &OAUTH));
        members
    }

    fn locations(&self, surroundings: &UserFolders) -> Vec<Location> {
        let usual = || surroundings.home.join(".codex");
        let folder = surroundings.codex_home.clone().unwrap_or_else(usual);
        let user = Location::user(folder.join("config.toml"));
        let project = surroundings.in_project(".codex/config.toml");
        std::iter::once(user).chain(project).collect()
    }
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
            env.entry(name.to_owned()).or_insert_with(|| VariableText::variable(name));
        }
    }
    Ok(reach)
}

fn address(fields: &mut EntryFields<'_>) -> Result<EntryTransport, String> {
    let url = fields.text("url", ABILITIES.address)?.unwrap_or_default();
    let mut headers = fields.map("http_headers", ABILITIES.headers)?;
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

/// Whether all tools need no question, or which do not.
fn approvals(fields: &mut EntryFields<'_>) -> Result<(bool, BTreeSet<String>), String> {
    let mode = fields.words("default_tools_approval_mode")?;
    if let Some(other) = mode.filter(|mode| *mode != APPROVE) {
        fields.keep("default_tools_approval_mode", json!(other));
    }
    let mut approved = BTreeSet::new();
    let mut others = Map::new();
    for (tool, settings) in fields.object("tools")?.into_iter().flatten() {
        let mut settings = settings.clone();
        if settings.get("approval_mode").and_then(Value::as_str) == Some(APPROVE) {
            approved.insert(tool.clone());
            settings.as_object_mut().and_then(|settings| settings.remove("approval_mode"));
        }
        if settings.as_object().is_some_and(|settings| !settings.is_empty()) {
            others.insert(tool.clone(), settings);
        }
    }
    if !others.is_empty() {
        fields.keep("tools", Value::Object(others));
    }
    Ok((mode == Some(APPROVE), approved))
}

fn reach_members(reach: &EntryTransport) -> Members {
    let mut members = Members::new();
    match reach {
        EntryTransport::Stdio { command, args, env, cwd, .. } => {
            let is_passed = |name: &str, text: &VariableText| text.as_variable() == Some(name);
            let passed: Vec<&String> = env
                .iter()
                .filter(|(name, text)| is_passed(name, text))
                .map(|(name, _)| name)
                .collect();
            let given = env.iter().filter(|(name, text)| !is_passed(name, text));
            let given: BTreeMap<String, VariableText> =
                given.map(|(name, text)| (name.clone(), text.clone())).collect();
            push(&mut members, "command", entry_members::render_text(command, ABILITIES.program));
            push(&mut members, "args", entry_members::list(args, ABILITIES.program));
            push(&mut members, "env", entry_members::map(&given, ABILITIES.env));
            push(&mut members, "env_vars", json!(passed));
            push(&mut members, "cwd", entry_members::optional(cwd.as_ref(), ABILITIES.program));
        }
        EntryTransport::Http { url, headers, .. } => {
            push(&mut members, "url", entry_members::render_text(url, ABILITIES.address));
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
            push(&mut members, "http_headers", entry_members::map(&given, ABILITIES.headers));
            push(&mut members, "env_http_headers", Value::Object(passed));
        }
    }
    members
}
