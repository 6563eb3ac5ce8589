//! Requests of other programs to a running instance: calls, answers and completions.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use switchboard_core::{Caller, Face, Origin, ProposedCall, Target, TargetKind};
use switchboard_host::TaskMode;
use switchboard_json::Json;
use switchboard_store::UserDecision;

use crate::error::ViewError;

/// A call that a program requests.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WantedCall {
    /// Name of the server.
    pub server: String,
    /// Kind of the target: `tool`, `resource` or `prompt`.
    #[serde(default = "tool")]
    pub kind: String,
    /// Name of the tool or prompt, or URI of the resource.
    pub name: String,
    /// Arguments: a JSON object, which is sent exactly as written.
    pub arguments: Option<Box<RawValue>>,
    /// Proposer of the call; policy depends on it.
    #[serde(default)]
    pub origin: Proposer,
    /// Face that answers reviews and elicitations.
    #[serde(default)]
    pub people: Whom,
    /// Timeout of reviews in seconds, if it differs from the settings.
    pub wait_seconds: Option<u64>,
    /// Task mode, for servers that support tasks.
    #[serde(default)]
    pub task: TaskWanted,
}

/// The proposer of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proposer {
    /// A person typed the call, which approves it.
    #[default]
    Person,
    /// The call is treated as a model's: policy decides.
    Model,
}

/// The face that answers reviews and elicitations of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Whom {
    /// None: a call that needs approval is rejected at once.
    #[default]
    Nobody,
    /// The program that makes the call; any other face may answer first.
    Here,
    /// Any face other than the program.
    Elsewhere,
}

/// How to run a call if its server supports tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskWanted {
    /// Use the mode in the configuration.
    #[default]
    AsConfigured,
    /// Run the call as a task, and wait.
    Task,
    /// Run the call as a task, and return at once.
    Detach,
}

impl WantedCall {
    /// Returns the call in the form that the pipeline accepts.
    pub fn to_proposed_call(&self) -> Result<ProposedCall, ViewError> {
        let kind = TargetKind::from_word(&self.kind).ok_or_else(|| {
            let hint = "one of `tool`, `resource` or `prompt`".to_owned();
            ViewError::query(format!("unknown kind `{}`", self.kind), Some(hint))
        })?;
        let text = self.arguments.as_ref().map_or("{}", |arguments| arguments.get());
        // A raw JSON value has no leading white space, so the first byte gives its type.
        if !text.starts_with('{') {
            return Err(ViewError::query("the arguments must be a JSON object".to_owned(), None));
        }
        let arguments = Json::parse(text.to_owned().into())
            .map_err(|error| ViewError::query(format!("invalid arguments: {error}"), None))?;
        let target = Target::new(kind, &self.server, &self.name);
        Ok(ProposedCall { target, arguments })
    }

    /// Returns the caller for policy and the record.
    pub fn caller(&self, face: Face) -> Caller {
        // The same names as for calls without a running instance, so that rules match both.
        match self.origin {
            Proposer::Person => Caller { face, ..Caller::person() },
            Proposer::Model => {
                let name = "review".to_owned();
                Caller { face, origin: Origin::Model, name, reference: None }
            }
        }
    }

    /// Returns how long a review may wait, if the request overrides the setting.
    pub fn limit(&self) -> Option<Duration> {
        self.wait_seconds.map(Duration::from_secs)
    }

    /// Returns how to run the call if its server supports tasks.
    pub const fn task_mode(&self) -> TaskMode {
        match self.task {
            TaskWanted::AsConfigured => TaskMode::AsConfigured,
            TaskWanted::Task => TaskMode::Task,
            TaskWanted::Detach => TaskMode::Detach,
        }
    }
}

/// An answer to a question of a call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswered {
    /// Number of the question, as the stream sent it.
    pub question: u64,
    #[serde(flatten)]
    pub said: PersonAnswer,
}

/// An answer to a review or an elicitation.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PersonSaid")]
pub struct PersonAnswer {
    /// Answer in one word.
    #[schemars(extend("enum" = ["run", "session", "always", "skip", "reject", "accept", "decline", "cancel"]))]
    pub answer: String,
    /// With `reject`: message to the caller.
    pub words: Option<String>,
    /// With `run`: text of a JSON object that replaces the arguments.
    pub arguments: Option<String>,
    /// With `accept`: content of the form.
    pub content: Option<Map<String, Value>>,
}

impl From<&UserDecision> for PersonAnswer {
    fn from(decision: &UserDecision) -> Self {
        let answer = Self { answer: decision.word().to_owned(), ..Self::default() };
        match decision.clone() {
            UserDecision::RunWith(arguments) => Self { arguments: Some(arguments), ..answer },
            UserDecision::Reject(words) => Self { words: Some(words), ..answer },
            UserDecision::Accept(content) => Self { content, ..answer },
            UserDecision::Run
            | UserDecision::Session
            | UserDecision::Always
            | UserDecision::Skip
            | UserDecision::Decline
            | UserDecision::Cancel => answer,
        }
    }
}

impl PersonAnswer {
    /// Parses the answer into the decision that it names.
    pub fn into_decision(self) -> Result<UserDecision, ViewError> {
        let Self { answer, words, arguments, content } = self;
        Ok(match answer.as_str() {
            "run" => arguments.map_or(UserDecision::Run, UserDecision::RunWith),
            "session" => UserDecision::Session,
            "always" => UserDecision::Always,
            "skip" => UserDecision::Skip,
            // Without a message there is nothing to send to the caller.
            "reject" => match words.filter(|words| !words.trim().is_empty()) {
                Some(words) => UserDecision::Reject(words),
                None => UserDecision::Skip,
            },
            "accept" => UserDecision::Accept(content),
            "decline" => UserDecision::Decline,
            "cancel" => UserDecision::Cancel,
            other => {
                let hint = "answer a review with `run`, `session`, `always`, `skip` or `reject`, \
                    and an elicitation with `accept`, `decline` or `cancel`";
                let why = format!("unknown answer `{other}`");
                return Err(ViewError::query(why, Some(hint.to_owned())));
            }
        })
    }
}

/// An argument value to complete.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToComplete {
    /// Name of the server.
    pub server: String,
    /// Name of the prompt with the argument.
    pub prompt: Option<String>,
    /// URI template with the argument, if it is not a prompt's.
    pub template: Option<String>,
    /// Name of the argument.
    pub argument: String,
    /// Beginning of the value.
    #[serde(default)]
    pub value: String,
    /// Values of the other arguments.
    #[serde(default)]
    pub context: BTreeMap<String, String>,
}

fn tool() -> String {
    TargetKind::Tool.as_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::WantedCall;

    #[test]
    fn arguments_stay_as_they_are_written_and_are_an_object() {
        for (body, expected) in [
            (r#"{"server":"a","name":"b"}"#, Ok("{}")),
            (r#"{"server":"a","name":"b","arguments":{ "n" : 1.50 }}"#, Ok(r#"{ "n" : 1.50 }"#)),
            (
                r#"{"server":"a","name":"b","arguments":[1]}"#,
                Err("the arguments must be a JSON object"),
            ),
            (r#"{"server":"a","name":"b","kind":"thing"}"#, Err("unknown kind `thing`")),
        ] {
            let wanted: WantedCall = serde_json::from_str(body).unwrap();
            let proposed = wanted.to_proposed_call();
            let got = proposed.as_ref().map(|call| call.arguments.as_str());
            assert_eq!(got.map_err(ToString::to_string), expected.map_err(str::to_owned), "{body}");
        }
    }
}
