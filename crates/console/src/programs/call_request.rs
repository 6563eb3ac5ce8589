//! What a program wants called, by whom it was proposed and who can be asked there.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_core::{Caller, Face, Origin, ProposedCall, Target, TargetKind};
use switchboard_host::TaskMode;
use switchboard_wire::Json;

use crate::reply::ApiError;

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
    /// The call as the line takes it.
    pub(super) fn to_proposed_call(&self) -> Result<ProposedCall, ApiError> {
        let kind = TargetKind::from_word(&self.kind).ok_or_else(|| {
            let why = format!("`{}` cannot be called", self.kind);
            ApiError::unprocessable(why).with_hint("`tool`, `resource` or `prompt`")
        })?;
        let text = self.arguments.as_ref().map_or("{}", |arguments| arguments.get());
        if !text.starts_with('{') {
            return Err(ApiError::unprocessable("the arguments have to be a JSON object"));
        }
        let arguments = Json::parse(text.to_owned().into()).map_err(|error| {
            ApiError::unprocessable(format!("the arguments cannot be used: {error}"))
        })?;
        let target = Target::new(kind, &self.server, &self.name);
        Ok(ProposedCall { target, arguments })
    }

    /// Who it is for the rules and the record: the same as where the program calls by itself.
    pub(super) fn caller(&self, face: Face) -> Caller {
        match self.origin {
            Proposer::Person => Caller { face, ..Caller::person() },
            Proposer::Model => {
                let name = "review".to_owned();
                Caller { face, origin: Origin::Model, name, reference: None }
            }
        }
    }

    pub(super) fn limit(&self) -> Option<Duration> {
        self.wait_seconds.map(Duration::from_secs)
    }

    pub(super) const fn task_mode(&self) -> TaskMode {
        match self.task {
            TaskWanted::AsConfigured => TaskMode::AsConfigured,
            TaskWanted::Task => TaskMode::Task,
            TaskWanted::Detach => TaskMode::Detach,
        }
    }
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
