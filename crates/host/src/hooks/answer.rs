//! What a hook says about a call, out of how it ended and what it wrote: a doubt is a no (pure).

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_json::read_strictly;
use switchboard_wire::Json;

use crate::hooks::program::{HookExit, MAX_OUTPUT_BYTES};

/// As much of a message is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// What a hook says about a call.
#[derive(Clone, Debug)]
pub struct HookAnswer {
    /// Whether it may run.
    pub permission: HookPermission,
    /// Words for a person.
    pub user_message: Option<String>,
    /// Words for whoever proposed the call.
    pub agent_message: Option<String>,
    /// The arguments to call it with instead.
    pub updated_input: Option<Json>,
}

/// Whether a call may run. The order is that of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPermission {
    Allow,
    Ask,
    Deny,
}

/// Why a hook says nothing that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFailure {
    /// What kind of failure it is.
    pub kind: HookFailureKind,
    pub message: String,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookFailureKind {
    /// It could not be asked, or broke down.
    Broke,
    /// It ended well and wrote nothing.
    Silent,
    /// It ended well and wrote something that is no answer.
    NoAnswer,
}

/// What came of asking a hook.
#[derive(Clone, Debug)]
pub enum HookOutcome {
    Answered(HookAnswer),
    Failed(HookFailure),
}

impl HookAnswer {
    /// What it says in words, to whomever.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        match (&self.user_message, &self.agent_message) {
            (Some(user), Some(agent)) => Some(format!("{user}; {agent}")),
            (said, None) | (None, said) => said.clone(),
        }
    }
}

impl HookPermission {
    /// The word in answers and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Judges a hook that was asked before a call.
pub(super) fn judge(end: &HookExit, output: &[u8], errors: &[String]) -> HookOutcome {
    let written = parse_answer(output);
    match (end, written) {
        // A no counts however the hook ended after it.
        (_, Ok(answer)) if answer.permission == HookPermission::Deny => {
            HookOutcome::Answered(answer)
        }
        (HookExit::Exited(2), written) => {
            let said = errors.join("\n");
            let said =
                Some(said).filter(|said| !said.trim().is_empty()).map(|said| truncate(&said));
            let (user_message, agent_message) = match written {
                Ok(answer) => (answer.user_message, answer.agent_message),
                Err(_) => (None, None),
            };
            HookOutcome::Answered(HookAnswer {
                permission: HookPermission::Deny,
                user_message: user_message.or(said),
                agent_message,
                updated_input: None,
            })
        }
        (HookExit::Exited(0), Ok(answer)) => HookOutcome::Answered(answer),
        (HookExit::Exited(0), Err(kind)) => HookOutcome::Failed(kind),
        // There may be a no in what nobody read.
        (HookExit::OutputTooLong, _) => HookOutcome::Failed(HookFailure {
            kind: HookFailureKind::NoAnswer,
            ..run_failure(end, errors)
        }),
        (HookExit::Exited(_) | HookExit::Broke(_), _) => {
            HookOutcome::Failed(run_failure(end, errors))
        }
    }
}

/// What is wrong with how a hook ended, whatever it wrote.
pub(super) fn exit_failure(end: &HookExit, errors: &[String]) -> Option<HookFailure> {
    match end {
        HookExit::Exited(0) => None,
        HookExit::Exited(_) | HookExit::Broke(_) | HookExit::OutputTooLong => {
            Some(run_failure(end, errors))
        }
    }
}

fn run_failure(end: &HookExit, errors: &[String]) -> HookFailure {
    let what = match end {
        HookExit::Exited(code) => format!("ended with exit status {code}"),
        HookExit::Broke(what) => what.clone(),
        HookExit::OutputTooLong => format!("wrote more than {} KiB", MAX_OUTPUT_BYTES / 1024),
    };
    let message = match errors.last() {
        Some(said) => format!("{what}: {}", truncate(said)),
        None => what,
    };
    HookFailure { kind: HookFailureKind::Broke, message }
}

#[derive(Deserialize)]
struct HookAnswerJson<'a> {
    permission: Option<String>,
    #[serde(alias = "userMessage")]
    user_message: Option<String>,
    #[serde(alias = "agentMessage")]
    agent_message: Option<String>,
    #[serde(borrow)]
    updated_input: Option<&'a RawValue>,
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
}

fn parse_answer(output: &[u8]) -> Result<HookAnswer, HookFailure> {
    let no_answer = |message: String| HookFailure { kind: HookFailureKind::NoAnswer, message };
    if output.trim_ascii().is_empty() {
        let message = "wrote no answer".to_owned();
        return Err(HookFailure { kind: HookFailureKind::Silent, message });
    }
    // A member that stands twice could be read either way.
    read_strictly(output).map_err(|error| no_answer(format!("wrote no JSON answer: {error}")))?;
    let written: HookAnswerJson<'_> = serde_json::from_slice(output)
        .map_err(|error| no_answer(format!("wrote an answer of another shape: {error}")))?;
    let is_no = written.permission.as_deref().is_some_and(|it| it.eq_ignore_ascii_case("deny"));
    if let Some(name) = find_lookalike(output).filter(|_| !is_no) {
        return Err(no_answer(format!("answered with `{name}`, which can be read in two ways")));
    }
    let permission = match written.permission.as_deref().map(str::trim) {
        Some("allow") => HookPermission::Allow,
        Some("ask") => HookPermission::Ask,
        // A no is understood however it is written.
        Some(word) if word.eq_ignore_ascii_case("deny") => HookPermission::Deny,
        Some(word) => {
            return Err(no_answer(format!("answered with the permission `{}`", truncate(word))));
        }
        None => return Err(no_answer("answered without `permission`".to_owned())),
    };
    let permission = if written.goes_on == Some(false) { HookPermission::Deny } else { permission };
    let updated_input = match written.updated_input.filter(|raw| raw.get() != "null") {
        None => None,
        Some(raw) if raw.get().starts_with('{') => {
            let text = Bytes::from(raw.get().to_owned());
            Some(Json::parse(text).map_err(|error| no_answer(error.to_string()))?)
        }
        Some(_) => return Err(no_answer("`updated_input` is not an object".to_owned())),
    };
    let kept = |text: Option<String>| text.map(|text| truncate(&text)).filter(|t| !t.is_empty());
    Ok(HookAnswer {
        permission,
        user_message: kept(written.user_message),
        agent_message: kept(written.agent_message),
        updated_input,
    })
}

/// A member that is nearly the one that decides, or says no in the words of another program.
fn find_lookalike(output: &[u8]) -> Option<String> {
    let members: serde_json::Map<String, Value> = serde_json::from_slice(output).ok()?;
    let found = members.iter().find(|(name, value)| match normalize_name(name).as_str() {
        "permission" | "continue" => !["permission", "continue"].contains(&name.as_str()),
        "decision" | "permissiondecision" => is_refusal(value),
        "hookspecificoutput" => is_refusal(value) || value.get("updatedInput").is_some(),
        // Arguments that nobody would put in place.
        "updatedinput" => name.as_str() != "updated_input" && !value.is_null(),
        "allow" | "allowed" | "approve" | "approved" => **value == Value::Bool(false),
        "deny" | "denied" | "block" | "blocked" => **value == Value::Bool(true),
        _ => false,
    });
    found.map(|(name, _)| truncate(name))
}

/// Whether a value says no, or wants a person to be asked, as other programs write it.
fn is_refusal(value: &Value) -> bool {
    let words = ["deny", "denied", "block", "reject", "ask", "no"];
    let inner = ["permissionDecision", "decision", "behavior"];
    value.as_str().is_some_and(|word| words.contains(&normalize_name(word).as_str()))
        || inner.iter().filter_map(|name| value.get(name)).any(is_refusal)
}

fn normalize_name(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_lowercase()
}

fn truncate(text: &str) -> String {
    text.trim().chars().take(MAX_MESSAGE_CHARS).collect()
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
