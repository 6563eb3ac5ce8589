//! Versions and digests of the packages that servers fetch, from the registries that this machine's package managers use.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use switchboard_config::{Config, ServerConfig};
use switchboard_text::escape_line;
use switchboard_trust::{
    ConfirmedPackages, Evidence, LockFile, LockedPackage, PackageRegistries, PackageSpec,
    fetched_packages,
};

use crate::context::CommandContext;

/// How long a package manager may take to tell where its registry is.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(20);

/// The packages of a server as the registries have them at this moment; what cannot be looked up is
/// told and left out.
pub(crate) async fn locked_packages(
    context: &CommandContext,
    registries: &PackageRegistries,
    server: &ServerConfig,
) -> Vec<LockedPackage> {
    let mut found = Vec::new();
    for wanted in fetched_packages(server) {
        match registries.look_up(&wanted).await {
            Ok(package) => found.push(package),
            Err(why) => {
                let name = escape_line(&wanted.name);
                let message = format!("package `{name}` of server `{}` is not locked", server.id);
                context.printer.warn(&format!("{message}: {}", escape_line(&why)), None);
            }
        }
    }
    found
}

/// Why servers must not be started, by name: what they would fetch is not what was locked.
pub(crate) async fn refusals(
    context: &CommandContext,
    config: &Config,
    lock: &LockFile,
) -> BTreeMap<String, String> {
    let mut refused = BTreeMap::new();
    let mut registries = None;
    let confirmed = ConfirmedPackages::load(&context.places.state);
    for server in config.servers.values() {
        let Some(locked) = lock.servers.get(server.id.as_str()) else { continue };
        for package in &locked.packages {
            let why = match package.evidence(server, &context.environment, &confirmed) {
                Evidence::Same => continue,
                Evidence::Other => Some("was fetched with another digest".to_owned()),
                Evidence::None => {
                    if registries.is_none() {
                        registries = Some(self::registries(context, config).await);
                    }
                    let known = registries.as_ref();
                    let different =
                        different(known.unwrap_or(&PackageRegistries::default()), server, package)
                            .await;
                    if different.is_none() {
                        keep(context, server, package);
                    }
                    different
                }
            };
            if let Some(why) = why {
                let shown = package.display_name();
                let message = format!("package `{shown}` is not what the lock file says: it {why}");
                refused.insert(server.id.to_string(), message);
            }
        }
    }
    refused
}

/// Keeps what is unpacked of a package that is as it was locked: the next start can do without the
/// registry.
fn keep(context: &CommandContext, server: &ServerConfig, package: &LockedPackage) {
    let unpacked = package.unpacked_digests(server, &context.environment);
    if let Err(error) = ConfirmedPackages::confirm(&context.places.state, package, unpacked) {
        context.printer.warn(&error.to_string(), None);
    }
}

/// What is different about a package in its registry.
async fn different(
    registries: &PackageRegistries,
    server: &ServerConfig,
    locked: &LockedPackage,
) -> Option<String> {
    let is_same = |spec: &PackageSpec| spec.name == locked.name;
    let Some(wanted) = fetched_packages(server).into_iter().find(is_same) else {
        return Some("is not fetched any more".to_owned());
    };
    match registries.look_up(&wanted).await {
        Ok(now) if now == *locked => None,
        Ok(now) if now.version != locked.version => Some(format!("is {} now", now.version)),
        Ok(_) => Some("has another digest now".to_owned()),
        // A check that cannot run refuses.
        Err(why) => Some(format!("cannot be checked: {why}")),
    }
}

/// Where the registries are: by the variables that package managers know, or as they tell.
pub(crate) async fn registries(context: &CommandContext, config: &Config) -> PackageRegistries {
    let wanted: Vec<PackageSpec> = config.servers.values().flat_map(fetched_packages).collect();
    let needs = |ecosystem: &str| wanted.iter().any(|spec| spec.ecosystem == ecosystem);
    let named = |names: &[&str]| {
        let values = names.iter().filter_map(|name| context.environment.variable(name));
        values.map(str::trim).find(|value| !value.is_empty()).map(str::to_owned)
    };
    let mut registries = PackageRegistries::default();
    if needs("npm") {
        registries.npm = named(&["npm_config_registry", "NPM_CONFIG_REGISTRY"]);
        if registries.npm.is_none() {
            registries.npm = printed_address(&["npm", "config", "get", "registry"]).await;
        }
    }
    if needs("PyPI") {
        registries.pypi = named(&["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"]);
        if registries.pypi.is_none() {
            registries.pypi = printed_address(&["pip", "config", "get", "global.index-url"]).await;
        }
    }
    registries
}

/// The address that a program prints.
async fn printed_address(words: &[&str]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LOOKUP_TIMEOUT, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| text.starts_with("http"))
}
