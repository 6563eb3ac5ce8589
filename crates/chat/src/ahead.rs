//! Input typed during a turn: commands run at once where possible, text is queued for the model.

use switchboard_agent::{as_markdown, load_inputs};
use switchboard_terminal::{CliError, TypedLines, exit_code};
use switchboard_text::escape_line;

use crate::attach::UserMessage;
use crate::interactive::InteractiveChat;
use crate::open::{OpenConversation, open_error};
use crate::slash::{HELP, PromptInput, SlashCommand, parse_input};

impl InteractiveChat<'_> {
    pub(super) async fn queue_line(&mut self, line: &str) {
        let fleet = self.opened.host.fleet().load();
        let is_server = |name: &str| fleet.servers.contains_key(name);
        match parse_input(line, is_server) {
            PromptInput::Nothing => {}
            PromptInput::Words(text) => {
                self.send(UserMessage { text, images: Vec::new() }).await;
                self.show.line("(the model reads this after the current step)");
            }
            PromptInput::Slash(slash) if !slash.waits_for_turn() => {
                if let Err(error) = self.run_immediate(slash).await {
                    error.show();
                }
            }
            PromptInput::Slash(_) | PromptInput::Prompt { .. } => {
                self.ahead.push_back(line.to_owned());
                self.show.line("(this runs after the current turn)");
            }
            PromptInput::Unknown(word) => {
                CliError::usage(format!("unknown command `{word}`")).with_hint("try /help").show();
            }
        }
    }

    /// Sends the lines typed before the turn ended; returns whether they start another turn.
    pub(super) async fn send_queued_lines(&mut self, typed: &mut TypedLines) -> bool {
        // Pause first: a line that arrives now would otherwise be read after the turn has ended.
        typed.pause();
        let before = self.said;
        while let Some(line) = typed.typed_ahead() {
            self.queue_line(&line).await;
        }
        let has_turn = self.said > before;
        // If no turn follows, stop reading here: the next line belongs to the prompt editor.
        if has_turn {
            typed.resume();
        }
        has_turn
    }

    pub(super) async fn run_immediate(&mut self, slash: SlashCommand) -> Result<(), CliError> {
        let printer = &self.context.printer;
        match slash {
            SlashCommand::Help => {
                for (usage, meaning) in HELP {
                    printer.say(&format!("  {usage:<28} {meaning}"));
                }
            }
            SlashCommand::Tools(words) => {
                self.context.program.show_tools(&self.opened.host, &words)?;
            }
            SlashCommand::Servers => {
                self.context.program.show_servers(&self.opened.host).await?;
            }
            SlashCommand::Model(_) => {
                let about = self.opened.model.info();
                let profile = escape_line(&about.profile);
                let model = escape_line(&about.model);
                printer.say(&format!("{profile}: {} {model}", about.provider));
            }
            SlashCommand::Session => printer.say(&self.opened.conversation.session().to_string()),
            SlashCommand::Rename(name) => {
                let session = self.opened.conversation.session();
                self.opened.sessions.rename(session, &name).await?;
            }
            SlashCommand::Export(file) => self.export(file.as_deref()).await?,
            SlashCommand::Quit => self.left = Some(exit_code::OK),
            // Handled at the prompt only; see `SlashCommand::waits_for_turn`.
            SlashCommand::Undo | SlashCommand::Retry => {}
        }
        Ok(())
    }

    async fn export(&self, file: Option<&str>) -> Result<(), CliError> {
        let OpenConversation { sessions, conversation, .. } = &self.opened;
        let id = conversation.session();
        let summary = sessions.find(&id.to_string()).await?;
        let text = as_markdown(&summary, load_inputs(sessions, id).await.map_err(open_error)?);
        let file = file.map_or_else(|| format!("{id}.md"), str::to_owned);
        std::fs::write(&file, text)?;
        self.context.printer.say(&format!("wrote {file}"));
        Ok(())
    }
}
