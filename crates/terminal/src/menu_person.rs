//! The person at the terminal: single keys if the terminal is capable, lines otherwise.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use console::{Key, Term, measure_text_width};
use switchboard_text::escape_line;

use crate::editor::edit_line;
use crate::keys::QuestionState;
use crate::menu::{MenuEntry, MenuPerson};
use crate::outside_editor::OutsideEditor;
use crate::tty;

/// How long a question must be visible before a key can answer it.
const ARMING_DELAY: Duration = Duration::from_millis(500);
/// Maximum number of unrecognized answers.
const MAX_TRIES: usize = 5;

pub(crate) struct TerminalPerson {
    term: Term,
    /// `None` if only lines can be read.
    keys: Option<MenuKeys>,
    standing: QuestionState,
    /// Whether the question has been visible long enough for a key to be meant for it.
    armed: bool,
}

struct MenuKeys {
    chosen: MenuEntry,
}

impl TerminalPerson {
    pub(crate) fn new(standing: QuestionState) -> Self {
        let is_capable = tty::is_capable() && std::io::stderr().is_terminal();
        if is_capable {
            tty::discard_keys();
        }
        // Pressing Enter without reading must not approve anything.
        let keys = is_capable.then_some(MenuKeys { chosen: MenuEntry::Skip });
        Self { term: Term::stderr(), keys, standing, armed: false }
    }

    fn choose_by_line(&mut self, entries: &[MenuEntry]) -> Option<MenuEntry> {
        let labels: Vec<&str> = entries.iter().map(|entry| entry.label()).collect();
        self.show(&format!("  {}\n", labels.join("  ")))?;
        let letters: Vec<String> = entries.iter().map(|entry| entry.key().to_string()).collect();
        for _ in 0..MAX_TRIES {
            if let Some(entry) = MenuEntry::parse(self.line("> ")?.trim(), entries) {
                return Some(entry);
            }
            self.show(&format!("Please answer {}.\n", letters.join(", ")))?;
        }
        None
    }

    fn choose_by_key(&mut self, entries: &[MenuEntry], chosen: MenuEntry) -> Option<MenuEntry> {
        #[cfg(unix)]
        self.standing.enter_raw();
        tty::discard_keys();
        // Raw mode comes first, so that no key is lost; keys pressed before it are discarded.
        let answer = self.arm().and_then(|()| self.read_keys(entries, chosen));
        #[cfg(unix)]
        self.standing.leave_raw();
        answer
    }

    /// Waits before the first menu of a question.
    fn arm(&mut self) -> Option<()> {
        if std::mem::replace(&mut self.armed, true) {
            return Some(());
        }
        // A key that was meant for the previous screen must not answer this question.
        self.term.write_line("  (one moment)").ok()?;
        let since = Instant::now();
        while since.elapsed() < ARMING_DELAY {
            #[cfg(unix)]
            if let Some(bytes) = crate::raw::read_key().ok()? {
                let keys = crate::raw::parse_keys(&bytes);
                if keys.iter().any(|key| matches!(key, Key::Escape | Key::CtrlC)) {
                    return None;
                }
            }
            #[cfg(not(unix))]
            std::thread::sleep(ARMING_DELAY);
            if !self.standing.is_open() {
                return None;
            }
        }
        tty::discard_keys();
        self.term.clear_last_lines(1).ok()
    }

    fn read_keys(&mut self, entries: &[MenuEntry], mut chosen: MenuEntry) -> Option<MenuEntry> {
        loop {
            let lines = menu(entries, chosen, usize::from(self.term.size().1));
            for line in &lines {
                self.term.write_line(line).ok()?;
            }
            let pressed = self.keys();
            self.term.clear_last_lines(lines.len()).ok()?;
            for key in pressed? {
                match press(&key, entries, chosen) {
                    KeyAction::Move(to) => chosen = to,
                    KeyAction::Choose(entry) => {
                        // The selected entry stays visible.
                        self.term.write_line(&format!("  {}", entry.label())).ok()?;
                        return Some(entry);
                    }
                    KeyAction::Leave => return None,
                }
            }
        }
    }

    /// Returns the next keys; `None` if the input ended or the question was withdrawn.
    #[cfg(unix)]
    fn keys(&self) -> Option<Vec<Key>> {
        while self.standing.is_open() {
            if let Some(bytes) = crate::raw::read_key().ok()? {
                return Some(crate::raw::parse_keys(&bytes));
            }
        }
        None
    }

    #[cfg(not(unix))]
    fn keys(&self) -> Option<Vec<Key>> {
        let key = self.term.read_key_raw().ok()?;
        self.standing.is_open().then(|| vec![key])
    }
}

impl MenuPerson for TerminalPerson {
    fn show(&mut self, text: &str) -> Option<()> {
        let mut out = std::io::stderr();
        write!(out, "{text}").and_then(|()| out.flush()).ok()
    }

    fn choose(&mut self, entries: &[MenuEntry]) -> Option<MenuEntry> {
        match &self.keys {
            Some(MenuKeys { chosen }) => self.choose_by_key(entries, *chosen),
            None => self.choose_by_line(entries),
        }
    }

    fn line(&mut self, question: &str) -> Option<String> {
        if self.keys.is_some() {
            return edit_line(question, "");
        }
        self.show(question)?;
        // A withdrawn question must not consume the next line of input.
        #[cfg(unix)]
        while !crate::raw::has_input().ok()? {
            if !self.standing.is_open() {
                return None;
            }
        }
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    }

    fn edit(&mut self, text: &str) -> Result<String, String> {
        let nothing = || "nothing was entered".to_owned();
        if let Some(editor) = OutsideEditor::chosen().filter(|_| self.keys.is_some()) {
            return editor.edit(text).map_err(|error| error.to_string());
        }
        let question = "Arguments, as JSON in one line: ";
        let compact = one_line(text);
        // A line can be edited in place only if it is displayed without escaping.
        let line = if self.keys.is_some() && escape_line(&compact) == compact {
            edit_line(question, &compact)
        } else {
            self.line(question)
        };
        let line = line.filter(|line| !line.trim().is_empty()).ok_or_else(nothing)?;
        Ok(if line == compact { text.to_owned() } else { line })
    }
}

/// Returns the JSON on one line, if that preserves it exactly.
fn one_line(text: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(text).ok();
    value
        .filter(|value| serde_json::to_string_pretty(value).is_ok_and(|pretty| pretty == text))
        .map_or_else(|| text.to_owned(), |value| value.to_string())
}

#[derive(Debug, PartialEq, Eq)]
enum KeyAction {
    Move(MenuEntry),
    Choose(MenuEntry),
    Leave,
}

fn press(key: &Key, entries: &[MenuEntry], chosen: MenuEntry) -> KeyAction {
    let at = entries.iter().position(|entry| *entry == chosen).unwrap_or(0);
    let count = entries.len().max(1);
    let moved = |to: usize| KeyAction::Move(entries.get(to % count).copied().unwrap_or(chosen));
    match key {
        Key::ArrowRight | Key::ArrowDown | Key::Tab => moved(at + 1),
        Key::ArrowLeft | Key::ArrowUp | Key::BackTab => moved(at + count - 1),
        Key::Home => moved(0),
        Key::End => moved(count - 1),
        Key::Enter => KeyAction::Choose(chosen),
        Key::Char(c) => MenuEntry::parse(c.encode_utf8(&mut [0; 4]), entries)
            .map_or(KeyAction::Move(chosen), KeyAction::Choose),
        // Ctrl-D is read as a character, Ctrl-C as a key.
        Key::Escape | Key::CtrlC => KeyAction::Leave,
        _ => KeyAction::Move(chosen),
    }
}

/// Returns the lines of the menu, each with as many entries as fit.
fn menu(entries: &[MenuEntry], chosen: MenuEntry, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for entry in entries {
        let label = entry.label();
        let needed = measure_text_width(label) + 2;
        if used > 0 && used + needed > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if *entry == chosen {
            line.push_str(&format!("> {}", console::style(label).for_stderr().bold()));
        } else {
            line.push_str(&format!("  {label}"));
        }
        used += needed;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use console::Key;

    use super::{KeyAction, MenuEntry, menu, one_line, press};

    const ENTRIES: [MenuEntry; 4] =
        [MenuEntry::Run, MenuEntry::Skip, MenuEntry::Tell, MenuEntry::Edit];

    #[test]
    fn keys_move_choose_and_leave() {
        for (key, expected) in [
            (Key::Char('r'), KeyAction::Choose(MenuEntry::Run)),
            (Key::Char('R'), KeyAction::Choose(MenuEntry::Run)),
            (Key::Char('e'), KeyAction::Choose(MenuEntry::Edit)),
            (Key::Char('a'), KeyAction::Move(MenuEntry::Skip)),
            (Key::Char('q'), KeyAction::Move(MenuEntry::Skip)),
            (Key::Enter, KeyAction::Choose(MenuEntry::Skip)),
            (Key::ArrowRight, KeyAction::Move(MenuEntry::Tell)),
            (Key::ArrowUp, KeyAction::Move(MenuEntry::Run)),
            (Key::Home, KeyAction::Move(MenuEntry::Run)),
            (Key::End, KeyAction::Move(MenuEntry::Edit)),
            (Key::Escape, KeyAction::Leave),
            (Key::CtrlC, KeyAction::Leave),
            (Key::PageUp, KeyAction::Move(MenuEntry::Skip)),
        ] {
            assert_eq!(press(&key, &ENTRIES, MenuEntry::Skip), expected, "{key:?}");
        }
        assert_eq!(press(&Key::Tab, &ENTRIES, MenuEntry::Edit), KeyAction::Move(MenuEntry::Run));
        assert_eq!(
            press(&Key::ArrowLeft, &ENTRIES, MenuEntry::Run),
            KeyAction::Move(MenuEntry::Edit)
        );
    }

    #[test]
    fn the_menu_fits_the_terminal() {
        console::set_colors_enabled_stderr(false);
        let wide = "  [r] run> [s] skip  [t] tell what to do instead  [e] edit the arguments";
        assert_eq!(menu(&ENTRIES, MenuEntry::Skip, 100), [wide]);
        let narrow =
            ["  [r] run> [s] skip", "  [t] tell what to do instead", "  [e] edit the arguments"];
        assert_eq!(menu(&ENTRIES, MenuEntry::Skip, 40), narrow);
        assert_eq!(menu(&ENTRIES, MenuEntry::Skip, 0).len(), 4);
    }

    #[test]
    fn arguments_become_one_line_only_if_they_stay_the_same() {
        assert_eq!(one_line("{\n  \"a\": 1\n}"), r#"{"a":1}"#);
        assert_eq!(one_line("{ \"a\": 1.0 }"), "{ \"a\": 1.0 }");
        assert_eq!(one_line("not JSON"), "not JSON");
    }
}
