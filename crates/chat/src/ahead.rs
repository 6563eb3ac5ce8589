//! What a person types while a turn goes on: commands are commands at any time, words wait for the model.

use switchboard_agent::{as_markdown, kept_inputs};
use switchboard_terminal::{CliError, TypedLines, exit_code};
use switchboard_text::escape_line;

use crate::attach::Said;
use crate::interactive::Interactive;
use crate::open::{Open, open_error};
use crate::slash::{HELP, Slash, Typed, typed};

impl Interactive<'_> {
    /// Takes a line that was typed in the middle of a turn.
    pub(super) async fn typed_meanwhile(&mut self, line: &str) {
        let fleet = self.opened.host.fleet().load();
        let is_server = |name: &str| fleet.servers.contains_key(name);
        match typed(line, is_server) {
            Typed::Nothing => {}
            Typed::Words(text) => {
                self.tell(Said { text, images: Vec::new() }).await;
                self.show.line("(the model reads this after the current step)");
            }
            Typed::Slash(slash) if !slash.waits() => {
                if let Err(error) = self.at_any_time(slash).await {
                    error.show();
                }
            }
            Typed::Slash(_) | Typed::Prompt { .. } => {
                self.ahead.push_back(line.to_owned());
                self.show.line("(this is done after the current turn)");
            }
            Typed::Unknown(word) => {
                CliError::usage(format!("`{word}` is no command")).with_hint("try /help").show();
            }
        }
    }

    /// Lines that were typed when the turn ended begin the next one; gives whether there were any.
    pub(super) async fn say_what_was_typed(&mut self, typed: &mut TypedLines) -> bool {
        typed.pause();
        let before = self.said;
        while let Some(line) = typed.typed_ahead() {
            self.typed_meanwhile(&line).await;
        }
        let goes_on = self.said > before;
        // Otherwise nothing more is read here: a line that comes now is for the prompt.
        if goes_on {
            typed.resume();
        }
        goes_on
    }

    /// Does what needs no end of a turn.
    pub(super) async fn at_any_time(&mut self, slash: Slash) -> Result<(), CliError> {
        let printer = &self.context.printer;
        match slash {
            Slash::Help => {
                for (usage, meaning) in HELP {
                    printer.say(&format!("  {usage:<28} {meaning}"));
                }
            }
            Slash::Tools(words) => {
                self.context.program.show_tools(&self.opened.host, &words)?;
            }
            Slash::Servers => {
                self.context.program.show_servers(&self.opened.host).await?;
            }
            Slash::Model(_) => {
                let about = self.opened.model.about();
                let (profile, model) = (escape_line(&about.profile), escape_line(&about.model));
                printer.say(&format!("{profile}: {} {model}", about.provider));
            }
            Slash::Session => printer.say(&self.opened.conversation.session().to_string()),
            Slash::Rename(name) => {
                let session = self.opened.conversation.session();
                self.opened.sessions.rename(session, &name).await?;
            }
            Slash::Export(file) => self.export(file.as_deref()).await?,
            Slash::Quit => self.left = Some(exit_code::OK),
            // These are for the prompt; see `Slash::waits`.
            Slash::Undo | Slash::Retry => {}
        }
        Ok(())
    }

    async fn export(&self, file: Option<&str>) -> Result<(), CliError> {
        let Open { sessions, conversation, .. } = &self.opened;
        let id = conversation.session();
        let summary = sessions.find(&id.to_string()).await?;
        let text = as_markdown(&summary, kept_inputs(sessions, id).await.map_err(open_error)?);
        let file = file.map_or_else(|| format!("{id}.md"), str::to_owned);
        std::fs::write(&file, text)?;
        self.context.printer.say(&format!("wrote {file}"));
        Ok(())
    }
}
