//! A model of your own in a conversation: anything that can answer a question can use the tools.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::Arc;

use switchboard_agent::{Conversation, ConversationParts, ConversationStart, Event};
use switchboard_config::ChatSettings;
use switchboard_host::{Face, Host, Options};
use switchboard_prompting::{
    CallForm, CallMode, ChatMessage, Model, ModelAnswer, ModelAnswerFuture, ModelCheckFuture,
    ModelDelta, ModelInfo, ModelRequest, StopReason, TokenUsage,
};
use switchboard_rules::Pattern;
use switchboard_store::SessionStore;
use tokio::sync::mpsc;

/// A model that asks for the time once and then repeats the result.
struct Clock(ModelInfo);

const CALL: &str = "<use_mcp_tool><server_name>builtin</server_name>\
                    <tool_name>time_now</tool_name><arguments>{}</arguments></use_mcp_tool>";

impl Model for Clock {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a mpsc::Sender<ModelDelta>,
    ) -> ModelAnswerFuture<'a> {
        Box::pin(async move {
            let text = match request.messages.as_slice() {
                [_, .., ChatMessage::User { text, .. }] => format!("The result:\n{text}"),
                _ => CALL.to_owned(),
            };
            // The listener may have gone; the whole answer is returned below in any case.
            _ = heard.send(ModelDelta::Text(text.clone())).await;
            Ok(ModelAnswer {
                text,
                calls: Vec::new(),
                stop: StopReason::End,
                usage: TokenUsage::default(),
                vendor_message: None,
            })
        })
    }

    fn check(&self) -> ModelCheckFuture<'_> {
        Box::pin(async { Ok("it ticks".to_owned()) })
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let allow = vec![Pattern::new("builtin/time_*")];
    let host = Host::start(Options { allow, ..Options::standalone(folder.path().join("state")) })?;
    host.wait_settled(None).await;
    let model = Clock(ModelInfo {
        profile: "clock".to_owned(),
        provider: "own".to_owned(),
        model: "clock".to_owned(),
        calls: CallMode::Text(CallForm::Wrapper),
        images: false,
        window: 10_000,
    });
    let parts = ConversationParts {
        host: host.clone(),
        model: Arc::new(model),
        sessions: SessionStore::in_memory()?,
        settings: ChatSettings::default(),
        face: Face::Library,
    };
    let opening = ConversationStart::New { name: None, folder: folder.path().to_owned() };
    let (conversation, mut events) = Conversation::open(parts, opening).await?;
    conversation.say("What time is it?", Vec::new()).await;
    while let Some(event) = events.recv().await {
        match event {
            Event::Text { text } => println!("{text}"),
            Event::Ended { outcome, .. } => println!("[the call ended: {outcome}]"),
            Event::TurnEnded { .. } => break,
            _ => {}
        }
    }
    conversation.close().await;
    host.stop().await;
    Ok(())
}
