//! What servers ask of us, and who answers.

use std::pin::Pin;

use switchboard_wire::{Json, RpcError};

/// An answer on its way: the text of a JSON result, or an error.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<String, RpcError>> + Send + 'a>>;

/// Answers what servers ask: elicitation, sampling, roots.
pub trait Answers: Send + Sync {
    /// What we tell servers that we can answer: the text of a JSON object.
    fn capabilities(&self) -> String;

    /// Answers one request of `server`.
    fn answer<'a>(
        &'a self,
        server: &'a str,
        method: &'a str,
        params: Option<&'a Json>,
    ) -> Answering<'a>;
}

/// Answers nothing, and tells servers so.
#[derive(Clone, Copy, Debug)]
pub struct Declines;

impl Answers for Declines {
    fn capabilities(&self) -> String {
        "{}".to_owned()
    }

    fn answer<'a>(
        &'a self,
        _server: &'a str,
        method: &'a str,
        _params: Option<&'a Json>,
    ) -> Answering<'a> {
        let refusal = format!("this client does not answer `{method}`");
        Box::pin(async { Err(RpcError::new(RpcError::METHOD_NOT_FOUND, refusal)) })
    }
}
