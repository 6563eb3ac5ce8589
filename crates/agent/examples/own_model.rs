//! A model of your own in a conversation: anything that can answer a question can use the tools.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use std::sync::Arc;

use switchboard_agent::{Conversation, Event, Opening, Parts};
use switchboard_config::ChatSettings;
use switchboard_host::{Face, Host, Options};
use switchboard_prompting::{
    About, Answering, CallForm, Calls, Checking, Delta, Message, Model, Request, Said, Stop, Usage,
};
use switchboard_rules::Pattern;
use switchboard_store::Sessions;
use tokio::sync::mpsc;

/// Asks for the time once, and then repeats what it was told.
struct Clock(About);

const CALL: &str = "<use_mcp_tool><server_name>builtin</server_name>\
                    <tool_name>time_now</tool_name><arguments>{}</arguments></use_mcp_tool>";

impl Model for Clock {
    fn about(&self) -> &About {
        &self.0
    }

    fn answer<'a>(&'a self, request: &'a Request, heard: &'a mpsc::Sender<Delta>) -> Answering<'a> {
        Box::pin(async move {
            let text = match request.messages.as_slice() {
                [_, .., Message::User { text, .. }] => format!("I was told:\n{text}"),
                _ => CALL.to_owned(),
            };
            // Whoever listens hears it as it comes; here it comes at once.
            heard.send(Delta::Text(text.clone())).await.ok();
            Ok(Said {
                text,
                calls: Vec::new(),
                stop: Stop::End,
                usage: Usage::default(),
                kept: None,
            })
        })
    }

    fn check(&self) -> Checking<'_> {
        Box::pin(async { Ok("it ticks".to_owned()) })
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let allow = vec![Pattern::new("builtin/time_*")];
    let host = Host::start(Options { allow, ..Options::alone(folder.path().join("state")) })?;
    host.settled(None).await;
    let model = Clock(About {
        profile: "clock".to_owned(),
        provider: "own".to_owned(),
        model: "clock".to_owned(),
        calls: Calls::Text(CallForm::Wrapper),
        images: false,
        window: 10_000,
    });
    let parts = Parts {
        host: host.clone(),
        model: Arc::new(model),
        sessions: Sessions::in_memory()?,
        settings: ChatSettings::default(),
        face: Face::Library,
    };
    let opening = Opening::New { name: None, folder: folder.path().to_owned() };
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
