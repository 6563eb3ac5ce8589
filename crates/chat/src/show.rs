//! Prints a conversation as it happens: text on standard output, the rest on standard error.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use switchboard_agent::{Event, Limit, TurnEnd};
use switchboard_core::OutcomeKind;
use switchboard_prompting::Model;
use switchboard_terminal::{CliError, Markdown, Printer, pluralize, progress_text, talk};
use switchboard_text::{escape_line, escape_prose};

use crate::program::ChatContext;

const RESULT_LINES: usize = 4;
const MAX_LINE_CHARS: usize = 160;

pub(crate) struct EventPrinter {
    printer: Printer,
    markdown: Option<Markdown>,
    spinner: Option<ProgressBar>,
    /// Whether the last line printed is still incomplete.
    in_line: bool,
    calls: BTreeMap<usize, String>,
    model: String,
}

impl EventPrinter {
    pub(crate) fn new(context: &ChatContext<'_>, model: &dyn Model) -> Self {
        Self {
            printer: context.printer.clone(),
            markdown: None,
            spinner: None,
            in_line: false,
            calls: BTreeMap::new(),
            model: model.info().profile.clone(),
        }
    }

    /// Prints one event; with `--json`, as a JSON object.
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), CliError> {
        if self.printer.json {
            let text = serde_json::to_string(event).unwrap_or_default();
            return self.printer.data(&text);
        }
        match event {
            Event::Text { text } => self.words(text)?,
            Event::Asking { .. } => self.spin(format!("{} is thinking", self.model)),
            // Thoughts are not shown here; `--json` prints them.
            Event::Thinking { .. } | Event::Session { .. } => {}
            Event::Writing { target } => {
                self.end_words();
                self.spin(format!("{} is writing a call of {}", self.model, escape_line(target)));
            }
            Event::Answered { .. } => {
                self.end_words();
                self.pause();
            }
            Event::Call { slot, server, target, arguments } => {
                self.call(*slot, server, target, arguments);
            }
            Event::Progress { progress, total, message, .. } => {
                self.progress(*progress, *total, message.as_deref());
            }
            Event::Ended { .. } => self.call_ended(event),
            Event::LeftOut { text, .. } => self.line(&format!("✗ {}", first_line(text))),
            Event::Mistake { text, .. } => self.line(&format!("! {}", first_line(text))),
            Event::Notice { server, level, text } => {
                let server = escape_line(server);
                let level = escape_line(level);
                let text: String = escape_line(text).chars().take(MAX_LINE_CHARS).collect();
                self.line(&format!("[{server}] {level}: {text}"));
            }
            Event::Again { why } => {
                self.end_words();
                self.line(&format!("… {}: retrying", escape_line(why)));
            }
            Event::Waiting { seconds, why } => {
                self.spin(format!("{}; waiting {seconds:.0} s", escape_line(why)));
            }
            Event::Limit(limit) => self.line(&limit_text(*limit)),
            Event::Compacted { messages, .. } => {
                self.line(&format!("… the first {messages} messages were summarized to make room"));
            }
            Event::Warning { text, hint } => {
                self.pause();
                self.printer.warn(text, hint.as_deref());
            }
            Event::TurnEnded { end, .. } => self.turn_ended(end),
            _ => {}
        }
        Ok(())
    }

    /// Removes the spinner, so that a prompt can use the terminal.
    pub(crate) fn pause(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    pub(crate) fn finish(&mut self) {
        self.end_words();
        self.pause();
    }

    fn words(&mut self, text: &str) -> Result<(), CliError> {
        self.pause();
        let shown = if self.printer.terminal {
            let width = self.printer.width();
            let paint = self.printer.colours();
            self.markdown.get_or_insert_with(|| Markdown::new(width, paint)).push(text)
        } else {
            escape_prose(text).into_owned()
        };
        if !shown.is_empty() {
            self.in_line = !shown.ends_with('\n');
            self.printer.words(&shown)?;
        }
        Ok(())
    }

    fn end_words(&mut self) {
        let rest = self.markdown.take().map(|mut markdown| markdown.finish()).unwrap_or_default();
        if !rest.is_empty() {
            self.in_line = !rest.ends_with('\n');
            // Only a terminal has buffered Markdown; if it is closed, the rest does not matter.
            _ = self.printer.words(&rest);
        }
        if self.in_line {
            // Losing the newline is harmless: `words` has reported a failed write of the text.
            _ = self.printer.words("\n");
            self.in_line = false;
        }
    }

    fn call(&mut self, slot: usize, server: &str, target: &str, arguments: &str) {
        self.end_words();
        let name = if server.is_empty() { target.to_owned() } else { format!("{server}/{target}") };
        let name = escape_line(&name).into_owned();
        let arguments = first_line(arguments);
        self.line(&format!("→ {name} {arguments}"));
        self.spin(name.clone());
        self.calls.insert(slot, name);
    }

    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(spinner) = &self.spinner else { return };
        spinner.set_message(progress_text(progress, total, message));
    }

    fn call_ended(&mut self, event: &Event) {
        let Event::Ended { slot, outcome, text, images, call, milliseconds, .. } = event else {
            return;
        };
        self.pause();
        let name = self.calls.remove(slot).unwrap_or_else(|| "call".to_owned());
        let seconds = Duration::from_millis(*milliseconds).as_secs_f64();
        let pictures = if *images > 0 { format!(", {images} images") } else { String::new() };
        let number = call.as_ref().map(|call| format!(", call {call}")).unwrap_or_default();
        match outcome {
            OutcomeKind::Ok => {
                let size = text.len();
                self.line(&format!("✓ {name} ({seconds:.1} s, {size} bytes{pictures}{number})"));
            }
            other => {
                let word = other.as_str().replace('_', " ");
                self.line(&format!("✗ {name}: {word} ({seconds:.1} s{number})"));
            }
        }
        self.beginning(text);
    }

    /// Prints the first lines of a result, so that the user sees what the model reads.
    fn beginning(&mut self, text: &str) {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        for line in lines.by_ref().take(RESULT_LINES) {
            let cut = line.chars().count() > MAX_LINE_CHARS;
            let shown: String = escape_line(line).chars().take(MAX_LINE_CHARS).collect();
            let more = if cut { "…" } else { "" };
            self.line(&self.printer.dim(&format!("  │ {shown}{more}")));
        }
        let left = lines.count();
        if left > 0 {
            self.line(&self.printer.dim(&format!("  │ … {left} more lines")));
        }
    }

    fn turn_ended(&mut self, end: &TurnEnd) {
        self.end_words();
        self.pause();
        match end {
            TurnEnd::Done => {}
            TurnEnd::Length => self.line("… the answer was cut off at the model's length limit"),
            TurnEnd::Refused => self.line("… the model's provider refused to answer"),
            TurnEnd::Silent => self.line("… the model returned an empty answer"),
            TurnEnd::Cancelled => self.line("… stopped"),
            // The limit itself was reported when it was reached.
            TurnEnd::Stopped(_) => self.line("… stopped at the limit"),
            TurnEnd::Failed(failure) => self.error(&failure.message, failure.hint.as_deref()),
            TurnEnd::NotKept { message, hint } => self.error(message, hint.as_deref()),
        }
    }

    /// Prints an error, even with `--quiet`.
    fn error(&mut self, message: &str, hint: Option<&str>) {
        self.finish();
        talk(&format!("error: {}", escape_line(message)));
        if let Some(hint) = hint {
            talk(&format!("hint: {}", escape_line(hint)));
        }
    }

    /// Prints a status line; suspends the spinner and ends an open line first.
    pub(crate) fn line(&mut self, text: &str) {
        if self.in_line {
            self.end_words();
        }
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| self.printer.say(text)),
            None => self.printer.say(text),
        }
    }

    fn spin(&mut self, what: String) {
        // A spinner on an open line would overwrite the text that is on it.
        if !self.printer.can_animate() || self.in_line {
            return;
        }
        let spinner = self.spinner.get_or_insert_with(|| {
            let spinner = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                spinner.set_style(style);
            }
            spinner.enable_steady_tick(Duration::from_millis(100));
            spinner
        });
        spinner.reset_elapsed();
        spinner.set_message(what);
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let short: String = escape_line(line).chars().take(MAX_LINE_CHARS).collect();
    if line.chars().count() > MAX_LINE_CHARS { format!("{short}…") } else { short }
}

pub(crate) fn limit_text(limit: Limit) -> String {
    match limit {
        Limit::Steps(count) => format!("the model was asked {count} times in this turn"),
        Limit::Mistakes(count) => format!("the model made {count} mistakes in a row"),
        Limit::Unasked(count) => {
            format!("{} in a row ran without approval", pluralize(count, "call"))
        }
        Limit::Repeats(count) => {
            format!("the model repeated the same call {count} times in a row")
        }
    }
}
