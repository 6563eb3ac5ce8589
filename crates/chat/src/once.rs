//! `switchboard run`: one task from beginning to end, for scripts.

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
    /// What to do; `-` alone reads it from standard input, nothing only continues a conversation.
    pub prompt: Vec<String>,
    /// The options of the conversation.
    pub talk: TalkOptions,
    /// The conversation to continue.
    pub resume: Option<String>,
    /// How long questions wait for another face, where nobody is here.
    pub patience: Option<ReviewWait>,
}

/// Runs one task and returns the exit code that says how it ended.
///
/// # Errors
/// When the conversation cannot be opened, read or printed.
pub async fn run_task(context: &ChatContext<'_>, task: Task) -> Result<u8, CliError> {
    let prompt = prompt(&task)?;
    // A person can be asked only where both ends are a terminal.
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
        // What was left in the middle goes on first.
        code = follow(context, &mut opened, &mut questions, &mut show).await;
    }
    match prompt {
        Some(prompt) if code.is_ok() => {
            Suggestion::default().consider(context, &opened.config, &prompt).await;
            opened.conversation.say(prompt, Vec::new()).await;
            code = follow(context, &mut opened, &mut questions, &mut show).await;
        }
        // One whose last question failed is asked again; one that has ended has nothing to do.
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
            return Err(CliError::new(exit_code::TROUBLE, "the conversation ended by itself"));
        };
        // What nobody sees any more may still be under way, and answered elsewhere.
        show.event(&event)
            .or_else(|error| if person && is_terminal_gone() { Ok(()) } else { Err(error) })?;
        match event {
            Event::Ended { outcome: OutcomeKind::Denied | OutcomeKind::Rejected, .. } => {
                not_allowed = true;
            }
            // Nobody is there to say that it should go on.
            Event::Limit(_) => opened.conversation.decide(LimitDecision::Stop).await,
            Event::TurnEnded { end, .. } => return Ok(code(&end, not_allowed)),
            _ => {}
        }
    }
}

fn code(end: &TurnEnd, not_allowed: bool) -> u8 {
    match end {
        TurnEnd::Done if not_allowed => exit_code::NOT_ALLOWED,
        TurnEnd::Done => exit_code::OK,
        TurnEnd::Cancelled => exit_code::INTERRUPTED,
        TurnEnd::Stopped(_) => exit_code::LIMIT,
        TurnEnd::Length | TurnEnd::Refused | TurnEnd::Silent => exit_code::FAILED,
        TurnEnd::Failed(failure) => trouble_code(failure.trouble),
        TurnEnd::NotKept { .. } => exit_code::TROUBLE,
    }
}

/// What to do; nothing if a conversation only goes on.
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
