//! Products with the usual members: Claude Desktop, Cursor, Roo Code, Windsurf, `MCPilot`, Zed.

use serde_json::Value;

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit, kebab_name};
use crate::entry::{EntryHttpKind, EntryTransport, ServerEntry};
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{Grammar, Members, Setting};
use crate::locations::{Location, OperatingSystem};
use crate::text::{Syntax, VariableText};

pub(crate) static CLAUDE_DESKTOP: Grammar = Grammar {
    id: "claude-desktop",
    title: "Claude Desktop",
    keys: &["type", "command", "args", "env", "url", "headers"],
    read: |_, fields| {
        let kind = fields.words("type")?;
        if !fields.has("command") {
            return Err("has no command, and Claude Desktop only starts programs".to_owned());
        }
        if kind.is_some_and(|kind| kind != "stdio") {
            return Err("is not of type `stdio`".to_owned());
        }
        Ok(ServerEntry::new(fields.name, fields.program("env")?))
    },
    locations: |folders| {
        let folder = folders.application("Claude");
        vec![Location::user(folder.join("claude_desktop_config.json"))]
    },
    ..Grammar::USUAL
};

/// `.cursor/mcp.json` in the home folder and in projects.
pub(crate) static CURSOR: Grammar = Grammar {
    id: "cursor",
    title: "Cursor",
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Auto, EntryHttpKind::Streamable, EntryHttpKind::Sse],
        cwd: true,
        env_file: true,
        allowed: true,
        oauth: OauthParts { port: false, only_with_client: true, ..OauthParts::ALL },
        ..ProductAbilities::with_variables(Syntax::ENV_FOLDERS)
    },
    keys: &["type", "command", "args", "env", "envFile", "cwd", "url", "headers"],
    kinds: &[
        ("http", EntryHttpKind::Streamable),
        ("sse", EntryHttpKind::Sse),
        ("streamable-http", EntryHttpKind::Streamable),
        ("streamableHttp", EntryHttpKind::Streamable),
    ],
    settings: &[
        (
            "auth",
            Setting::Oauth(OauthNames {
                client: "CLIENT_ID",
                secret: "CLIENT_SECRET",
                scopes: "scopes",
                ..OauthNames::NONE
            }),
        ),
        ("enabledTools", Setting::AllowedOrNone),
    ],
    locations: |folders| {
        folders.with_project(folders.home.join(".cursor/mcp.json"), ".cursor/mcp.json")
    },
    ..Grammar::USUAL
};

/// `mcp_settings.json`, and `.roo/mcp.json` of a project.
pub(crate) static ROO_CODE: Grammar = Grammar {
    id: "roo-code",
    title: "Roo Code",
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Streamable, EntryHttpKind::Sse],
        cwd: true,
        timeout: Some(TimeLimit::SECONDS),
        disabled: true,
        approved: true,
        denied: true,
        ..ProductAbilities::with_variables(Syntax::ENV)
    },
    keys: &["type", "command", "args", "env", "cwd", "url", "headers"],
    stdio: "stdio",
    kinds: &[
        ("streamable-http", EntryHttpKind::Streamable),
        ("sse", EntryHttpKind::Sse),
        ("http", EntryHttpKind::Streamable),
        ("streamableHttp", EntryHttpKind::Streamable),
    ],
    untyped: EntryHttpKind::Sse,
    settings: &[
        ("timeout", Setting::Timeout),
        ("alwaysAllow", Setting::Approved),
        ("disabledTools", Setting::Denied),
        ("disabled", Setting::Disabled),
    ],
    locations: |folders| {
        let code = folders.application("Code").join("User/globalStorage");
        let file = code.join("rooveterinaryinc.roo-cline/settings/mcp_settings.json");
        folders.with_project(file, ".roo/mcp.json")
    },
    ..Grammar::USUAL
};

/// `mcp_config.json`, with URLs under `serverUrl`.
pub(crate) static WINDSURF: Grammar = Grammar {
    id: "windsurf",
    title: "Windsurf",
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Auto],
        ..ProductAbilities::with_variables(Syntax::ENV)
    },
    keys: &["type", "command", "args", "env", "serverUrl", "url", "headers"],
    read: |_, fields| {
        // The product detects the transport, so the type is only marked as read.
        fields.value("type");
        let address = ["serverUrl", "url"].into_iter().find(|key| fields.has(key));
        let reach = match address {
            Some(_) if fields.has("command") => {
                return Err("has both a command and a URL".to_owned());
            }
            Some(key) => fields.address(key, EntryHttpKind::Auto)?,
            None => fields.program("env")?,
        };
        Ok(ServerEntry::new(fields.name, reach))
    },
    write: |grammar, entry| {
        let mut members: Members = grammar.write_reach(&entry.reach);
        for (key, _) in members.iter_mut().filter(|(key, _)| key == "url") {
            *key = "serverUrl".to_owned();
        }
        members
    },
    locations: |folders| {
        vec![
            folders.at_home(".codeium/windsurf/mcp_config.json"),
            folders.at_home(".codeium/mcp_config.json"),
        ]
    },
    ..Grammar::USUAL
};

/// `mcp.servers` of `.mcpilot/.mcpilot.config.json`, only for programs.
pub(crate) static MCPILOT: Grammar = Grammar {
    id: "mcpilot",
    title: "MCPilot",
    path: &["mcp", "servers"],
    abilities: ProductAbilities {
        timeout: Some(TimeLimit::SECONDS),
        disabled: true,
        approved: true,
        names: kebab_name,
        ..ProductAbilities::with_variables(Syntax::WHOLE)
    },
    keys: &["type", "command", "args", "env", "url", "headers"],
    stdio: "stdio",
    kinds: &[("http", EntryHttpKind::Streamable)],
    settings: &[
        ("timeout", Setting::Timeout),
        ("alwaysAllow", Setting::Approved),
        ("disabled", Setting::Disabled),
    ],
    locations: |folders| {
        let file = ".mcpilot/.mcpilot.config.json";
        folders.with_project(folders.home.join(file), file)
    },
    ..Grammar::USUAL
};

pub(crate) static ZED: Grammar = Grammar {
    id: "zed",
    title: "Zed",
    path: &["context_servers"],
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Streamable],
        timeout: Some(TimeLimit::LONG_SECONDS),
        disabled: true,
        oauth: OauthParts { client: true, secret: true, ..OauthParts::NONE },
        ..ProductAbilities::MINIMAL
    },
    keys: &["command", "args", "env", "url", "headers"],
    settings: &[
        ("timeout", Setting::Timeout),
        (
            "oauth",
            Setting::Oauth(OauthNames {
                client: "client_id",
                secret: "client_secret",
                ..OauthNames::NONE
            }),
        ),
        ("enabled", Setting::Enabled),
    ],
    read: |grammar, fields| {
        let reach = if fields.has("url") {
            fields.address("url", EntryHttpKind::Streamable)?
        } else if let Some(nested @ Value::Object(_)) = fields.value("command") {
            legacy_zed_command(fields, nested)?
        } else if fields.has("command") {
            fields.program("env")?
        } else {
            return Err("belongs to an extension of Zed, which only Zed can start".to_owned());
        };
        // The origin of the entry, without effect on the server.
        fields.value("source");
        grammar.read_settings(fields, reach)
    },
    locations: |folders| {
        let folder = match folders.system {
            OperatingSystem::Linux | OperatingSystem::MacOs => folders.dot_config("zed"),
            OperatingSystem::Windows => folders.roaming_folder().join("Zed"),
        };
        folders.with_project(folder.join("settings.json"), ".zed/settings.json")
    },
    ..Grammar::USUAL
};

/// Reads the format of older versions of Zed, with all members inside `command`.
fn legacy_zed_command(fields: &EntryFields<'_>, nested: &Value) -> Result<EntryTransport, String> {
    let able = fields.able;
    let mut inner = EntryFields::new(fields.name, nested, able)?;
    let command = inner.text("path", able.program)?.unwrap_or_default();
    if command == VariableText::default() {
        return Err("has no command".to_owned());
    }
    let args = inner.texts("args", able.program)?;
    let env = inner.map("env", able.env)?;
    Ok(EntryTransport::Stdio { command, args, env, env_file: None, cwd: None })
}
