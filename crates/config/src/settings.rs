//! Reads the `settings` section of a file and merges it over the settings of lower layers.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use switchboard_core::Durability;
use switchboard_document::{ConfigError, Member, Node};
use switchboard_net::check_url;
use switchboard_rules::{NodeReader, read_team};

use crate::log_level::LogLevel;
use crate::reader::ConfigReader;
use crate::resolved::{CompromiseScope, ConfigLayer, FirstUseSetting, Settings};
use crate::{chat, gateway};

const NOT_WIDER: &str = "cannot be widened by a project, so it is ignored";

const KEYS: &[&str] = &[
    "autoApprove", "durability", "resultLimitBytes", "showLimitBytes", "reviewMinutes", "builtin",
    "roots", "tokenKeyFile", "strict", "badPackages", "logLevel", "scan", "chat", "gateway",
    "taint", "team", "notifications", "pins", "firstUse", "turned", "registries", "knownServers",
];

/// The key of the team, whose errors cannot be ignored: rules may be missing.
pub(crate) const TEAM_KEY: &str = "settings.team";

const RESULT_LIMIT_RANGE: RangeInclusive<usize> = 1_024..=1_073_741_824;
const SHOW_LIMIT_RANGE: RangeInclusive<usize> = 100..=10_000_000;
/// From a minute to a week.
const REVIEW_MINUTES_RANGE: RangeInclusive<usize> = 1..=10_080;

/// Reads every valid setting, and returns the errors of the others.
pub(crate) fn apply(
    settings: &mut Settings,
    node: &Node,
    layer: ConfigLayer,
    reader: &mut ConfigReader<'_>,
) -> Vec<ConfigError> {
    if let Some((path, at)) = node.find_duplicate() {
        let error = reader.key_error(at, &format!("settings.{path}"), "is given twice");
        return vec![error.hint("keep one of them")];
    }
    let members = match reader.members(node, "settings") {
        Ok(members) => members,
        Err(error) => return vec![error],
    };
    reader.warn_unknown(members, "settings.", KEYS);
    for member in members.iter().filter(|member| member.name == "chat") {
        if let Ok(inner) = reader.members(&member.value, "settings.chat") {
            reader.warn_unknown(inner, "settings.chat.", chat::KEYS);
        }
    }
    let mut errors = Vec::new();
    for member in members.iter().filter(|member| !member.value.is_null()) {
        if member.name == "team" && layer == ConfigLayer::Project {
            reader.warn(member.at, TEAM_KEY, NOT_WIDER);
            continue;
        }
        // Each setting is tried on a copy. A project may only restrict: settings apply to every
        // server, and its author is not the user.
        let mut wanted = settings.clone();
        match read(&mut wanted, member, reader) {
            Err(error) => errors.push(error),
            Ok(()) if layer == ConfigLayer::Project && widens(&wanted, settings) => {
                reader.warn(member.at, &format!("settings.{}", member.name), NOT_WIDER);
            }
            Ok(()) => *settings = wanted,
        }
    }
    errors
}

fn read(
    settings: &mut Settings,
    member: &Member,
    reader: &ConfigReader<'_>,
) -> Result<(), ConfigError> {
    let node = &member.value;
    let key = &format!("settings.{}", member.name);
    match member.name.as_str() {
        "autoApprove" => settings.auto_approve = reader.flag(node, key)?,
        "durability" => {
            let choices = [("process", Durability::Process), ("power", Durability::Power)];
            settings.durability = reader.choice(node, key, &choices)?;
        }
        "resultLimitBytes" => {
            settings.result_limit_bytes = reader.count(node, key, RESULT_LIMIT_RANGE)?;
        }
        "showLimitBytes" => {
            settings.show_limit_bytes = reader.count(node, key, SHOW_LIMIT_RANGE)?;
        }
        "reviewMinutes" => {
            settings.review_minutes = reader.count(node, key, REVIEW_MINUTES_RANGE)?;
        }
        "scan" => {
            settings.scan = reader.choice(node, key, &[("on", true), ("off", false)])?;
        }
        "builtin" => settings.builtin = reader.flag(node, key)?,
        "roots" => {
            let base = reader.variables.workspace;
            let texts = reader.texts(node, key)?;
            settings.roots = texts.iter().map(|text| reader.resolve(text, base)).collect();
        }
        "tokenKeyFile" => {
            settings.token_key_file = Some(reader.path(node, key, reader.variables.workspace)?);
        }
        "strict" => settings.strict = reader.flag(node, key)?,
        "badPackages" => {
            settings.bad_packages = Some(reader.path(node, key, reader.variables.workspace)?);
        }
        "logLevel" => settings.log_level = reader.choice(node, key, &LogLevel::ALL)?,
        "notifications" => settings.notifications = reader.flag(node, key)?,
        "pins" => settings.pins = reader.choice(node, key, &[("on", true), ("off", false)])?,
        "firstUse" => {
            let choices = [
                ("trust", FirstUseSetting::Trust),
                ("person", FirstUseSetting::Person),
                ("ask", FirstUseSetting::Ask),
            ];
            settings.first_use = reader.choice(node, key, &choices)?;
        }
        "turned" => {
            let choices =
                [("server", CompromiseScope::Server), ("definition", CompromiseScope::Definition)];
            settings.compromise_scope = reader.choice(node, key, &choices)?;
        }
        "registries" => settings.discovery.registries = registries(reader, node, key)?,
        "knownServers" => {
            settings.discovery.known_servers = Some(known_list(reader, node, key)?);
        }
        "chat" => chat::read(&mut settings.chat, node, key, reader)?,
        "gateway" => gateway::read(&mut settings.gateway, node, key, reader)?,
        "taint" => settings.taint = reader.choice(node, key, &[("ask", true), ("off", false)])?,
        "team" => {
            let read = read_team(&NodeReader { file: reader.file, source: "" }, node);
            settings.team = read.map_err(|error| error.key(TEAM_KEY))?;
        }
        _ => {}
    }
    Ok(())
}

fn widens(wanted: &Settings, current: &Settings) -> bool {
    // A setting without a safe direction, such as a folder, counts as widened by any change.
    wanted.auto_approve && !current.auto_approve
        || !wanted.scan && current.scan
        || wanted.builtin && !current.builtin
        || wanted.durability < current.durability
        || wanted.result_limit_bytes > current.result_limit_bytes
        || wanted.show_limit_bytes > current.show_limit_bytes
        || wanted.review_minutes > current.review_minutes
        || wanted.roots != current.roots
        || wanted.token_key_file != current.token_key_file
        || !wanted.strict && current.strict
        || wanted.bad_packages != current.bad_packages
        || wanted.log_level < current.log_level
        || wanted.notifications && !current.notifications
        || wanted.chat != current.chat
        || wanted.gateway != current.gateway
        || current.taint && !wanted.taint
        || !wanted.pins && current.pins
        || wanted.first_use < current.first_use
        || wanted.compromise_scope < current.compromise_scope
        || wanted.discovery != current.discovery
}

/// The sources in which servers are discovered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoverySettings {
    /// The registries in the order of the queries; empty means the official one.
    pub registries: Vec<String>,
    /// A list of known servers that replaces the built-in one.
    pub known_servers: Option<KnownServersSource>,
}

/// The location of a list of known servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownServersSource {
    File(PathBuf),
    Url(String),
}

fn registries(
    reader: &ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<Vec<String>, ConfigError> {
    let texts = reader.texts(node, key)?;
    for text in &texts {
        check_url(text).map_err(|wrong| reader.key_error(node.at, key, wrong))?;
    }
    Ok(texts)
}

fn known_list(
    reader: &ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<KnownServersSource, ConfigError> {
    let text = reader.text(node, key)?;
    if !text.contains("://") {
        return Ok(KnownServersSource::File(reader.path(node, key, reader.variables.workspace)?));
    }
    check_url(&text).map_err(|wrong| reader.key_error(node.at, key, wrong))?;
    Ok(KnownServersSource::Url(text))
}
