//! Typed calls of the tools of server `echo`.
//!
//! Made by `switchboard generate rust`; what is changed here is lost when it is made again.

use serde::{Deserialize, Serialize};
use switchboard_host::{CallError, Caller, Host, Reply};

/// The server's name in the configuration.
pub const SERVER: &str = "echo";

/// Answers with the text.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn echo(
    host: &Host,
    caller: &Caller,
    arguments: &EchoArguments,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "echo", arguments).await
}

/// Adds two numbers.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn add(
    host: &Host,
    caller: &Caller,
    arguments: &AddArguments,
) -> Result<AddOutput, CallError> {
    host.call_for(caller, SERVER, "add", arguments).await
}

/// Fails with the message.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn fail(
    host: &Host,
    caller: &Caller,
    arguments: &FailArguments,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "fail", arguments).await
}

/// Answers after a while and reports progress on the way.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn slow(
    host: &Host,
    caller: &Caller,
    arguments: &SlowArguments,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "slow", arguments).await
}

/// Answers with every kind of content.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn content(
    host: &Host,
    caller: &Caller,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "content", &()).await
}

/// Answers with much text.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn big(
    host: &Host,
    caller: &Caller,
    arguments: &BigArguments,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "big", arguments).await
}

/// Answers with the environment.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn environment(
    host: &Host,
    caller: &Caller,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "environment", &()).await
}

/// Leaves a trace.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn write(
    host: &Host,
    caller: &Caller,
    arguments: &WriteArguments,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "write", arguments).await
}

/// Answers with the process and its group.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn pid(
    host: &Host,
    caller: &Caller,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "pid", &()).await
}

/// Adds a tool.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn grow(
    host: &Host,
    caller: &Caller,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "grow", &()).await
}

/// Asks the person a question and answers with the answer.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn ask(
    host: &Host,
    caller: &Caller,
    arguments: &AskArguments,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "ask", arguments).await
}

/// The arguments of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EchoArguments {
    /// The member "text".
    pub text: String,
}

/// The arguments of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddArguments {
    /// The member "a".
    pub a: f64,
    /// The member "b".
    pub b: f64,
}

/// The structured result of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddOutput {
    /// The member "sum".
    pub sum: f64,
}

/// The arguments of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailArguments {
    /// The member "message".
    pub message: String,
}

/// The arguments of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlowArguments {
    /// The member "ms".
    pub ms: i64,
    /// The member "steps".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<i64>,
}

/// The arguments of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BigArguments {
    /// The member "bytes".
    pub bytes: i64,
}

/// The arguments of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WriteArguments {
    /// The member "key".
    pub key: String,
}

/// The arguments of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AskArguments {
    /// The member "question".
    pub question: String,
}
