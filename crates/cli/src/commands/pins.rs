//! `switchboard pins`: lists, compares, approves and revokes pinned definitions.

use std::io::IsTerminal as _;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_catalog::{Acceptance, DefinitionVersion, Flagged};
use switchboard_config::{Config, ServerConfig, Transport};
use switchboard_core::ServerId;
use switchboard_scan::{DefinitionKind, Severity};
use switchboard_store::AuditNote;
use switchboard_terminal::{CliError, ask_line, exit_code, is_yes, pluralize};
use switchboard_text::{escape, escape_line};
use switchboard_trust::{
    PinKind, Pins, QuarantinedDefinition, add_accepted, new_acceptance, pending_definitions,
    remove_accepted,
};

use crate::args::ServerArg;
use crate::commands::consent::PriorConsent;
use crate::commands::{audit, held, tools};
use crate::context::CommandContext;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PinsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PinsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PinsCommand {
    /// List definitions, quarantined ones first
    #[command(visible_alias = "ls")]
    List(Which),
    /// Show how quarantined definitions differ from the approved ones
    Diff(Which),
    /// Show definitions in full, with the scanner's findings
    Show {
        /// Server with all its definitions, or one definition
        #[arg(value_name = "SERVER[/NAME]")]
        which: String,
    },
    /// Approve quarantined definitions, exactly as shown
    Approve {
        /// Server with all its quarantined definitions, or one definition
        #[arg(value_name = "SERVER[/NAME]")]
        which: String,
        /// Approve even definitions that the scanner flagged as an attack
        #[arg(long)]
        despite_findings: bool,
    },
    /// Revoke approvals, so that the definitions are quarantined again
    Revoke {
        /// Server with all its definitions, or one definition
        #[arg(value_name = "SERVER[/NAME]")]
        which: String,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Which {
    /// Limit the list to this server or definition
    #[arg(value_name = "SERVER[/NAME]")]
    pub(crate) which: Option<String>,
    /// List only quarantined definitions
    #[arg(long)]
    pub(crate) held: bool,
}

const FINGERPRINT_CHARS: usize = 12;

struct PinSelection {
    server: ServerId,
    name: Option<String>,
}

struct ServerPins<'a> {
    server: &'a ServerConfig,
    identity: String,
    pins: Pins,
}

pub(crate) async fn run(context: &CommandContext, args: PinsArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    match args.command.unwrap_or(PinsCommand::List(Which::default())) {
        PinsCommand::List(which) => list(context, &config, &which)?,
        PinsCommand::Diff(which) => diff(context, &config, &which).await?,
        PinsCommand::Show { which } => show(context, &config, &which).await?,
        PinsCommand::Approve { which, despite_findings } => {
            approve(context, &config, &which, despite_findings.into()).await?;
        }
        PinsCommand::Revoke { which } => revoke(context, &config, &which)?,
    }
    Ok(exit_code::OK)
}

fn list(context: &CommandContext, config: &Config, which: &Which) -> Result<(), CliError> {
    let named =
        which.which.as_deref().map(|which| parse_selection(context, config, which)).transpose()?;
    let mut rows: Vec<(Value, [String; 5])> = Vec::new();
    for known in server_pins(context, config, named.as_ref())? {
        let id = known.server.id.as_str();
        let fits = |name: &str| named.as_ref().is_none_or(|named| named.fits(name));
        let held = pending_definitions(&known.pins).into_iter().filter(|held| fits(&held.name));
        rows.extend(
            held.map(|held| row(id, &held.name, held.kind, &held.why.to_string(), &held.digest)),
        );
        let approved = known.pins.approved.iter().flat_map(|(kind, items)| {
            items.iter().map(move |(name, item)| (*kind, name, &item.digest))
        });
        let approved = approved.filter(|(_, name, _)| !which.held && fits(name));
        rows.extend(approved.map(|(kind, name, digest)| row(id, name, kind, "approved", digest)));
    }
    let heading = ["server", "kind", "name", "state", "fingerprint"];
    context.printer.list(&rows, |(value, _)| value.clone(), heading, |(_, row)| row.clone())
}

fn row(server: &str, name: &str, kind: PinKind, state: &str, digest: &str) -> (Value, [String; 5]) {
    let value = json!({
        "server": server, "kind": kind, "name": name, "state": state, "digest": digest,
    });
    let short: String = digest.chars().take(FINGERPRINT_CHARS).collect();
    (value, [server, kind.as_str(), name, state, &short].map(str::to_owned))
}

async fn diff(context: &CommandContext, config: &Config, which: &Which) -> Result<(), CliError> {
    let named =
        which.which.as_deref().map(|which| parse_selection(context, config, which)).transpose()?;
    let mut all = Vec::new();
    if let Some(named) = &named {
        look_at_unseen(context, config, &named.server).await?;
    }
    let mut text = String::new();
    for known in server_pins(context, config, named.as_ref())? {
        for held in pending_definitions(&known.pins) {
            if named.as_ref().is_some_and(|named| !named.fits(&held.name)) {
                continue;
            }
            all.push(as_json(&known, &held));
            text.push_str(&held_text(&known, &held));
        }
    }
    if context.printer.json {
        return context.printer.json(&all);
    }
    if all.is_empty() {
        context.printer.say("nothing is quarantined");
        return Ok(());
    }
    context.printer.data(text.trim_end())
}

async fn show(context: &CommandContext, config: &Config, which: &str) -> Result<(), CliError> {
    let named = parse_selection(context, config, which)?;
    let flagged = flagged_definitions(context, config, &named).await?;
    let mut all = Vec::new();
    let mut text = String::new();
    for known in server_pins(context, config, Some(&named))? {
        let held = pending_definitions(&known.pins);
        let books = [(&known.pins.held, false), (&known.pins.approved, true)];
        for (book, is_approved) in books {
            let items = book.iter().flat_map(|(kind, items)| {
                items.iter().map(move |(name, item)| (*kind, name, item))
            });
            for (kind, name, item) in items.filter(|(_, name, _)| named.fits(name)) {
                let why = held.iter().find(|held| held.kind == kind && held.name == *name);
                let state = why.filter(|_| !is_approved).map(|held| held.why.to_string());
                let state = state.unwrap_or_else(|| "approved".to_owned());
                let definition = item.definition.get();
                let digest = &item.digest;
                all.push(json!({
                    "server": known.server.id.as_str(), "kind": kind, "name": name,
                    "state": state, "digest": digest, "definition": item.definition,
                }));
                let title = if name.is_empty() { "instructions" } else { name };
                let about = format!("{} {}/{title}: {state}", kind.as_str(), known.server.id);
                text.push_str(&format!("{}\n", escape_line(&about)));
                text.push_str(&format!("  fingerprint: {digest}\n  {}\n", escape_line(definition)));
            }
        }
    }
    if context.printer.json {
        return context.printer.json(&json!({"definitions": all, "found": flagged}));
    }
    for one in &flagged {
        text.push_str(&held::description(one));
    }
    if text.is_empty() {
        context.printer.say("no such definition is known");
    }
    context.printer.data(&text)
}

async fn flagged_definitions(
    context: &CommandContext,
    config: &Config,
    named: &PinSelection,
) -> Result<Vec<Flagged>, CliError> {
    if !config.settings.scan {
        return Ok(Vec::new());
    }
    let mut flagged = examine(context).await?;
    flagged.retain(|one| one.server == named.server && named.fits(&one.name));
    Ok(flagged)
}

async fn approve(
    context: &CommandContext,
    config: &Config,
    which: &str,
    agreed: PriorConsent,
) -> Result<(), CliError> {
    let named = parse_selection(context, config, which)?;
    look_at_unseen(context, config, &named.server).await?;
    let fitting = |pins: &Pins| -> Vec<QuarantinedDefinition> {
        pending_definitions(pins).into_iter().filter(|held| named.fits(&held.name)).collect()
    };
    let mut flagged = Vec::new();
    for before in server_pins(context, config, Some(&named))? {
        let wanted = fitting(&before.pins);
        // Scanning starts all servers, so do it only if a finding is possible.
        let is_agreed = agreed == PriorConsent::Given;
        if is_agreed || wanted.is_empty() || wanted.iter().any(is_suspicious) {
            flagged = flagged_definitions(context, config, &named).await?;
        }
    }
    for known in server_pins(context, config, Some(&named))? {
        let wanted = fitting(&known.pins);
        let in_the_way = needing_agreement(&flagged);
        if wanted.is_empty() && in_the_way.is_empty() && named.name.is_some() {
            return Err(CliError::usage(format!("no quarantined definition named `{which}`"))
                .with_hint("`switchboard pins list --held` lists them"));
        }
        for held in &wanted {
            context.printer.say(held_text(&known, held).trim_end());
        }
        agree(context, which, &in_the_way, agreed).await?;
        if !in_the_way.is_empty() {
            accept(context, known.server, &flagged.iter().collect::<Vec<_>>())?;
        }
        let approved = wanted.iter().map(|held| (held.kind, &*held.name, &*held.digest));
        note(context, AuditNote::APPROVED, known.server, approved)?;
        // Approve exactly the versions shown: definitions that changed meanwhile stay quarantined.
        Pins::edit(&context.places.state, &known.identity, |pins| {
            let unchanged = pending_definitions(pins);
            let is_wanted = |kind: PinKind, name: &str| {
                let same = |held: &&QuarantinedDefinition| held.kind == kind && held.name == name;
                let now = unchanged.iter().find(same).map(|held| &held.digest);
                now.is_some() && wanted.iter().find(same).map(|held| &held.digest) == now
            };
            pins.approve(is_wanted);
        })?;
        let all: Vec<Value> = wanted.iter().map(|held| as_json(&known, held)).collect();
        if context.printer.json {
            let server = known.server.id.as_str();
            context.printer.json(
                &json!({"server": server, "approved": all, "despite_findings": in_the_way}),
            )?;
        } else {
            let count = pluralize(wanted.len(), "definition");
            let name = escape_line(which);
            let despite = match in_the_way.len() {
                0 => String::new(),
                some => format!(", and {some} despite findings"),
            };
            context.printer.say(&format!("approved {count} of `{name}`{despite}"));
        }
    }
    Ok(())
}

fn revoke(context: &CommandContext, config: &Config, which: &str) -> Result<(), CliError> {
    let named = parse_selection(context, config, which)?;
    for known in server_pins(context, config, Some(&named))? {
        let approved = known.pins.approved.iter().flat_map(|(kind, items)| {
            items.iter().map(|(name, item)| (*kind, name.as_str(), item.digest.as_str()))
        });
        let revoked = approved.filter(|(_, name, _)| named.fits(name));
        // Log first: a revocation without a trace could hide an approval that should not have been.
        note(context, AuditNote::REVOKED, known.server, revoked)?;
        let mut count =
            remove_accepted(&context.places.state, &known.identity, |name| named.fits(name))?;
        Pins::edit(&context.places.state, &known.identity, |pins| {
            pins.server = known.server.id.to_string();
            // Without the mark, a server without approvals counts as new and may be pinned unseen.
            pins.revoked |= named.name.is_none();
            count = pins.revoke(|_, name| named.fits(name)).max(count);
        })?;
        if count == 0 && named.name.is_some() {
            return Err(CliError::usage(format!("no approved definition named `{which}`"))
                .with_hint("`switchboard pins list` lists them"));
        }
        context.printer.say(&format!("revoked {count} of `{}`", escape_line(which)));
    }
    Ok(())
}

/// Starts a server that has no pins yet, so that its definitions become known.
async fn look_at_unseen(
    context: &CommandContext,
    config: &Config,
    server: &ServerId,
) -> Result<(), CliError> {
    let Some(found) = config.servers.get(server) else { return Ok(()) };
    let pins = Pins::load(&context.places.state, &found.identity())?;
    if pins.approved.is_empty() && pins.held.is_empty() {
        let host =
            tools::start_unasked(context, &ServerArg { server: Some(server.to_string()) }).await?;
        host.stop().await;
    }
    Ok(())
}

impl PinSelection {
    fn fits(&self, name: &str) -> bool {
        match &self.name {
            None => true,
            // Instructions have no name in the protocol, so the command line has a word for them.
            Some(wanted) => wanted == name || (name.is_empty() && wanted == "instructions"),
        }
    }
}

/// Parses `SERVER` or `SERVER/NAME`; server names may contain slashes.
fn parse_selection(
    context: &CommandContext,
    config: &Config,
    which: &str,
) -> Result<PinSelection, CliError> {
    let part = |id: &ServerId| {
        let rest = which.strip_prefix(id.as_str())?;
        let name = match rest {
            "" => None,
            rest => Some(rest.strip_prefix('/')?.to_owned()),
        };
        Some(PinSelection { server: id.clone(), name })
    };
    // `a` and `a/b` may both be servers; the longer name is the more specific one.
    let longest = config.servers.keys().filter_map(part).max_by_key(|it| it.server.as_str().len());
    if let Some(named) = longest {
        return Ok(named);
    }
    let server = which.split_once('/').map_or(which, |(server, _)| server);
    context.server_id(config, server).map(|server| PinSelection { server, name: None })
}

fn server_pins<'a>(
    context: &CommandContext,
    config: &'a Config,
    named: Option<&PinSelection>,
) -> Result<Vec<ServerPins<'a>>, CliError> {
    let wanted = |server: &&ServerConfig| {
        server.transport != Transport::Builtin
            && named.is_none_or(|named| named.server == server.id)
    };
    let known = |server: &'a ServerConfig| {
        let identity = server.identity();
        let pins = Pins::load(&context.places.state, &identity)?;
        Ok(ServerPins { server, identity, pins })
    };
    config.servers.values().filter(wanted).map(known).collect()
}

fn held_text(known: &ServerPins<'_>, held: &QuarantinedDefinition) -> String {
    let name = if held.name.is_empty() { "instructions" } else { &held.name };
    let about = format!("{} {}/{name}: {}", held.kind.as_str(), known.server.id, held.why);
    let lines = held.diff();
    let lines: Vec<String> = lines.lines().map(|line| format!("  {}", escape_line(line))).collect();
    format!("{}\n{}\n", escape_line(&about), lines.join("\n"))
}

fn as_json(known: &ServerPins<'_>, held: &QuarantinedDefinition) -> Value {
    json!({
        "server": known.server.id.as_str(),
        "how": known.server.endpoint_text(),
        "kind": held.kind,
        "name": held.name,
        "state": held.why.to_string(),
        "digest": held.digest,
        "diff": escape(&held.diff()),
    })
}

/// Returns the findings about all definitions, approved or not.
pub(crate) async fn examine(context: &CommandContext) -> Result<Vec<Flagged>, CliError> {
    // References to another server's tools are found only if both servers are running.
    let host = tools::start_unasked(context, &ServerArg::default()).await?;
    let examined = host.all_flagged();
    host.stop().await;
    Ok(examined)
}

pub(crate) fn needing_agreement(flagged: &[Flagged]) -> Vec<&Flagged> {
    flagged.iter().filter(|one| one.is_held()).collect()
}

pub(crate) async fn agree(
    context: &CommandContext,
    which: &str,
    flagged: &[&Flagged],
    has_agreed: PriorConsent,
) -> Result<(), CliError> {
    for one in flagged {
        context.printer.say(held::description(one).trim_end());
    }
    if flagged.is_empty() || has_agreed == PriorConsent::Given {
        return Ok(());
    }
    let name = escape_line(which);
    let refused = |why: &str| {
        let message = format!("the scanner found an attack in `{name}`: {why}");
        CliError::new(exit_code::NOT_ALLOWED, message)
    };
    if !std::io::stdin().is_terminal() {
        let hint = format!("if it is safe, `switchboard pins approve {name} --despite-findings`");
        return Err(refused("approval needed, but there is no terminal to ask on").with_hint(hint));
    }
    let question = format!("Approve `{name}` anyway, exactly as it is? [y/N] ");
    match ask_line(&question).await {
        Some(said) if is_yes(said.trim()) => Ok(()),
        _ => Err(refused("you did not approve it")),
    }
}

/// Records that the user accepts these definitions despite their findings.
pub(crate) fn accept(
    context: &CommandContext,
    server: &ServerConfig,
    flagged: &[&Flagged],
) -> Result<(), CliError> {
    let new = flagged.iter().filter(|one| one.severity >= Severity::Ask).map(|one| {
        let rules = one.findings.iter().map(|finding| finding.rule);
        let definition =
            DefinitionVersion { kind: one.kind.as_str(), name: &one.name, digest: &one.pin };
        new_acceptance(definition, rules)
    });
    let new: Vec<Acceptance> = new.collect();
    if new.is_empty() {
        return Ok(());
    }
    let notes: Vec<AuditNote> = new
        .iter()
        .map(|one| AuditNote {
            event: AuditNote::APPROVED,
            server: server.id.to_string(),
            kind: one.kind.clone(),
            name: one.name.clone(),
            digest: one.digest.clone(),
            detail: format!(
                "despite {}",
                Vec::from_iter(one.rules.iter().map(String::as_str)).join(", ")
            ),
        })
        .collect();
    // Write the audit log first: an approval that cannot be logged must not take effect.
    audit::note(context, &notes)?;
    Ok(add_accepted(&context.places.state, &server.identity(), new)?)
}

pub(crate) fn note<'a>(
    context: &CommandContext,
    event: &'static str,
    server: &ServerConfig,
    definitions: impl Iterator<Item = (PinKind, &'a str, &'a str)>,
) -> Result<(), CliError> {
    let note = |(kind, name, digest): (PinKind, &str, &str)| AuditNote {
        event,
        server: server.id.to_string(),
        kind: kind.as_str().to_owned(),
        name: name.to_owned(),
        digest: digest.to_owned(),
        detail: String::new(),
    };
    audit::note(context, &definitions.map(note).collect::<Vec<_>>())
}

/// Returns whether the scanner would block the definition, judged without other servers.
pub(crate) fn is_suspicious(definition: &QuarantinedDefinition) -> bool {
    use switchboard_scan::{overall_severity, scan_definition, scan_text};
    let text = &definition.now;
    // References to other servers are not judged here, because that would start all of them.
    let findings = match definition.kind {
        PinKind::Instructions => {
            scan_text("", &serde_json::from_str::<String>(text).unwrap_or_default())
        }
        PinKind::Tool => scan_definition(DefinitionKind::Tool, text),
        PinKind::Prompt => scan_definition(DefinitionKind::Prompt, text),
        PinKind::Template => scan_definition(DefinitionKind::Template, text),
    };
    overall_severity(&findings) == Some(Severity::Block)
}
