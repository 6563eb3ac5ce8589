//! `switchboard chat`: a person and a model at one terminal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_agent::turn::{Decision, Limit};
use switchboard_agent::{Event, as_markdown, kept_inputs};
use switchboard_host::format::escape_line;
use tokio::sync::mpsc;

use crate::args_chat::Chat;
use crate::chat::attach::{Said, attached, prompted};
use crate::chat::complete::Completions;
use crate::chat::open::{Open, model_for, open};
use crate::chat::review::{Desk, Waiting};
use crate::chat::show::Show;
use crate::chat::slash::{HELP, Slash, Typed, typed};
use crate::commands::{servers, tools};
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::ask::{self, Put};
use crate::ui::editor::{Editor, Line};
use crate::ui::typed::Typed as TypedLines;

/// Two presses of Ctrl-C within this time leave.
const TWICE: Duration = Duration::from_secs(2);

/// Holds a conversation at the terminal.
pub(crate) async fn chat(context: &Context, chat: &Chat) -> Result<u8, CliError> {
    if context.printer.json {
        return Err(CliError::usage("`chat` is for people and prints no JSON")
            .with_hint("`switchboard run --json` prints every event"));
    }
    let (desk, questions) = Desk::new();
    let opened = open(context, &chat.talk, chat.resume.as_deref(), Arc::new(desk)).await?;
    let show = Show::new(context, opened.model.as_ref());
    let mut face = Interactive { context, opened, questions, show, left: false };
    let outcome = face.hold().await;
    face.show.finish();
    let session = face.opened.close().await;
    if !context.shared.no_record {
        context.printer.say(&format!("`switchboard chat --resume {session}` goes on from here"));
    }
    outcome.map(|()| exit_code::OK)
}

struct Interactive<'a> {
    context: &'a Context,
    opened: Open,
    questions: mpsc::Receiver<Waiting>,
    show: Show,
    left: bool,
}

impl Interactive<'_> {
    async fn hold(&mut self) -> Result<(), CliError> {
        self.greet();
        if !self.opened.idle {
            // What was left in the middle goes on by itself.
            self.follow().await?;
        }
        let completions = Arc::new(Completions { host: self.opened.host.clone() });
        let history = self.context.places.state.join("chat-history");
        let history = Some(history).filter(|_| !self.context.shared.no_record);
        let editor = Editor::new(history, completions);
        let mut editor =
            Some(editor.map_err(|error| CliError::new(exit_code::TROUBLE, error.to_string()))?);
        let mut pressed: Option<Instant> = None;
        while !self.left {
            let Some(mut owned) = editor.take() else { break };
            let read = tokio::task::spawn_blocking(move || {
                let line = owned.read("> ");
                (owned, line)
            });
            let (owned, line) = tokio::select! {
                read = read => read.map_err(|error| {
                    CliError::new(exit_code::TROUBLE, format!("the prompt failed: {error}"))
                })?,
                () = self.context.interrupts.token().cancelled() => break,
            };
            let mut owned = owned;
            if let Some(warning) = owned.take_warning() {
                self.context.printer.warn(&warning, None);
            }
            editor = Some(owned);
            match line.map_err(|error| CliError::new(exit_code::TROUBLE, error.to_string()))? {
                Line::End => break,
                Line::Interrupted => {
                    if pressed.is_some_and(|before| before.elapsed() < TWICE) {
                        break;
                    }
                    pressed = Some(Instant::now());
                    self.context.printer.say("press Ctrl-C once more to leave");
                }
                Line::Text(line) => {
                    // What goes wrong with one line is told, and the next one is read.
                    if let Err(error) = self.line(&line).await {
                        error.show();
                    }
                }
            }
        }
        Ok(())
    }

    fn greet(&self) {
        let (about, fleet) = (self.opened.model.about(), self.opened.host.fleet().load());
        let tools: usize = fleet.servers.values().map(|server| server.offers.tools.len()).sum();
        self.context.printer.say(&format!(
            "{} ({}), {} servers, {tools} tools. /help shows what you can type.",
            escape_line(&about.profile),
            escape_line(&about.model),
            fleet.servers.len(),
        ));
    }

    async fn line(&mut self, line: &str) -> Result<(), CliError> {
        let fleet = self.opened.host.fleet().load();
        let is_server = |name: &str| fleet.servers.contains_key(name);
        match typed(line, is_server) {
            Typed::Nothing => Ok(()),
            Typed::Words(words) => {
                let said = attached(&self.opened.host, &words).await?;
                self.say(said).await
            }
            Typed::Prompt { server, prompt, arguments } => {
                let said = prompted(&self.opened.host, &server, &prompt, &arguments).await?;
                self.context.printer.say(&escape_line(&said.text));
                self.say(said).await
            }
            Typed::Unknown(word) => {
                Err(CliError::usage(format!("`{word}` is no command")).with_hint("try /help"))
            }
            Typed::Slash(slash) => self.slash(slash).await,
        }
    }

    async fn say(&mut self, said: Said) -> Result<(), CliError> {
        self.opened.conversation.say(said.text, said.images).await;
        self.follow().await
    }

    /// Shows what happens until the turn ends. Ctrl-C stops the step, twice leaves.
    async fn follow(&mut self) -> Result<(), CliError> {
        let mut presses = self.context.interrupts.take_over();
        let mut typed = TypedLines::watch();
        let mut pressed: Option<Instant> = None;
        let mut left_open = Vec::new();
        loop {
            tokio::select! {
                // What happened before a question is shown before it.
                biased;
                () = presses.next() => {
                    if pressed.is_some_and(|before| before.elapsed() < TWICE) {
                        self.left = true;
                        return Ok(());
                    }
                    pressed = Some(Instant::now());
                    self.opened.conversation.cancel().await;
                }
                () = self.context.interrupts.token().cancelled() => {
                    self.left = true;
                    return Ok(());
                }
                event = self.opened.events.recv() => {
                    let Some(event) = event else {
                        self.left = true;
                        return Ok(());
                    };
                    self.show.event(&event)?;
                    match event {
                        Event::TurnEnded { .. } => return Ok(()),
                        Event::Limit(limit) => {
                            typed.pause();
                            self.limit(limit).await;
                            typed.resume();
                        }
                        _ => {}
                    }
                }
                Some(waiting) = self.questions.recv() => {
                    self.show.pause();
                    typed.pause();
                    if let put @ Put::Interrupted { .. } = ask::put(waiting).await {
                        left_open.push(put);
                        self.opened.conversation.cancel().await;
                    }
                    typed.resume();
                }
                Some(line) = typed.line() => {
                    if !line.trim().is_empty() {
                        self.opened.conversation.say(line.trim(), Vec::new()).await;
                        self.show.line("(the model reads this after the current step)");
                    }
                }
            }
        }
    }

    /// Asks whether to go on. Words instead of yes or no go to the model.
    async fn limit(&mut self, _limit: Limit) {
        self.show.pause();
        let question = "Go on? [y] yes   [n] no   or say what to do: ";
        let conversation = &self.opened.conversation;
        match ask::line(question).await.as_deref().map(str::trim) {
            Some("y" | "yes") => conversation.decide(Decision::GoOn).await,
            None | Some("" | "n" | "no") => conversation.decide(Decision::Stop).await,
            Some(words) => conversation.say(words, Vec::new()).await,
        }
    }

    async fn slash(&mut self, slash: Slash) -> Result<(), CliError> {
        let printer = &self.context.printer;
        match slash {
            Slash::Help => {
                for (usage, meaning) in HELP {
                    printer.say(&format!("  {usage:<28} {meaning}"));
                }
            }
            Slash::Tools(words) => tools::show_in_chat(self.context, &self.opened.host, &words)?,
            Slash::Servers => servers::show_in_chat(self.context, &self.opened.host)?,
            Slash::Model(None) => {
                let about = self.opened.model.about();
                let (profile, model) = (escape_line(&about.profile), escape_line(&about.model));
                printer.say(&format!("{profile}: {} {model}", about.provider));
            }
            Slash::Model(Some(name)) => {
                let model = model_for(self.context, &self.opened.config, Some(&name))?;
                self.opened.model = Arc::clone(&model);
                self.show = Show::new(self.context, model.as_ref());
                self.opened.conversation.use_model(model).await;
                printer.say(&format!("from here on with {}", escape_line(&name)));
            }
            Slash::Undo => {
                self.opened.conversation.undo().await;
                printer.say("the last turn is taken back; what it changed outside stays changed");
            }
            Slash::Retry => {
                self.opened.conversation.retry().await;
                return self.follow().await;
            }
            Slash::Session => printer.say(&self.opened.conversation.session().to_string()),
            Slash::Rename(name) => {
                let session = self.opened.conversation.session();
                self.opened.sessions.rename(session, &name).await?;
            }
            Slash::Export(file) => self.export(file.as_deref()).await?,
            Slash::Quit => self.left = true,
        }
        Ok(())
    }

    async fn export(&self, file: Option<&str>) -> Result<(), CliError> {
        let Open { sessions, conversation, .. } = &self.opened;
        let id = conversation.session();
        let summary = sessions.find(&id.to_string()).await?;
        let text = as_markdown(&summary, kept_inputs(sessions, id).await?);
        let file = file.map_or_else(|| format!("{id}.md"), str::to_owned);
        std::fs::write(&file, text)?;
        self.context.printer.say(&format!("wrote {file}"));
        Ok(())
    }
}
