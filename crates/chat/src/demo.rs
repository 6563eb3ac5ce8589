//! `switchboard demo`: the whole loop in a minute, without any configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_agent::{
    Conversation, ConversationParts, ConversationStart, Event, LimitDecision, TurnEnd,
};
use switchboard_config::{ChatSettings, ModelProfile, Places, Provider};
use switchboard_core::Face;
use switchboard_host::Host;
use switchboard_store::SessionStore;
use switchboard_terminal::{ChatReviewer, CliError, DeskItem, People, exit_code, has_person};

use crate::open::{model_error, open_error};
use crate::program::{ChatContext, StartOptions};
use crate::questions::UnansweredQuestions;
use crate::show::EventPrinter;

/// Answers of the scripted model, which refer to tool results as a real model would.
const SCRIPT: &str = include_str!("demo_script.json");

const INTRODUCTION: &str = "A scripted model, the built-in server and your approval: no configuration, and nothing leaves this \
     machine.\n";

const QUESTION: &str = "What is in this folder, and what is left to do?";

const ASKED: &str = "
That was the loop: the model proposed a call, you decided, the server ran it, the result went back.
hint: `switchboard chat --model ollama:qwen3` talks to a real model";

const NOT_ASKED: &str = "
There was no terminal to ask on, so nothing ran.
hint: try it at a terminal, or with --yes";

const FILES: [(&str, &str); 2] = [
    ("garden.md", "# Garden\n\n- [x] buy seeds\n- [ ] dig the bed\n- [ ] water the beans\n"),
    ("readme.txt", "Notes for the demo of Switchboard.\n"),
];

/// Demonstrates the loop with a scripted model; `answers_yes` approves every call.
pub async fn demo(context: &ChatContext<'_>, answers_yes: bool) -> Result<u8, CliError> {
    let folder = tempfile::tempdir()?;
    let (notes, script) = write_demo_files(folder.path())?;
    let profile = ModelProfile {
        file: Some(script),
        ..ModelProfile::new("demo", Provider::Scripted, "script")
    };
    let model = switchboard_models::open(&profile, context.environment).map_err(model_error)?;

    let (desk, mut questions) = ChatReviewer::new();
    let asked = has_person() || answers_yes;
    let people = if asked { People::at_desk(&desk) } else { People::nobody(context.printer) };
    let host = start(context, folder.path(), &notes, people)?;
    host.wait_settled(None).await;
    let parts = ConversationParts {
        host: host.clone(),
        model: Arc::clone(&model),
        sessions: SessionStore::in_memory()?,
        settings: ChatSettings::default(),
        face: Face::Chat,
    };
    let opening = ConversationStart::New { name: None, folder: notes };
    let (conversation, mut events) =
        Conversation::open(parts, opening).await.map_err(open_error)?;
    let mut show = EventPrinter::new(context, model.as_ref());
    context.printer.say(INTRODUCTION);
    context.printer.say(&format!("> {QUESTION}\n"));
    conversation.say(QUESTION, Vec::new()).await;
    let mut unanswered = UnansweredQuestions::default();
    let code = loop {
        tokio::select! {
            biased;
            () = context.interrupts.token().cancelled() => break exit_code::INTERRUPTED,
            event = events.recv() => {
                let Some(event) = event else { break exit_code::OK };
                show.event(&event)?;
                match event {
                    Event::TurnEnded { end: TurnEnd::Cancelled, .. } => {
                        break exit_code::INTERRUPTED;
                    }
                    Event::TurnEnded { .. } => break exit_code::OK,
                    // The script is finite, so a limit means that something is wrong; do not
                    // continue.
                    Event::Limit(_) => conversation.decide(LimitDecision::Stop).await,
                    _ => {}
                }
            }
            Some(waiting) = questions.recv() => {
                show.pause();
                match waiting {
                    DeskItem::Question { answer, .. } if answers_yes => {
                        // The receiver is gone if the call was cancelled in the meantime.
                        _ = answer.send(switchboard_core::Answer::Run);
                    }
                    question => if unanswered.present(context, question).await {
                        conversation.cancel().await;
                    },
                }
            }
        }
    };
    show.finish();
    // Unanswered questions keep their calls waiting, and closing would wait for those calls.
    drop(unanswered);
    conversation.close().await;
    host.stop().await;
    if code == exit_code::OK {
        context.printer.say(if asked { ASKED } else { NOT_ASKED });
    }
    Ok(code)
}

fn write_demo_files(folder: &Path) -> std::io::Result<(PathBuf, PathBuf)> {
    let notes = folder.join("notes");
    let script = folder.join("script.json");
    std::fs::create_dir(&notes)?;
    for (name, text) in FILES {
        std::fs::write(notes.join(name), text)?;
    }
    std::fs::write(&script, SCRIPT)?;
    Ok((notes, script))
}

/// Starts a host without configuration files, so that only the built-in server runs.
fn start(
    context: &ChatContext<'_>,
    folder: &Path,
    notes: &Path,
    people: People,
) -> Result<Host, CliError> {
    let mut environment = context.environment.clone();
    environment.current_dir = notes.to_owned();
    let places =
        Places { user: None, project: None, state: folder.join("state"), ..context.places.clone() };
    let wanted = StartOptions { only: None, people, allow: Vec::new(), model: None };
    context.program.start(places, environment, wanted)
}
