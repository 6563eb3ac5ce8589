//! View models of registry servers, and of the entries that would add them.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_registry::{
    FetchLimits, InstallChoice, InstallPlan, ListedServer, ListingStatus, OFFICIAL_REGISTRY,
    PlanBody, PlanError, Registry, RegistryAddress, RegistryError, RegistryQuestion,
    install_choices, short_name,
};
use switchboard_text::hex_digest;
use switchboard_vetting::EntryFinding;

use crate::console::Console;
use crate::reply::ApiError;

/// Maximum number of search results.
const MAX_LISTED: usize = 30;

/// A server in a registry.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegistryRow {
    /// Its name in the registry.
    pub(crate) name: String,
    /// What it is called.
    pub(crate) title: Option<String>,
    /// What it does, in its publisher's words.
    pub(crate) description: Option<String>,
    /// Its version.
    pub(crate) version: Option<String>,
    /// `active`, `deprecated` or `deleted`.
    pub(crate) status: &'static str,
    /// The address of the registry.
    pub(crate) registry: String,
    /// Whether this is what the registry said before, because it cannot be reached.
    pub(crate) is_old: bool,
}

/// Servers of registries that fit some words.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegistryFound {
    /// The servers.
    pub(crate) servers: Vec<RegistryRow>,
}

/// A server with the ways in which it can be added.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegistryShown {
    #[serde(flatten)]
    pub(crate) row: RegistryRow,
    /// The ways in which it can be added.
    pub(crate) ways: Vec<WayShown>,
}

/// One way to add a server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WayShown {
    /// Its number, which a choice names.
    pub(crate) number: usize,
    /// `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`.
    pub(crate) kind: String,
    /// The package or the address, as published.
    pub(crate) what: String,
    /// What would be run or visited, with `<name>` where an answer belongs.
    pub(crate) runs: Option<String>,
    /// What has to be answered.
    pub(crate) asks: Vec<RegistryQuestion>,
    /// What to know about it.
    pub(crate) notes: Vec<String>,
    /// Why it is not offered.
    pub(crate) refused: Option<String>,
}

/// Which way to add which server, with what was answered.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Chosen {
    /// Its name in the registry.
    pub(crate) name: String,
    /// Its version; the newest unless told.
    pub(crate) version: String,
    /// The number of the way.
    pub(crate) way: usize,
    /// What was answered to what is asked: a text for each, or several.
    pub(crate) answers: BTreeMap<String, Value>,
}

/// Exactly what would be added.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilledIn {
    /// A name for it here.
    pub(crate) under: String,
    /// Every word that is run, or the address.
    pub(crate) words: Vec<String>,
    /// Whether it is an address.
    pub(crate) is_remote: bool,
    /// Its variables or headers, with the names of secrets in place of them.
    pub(crate) pairs: Vec<(String, String)>,
    /// What to know about it.
    pub(crate) notes: Vec<String>,
    /// What to know before it runs.
    pub(crate) findings: Vec<EntryFinding>,
    /// Whether there is a server of that name.
    pub(crate) exists: bool,
    /// The entry that is added.
    pub(crate) entry: Map<String, Value>,
    /// What adding it has to quote.
    pub(crate) digest: String,
    /// Secrets that are kept for it.
    #[serde(skip)]
    pub(crate) secrets: BTreeMap<String, String>,
    /// Where it comes from, for the record.
    #[serde(skip)]
    pub(crate) source: String,
}

/// Returns the servers that match the search words. Earlier registries take precedence.
pub(crate) async fn search(console: &Console, words: &str) -> Result<Vec<RegistryRow>, ApiError> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let mut rows: Vec<RegistryRow> = Vec::new();
    for registry in registries(console)? {
        let found =
            registry.search(&words, MAX_LISTED).await.map_err(|error| registry_error(&error))?;
        let is_old = found.age.is_some();
        for listed in found.value {
            if !rows.iter().any(|row| row.name == listed.server.name) {
                rows.push(row(&listed, &registry, is_old));
            }
        }
    }
    rows.truncate(MAX_LISTED);
    Ok(rows)
}

/// Returns one server with the ways to add it.
pub(crate) async fn show(
    console: &Console,
    name: &str,
    version: &str,
) -> Result<RegistryShown, ApiError> {
    let (listed, registry, is_old) = lookup(console, name, version).await?;
    let ways = install_choices(&listed.server, registry.address().reach());
    let ways = ways.into_iter().enumerate().map(|(number, way)| way_view(number, way)).collect();
    Ok(RegistryShown { row: row(&listed, &registry, is_old), ways })
}

/// Returns the exact entry that would be added with these answers.
pub(crate) async fn fill_in(console: &Console, chosen: &Chosen) -> Result<FilledIn, ApiError> {
    let (listed, registry, _) = lookup(console, &chosen.name, &chosen.version).await?;
    if listed.status() == ListingStatus::Deleted {
        let why = format!("`{}` was deleted from the registry", chosen.name);
        return Err(ApiError::new(StatusCode::CONFLICT, why));
    }
    let ways = install_choices(&listed.server, registry.address().reach());
    let missing = || ApiError::not_found(format!("`{}` has no such way", chosen.name));
    let plan = ways.into_iter().nth(chosen.way).ok_or_else(missing)?.plan;
    let plan = plan.map_err(|error| plan_error(&error))?;
    if matches!(plan.body, PlanBody::Bundle { .. }) {
        return Err(bundle_error(&chosen.name));
    }
    let recipe = plan.fill(&answers(chosen)).map_err(|error| plan_error(&error))?;
    let under = short_name(&chosen.name);
    let entry = recipe.entry();
    let value = Value::Object(entry.clone());
    let file = console.own_file()?;
    let findings = switchboard_config::entry_findings(&file, &under, &value);
    let findings = findings.map_err(|error| ApiError::unprocessable(error.to_string()))?;
    let known = console.host.config().load();
    let mut notes = plan.notes.clone();
    notes.extend(status_warning(&listed));
    notes.extend(recipe.from_environment.iter().map(|variable| {
        format!("`{variable}` is a secret in plain sight, so it is taken from the variable `{variable}` of your environment")
    }));
    Ok(FilledIn {
        exists: known.servers.contains_key(under.as_str())
            || known.broken.contains_key(under.as_str()),
        words: recipe.words(),
        is_remote: recipe.is_remote(),
        pairs: recipe.pairs(),
        notes,
        findings,
        digest: hex_digest([value.to_string().as_bytes()]),
        entry,
        under,
        secrets: recipe.secrets,
        source: format!(
            "version {}, from {}",
            listed.server.version.as_deref().unwrap_or("unknown"),
            registry.address().text()
        ),
    })
}

/// Converts the answers of a form: a single value, or several for a repeated question.
fn answers(chosen: &Chosen) -> BTreeMap<String, Vec<String>> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let given = chosen.answers.iter().map(|(name, value)| {
        let all = match value {
            Value::Array(all) => all.iter().map(text).collect(),
            one => vec![text(one)],
        };
        (name.clone(), all)
    });
    given.collect()
}

fn status_warning(listed: &ListedServer) -> Option<String> {
    let why = listed.status_message().map(|why| format!(": {why}")).unwrap_or_default();
    match listed.status() {
        ListingStatus::Active => None,
        ListingStatus::Deprecated => Some(format!("it is deprecated{why}")),
        ListingStatus::Deleted => Some(format!("it was deleted{why}")),
        ListingStatus::Other => Some(format!("its status is not known{why}")),
    }
}

fn way_view(number: usize, way: InstallChoice) -> WayShown {
    let plan = way.plan.as_ref().ok();
    let is_bundle = plan.is_some_and(|plan| matches!(plan.body, PlanBody::Bundle { .. }));
    let refused = way.plan.as_ref().err().map(ToString::to_string);
    WayShown {
        number,
        runs: plan.map(InstallPlan::display_text),
        asks: plan.map(|plan| plan.asked.clone()).unwrap_or_default(),
        notes: plan.map(|plan| plan.notes.clone()).unwrap_or_default(),
        refused: refused
            .or_else(|| is_bundle.then(|| "a bundle is added with `switchboard add`".to_owned())),
        kind: way.kind,
        what: way.what,
    }
}

fn row(listed: &ListedServer, registry: &Registry, is_old: bool) -> RegistryRow {
    let server = &listed.server;
    RegistryRow {
        name: server.name.clone(),
        title: server.title.clone(),
        description: server.description.clone(),
        version: server.version().map(str::to_owned),
        status: listed.status().word(),
        registry: registry.address().text().to_owned(),
        is_old,
    }
}

/// Looks up a server in the first registry that has it. An unreachable registry is an error and not
/// skipped: another publisher may own the name in the next registry.
async fn lookup(
    console: &Console,
    name: &str,
    version: &str,
) -> Result<(ListedServer, Registry, bool), ApiError> {
    let version = Some(version).filter(|version| !version.is_empty() && *version != "latest");
    let mut unknown = ApiError::not_found("there is no registry to ask");
    for registry in registries(console)? {
        match registry.show(name, version).await {
            Ok(found) => return Ok((found.value, registry, found.age.is_some())),
            Err(error @ RegistryError::Unknown { .. }) => unknown = registry_error(&error),
            Err(error) => return Err(registry_error(&error)),
        }
    }
    Err(unknown)
}

fn registries(console: &Console) -> Result<Vec<Registry>, ApiError> {
    let config = console.host.config().load();
    let listed = &config.settings.discovery.registries;
    let named: Vec<&str> = match listed.as_slice() {
        [] => vec![OFFICIAL_REGISTRY],
        listed => listed.iter().map(String::as_str).collect(),
    };
    let open = |address: &str| {
        let address = RegistryAddress::new(address)?;
        Registry::new(address, Some(&console.places.state), FetchLimits::default())
    };
    named.into_iter().map(|address| open(address).map_err(|error| registry_error(&error))).collect()
}

fn registry_error(error: &RegistryError) -> ApiError {
    let status = match error {
        RegistryError::Unknown { .. } => StatusCode::NOT_FOUND,
        RegistryError::BadName(_) | RegistryError::BadAddress { .. } => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        _ => StatusCode::BAD_GATEWAY,
    };
    ApiError::new(status, error.to_string()).maybe_hint(error.hint())
}

fn plan_error(error: &PlanError) -> ApiError {
    ApiError::unprocessable(error.to_string())
}

fn bundle_error(name: &str) -> ApiError {
    ApiError::unprocessable("a bundle is unpacked before it runs, which is not done from a page")
        .with_hint(format!("run `switchboard add {name}`"))
}
