//! `switchboard run`: runs one task to its end, for scripts.

use std::io::Read as _;

use switchboard_agent::{Event, LimitDecision, TurnEnd};
use switchboard_core::OutcomeKind;
use switchboard_host::Recording;
use switchboard_terminal::{
    ChatReviewer, CliError, DeskItem, People, ReviewWait, exit_code, has_person, is_terminal_gone,
};

use crate::open::{OpenConversation, TalkOptions, open, trouble_code};
use crate::program::ChatContext;
use crate::questions::UnansweredQuestions;
use crate::show::EventPrinter;
use crate::suggest::Suggestion;

/// One task for a model.
pub struct Task {
    /// The words of the prompt; `-` reads standard input, none only continues a conversation.
    pub prompt: Vec<String>,
    pub talk: TalkOptions,
    pub resume: Option<String>,
    /// How long questions wait for another face if this terminal cannot ask.
    pub patience: Option<ReviewWait>,
}

/// Runs one task and returns the exit code for its result.
pub async fn run_task(context: &ChatContext<'_>, task: Task) -> Result<u8, CliError> {
    let prompt = prompt(&task)?;
    // Asking requires both standard input and standard error to be a terminal.
    let person = has_person();
    let (desk, mut questions) = ChatReviewer::new();
    let people = if person {
        People::at_desk(&desk)
    } else {
        People::nobody_here(context.printer, task.patience)
    };
    let people = people.with_wait(task.patience);
    let mut opened = open(context, &task.talk, task.resume.as_deref(), people).await?;
    let mut show = EventPrinter::new(context, opened.model.as_ref());
    let mut code = Ok(exit_code::OK);
    if !opened.idle {
        // Finish the interrupted turn first.
        code = follow(context, &mut opened, &mut questions, &mut show).await;
    }
    match prompt {
        Some(prompt) if code.is_ok() => {
            Suggestion::default().consider(context, &opened.config, &prompt).await;
            opened.conversation.say(prompt, Vec::new()).await;
            code = follow(context, &mut opened, &mut questions, &mut show).await;
        }
        // Without a prompt, retry the last request in case it failed.
        None if opened.idle => {
            opened.conversation.retry().await;
            code = follow(context, &mut opened, &mut questions, &mut show).await;
        }
        _ => {}
    }
    show.finish();
    let session = opened.close().await;
    if context.recording == Recording::On && !context.printer.json {
        context.printer.say(&format!("session {session}"));
    }
    code
}

async fn follow(
    context: &ChatContext<'_>,
    opened: &mut OpenConversation,
    questions: &mut tokio::sync::mpsc::Receiver<DeskItem>,
    show: &mut EventPrinter,
) -> Result<u8, CliError> {
    let person = has_person();
    let mut not_allowed = false;
    let mut cancelled = false;
    let mut unanswered = UnansweredQuestions::default();
    loop {
        let event = tokio::select! {
            biased;
            () = context.interrupts.token().cancelled(), if !cancelled => {
                cancelled = true;
                opened.conversation.cancel().await;
                continue;
            }
            event = opened.events.recv() => event,
            Some(waiting) = questions.recv() => {
                let Some(question) = unanswered.admit(waiting) else { continue };
                show.pause();
                if opened.config.settings.chat.notify {
                    context.printer.ring();
                }
                if unanswered.present(context, question).await {
                    opened.conversation.cancel().await;
                }
                continue;
            }
        };
        let Some(event) = event else {
            return Err(CliError::new(exit_code::TROUBLE, "the conversation ended unexpectedly"));
        };
        // A call may continue after the terminal is gone, and be answered at another face.
        show.event(&event)
            .or_else(|error| if person && is_terminal_gone() { Ok(()) } else { Err(error) })?;
        match event {
            Event::Ended { outcome: OutcomeKind::Denied | OutcomeKind::Rejected, .. } => {
                not_allowed = true;
            }
            // `run` is not interactive: no one can raise the limit.
            Event::Limit(_) => opened.conversation.decide(LimitDecision::Stop).await,
            Event::TurnEnded { end, .. } => return Ok(code(&end, not_allowed)),
            _ => {}
        }
    }
}

fn code(end: &TurnEnd, not_allowed: bool) -> u8 {
    match end {
        // A script must notice that the model finished without a call it wanted to make.
        TurnEnd::Done if not_allowed => exit_code::NOT_ALLOWED,
        TurnEnd::Done => exit_code::OK,
        TurnEnd::Cancelled => exit_code::INTERRUPTED,
        TurnEnd::Stopped(_) => exit_code::LIMIT,
        TurnEnd::Length | TurnEnd::Refused | TurnEnd::Silent => exit_code::FAILED,
        TurnEnd::Failed(failure) => trouble_code(failure.trouble),
        TurnEnd::NotKept { .. } => exit_code::TROUBLE,
    }
}

/// Returns the prompt, or `None` if the task only continues a conversation.
fn prompt(task: &Task) -> Result<Option<String>, CliError> {
    let text = match task.prompt.as_slice() {
        [] => return Ok(None),
        [dash] if dash == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(CliError::usage("the prompt is empty"));
    }
    Ok(Some(text))
}
