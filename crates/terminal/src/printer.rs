//! Prints data to standard output and messages to standard error, with colours only at a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget};
use parking_lot::Mutex;
use serde::Serialize;
use switchboard_config::Environment;
use switchboard_text::{escape_line, redact_text};

use crate::error::CliError;
use crate::exit_code;
use crate::markdown::Paint;
use crate::table::{TableReader, table};

/// Prints results and messages.
#[derive(Clone, Debug)]
pub struct Printer {
    pub json: bool,
    quiet: bool,
    /// Whether standard output is a terminal.
    pub terminal: bool,
    colour: bool,
    moving: Arc<Mutex<Option<ProgressBar>>>,
}

impl Printer {
    /// Returns a printer for this process.
    pub fn new(json: bool, quiet: bool, environment: &Environment) -> Self {
        let set = |name: &str| environment.variable(name).is_some_and(|value| !value.is_empty());
        // An empty `NO_COLOR` does not count, as its specification says.
        let colour = std::io::stderr().is_terminal() && !set("NO_COLOR");
        let terminal = std::io::stdout().is_terminal();
        Self { json, quiet, terminal, colour, moving: Arc::default() }
    }

    /// Prints a result to standard output.
    pub fn data(&self, text: &str) -> Result<(), CliError> {
        let ending = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        print(format_args!("{text}{ending}"), "result")
    }

    /// Prints a part of an answer without a line break.
    pub fn words(&self, text: &str) -> Result<(), CliError> {
        print(format_args!("{text}"), "answer")
    }

    /// Returns the width of the terminal, in columns.
    pub fn width(&self) -> usize {
        usize::from(console::Term::stdout().size().1)
    }

    /// Returns whether answers are coloured.
    pub const fn colours(&self) -> Paint {
        if self.colour { Paint::Colour } else { Paint::Plain }
    }

    /// Prints a result as JSON.
    pub fn json(&self, value: &impl Serialize) -> Result<(), CliError> {
        let text = if self.terminal {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        let text = text.map_err(|error| CliError::new(exit_code::TROUBLE, error.to_string()))?;
        // Equivalent JSON, with control and invisible characters encoded.
        self.data(&switchboard_text::encode_json_controls(&text))
    }

    /// Prints rows under a heading.
    pub fn table<const N: usize>(
        &self,
        heading: [&str; N],
        rows: &[[String; N]],
    ) -> Result<(), CliError> {
        self.data(&table(self.reader(), heading, rows))
    }

    /// Prints a list: JSON for a program, or rows under a heading.
    pub fn list<T, J: Serialize, const N: usize>(
        &self,
        all: &[T],
        json: impl Fn(&T) -> J,
        heading: [&str; N],
        row: impl Fn(&T) -> [String; N],
    ) -> Result<(), CliError> {
        if self.json {
            return self.json(&all.iter().map(json).collect::<Vec<J>>());
        }
        self.table(heading, &all.iter().map(row).collect::<Vec<_>>())
    }

    /// Prints a message, unless `quiet` is set.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            talk(text);
        }
    }

    /// Prints a question without a line break.
    pub fn ask(&self, question: &str) {
        let mut out = std::io::stderr();
        // With standard error closed, no person is there to answer either.
        _ = write!(out, "{question}").and_then(|()| out.flush());
    }

    /// Rings the terminal bell.
    pub fn ring(&self) {
        if self.can_animate() {
            self.ask("\u{7}");
        }
    }

    /// Prints a warning, with a remedy if there is one.
    pub fn warn(&self, text: &str, hint: Option<&str>) {
        if self.quiet {
            return;
        }
        talk(&format!("{} {}", self.paint("33", "warning:"), escape_line(text)));
        if let Some(hint) = hint {
            talk(&format!("{} {}", self.paint("2", "hint:"), escape_line(hint)));
        }
    }

    fn reader(&self) -> TableReader {
        if self.terminal { TableReader::Person(self.width()) } else { TableReader::Program }
    }

    /// Returns whether animations may be shown.
    pub fn can_animate(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }

    /// Returns the text in a dimmed style.
    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Tracks the visible progress bar, so that [`Self::clear_bars`] can remove it.
    pub fn track_bar(&self, bar: &ProgressBar) {
        *self.moving.lock() = Some(bar.clone());
    }

    /// Removes the progress bar permanently.
    pub fn clear_bars(&self) {
        let moving = self.moving.lock().take();
        if let Some(bar) = moving {
            // A finished bar would be drawn once more.
            if !bar.is_finished() {
                bar.finish_and_clear();
            }
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Writes to standard output. A closed pipe is not an error.
fn print(text: std::fmt::Arguments<'_>, what: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.map_err(|error| {
            CliError::new(exit_code::TROUBLE, format!("cannot write the {what}: {error}"))
        }),
    }
}

/// Writes a line to standard error, with secrets redacted.
pub fn talk(line: &str) {
    // Standard error may be closed, and there is no other place to report that.
    _ = writeln!(std::io::stderr(), "{}", redact_text(line));
}

/// Returns a count in words: `1 server`, `2 servers`.
pub fn pluralize(count: usize, one: &str) -> String {
    match (count, one.strip_suffix('y')) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::pluralize;

    #[test]
    fn one_is_not_many() {
        let said = [0, 1, 2].map(|count| pluralize(count, "server"));
        assert_eq!(said, ["0 servers", "1 server", "2 servers"]);
        assert_eq!([1, 2].map(|count| pluralize(count, "entry")), ["1 entry", "2 entries"]);
    }
}
