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

/// What a program wants called.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WantedCall {
    /// The server.
    pub server: String,
    /// `tool`, `resource` or `prompt`.
    #[serde(default = "tool")]
    pub kind: String,
    /// The tool or the prompt, or the address of the resource.
    pub name: String,
    /// The text of a JSON object, which is sent as it is written.
    pub arguments: Option<Box<RawValue>>,
    /// Who proposed it.
    #[serde(default)]
    pub origin: Proposer,
    /// Who answers what a person has to.
    #[serde(default)]
    pub people: Whom,
    /// How long they may take, if not as long as the settings say.
    pub wait_seconds: Option<u64>,
    /// What to do where the server can go on by itself.
    #[serde(default)]
    pub task: TaskWanted,
}

/// Who proposed a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proposer {
    /// A person typed it: that is its approval.
    #[default]
    Person,
    /// It is to be treated as if a model had written it: the rules decide.
    Model,
}

/// Who answers what a person has to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Whom {
    /// Nobody: what needs a person is refused at once.
    #[default]
    Nobody,
    /// Whoever sits where the call comes from; every other face may be faster.
    Here,
    /// Whoever sits at another face.
    Elsewhere,
}

/// What to do where a server can go on with a call by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskWanted {
    /// As the configuration says.
    #[default]
    AsConfigured,
    /// Have it do so, and wait.
    Task,
    /// Have it do so, and do not wait.
    Detach,
}

impl WantedCall {
    /// Returns the call in the form that the pipeline accepts.
    pub fn to_proposed_call(&self) -> Result<ProposedCall, ViewError> {
        let kind = TargetKind::from_word(&self.kind).ok_or_else(|| {
            let hint = "`tool`, `resource` or `prompt`".to_owned();
            ViewError::query(format!("`{}` cannot be called", self.kind), Some(hint))
        })?;
        let text = self.arguments.as_ref().map_or("{}", |arguments| arguments.get());
        if !text.starts_with('{') {
            let why = "the arguments have to be a JSON object".to_owned();
            return Err(ViewError::query(why, None));
        }
        let arguments = Json::parse(text.to_owned().into()).map_err(|error| {
            ViewError::query(format!("the arguments cannot be used: {error}"), None)
        })?;
        let target = Target::new(kind, &self.server, &self.name);
        Ok(ProposedCall { target, arguments })
    }

    /// Returns the caller for policy and the record. It is the same as for a call that the program
    /// makes without a running instance.
    pub fn caller(&self, face: Face) -> Caller {
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

/// An answer to what a call asks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswered {
    /// The number of the question.
    pub question: u64,
    /// The answer itself.
    #[serde(flatten)]
    pub said: PersonAnswer,
}

/// What a person said.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PersonSaid")]
pub struct PersonAnswer {
    /// What is answered.
    #[schemars(extend("enum" = ["run", "session", "always", "skip", "reject", "accept", "decline", "cancel"]))]
    pub answer: String,
    /// With `reject`: what to do instead.
    pub words: Option<String>,
    /// With `run`: the text of a JSON object to use instead.
    pub arguments: Option<String>,
    /// With `accept`: what was filled into the form.
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
            "reject" => match words.filter(|words| !words.trim().is_empty()) {
                Some(words) => UserDecision::Reject(words),
                None => UserDecision::Skip,
            },
            "accept" => UserDecision::Accept(content),
            "decline" => UserDecision::Decline,
            "cancel" => UserDecision::Cancel,
            other => {
                let hint = "a call takes `run`, `session`, `always`, `skip` or `reject`; what a \
                    server asks takes `accept`, `decline` or `cancel`";
                let why = format!("`{other}` is no answer");
                return Err(ViewError::query(why, Some(hint.to_owned())));
            }
        })
    }
}

/// What is to be completed.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToComplete {
    /// The server.
    pub server: String,
    /// The prompt that has the argument.
    pub prompt: Option<String>,
    /// Or the template that has it.
    pub template: Option<String>,
    /// Its name.
    pub argument: String,
    /// What is written of it.
    #[serde(default)]
    pub value: String,
    /// The other arguments.
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
                Err("the arguments have to be a JSON object"),
            ),
            (r#"{"server":"a","name":"b","kind":"thing"}"#, Err("`thing` cannot be called")),
        ] {
            let wanted: WantedCall = serde_json::from_str(body).unwrap();
            let proposed = wanted.to_proposed_call();
            let got = proposed.as_ref().map(|call| call.arguments.as_str());
            assert_eq!(got.map_err(ToString::to_string), expected.map_err(str::to_owned), "{body}");
        }
    }
}
