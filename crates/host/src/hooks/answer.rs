//! Parses the answer of a hook from its exit and its output. An ambiguous answer never allows.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_json::read_strictly;
use switchboard_wire::Json;

use crate::hooks::program::{HookExit, MAX_OUTPUT_BYTES};

/// Maximum number of characters kept of a message.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// The answer of a hook about a call.
#[derive(Clone, Debug)]
pub struct HookAnswer {
    pub permission: HookPermission,
    pub user_message: Option<String>,
    /// The message to the caller that proposed the call.
    pub agent_message: Option<String>,
    /// Arguments that replace the proposed ones.
    pub updated_input: Option<Json>,
}

/// Whether a call may run. Ordered by strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPermission {
    Allow,
    Ask,
    Deny,
}

/// Why a hook gave no valid answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFailure {
    pub kind: HookFailureKind,
    pub message: String,
}

/// The kind of a hook failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookFailureKind {
    Broke,
    /// The hook succeeded without output.
    Silent,
    /// The hook succeeded, but its output is not a valid answer.
    NoAnswer,
}

/// The result of running a hook.
#[derive(Clone, Debug)]
pub enum HookOutcome {
    Answered(HookAnswer),
    Failed(HookFailure),
}

impl HookAnswer {
    /// Returns the messages to user and caller as one text.
    pub fn message(&self) -> Option<String> {
        match (&self.user_message, &self.agent_message) {
            (Some(user), Some(agent)) => Some(format!("{user}; {agent}")),
            (said, None) | (None, said) => said.clone(),
        }
    }
}

impl HookPermission {
    /// Returns the word used in answers and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Evaluates a hook that ran before a call.
pub(super) fn judge(end: &HookExit, output: &[u8], errors: &[String]) -> HookOutcome {
    let written = parse_answer(output);
    match (end, written) {
        // A denial counts no matter how the hook ended.
        (_, Ok(answer)) if answer.permission == HookPermission::Deny => {
            HookOutcome::Answered(answer)
        }
        // Exit status 2 denies, in Cursor and Claude Code; standard error gives the reason.
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
        // The part that was not read may contain a denial.
        (HookExit::OutputTooLong, _) => HookOutcome::Failed(HookFailure {
            kind: HookFailureKind::NoAnswer,
            ..run_failure(end, errors)
        }),
        (HookExit::Exited(_) | HookExit::Broke(_), _) => {
            HookOutcome::Failed(run_failure(end, errors))
        }
    }
}

/// Returns the failure of a hook from its exit alone, regardless of its output.
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
#[serde(expecting = "an object")]
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
    // Rejects duplicate keys, which parsers resolve differently.
    read_strictly(output).map_err(|error| no_answer(format!("wrote no JSON answer: {error}")))?;
    let written: HookAnswerJson<'_> = serde_json::from_slice(output)
        .map_err(|error| no_answer(format!("wrote an invalid answer: {error}")))?;
    let is_no = written.permission.as_deref().is_some_and(|it| it.eq_ignore_ascii_case("deny"));
    if let Some(name) = find_lookalike(output).filter(|_| !is_no) {
        return Err(no_answer(format!("answered with the ambiguous member `{name}`")));
    }
    let permission = match written.permission.as_deref().map(str::trim) {
        Some("allow") => HookPermission::Allow,
        Some("ask") => HookPermission::Ask,
        // Upper or lower case matters only for words that would let the call run.
        Some(word) if word.eq_ignore_ascii_case("deny") => HookPermission::Deny,
        Some(word) => {
            return Err(no_answer(format!(
                "answered with the unknown permission `{}`",
                truncate(word)
            )));
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

/// Returns a member that resembles a decisive one, or denies in the format of another product.
///
/// An author who wrote it meant to deny, so ignoring it would let the call run by mistake.
fn find_lookalike(output: &[u8]) -> Option<String> {
    let members: serde_json::Map<String, Value> = serde_json::from_slice(output).ok()?;
    let found = members.iter().find(|(name, value)| match normalize_name(name).as_str() {
        "permission" | "continue" => !["permission", "continue"].contains(&name.as_str()),
        "decision" | "permissiondecision" => is_refusal(value),
        "hookspecificoutput" => is_refusal(value) || value.get("updatedInput").is_some(),
        // Replacement arguments under a key that would be ignored.
        "updatedinput" => name.as_str() != "updated_input" && !value.is_null(),
        "allow" | "allowed" | "approve" | "approved" => **value == Value::Bool(false),
        "deny" | "denied" | "block" | "blocked" => **value == Value::Bool(true),
        _ => false,
    });
    found.map(|(name, _)| truncate(name))
}

/// Returns whether a value means "deny" or "ask" in the format of other products.
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
