//! `switchboard registry`: finds servers in registries and in the list of known servers.

use std::fmt::Write as _;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_config::{Config, KnownServersSource};
use switchboard_registry::{
    BundleError, FetchLimits, InstallChoice, InstallPlan, KnownError, KnownServer, KnownServers,
    ListedServer, ListingStatus, OFFICIAL_REGISTRY, PlanError, Registry, RegistryAddress,
    RegistryError, RegistryQuestion, RegistryReach, WithAge, install_choices,
};
use switchboard_terminal::{CliError, exit_code, pluralize};
use switchboard_text::escape_line;

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    pub(crate) command: RegistryCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Search servers by name, title or description
    Search {
        /// Words to search for
        #[arg(required = true)]
        words: Vec<String>,
        /// Maximum number of results
        #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
        limit: u16,
        #[command(flatten)]
        of: RegistryChoiceArgs,
    },
    /// Show a server, its versions and the commands it would run
    #[command(disable_version_flag = true)]
    Show {
        /// Name such as `io.github.owner/server`
        name: String,
        /// Version to show instead of the newest
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        #[command(flatten)]
        of: RegistryChoiceArgs,
    },
    /// List known servers and the web domains they serve
    Known {
        /// Show only the server for this URL
        url: Option<String>,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RegistryChoiceArgs {
    /// Registry to query instead of those in the settings
    #[arg(long, value_name = "URL")]
    pub(crate) registry: Option<String>,
}

/// Maximum characters shown of a line; registry data comes from anyone.
const MAX_LINE_CHARS: usize = 500;

pub(crate) async fn run(context: &CommandContext, args: RegistryArgs) -> Result<u8, CliError> {
    match args.command {
        RegistryCommand::Search { words, limit, of } => {
            search(context, &words, usize::from(limit), &of).await
        }
        RegistryCommand::Show { name, version, of } => {
            show(context, &name, version.as_deref(), &of).await
        }
        RegistryCommand::Known { url } => list_known(context, url.as_deref()).await,
    }
}

pub(crate) fn registries(
    context: &CommandContext,
    config: &Config,
    of: &RegistryChoiceArgs,
) -> Result<Vec<Registry>, CliError> {
    let named: Vec<&str> = match (&of.registry, config.settings.discovery.registries.as_slice()) {
        (Some(registry), _) => vec![registry],
        (None, []) => vec![OFFICIAL_REGISTRY],
        (None, listed) => listed.iter().map(String::as_str).collect(),
    };
    let open = |address: &str| {
        let address = RegistryAddress::new(address)?;
        Registry::new(address, Some(&context.places.state), FetchLimits::default())
    };
    named.into_iter().map(|address| open(address).map_err(registry_error)).collect()
}

/// Looks up a name in the first registry that knows it.
pub(crate) async fn lookup<'r>(
    context: &CommandContext,
    registries: &'r [Registry],
    name: &str,
    version: Option<&str>,
) -> Result<(ListedServer, &'r Registry), CliError> {
    let mut unknown = CliError::usage("no registry configured");
    let version = version.filter(|version| *version != "latest");
    for registry in registries {
        match registry.show(name, version).await {
            Ok(found) => {
                tell_age(context, registry, found.age);
                return Ok((found.value, registry));
            }
            Err(error @ RegistryError::Unknown { .. }) => unknown = registry_error(error),
            // Do not try the next registry: there, the name could belong to another publisher.
            Err(error) => return Err(registry_error(error)),
        }
    }
    Err(unknown)
}

async fn search(
    context: &CommandContext,
    words: &[String],
    limit: usize,
    of: &RegistryChoiceArgs,
) -> Result<u8, CliError> {
    let mut found: Vec<(String, ListedServer)> = Vec::new();
    let config = context.config()?;
    for registry in registries(context, &config, of)? {
        let answer: WithAge<Vec<ListedServer>> =
            registry.search(words, limit).await.map_err(registry_error)?;
        tell_age(context, &registry, answer.age);
        if answer.unreadable > 0 {
            context.printer.warn(
                &format!("{} could not be read", pluralize(answer.unreadable, "entry")),
                None,
            );
        }
        // Registries are in order of precedence, so a name belongs to the first one that lists it.
        let known: Vec<String> = found.iter().map(|(_, one)| one.server.name.clone()).collect();
        let new = answer.value.into_iter().filter(|one| !known.contains(&one.server.name));
        found.extend(new.map(|one| (registry.address().text().to_owned(), one)));
    }
    found.truncate(limit);
    let json = |(registry, one): &(String, ListedServer)| in_json(one, registry);
    let heading = ["name", "version", "status", "description"];
    context.printer.list(&found, json, heading, |(_, one)| {
        let status = one.status();
        let mark = if status == ListingStatus::Active { "" } else { status.word() };
        [
            one.server.name.clone(),
            one.server.version().unwrap_or("?").to_owned(),
            mark.to_owned(),
            one.server.description.clone().unwrap_or_default(),
        ]
    })?;
    if context.printer.json {
        return Ok(exit_code::OK);
    }
    if found.is_empty() {
        context.printer.say("no servers found");
    } else {
        context.printer.say(
            "hint: `switchboard registry show NAME` shows details, `switchboard add NAME` adds it",
        );
    }
    Ok(exit_code::OK)
}

async fn show(
    context: &CommandContext,
    name: &str,
    version: Option<&str>,
    of: &RegistryChoiceArgs,
) -> Result<u8, CliError> {
    let config = context.config()?;
    let registries = registries(context, &config, of)?;
    let (listed, registry) = lookup(context, &registries, name, version).await?;
    let reach = registry.address().reach();
    let mut versions = Vec::new();
    for registry in &registries {
        // The versions are only shown, so a registry that cannot list them is skipped.
        if let Ok(found) = registry.versions(name).await {
            versions = found.value;
            break;
        }
    }
    let choices = install_choices(&listed.server, reach);
    if context.printer.json {
        let mut value = in_json(&listed, "");
        if let Value::Object(members) = &mut value {
            members.remove("registry");
            let versions: Vec<Value> = versions
                .iter()
                .map(|one| json!({"version": one.server.version(), "status": one.status()}))
                .collect();
            members.insert("versions".to_owned(), json!(versions));
            let ways: Vec<Value> = choices.iter().map(way_in_json).collect();
            members.insert("ways".to_owned(), json!(ways));
        }
        context.printer.json(&value)?;
    } else {
        context.printer.data(&description(&listed, &versions, &choices))?;
    }
    Ok(exit_code::OK)
}

fn in_json(listed: &ListedServer, registry: &str) -> Value {
    let server = &listed.server;
    json!({
        "name": server.name,
        "title": server.title,
        "description": server.description,
        "version": server.version(),
        "status": listed.status(),
        "status_message": listed.status_message(),
        "published_at": listed.published_at(),
        "registry": registry,
        "server": server,
    })
}

fn way_in_json(choice: &InstallChoice) -> Value {
    let refused = choice.plan.as_ref().err().map(ToString::to_string);
    let plan = choice.plan.as_ref().ok();
    json!({
        "kind": choice.kind,
        "what": choice.what,
        "runs": plan.map(InstallPlan::display_text),
        "asks": plan.map(|plan| &plan.asked),
        "notes": plan.map(|plan| &plan.notes),
        "refused": refused,
    })
}

fn description(
    listed: &ListedServer,
    versions: &[ListedServer],
    choices: &[InstallChoice],
) -> String {
    let server = &listed.server;
    let line = short_line;
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    _ = writeln!(
        text,
        "{} {} ({})",
        line(&server.name),
        line(server.version().unwrap_or("?")),
        listed.status().word()
    );
    if let Some(message) = listed.status_message() {
        _ = writeln!(text, "    {}", line(message));
    }
    for said in [&server.title, &server.description, &server.website_url].into_iter().flatten() {
        _ = writeln!(text, "    {}", line(said));
    }
    if let Some(url) = server.repository.as_ref().and_then(|repository| repository.url.as_deref()) {
        _ = writeln!(text, "    source {}", line(url));
    }
    let others: Vec<String> = versions
        .iter()
        .take(20)
        .map(|one| {
            let mark = if one.status() == ListingStatus::Active {
                String::new()
            } else {
                format!(" ({})", one.status().word())
            };
            format!("{}{mark}", line(one.server.version().unwrap_or("?")))
        })
        .collect();
    if !others.is_empty() {
        _ = writeln!(text, "    versions {}", others.join(", "));
    }
    for choice in choices {
        describe_way(&mut text, choice);
    }
    if choices.is_empty() {
        _ = writeln!(text, "\nit has neither a package nor a remote endpoint");
    }
    text
}

fn describe_way(text: &mut String, choice: &InstallChoice) {
    let line = short_line;
    _ = writeln!(text, "\n{}  {}", line(&choice.kind), line(&choice.what));
    match &choice.plan {
        Ok(plan) => {
            _ = writeln!(text, "    {}", line(&plan.display_text()));
            for asked in &plan.asked {
                _ = writeln!(text, "    asks for {}", question(asked));
            }
            for note in &plan.notes {
                _ = writeln!(text, "    note: {}", line(note));
            }
        }
        Err(error) => _ = writeln!(text, "    refused: {}", line(&error.to_string())),
    }
}

fn short_line(text: &str) -> String {
    let shown: String = text.chars().take(MAX_LINE_CHARS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{more}", escape_line(&shown))
}

pub(crate) fn question(asked: &RegistryQuestion) -> String {
    let mut words = Vec::new();
    if asked.required && asked.default.is_none() {
        words.push("required".to_owned());
    }
    if asked.secret {
        words.push("secret".to_owned());
    }
    if !asked.choices.is_empty() {
        words.push(format!("one of {}", asked.choices.join(", ")));
    }
    if let Some(default) = &asked.default {
        words.push(format!("default {default}"));
    }
    let more = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    let about = asked.description.as_deref().map(|about| format!(": {about}")).unwrap_or_default();
    short_line(&format!("{}{more}{about}", asked.name))
}

async fn list_known(context: &CommandContext, url: Option<&str>) -> Result<u8, CliError> {
    let config = context.config()?;
    let servers = known_servers(&config).await?;
    let wanted: Vec<&KnownServer> = match url {
        Some(url) => servers.for_url(url).into_iter().collect(),
        None => servers.all(),
    };
    let heading = ["name", "domains", "address", "description"];
    let shown = context.printer.list(
        &wanted,
        |one| *one,
        heading,
        |one| {
            [one.short_name(), one.domains.join(" "), one.endpoint.clone(), one.description.clone()]
        },
    );
    shown.map(|()| exit_code::OK)
}

pub(crate) async fn known_servers(config: &Config) -> Result<KnownServers, CliError> {
    let wrong = |error: KnownError| CliError::new(exit_code::CONFIG, error.to_string());
    match &config.settings.discovery.known_servers {
        None => KnownServers::built_in().map_err(wrong),
        Some(KnownServersSource::Url(url)) => KnownServers::fetch(url).await.map_err(wrong),
        Some(KnownServersSource::File(file)) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                let message = format!(
                    "the list of known servers `{}` cannot be read: {error}",
                    file.display()
                );
                CliError::new(exit_code::CONFIG, message)
            })?;
            KnownServers::read(&text, RegistryReach::Own).map_err(wrong)
        }
    }
}

fn tell_age(context: &CommandContext, registry: &Registry, age: Option<Duration>) {
    if let Some(age) = age {
        let message = format!(
            "the registry at `{}` cannot be reached; showing cached data, {} old",
            registry.address().text(),
            age_text(age)
        );
        context.printer.warn(&message, None);
    }
}

fn age_text(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    match minutes {
        0 => format!("{} s", age.as_secs()),
        1..120 => format!("{minutes} min"),
        120..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

pub(crate) fn registry_error(error: RegistryError) -> CliError {
    let code = match &error {
        RegistryError::BadAddress { .. }
        | RegistryError::Unknown { .. }
        | RegistryError::BadName(_) => exit_code::USAGE,
        RegistryError::Unreachable { .. }
        | RegistryError::Refused { .. }
        | RegistryError::LeadsElsewhere { .. }
        | RegistryError::TooLong { .. }
        | RegistryError::Unreadable { .. } => exit_code::NOT_RUN,
    };
    CliError { message: error.to_string(), hint: error.hint().map(str::to_owned), code }
}

pub(crate) fn plan_error(error: PlanError) -> CliError {
    let code = match &error {
        PlanError::Missing(_) | PlanError::DoesNotFit { .. } | PlanError::NotAsked(_) => {
            exit_code::USAGE
        }
        PlanError::NotPinned { .. }
        | PlanError::NoRunner(_)
        | PlanError::BadPackage(_)
        | PlanError::Listens(_)
        | PlanError::RunnerArgument(_)
        | PlanError::Hostile { .. }
        | PlanError::NoDigest(_) => exit_code::NOT_ALLOWED,
    };
    CliError { message: error.to_string(), hint: error.hint(), code }
}

pub(crate) fn bundle_error(error: BundleError) -> CliError {
    let code = match error {
        BundleError::Plan(error) => return plan_error(error),
        BundleError::NotRead(_) => exit_code::USAGE,
        BundleError::NotInstalled(_) => exit_code::TROUBLE,
        BundleError::NoArchive(_)
        | BundleError::TooLarge(_)
        | BundleError::BadEntry { .. }
        | BundleError::NoManifest(_)
        | BundleError::OtherPlatform { .. }
        | BundleError::OtherDigest { .. } => exit_code::NOT_ALLOWED,
    };
    CliError::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        for (seconds, expected) in
            [(5, "5 s"), (60, "1 min"), (7_000, "116 min"), (10_800, "3 h"), (400_000, "4 days")]
        {
            assert_eq!(age_text(Duration::from_secs(seconds)), expected);
        }
    }
}
