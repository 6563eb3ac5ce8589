//! Cline: `cline_mcp_settings.json`, including the nested form that its own command line writes.

use serde_json::{Map, Value, json};

use crate::abilities::{OauthParts, ProductAbilities, TimeLimit};
use crate::entry::{EntryHttpKind, ServerEntry};
use crate::fields::{EntryFields, OauthNames};
use crate::grammar::{Grammar, Setting};
use crate::locations::Location;
use crate::text::Syntax;

pub(crate) static CLINE: Grammar = Grammar {
    id: "cline",
    title: "Cline",
    abilities: ProductAbilities {
        kinds: &[EntryHttpKind::Streamable, EntryHttpKind::Sse],
        cwd: true,
        timeout: Some(TimeLimit::SECONDS),
        disabled: true,
        approved: true,
        oauth: OauthParts { client: true, secret: true, ..OauthParts::NONE },
        ..ProductAbilities::with_variables(Syntax::ENV)
    },
    keys: &[
        "type", "transportType", "transport", "command", "args", "env", "cwd", "url", "headers",
    ],
    stdio: "stdio",
    kinds: &[
        ("streamableHttp", EntryHttpKind::Streamable),
        ("sse", EntryHttpKind::Sse),
        ("http", EntryHttpKind::Streamable),
        ("streamable-http", EntryHttpKind::Streamable),
    ],
    untyped: EntryHttpKind::Sse,
    settings: &[
        ("timeout", Setting::Timeout),
        ("autoApprove", Setting::Approved),
        ("disabled", Setting::Disabled),
        ("oauthClient", Setting::Oauth(OauthNames { scopes: "", port: "", ..OauthNames::CAMEL })),
    ],
    read,
    locations: |folders| {
        let file = "settings/cline_mcp_settings.json";
        let code = folders.application("Code").join("User/globalStorage");
        let data = folders.home.join(".cline/data");
        let elsewhere = folders.cline_settings.clone().map(Location::user);
        let usual = [code.join("saoudrizwan.claude-dev").join(file), data.join(file)];
        elsewhere.into_iter().chain(usual.map(Location::user)).collect()
    },
    ..Grammar::USUAL
};

fn read(grammar: &'static Grammar, fields: &mut EntryFields<'_>) -> Result<ServerEntry, String> {
    let reach = match fields.value("transport") {
        Some(nested @ Value::Object(_)) => {
            grammar.read_reach(&mut EntryFields::new(fields.name, nested, fields.able)?)?
        }
        _ => match fields.words("transportType")? {
            // The older name of `type`, which takes precedence.
            Some(word) if !fields.has("type") => {
                let typed = with_type(fields, word);
                let mut inner = EntryFields::new(fields.name, &typed, fields.able)?;
                let reach = grammar.read_reach(&mut inner)?;
                // Marks the members as read; without a type their values may not fit.
                _ = grammar.read_reach(fields);
                reach
            }
            _ => grammar.read_reach(fields)?,
        },
    };
    // Tokens and other login state are not converted.
    fields.value("oauth");
    grammar.read_settings(fields, reach)
}

fn with_type(fields: &mut EntryFields<'_>, word: &str) -> Value {
    let keys = ["command", "args", "env", "cwd", "url", "headers"];
    let mut map = Map::from_iter([("type".to_owned(), json!(word))]);
    for key in keys {
        if let Some(value) = fields.value(key) {
            map.insert(key.to_owned(), value.clone());
        }
    }
    Value::Object(map)
}
