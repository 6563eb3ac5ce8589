//! The prompt: a line editor with history and completion, or plain lines on a simple terminal.

use std::borrow::Cow;
use std::io;
use std::io::{BufRead, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::completion::Completer;
use rustyline::config::Behavior;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{History as _, MemHistory};
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Event, EventContext,
    EventHandler, Helper, KeyEvent, RepeatCount,
};
use switchboard_text::escape_line;

use crate::history::{HistoryFile, MAX_ENTRIES, is_kept};
use crate::tty;

/// Maximum number of completions offered at once.
const MAX_COMPLETIONS: usize = 500;

/// A source of completions for typed text.
pub trait CompleteArgs: Send + Sync {
    /// Returns the start of the word at `position`, both in bytes, and its completions.
    fn complete(&self, line: &str, position: usize) -> (usize, Vec<String>);
}

/// The result of reading a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditorLine {
    Text(String),
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
}

/// An error while reading a line.
#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    #[error("cannot read from the terminal")]
    Terminal(#[source] ReadlineError),
    #[error("cannot read from standard input")]
    Input(#[source] io::Error),
}

/// The prompt of a conversation.
pub struct PromptEditor {
    /// `None` if lines cannot be edited.
    lines: Option<rustyline::Editor<LineAssistant, MemHistory>>,
    file: Option<HistoryFile>,
    warning: Option<String>,
}

impl PromptEditor {
    /// Creates the prompt. Without a file, the history lasts as long as the program.
    pub fn new(
        history_file: Option<PathBuf>,
        completions: Arc<dyn CompleteArgs>,
    ) -> Result<Self, EditorError> {
        let mut editor = Self { lines: None, file: None, warning: None };
        if !tty::is_capable() {
            return Ok(editor);
        }
        let mut lines = line_editor(completions).map_err(EditorError::Terminal)?;
        if let Some(file) = history_file.map(HistoryFile::new) {
            match file.load() {
                Ok(entries) => {
                    for entry in entries {
                        lines.history_mut().add_owned(entry).map_err(EditorError::Terminal)?;
                    }
                    editor.file = Some(file);
                }
                Err(error) => editor.warning = Some(format!("the history cannot be read: {error}")),
            }
        }
        editor.lines = Some(lines);
        Ok(editor)
    }

    /// Reads one input. This blocks and must run on its own thread.
    pub fn read(&mut self, prompt: &str) -> Result<EditorLine, EditorError> {
        let Some(lines) = &mut self.lines else { return plain(prompt) };
        let line = outcome(lines.readline(prompt))?;
        if let EditorLine::Text(text) = &line
            && is_kept(text)
        {
            lines.add_history_entry(text.as_str()).map_err(EditorError::Terminal)?;
            let added = self.file.as_ref().map_or(Ok(()), |file| file.add(text));
            if let Err(error) = added {
                // Reported once: the next line would fail in the same way.
                self.warning = Some(format!("the history cannot be written: {error}"));
                self.file = None;
            }
        }
        Ok(line)
    }

    /// Takes the pending warning about the history file.
    pub fn take_warning(&mut self) -> Option<String> {
        self.warning.take()
    }
}

/// Lets the person edit one line. Returns `None` after Ctrl-C, Ctrl-D or a failure.
pub(crate) fn edit_line(prompt: &str, initial: &str) -> Option<String> {
    struct NoCompletions;
    impl CompleteArgs for NoCompletions {
        fn complete(&self, _: &str, position: usize) -> (usize, Vec<String>) {
            (position, Vec::new())
        }
    }
    let mut lines = line_editor(Arc::new(NoCompletions)).ok()?;
    lines.readline_with_initial(prompt, (initial, "")).ok()
}

fn outcome(read: rustyline::Result<String>) -> Result<EditorLine, EditorError> {
    match read {
        Ok(text) => Ok(EditorLine::Text(text)),
        Err(ReadlineError::Interrupted) => Ok(EditorLine::Interrupted),
        Err(ReadlineError::Eof) => Ok(EditorLine::End),
        Err(error) => Err(EditorError::Terminal(error)),
    }
}

fn line_editor(
    completions: Arc<dyn CompleteArgs>,
) -> rustyline::Result<rustyline::Editor<LineAssistant, MemHistory>> {
    let is_coloured = console::colors_enabled();
    // Standard output may be a file; the prompt belongs on the terminal.
    let behavior = if io::stdout().is_terminal() { Behavior::Stdio } else { Behavior::PreferTerm };
    let config = Config::builder()
        .max_history_size(MAX_ENTRIES)?
        .history_ignore_dups(true)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .color_mode(if is_coloured { ColorMode::Enabled } else { ColorMode::Disabled })
        .behavior(behavior)
        .bracketed_paste(true)
        .build();
    let history = MemHistory::with_config(&config);
    let mut lines = rustyline::Editor::with_history(config, history)?;
    let continues = Arc::new(AtomicBool::new(false));
    lines.set_helper(Some(LineAssistant { completions, continues: Arc::clone(&continues) }));
    for enter in ['\r', '\n'] {
        lines.bind_sequence(KeyEvent::alt(enter), EventHandler::Simple(Cmd::Newline));
        let handler =
            EventHandler::Conditional(Box::new(EnterKey { continues: Arc::clone(&continues) }));
        lines.bind_sequence(KeyEvent::from(enter), handler);
    }
    Ok(lines)
}

fn plain(prompt: &str) -> Result<EditorLine, EditorError> {
    if io::stdin().is_terminal() {
        let mut out = io::stdout();
        write!(out, "{prompt}").and_then(|()| out.flush()).map_err(EditorError::Input)?;
    }
    read_plain(io::stdin().lock()).map_err(EditorError::Input)
}

fn read_plain(mut input: impl BufRead) -> io::Result<EditorLine> {
    let mut text = String::new();
    loop {
        let length = text.len();
        if input.read_line(&mut text)? == 0 {
            return Ok(if length == 0 { EditorLine::End } else { EditorLine::Text(text) });
        }
        while text.ends_with(['\n', '\r']) && text.len() > length {
            text.pop();
        }
        if text.len() == length || !text.ends_with('\\') {
            return Ok(EditorLine::Text(text));
        }
        text.pop();
        text.push('\n');
    }
}

/// Handler of the Enter key: ends the input, or continues it on the next line after a backslash.
struct EnterKey {
    continues: Arc<AtomicBool>,
}

impl ConditionalEventHandler for EnterKey {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let continues = context.pos() == context.line().len() && context.line().ends_with('\\');
        self.continues.store(continues, Ordering::Relaxed);
        continues.then_some(Cmd::Complete)
    }
}

struct LineAssistant {
    completions: Arc<dyn CompleteArgs>,
    continues: Arc<AtomicBool>,
}

impl Helper for LineAssistant {}
impl Hinter for LineAssistant {
    type Hint = String;
}
impl Validator for LineAssistant {}

impl Highlighter for LineAssistant {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\u{1b}[1m{prompt}\u{1b}[0m"))
    }
}

impl Completer for LineAssistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        if self.continues.swap(false, Ordering::Relaxed) {
            // The backslash is replaced now and not in the final text, where pasted backslashes
            // must stay. No rustyline command replaces a character and moves the cursor behind it,
            // but completion does.
            return Ok((position.saturating_sub(1), vec!["\n".to_owned()]));
        }
        Ok(usable_completions(&*self.completions, line, position))
    }
}

fn usable_completions(
    completions: &dyn CompleteArgs,
    line: &str,
    position: usize,
) -> (usize, Vec<String>) {
    let (start, mut candidates) = completions.complete(line, position);
    if start > position || !line.is_char_boundary(start) {
        return (position, Vec::new());
    }
    // Servers choose the names of resources. A name that needs escaping cannot be recognized by its
    // display, so it is not offered.
    candidates.retain(|candidate| !candidate.is_empty() && escape_line(candidate) == *candidate);
    candidates.truncate(MAX_COMPLETIONS);
    (start, candidates)
}

#[cfg(test)]
mod tests {
    use super::{CompleteArgs, EditorLine, read_plain, usable_completions};

    fn text(text: &str) -> EditorLine {
        EditorLine::Text(text.to_owned())
    }

    #[test]
    fn plain_lines_go_on_after_a_backslash() {
        for (input, expected) in [
            ("", vec![EditorLine::End]),
            ("one\ntwo\r\n", vec![text("one"), text("two"), EditorLine::End]),
            ("no end", vec![text("no end"), EditorLine::End]),
            ("a\\\nb\\\r\nc\n\n", vec![text("a\nb\nc"), text(""), EditorLine::End]),
            ("a\\", vec![text("a\n"), EditorLine::End]),
            ("\\\n\nb\n", vec![text("\n"), text("b"), EditorLine::End]),
        ] {
            let mut rest = input.as_bytes();
            let read: Vec<EditorLine> =
                (0..expected.len()).map(|_| read_plain(&mut rest).unwrap()).collect();
            assert_eq!(read, expected, "{input:?}");
        }
    }

    struct FixedCompletions(usize, &'static [&'static str]);

    impl CompleteArgs for FixedCompletions {
        fn complete(&self, _: &str, _: usize) -> (usize, Vec<String>) {
            (self.0, self.1.iter().map(|word| (*word).to_owned()).collect())
        }
    }

    #[test]
    fn only_completions_that_can_be_shown_are_offered() {
        let words: &[&str] = &["/help", "", "@a:\u{1b}[2J", "@a:b\u{202e}", "/größe"];
        for (start, line, position, expected) in [
            (0, "/h", 2, (0, vec!["/help", "/größe"])),
            (3, "/h", 2, (2, vec![])),
            (1, "é", 2, (2, vec![])),
        ] {
            let (from, offered) =
                usable_completions(&FixedCompletions(start, words), line, position);
            assert_eq!((from, offered.iter().map(String::as_str).collect()), expected, "{line}");
        }
    }
}
