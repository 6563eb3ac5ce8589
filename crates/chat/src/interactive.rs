//! `switchboard chat`: an interactive conversation with a model.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_agent::{Event, LimitDecision, TurnEnd};
use switchboard_host::Recording;
use switchboard_prompting::ChatMessage;
use switchboard_terminal::{
    ChatReviewer, CliError, DeskItem, EditorLine, People, Presses, PromptEditor, TypedLines,
    exit_code, has_person, is_terminal_gone, present,
};
use switchboard_text::{escape_line, escape_prose};
use tokio::sync::mpsc;

use crate::attach::{UserMessage, attach_resources, fetch_prompt};
use crate::open::{OpenConversation, TalkOptions, model_for, open};
use crate::program::ChatContext;
use crate::questions::UnansweredQuestions;
use crate::show::EventPrinter;
use crate::slash::{Completions, PromptInput, SlashCommand, parse_input};
use crate::suggest::Suggestion;

const RESUME_LINES: usize = 8;

/// Two presses of Ctrl-C within this window end the conversation.
const DOUBLE_PRESS_WINDOW: Duration = Duration::from_secs(2);

/// Runs an interactive conversation: a new one, or the one that `resume` names.
pub async fn chat(
    context: &ChatContext<'_>,
    talk: &TalkOptions,
    resume: Option<&str>,
) -> Result<u8, CliError> {
    if context.printer.json {
        return Err(CliError::usage("`chat` is interactive and does not print JSON")
            .with_hint("`switchboard run --json` prints every event"));
    }
    let (desk, questions) = ChatReviewer::new();
    // Piped input must not answer questions: ask only if a person is at the terminal.
    let people =
        if has_person() { People::at_desk(&desk) } else { People::nobody(context.printer) };
    let opened = open(context, talk, resume, people).await?;
    let show = EventPrinter::new(context, opened.model.as_ref());
    let mut face = InteractiveChat {
        context,
        opened,
        questions,
        show,
        said: 0,
        ahead: VecDeque::new(),
        left: None,
        suggestion: Suggestion::default(),
    };
    let outcome = face.run().await;
    face.show.finish();
    let code = face.left.unwrap_or(exit_code::OK);
    let session = face.opened.close().await;
    if context.recording == Recording::On {
        context
            .printer
            .say(&format!("`switchboard chat --resume {session}` continues this conversation"));
    }
    outcome.map(|()| code)
}

pub(super) struct InteractiveChat<'a> {
    pub(super) context: &'a ChatContext<'a>,
    pub(super) opened: OpenConversation,
    questions: mpsc::Receiver<DeskItem>,
    pub(super) show: EventPrinter,
    /// Number of messages sent; the turn that handled the last of them is the final one.
    pub(super) said: u64,
    /// Commands typed during a turn that have to wait for its end.
    pub(super) ahead: VecDeque<String>,
    /// The exit code, once the conversation is about to end.
    pub(super) left: Option<u8>,
    suggestion: Suggestion,
}

impl InteractiveChat<'_> {
    async fn run(&mut self) -> Result<(), CliError> {
        self.greet();
        if !self.opened.idle {
            // A turn that was interrupted resumes without new input.
            self.show_turn().await?;
        }
        let completions = Arc::new(Completions { host: self.opened.host.clone() });
        let history = self.context.places.state.join("chat-history");
        let history = Some(history).filter(|_| self.context.recording == Recording::On);
        let editor = PromptEditor::new(history, completions);
        let mut editor =
            Some(editor.map_err(|error| CliError::new(exit_code::TROUBLE, error.to_string()))?);
        let mut pressed: Option<Instant> = None;
        while self.left.is_none() {
            // Servers may start or be added during the conversation.
            self.context.program.ask_about_new_servers(&self.opened.host).await?;
            if let Some(line) = self.ahead.pop_front() {
                if let Err(error) = self.line(&line).await {
                    error.show();
                }
                continue;
            }
            let Some(mut owned) = editor.take() else { break };
            // The editor blocks on the keyboard, so it moves to a thread and comes back with the
            // line.
            let read = tokio::task::spawn_blocking(move || {
                let line = owned.read("> ");
                (owned, line)
            });
            let (mut owned, line) = tokio::select! {
                read = read => read.map_err(|error| {
                    CliError::new(exit_code::TROUBLE, format!("the prompt failed: {error}"))
                })?,
                () = self.context.interrupts.token().cancelled() => break,
            };
            if let Some(warning) = owned.take_warning() {
                self.context.printer.warn(&warning, None);
            }
            editor = Some(owned);
            match line.map_err(|error| CliError::new(exit_code::TROUBLE, error.to_string()))? {
                EditorLine::End => break,
                EditorLine::Interrupted => {
                    if pressed.is_some_and(|before| before.elapsed() < DOUBLE_PRESS_WINDOW) {
                        break;
                    }
                    pressed = Some(Instant::now());
                    self.context.printer.say("press Ctrl-C again to leave");
                }
                EditorLine::Text(line) => {
                    // An error in one line must not end the conversation.
                    if let Err(error) = self.line(&line).await {
                        error.show();
                    }
                }
            }
        }
        Ok(())
    }

    fn greet(&self) {
        let about = self.opened.model.info();
        let fleet = self.opened.host.fleet().load();
        let tools: usize = fleet.servers.values().map(|server| server.offers.tools.len()).sum();
        let servers = fleet.servers.len();
        let plural = if servers == 1 { "" } else { "s" };
        self.context.printer.say(&format!(
            "{} ({}), {servers} server{plural}, {tools} tools. /help lists the commands.",
            escape_line(&about.profile),
            escape_line(&about.model),
        ));
        for message in self.opened.last_words.iter() {
            let (who, text) = match message {
                ChatMessage::User { text, .. } => ("> ", text),
                ChatMessage::Assistant { text, .. } => ("", text),
                ChatMessage::Results { .. } => continue,
            };
            let mut lines = text.lines();
            for line in lines.by_ref().take(RESUME_LINES) {
                self.context.printer.say(&format!("{who}{}", escape_line(line)));
            }
            if lines.next().is_some() {
                self.context.printer.say("…");
            }
        }
    }

    async fn line(&mut self, line: &str) -> Result<(), CliError> {
        let fleet = self.opened.host.fleet().load();
        let is_server = |name: &str| fleet.servers.contains_key(name);
        match parse_input(line, is_server) {
            PromptInput::Nothing => Ok(()),
            PromptInput::Words(words) => {
                self.suggestion.consider(self.context, &self.opened.config, &words).await;
                let host = self.opened.host.clone();
                let limit = self.opened.config.settings.chat.result_chars;
                let session = self.opened.conversation.session().to_string();
                let said = self
                    .run_interruptible(attach_resources(&host, &session, &words, limit))
                    .await?;
                self.say(said).await
            }
            PromptInput::Prompt { server, prompt, arguments } => {
                let host = self.opened.host.clone();
                let session = self.opened.conversation.session().to_string();
                let fetching = fetch_prompt(&host, &session, &server, &prompt, &arguments);
                let said = self.run_interruptible(fetching).await?;
                self.context.printer.say(&escape_prose(&said.text));
                self.say(said).await
            }
            PromptInput::Unknown(word) => {
                Err(CliError::usage(format!("unknown command `{word}`")).with_hint("try /help"))
            }
            PromptInput::Slash(slash) => self.slash(slash).await,
        }
    }

    /// Runs work that Ctrl-C may cancel, and presents the questions that servers ask meanwhile.
    async fn run_interruptible<T>(
        &mut self,
        work: impl Future<Output = Result<T, CliError>>,
    ) -> Result<T, CliError> {
        let mut presses = self.context.interrupts.take_over();
        let mut work = std::pin::pin!(work);
        let mut left_open = Vec::new();
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = presses.next() => {
                    return Err(CliError::new(exit_code::INTERRUPTED, "cancelled"));
                }
                Some(waiting) = self.questions.recv() => {
                    // Calls of the user need no approval, so this is a question from a server;
                    // other faces may answer it if this terminal does not.
                    left_open.push(present(waiting).await);
                }
            }
        }
    }

    async fn say(&mut self, said: UserMessage) -> Result<(), CliError> {
        self.send(said).await;
        self.show_turn().await
    }

    pub(super) async fn send(&mut self, said: UserMessage) {
        self.said += 1;
        self.opened.conversation.say(said.text, said.images).await;
    }

    /// Shows events until every message sent has been handled.
    async fn show_turn(&mut self) -> Result<(), CliError> {
        let mut presses = self.context.interrupts.take_over();
        // Without taking over, the first Ctrl-C would end the program instead of cancelling the
        // step.
        let mut typed = TypedLines::watch();
        let mut pressed: Option<Instant> = None;
        let mut unanswered = UnansweredQuestions::default();
        while self.left.is_none() {
            tokio::select! {
                // Print pending events before a question that follows them.
                biased;
                () = presses.next() => {
                    if pressed.is_some_and(|before| before.elapsed() < DOUBLE_PRESS_WINDOW) {
                        self.left = Some(exit_code::OK);
                        return Ok(());
                    }
                    pressed = Some(Instant::now());
                    self.opened.conversation.cancel().await;
                }
                () = self.context.interrupts.token().cancelled() => {
                    self.left = Some(exit_code::INTERRUPTED);
                    return Ok(());
                }
                event = self.opened.events.recv() => {
                    let Some(event) = event else {
                        self.left = Some(exit_code::TROUBLE);
                        return Ok(());
                    };
                    if self.show_event(event, &mut typed, &mut presses).await? {
                        return Ok(());
                    }
                }
                Some(waiting) = self.questions.recv() => {
                    let Some(question) = unanswered.admit(waiting) else { continue };
                    self.show.pause();
                    typed.pause();
                    if self.opened.config.settings.chat.notify {
                        self.context.printer.ring();
                    }
                    if unanswered.present(self.context, question).await {
                        self.opened.conversation.cancel().await;
                    }
                    // During shutdown, do not read from the terminal again.
                    if !self.context.interrupts.token().is_cancelled() {
                        typed.resume();
                    }
                }
                Some(line) = typed.line() => self.queue_line(&line).await,
            }
        }
        Ok(())
    }

    async fn show_event(
        &mut self,
        event: Event,
        typed: &mut TypedLines,
        presses: &mut Presses,
    ) -> Result<bool, CliError> {
        // A call may continue after the terminal is gone, and be answered at another face.
        self.show
            .event(&event)
            .or_else(|error| if is_terminal_gone() { Ok(()) } else { Err(error) })?;
        let is_last = matches!(&event, Event::TurnEnded { said, .. } if *said == self.said);
        match event {
            Event::TurnEnded { end: TurnEnd::NotKept { .. }, .. } => {
                self.left = Some(exit_code::TROUBLE);
                return Ok(true);
            }
            Event::Limit(_) => self.ask_about_limit(typed, presses).await,
            _ => {}
        }
        Ok(is_last && !self.send_queued_lines(typed).await)
    }

    /// Asks whether to continue after a limit.
    async fn ask_about_limit(&mut self, typed: &mut TypedLines, presses: &mut Presses) {
        self.show.pause();
        if !has_person() {
            return self.opened.conversation.decide(LimitDecision::Stop).await;
        }
        self.context.printer.ask("Continue? [y] yes   [n] no   or type instructions: ");
        let answer = tokio::select! {
            () = presses.next() => None,
            () = self.context.interrupts.token().cancelled() => None,
            line = typed.line() => line,
        };
        match answer.as_deref().map(str::trim) {
            None => self.opened.conversation.cancel().await,
            Some("y" | "yes") => self.opened.conversation.decide(LimitDecision::GoOn).await,
            Some("" | "n" | "no") => self.opened.conversation.decide(LimitDecision::Stop).await,
            // Anything else is an instruction for the model, which also continues the turn.
            Some(words) => {
                self.send(UserMessage { text: words.to_owned(), images: Vec::new() }).await;
            }
        }
    }

    async fn slash(&mut self, slash: SlashCommand) -> Result<(), CliError> {
        let printer = &self.context.printer;
        match slash {
            SlashCommand::Model(Some(name)) => {
                let model = model_for(self.context, &self.opened.config, Some(&name))?;
                self.opened.model = Arc::clone(&model);
                self.show = EventPrinter::new(self.context, model.as_ref());
                self.opened.conversation.use_model(model).await;
                printer.say(&format!("switched to {}", escape_line(&name)));
            }
            SlashCommand::Undo => match self.opened.conversation.undo().await {
                true => printer.say("undid the last turn; its effects on servers and files remain"),
                false => printer.say("nothing to undo"),
            },
            SlashCommand::Retry => {
                self.opened.conversation.retry().await;
                self.show_turn().await?;
            }
            slash @ (SlashCommand::Help
            | SlashCommand::Tools(_)
            | SlashCommand::Servers
            | SlashCommand::Model(None)
            | SlashCommand::Session
            | SlashCommand::Rename(_)
            | SlashCommand::Export(_)
            | SlashCommand::Quit) => self.run_immediate(slash).await?,
        }
        Ok(())
    }
}
