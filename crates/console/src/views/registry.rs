//! View models of registry servers, and of the entries that would add them.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_registry::{
    FetchLimits, InstallChoice, InstallPlan, ListedServer, ListingStatus, OFFICIAL_REGISTRY,
    PlanBody, Registry, RegistryAddress, RegistryError, RegistryQuestion, install_choices,
    short_name,
};
use switchboard_text::hex_digest;
use switchboard_vetting::EntryFinding;

use crate::console::Console;
use crate::reply::ApiError;

const MAX_LISTED: usize = 30;

/// A server in a registry.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegistryRow {
    /// Name of the server in the registry.
    pub(crate) name: String,
    /// Display name, if the publisher gives one.
    pub(crate) title: Option<String>,
    /// Description by the publisher.
    pub(crate) description: Option<String>,
    /// Version that is listed.
    pub(crate) version: Option<String>,
    /// Status: `active`, `deprecated` or `deleted`.
    pub(crate) status: &'static str,
    /// URL of the registry.
    pub(crate) registry: String,
    /// Whether the listing is cached because the registry is unreachable.
    pub(crate) is_old: bool,
}

/// The results of a registry search.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegistryFound {
    /// Servers that match the search words.
    pub(crate) servers: Vec<RegistryRow>,
}

/// A registry server with its installation options.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RegistryShown {
    #[serde(flatten)]
    pub(crate) row: RegistryRow,
    /// Installation options of the server.
    pub(crate) ways: Vec<WayShown>,
}

/// An installation option: a package or a remote server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WayShown {
    /// Number of the option, which a choice names.
    pub(crate) number: usize,
    /// Kind: `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`.
    pub(crate) kind: String,
    /// Package or URL, as published.
    pub(crate) what: String,
    /// Command or URL, with `<name>` for each input.
    pub(crate) runs: Option<String>,
    /// Inputs that the option needs.
    pub(crate) asks: Vec<RegistryQuestion>,
    /// Notes about requirements and limits.
    pub(crate) notes: Vec<String>,
    /// Reason why the option is not available.
    pub(crate) refused: Option<String>,
}

/// A chosen installation option with its inputs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Chosen {
    /// Name of the server in the registry.
    pub(crate) name: String,
    /// Version of the server; the newest if empty.
    pub(crate) version: String,
    /// Number of the installation option.
    pub(crate) way: usize,
    /// Inputs by name: a text, or several for a repeated one.
    pub(crate) answers: BTreeMap<String, Value>,
}

/// The exact entry that would be added.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FilledIn {
    /// Suggested name of the server.
    pub(crate) under: String,
    /// Words of the command line, or the URL.
    pub(crate) words: Vec<String>,
    /// Whether the server is remote.
    pub(crate) is_remote: bool,
    /// Variables or headers, with references instead of secrets.
    pub(crate) pairs: Vec<(String, String)>,
    /// Notes about requirements and limits.
    pub(crate) notes: Vec<String>,
    /// Security findings in the entry.
    pub(crate) findings: Vec<EntryFinding>,
    /// Whether a server of that name already exists.
    pub(crate) exists: bool,
    /// Entry in the format of the configuration file.
    pub(crate) entry: Map<String, Value>,
    /// Digest that adding it must quote.
    pub(crate) digest: String,
    #[serde(skip)]
    pub(crate) secrets: BTreeMap<String, String>,
    #[serde(skip)]
    pub(crate) source: String,
}

/// Returns the servers that match the search words. Earlier registries take precedence.
pub(crate) async fn search(console: &Console, words: &str) -> Result<Vec<RegistryRow>, ApiError> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let mut rows: Vec<RegistryRow> = Vec::new();
    for registry in registries(console)? {
        let found = registry.search(&words, MAX_LISTED).await;
        let found = found.map_err(|error| registry_error(&error))?;
        let is_old = found.age.is_some();
        for listed in found.value {
            // Names are unique within a registry only.
            if !rows.iter().any(|row| row.name == listed.server.name) {
                rows.push(row(&listed, &registry, is_old));
            }
        }
    }
    rows.truncate(MAX_LISTED);
    Ok(rows)
}

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
    // Options are counted in the listing's order, which the digest protects.
    let missing = || ApiError::not_found(format!("`{}` has no such option", chosen.name));
    let plan = ways.into_iter().nth(chosen.way).ok_or_else(missing)?.plan;
    let plan = plan.map_err(ApiError::unprocessable)?;
    if matches!(plan.body, PlanBody::Bundle { .. }) {
        return Err(bundle_error(&chosen.name));
    }
    let recipe = plan.fill(&answers(chosen)).map_err(ApiError::unprocessable)?;
    let under = short_name(&chosen.name);
    let entry = recipe.entry();
    let value = Value::Object(entry.clone());
    let file = console.own_file()?;
    let findings = switchboard_config::entry_findings(&file, &under, &value);
    let findings = findings.map_err(ApiError::unprocessable)?;
    let known = console.host.config().load();
    let mut notes = plan.notes.clone();
    notes.extend(status_warning(&listed));
    notes.extend(recipe.from_environment.iter().map(|variable| {
        format!("`{variable}` is a secret that the command line would show, so it is read from your environment")
    }));
    Ok(FilledIn {
        exists: known.servers.contains_key(under.as_str())
            || known.broken.contains_key(under.as_str()),
        words: recipe.words(),
        is_remote: recipe.is_remote(),
        pairs: recipe.pairs(),
        notes,
        findings,
        // Adding repeats this function and compares: the registry may change in between.
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
        ListingStatus::Deprecated => Some(format!("this server is deprecated{why}")),
        ListingStatus::Deleted => Some(format!("this server was deleted{why}")),
        ListingStatus::Other => Some(format!("the status of this server is unknown{why}")),
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
            .or_else(|| is_bundle.then(|| "add bundles with `switchboard add`".to_owned())),
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

/// Looks up a server in the first registry that has it.
async fn lookup(
    console: &Console,
    name: &str,
    version: &str,
) -> Result<(ListedServer, Registry, bool), ApiError> {
    let version = Some(version).filter(|version| !version.is_empty() && *version != "latest");
    let mut unknown = ApiError::not_found("no registry is configured");
    for registry in registries(console)? {
        match registry.show(name, version).await {
            Ok(found) => return Ok((found.value, registry, found.age.is_some())),
            Err(error @ RegistryError::Unknown { .. }) => unknown = registry_error(&error),
            // Not skipped: another publisher may own the name in the next registry.
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

fn bundle_error(name: &str) -> ApiError {
    ApiError::unprocessable("bundles cannot be added here, because they have to be unpacked")
        .with_hint(format!("run `switchboard add {name}`"))
}
