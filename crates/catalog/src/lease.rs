//! `Lease`: one catalog and the connections behind it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_core::{Outcome, OutcomeKind, ProposedCall, Target, TargetKind};
use switchboard_json::read_strictly;
use switchboard_scan::DefinitionKind;
use switchboard_text::{hex_digest, nearest_names};
use switchboard_wire::Json;

use crate::arguments::{ArgumentCheck, CheckCache};
use crate::catalog::Catalog;
use crate::error::ResolveError;
use crate::flagged::Flagged;
use crate::fleet::{Fleet, Server, Tool, definition};
use crate::status::ServerStatus;
use crate::{output, template};

const MAX_SUGGESTIONS: usize = 3;

/// A catalog together with the connections that its calls use.
#[derive(Clone, Debug)]
pub struct Lease {
    fleet: Arc<Fleet>,
    catalog: Arc<Catalog>,
    checks: Arc<CheckCache>,
    flagged: Arc<[Flagged]>,
    deny_list: Arc<DenyList>,
}

/// Targets that rules forbid to every caller, with the rule.
pub type DenyList = BTreeMap<Target, String>;

/// A call whose target is listed and whose arguments fit the schema.
#[derive(Clone, Debug)]
pub struct ResolvedCall {
    target: Target,
    arguments: Json,
    server: Arc<Server>,
    definition_digest: Arc<str>,
}

impl Lease {
    /// Creates a lease on `fleet` and its catalog.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>, catalog: Arc<Catalog>, checks: Arc<CheckCache>) -> Self {
        Self { fleet, catalog, checks, flagged: Arc::default(), deny_list: Arc::default() }
    }

    /// Sets the scanner findings, which must be sorted by server.
    #[must_use]
    pub fn with_flagged(self, flagged: Arc<[Flagged]>) -> Self {
        Self { flagged, ..self }
    }

    /// Hides the targets that rules forbid to every caller.
    #[must_use]
    pub fn with_deny_list(self, unlisted: Arc<DenyList>) -> Self {
        Self { deny_list: unlisted, ..self }
    }

    /// Returns the findings in the definition of a target.
    #[must_use]
    pub fn flagged_definition(&self, target: &Target) -> Option<&Flagged> {
        self.flagged_definitions(&target.server).iter().find(|one| {
            *one.name == *target.name
                && match target.kind {
                    TargetKind::Tool => one.kind == DefinitionKind::Tool,
                    TargetKind::Resource => {
                        matches!(one.kind, DefinitionKind::Resource | DefinitionKind::Template)
                    }
                    TargetKind::Prompt => one.kind == DefinitionKind::Prompt,
                }
        })
    }

    fn flagged_definitions(&self, server: &str) -> &[Flagged] {
        // The list is sorted by server, so findings of other servers do not slow down a call.
        let from = self.flagged.partition_point(|one| one.server.as_str() < server);
        let rest = self.flagged.get(from..).unwrap_or_default();
        let count = rest.partition_point(|one| one.server.as_str() == server);
        rest.get(..count).unwrap_or_default()
    }

    /// Returns why a target is quarantined, without text written by the server.
    fn hold_reason(&self, target: &Target) -> Option<String> {
        let own = self.flagged_definition(target).filter(|flagged| flagged.is_held());
        own.map(Flagged::reason).or_else(|| {
            let other =
                self.flagged_definitions(&target.server).iter().find(|one| one.holds_server())?;
            Some(format!("{} in another definition of its server", other.reason()))
        })
    }

    /// Returns whether a target is listed for models and clients.
    #[must_use]
    pub fn is_listed(&self, kind: TargetKind, server: &str, name: &str) -> bool {
        self.deny_list.is_empty() || self.forbidding_rule(kind, server, name).is_none()
    }

    /// Returns the targets that rules forbid to every caller.
    #[must_use]
    pub const fn deny_list(&self) -> &Arc<DenyList> {
        &self.deny_list
    }

    /// Returns whether the deny list is empty.
    #[must_use]
    pub fn lists_everything(&self) -> bool {
        self.deny_list.is_empty()
    }

    /// Returns the rule that forbids a target to every caller.
    #[must_use]
    pub fn forbidding_rule(&self, kind: TargetKind, server: &str, name: &str) -> Option<&str> {
        self.deny_list.get(&Target::new(kind, server, name)).map(String::as_str)
    }

    /// Returns the servers and their connections.
    #[must_use]
    pub const fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// Returns the catalog of the fleet.
    #[must_use]
    pub const fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Resolves a call: looks up the target and checks the arguments.
    pub fn resolve(&self, proposed: ProposedCall) -> Result<ResolvedCall, ResolveError> {
        let ProposedCall { target, arguments } = proposed;
        let server = self.server(&target.server)?;
        // Before the lookup: the error for an unknown tool would list names of the server.
        if let Some(reason) = self.hold_reason(&target) {
            return Err(ResolveError::Held { reason, target });
        }
        let definition_digest = match target.kind {
            TargetKind::Tool => {
                let tool = server.offers.tool(&target.name).ok_or_else(|| {
                    not_listed(&target, server, server.offers.tools.iter().map(Tool::name))
                })?;
                self.check_arguments(&target, tool, &arguments)?;
                Arc::clone(tool.digest())
            }
            TargetKind::Resource => resource_digest(&target, server)?,
            TargetKind::Prompt => prompt_digest(&target, server, &arguments)?,
        };
        Ok(ResolvedCall { target, arguments, server: Arc::clone(server), definition_digest })
    }

    /// Validates a tool's result against the output schema that it was listed with.
    #[must_use]
    pub fn check_output(&self, call: &ResolvedCall, outcome: Outcome) -> Outcome {
        let tool = match (call.target.kind, outcome.kind) {
            (TargetKind::Tool, OutcomeKind::Ok) => call.server.offers.tool(&call.target.name),
            _ => None,
        };
        let Some(tool) = tool.filter(|tool| tool.facts().has_output_schema) else { return outcome };
        let Some(schema) = tool.definition().output_schema else { return outcome };
        let Some(result) = outcome.result.clone() else { return outcome };
        // The cache also holds the check of the input schema, under the plain digest.
        let key = format!("{} output", tool.digest());
        let check = self.checks.get_or_compile(&key, || ArgumentCheck::compile(schema.get()));
        match &*check {
            Ok(check) => match output::schema_violation(check, schema.get(), &result) {
                Some(why) => Outcome::invalid_output(why, result),
                None => outcome,
            },
            // The call has run already, so a faulty schema does not withhold its result.
            Err(_) => outcome,
        }
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, ResolveError> {
        let Some(server) = self.fleet.servers.get(name) else {
            let known = self.fleet.servers.keys().map(AsRef::as_ref);
            let near = to_owned_names(nearest_names(name, known, MAX_SUGGESTIONS));
            return Err(ResolveError::UnknownServer { server: name.to_owned(), near });
        };
        match &server.status {
            ServerStatus::Disabled => Err(ResolveError::Disabled { server: name.to_owned() }),
            ServerStatus::NeedsApproval => {
                Err(ResolveError::NotApproved { server: name.to_owned() })
            }
            ServerStatus::NotAllowed(failure) => Err(ResolveError::NotAllowed {
                server: name.to_owned(),
                why: failure.message.clone(),
            }),
            _ => Ok(server),
        }
    }

    fn check_arguments(
        &self,
        target: &Target,
        tool: &Tool,
        arguments: &Json,
    ) -> Result<(), ResolveError> {
        let mut parsed = parse_object(target, arguments)?;
        let schema = || tool.definition().input_schema.map_or("{}", RawValue::get);
        // By digest: a changed definition gets a new check, and equal ones share theirs.
        let check = self.checks.get_or_compile(tool.digest(), || ArgumentCheck::compile(schema()));
        // Models write `null` for an omitted optional argument; treat it as omitted.
        if let Some(members) = parsed.as_object_mut()
            && members.values().any(Value::is_null)
        {
            let required = required_names(schema());
            members.retain(|name, value| !value.is_null() || required.contains(name));
        }
        match &*check {
            Ok(check) => check.check(&parsed).map_err(|problems| ResolveError::BadArguments {
                target: target.clone(),
                problems,
            }),
            Err(schema) => Err(ResolveError::BadSchema {
                target: target.clone(),
                problem: schema.to_string(),
                hint: schema.hint(),
            }),
        }
    }
}

impl ResolvedCall {
    /// Returns the target of the call.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the arguments, the text of a JSON object.
    #[must_use]
    pub const fn arguments(&self) -> &Json {
        &self.arguments
    }

    /// Returns the server as of the resolution.
    #[must_use]
    pub const fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Returns the fingerprint of the definition that was advertised.
    #[must_use]
    pub const fn definition_digest(&self) -> &Arc<str> {
        &self.definition_digest
    }

    /// Returns the fingerprint of the whole call, which an approval is bound to.
    #[must_use]
    pub fn digest(&self) -> String {
        hex_digest([
            self.target.to_string().as_bytes(),
            self.definition_digest.as_bytes(),
            self.arguments.as_str().as_bytes(),
        ])
    }
}

fn parse_object(target: &Target, arguments: &Json) -> Result<Value, ResolveError> {
    // Strictly: with duplicate keys, the server could read another value than a reviewer.
    let parsed = read_strictly(arguments.bytes()).map_err(|error| ResolveError::NotAnObject {
        target: target.clone(),
        problem: error.to_string(),
    })?;
    if parsed.is_object() {
        Ok(parsed)
    } else {
        let problem = "the arguments are not a JSON object".to_owned();
        Err(ResolveError::NotAnObject { target: target.clone(), problem })
    }
}

fn required_names(schema: &str) -> Vec<String> {
    #[derive(Default, Deserialize)]
    struct RequiredKeyword {
        #[serde(default)]
        required: Vec<String>,
    }
    serde_json::from_str::<RequiredKeyword>(schema).unwrap_or_default().required
}

fn resource_digest(target: &Target, server: &Server) -> Result<Arc<str>, ResolveError> {
    let offers = &server.offers;
    if let Some(item) = offers.resources.iter().find(|item| *item.key == *target.name) {
        return Ok(hex_digest([item.raw.get().as_bytes()]).into());
    }
    if let Some(item) =
        offers.templates.iter().find(|item| template::fits_template(&item.key, &target.name))
    {
        return Ok(hex_digest([item.raw.get().as_bytes()]).into());
    }
    // A tool's UI page need not be in the list of resources: the tool's definition names it.
    if target.name.starts_with("ui://")
        && let Some(tool) = offers
            .tools
            .iter()
            .find(|tool| tool.ui_resource().is_some_and(|page| page == target.name))
    {
        return Ok(Arc::clone(tool.digest()));
    }
    Err(not_listed(target, server, offers.resources.iter().map(|item| &*item.key)))
}

fn prompt_digest(
    target: &Target,
    server: &Server,
    arguments: &Json,
) -> Result<Arc<str>, ResolveError> {
    let prompts = &server.offers.prompts;
    let item = prompts
        .iter()
        .find(|item| *item.key == *target.name)
        .ok_or_else(|| not_listed(target, server, prompts.iter().map(|item| &*item.key)))?;
    let given = parse_object(target, arguments)?;
    let wanted: Vec<Value> = definition(item)
        .arguments
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    for argument in wanted {
        let name = argument.get("name");
        let required = argument.get("required");
        if let Some(name) = name.and_then(Value::as_str)
            && required.and_then(Value::as_bool) == Some(true)
            && given.get(name).is_none()
        {
            let problem = format!("the argument `{name}` is missing");
            return Err(ResolveError::NotAnObject { target: target.clone(), problem });
        }
    }
    Ok(hex_digest([item.raw.get().as_bytes()]).into())
}

fn not_listed<'a>(
    target: &Target,
    server: &Server,
    known: impl Iterator<Item = &'a str>,
) -> ResolveError {
    let status = &server.status;
    if *status != ServerStatus::Ready {
        let failure = status.failure();
        let why = failure.map(|failure| format!(": {}", failure.message)).unwrap_or_default();
        return ResolveError::NotReady {
            server: target.server.clone(),
            state: format!("{}{why}", state_phrase(status)),
            hint: failure.and_then(|failure| failure.hint.clone()),
        };
    }
    let near = to_owned_names(nearest_names(&target.name, known, MAX_SUGGESTIONS));
    ResolveError::NotListed { target: target.clone(), near }
}

/// Returns the state as it follows "is".
fn state_phrase(status: &ServerStatus) -> &'static str {
    match status {
        ServerStatus::NeedsLogin(_) => "not logged in",
        ServerStatus::NeedsApproval => "not approved",
        ServerStatus::NotAllowed(_) => "not allowed",
        ServerStatus::Failed(_) => "unusable",
        ServerStatus::Disabled
        | ServerStatus::Starting
        | ServerStatus::Ready
        | ServerStatus::Waiting { .. } => status.word(),
    }
}

fn to_owned_names(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use switchboard_core::ServerId;
    use switchboard_scan::Severity;

    use super::*;

    fn flagged_tool(server: &str, name: &str) -> Flagged {
        Flagged {
            server: ServerId::new(server).unwrap(),
            kind: DefinitionKind::Tool,
            name: name.to_owned(),
            digest: format!("{server} {name}"),
            pin: String::new(),
            severity: Severity::Ask,
            accepted: false,
            findings: Vec::new(),
        }
    }

    #[test]
    fn what_was_found_is_that_of_the_target_s_own_server() {
        let all = [("a", "x"), ("a", "y"), ("a/b", "x"), ("b", "y"), ("c", "x"), ("c", "z")];
        let fleet = Arc::new(Fleet::default());
        let catalog = Arc::new(Catalog::from_fleet(&fleet));
        let lease = Lease::new(fleet, catalog, Arc::default())
            .with_flagged(all.iter().map(|(server, name)| flagged_tool(server, name)).collect());
        for server in ["", "a", "a/", "a/b", "aa", "b", "c", "d"] {
            for name in ["x", "y", "z"] {
                let target = Target::new(TargetKind::Tool, server, name);
                let found = lease.flagged_definition(&target).map(|one| one.digest.clone());
                let expected = all.contains(&(server, name)).then(|| format!("{server} {name}"));
                assert_eq!(found, expected, "{target}");
            }
        }
    }
}
