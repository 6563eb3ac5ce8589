//! The person at the terminal: single keys where the terminal can do that, lines elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use console::{Key, Term, measure_text_width};
use switchboard_text::escape_line;

use crate::editor::edit_line;
use crate::keys::Standing;
use crate::menu::{Entry, Person};
use crate::outside_editor::OutsideEditor;
use crate::tty;

/// So long a question stands before a key answers it.
const ARMING: Duration = Duration::from_millis(500);
/// How often an answer that nobody understands may be given.
const MOST_TRIES: usize = 5;

/// Somebody at standard input and standard error.
pub(crate) struct AtTerminal {
    term: Term,
    /// Nothing where only lines can be read.
    keys: Option<Keys>,
    standing: Standing,
    /// Whether the question has been there long enough for an answer to be meant for it.
    armed: bool,
}

/// The entry that Enter chooses.
struct Keys {
    chosen: Entry,
}

impl AtTerminal {
    pub(crate) fn new(standing: Standing) -> Self {
        let is_capable = tty::is_capable() && std::io::stderr().is_terminal();
        if is_capable {
            tty::forget_keys();
        }
        // Whoever presses Enter without looking has not agreed to anything.
        let keys = is_capable.then_some(Keys { chosen: Entry::Skip });
        Self { term: Term::stderr(), keys, standing, armed: false }
    }

    fn choose_by_line(&mut self, entries: &[Entry]) -> Option<Entry> {
        let labels: Vec<&str> = entries.iter().map(|entry| entry.label()).collect();
        self.show(&format!("  {}\n", labels.join("  ")))?;
        let letters: Vec<String> = entries.iter().map(|entry| entry.key().to_string()).collect();
        for _ in 0..MOST_TRIES {
            if let Some(entry) = Entry::named(self.line("> ")?.trim(), entries) {
                return Some(entry);
            }
            self.show(&format!("Please answer {}.\n", letters.join(", ")))?;
        }
        None
    }

    /// Keys come one by one, Ctrl-C too, before the menu is there: none is lost, and none that was
    /// pressed earlier counts.
    fn choose_by_key(&mut self, entries: &[Entry], chosen: Entry) -> Option<Entry> {
        #[cfg(unix)]
        self.standing.enter_raw();
        tty::forget_keys();
        let answer = self.arm().and_then(|()| self.read_keys(entries, chosen));
        #[cfg(unix)]
        self.standing.leave_raw();
        answer
    }

    /// Waits a moment before the first menu of a question: a key that was meant for what stood there
    /// before does not count.
    fn arm(&mut self) -> Option<()> {
        if std::mem::replace(&mut self.armed, true) {
            return Some(());
        }
        self.term.write_line("  (one moment)").ok()?;
        let since = Instant::now();
        while since.elapsed() < ARMING {
            #[cfg(unix)]
            if let Some(bytes) = crate::raw::pressed().ok()? {
                let keys = crate::raw::keys_of(&bytes);
                if keys.iter().any(|key| matches!(key, Key::Escape | Key::CtrlC)) {
                    return None;
                }
            }
            #[cfg(not(unix))]
            std::thread::sleep(ARMING);
            if !self.standing.is_standing() {
                return None;
            }
        }
        tty::forget_keys();
        self.term.clear_last_lines(1).ok()
    }

    fn read_keys(&mut self, entries: &[Entry], mut chosen: Entry) -> Option<Entry> {
        loop {
            let lines = menu(entries, chosen, usize::from(self.term.size().1));
            for line in &lines {
                self.term.write_line(line).ok()?;
            }
            let pressed = self.keys();
            self.term.clear_last_lines(lines.len()).ok()?;
            for key in pressed? {
                match press(&key, entries, chosen) {
                    Pressed::Move(to) => chosen = to,
                    Pressed::Choose(entry) => {
                        // What was chosen stays to be seen.
                        self.term.write_line(&format!("  {}", entry.label())).ok()?;
                        return Some(entry);
                    }
                    Pressed::Leave => return None,
                }
            }
        }
    }

    /// The next keys; nothing when there will be none, or the question was taken back.
    #[cfg(unix)]
    fn keys(&self) -> Option<Vec<Key>> {
        while self.standing.is_standing() {
            if let Some(bytes) = crate::raw::pressed().ok()? {
                return Some(crate::raw::keys_of(&bytes));
            }
        }
        None
    }

    #[cfg(not(unix))]
    fn keys(&self) -> Option<Vec<Key>> {
        let key = self.term.read_key_raw().ok()?;
        self.standing.is_standing().then(|| vec![key])
    }
}

impl Person for AtTerminal {
    fn show(&mut self, text: &str) -> Option<()> {
        let mut out = std::io::stderr();
        write!(out, "{text}").and_then(|()| out.flush()).ok()
    }

    fn choose(&mut self, entries: &[Entry]) -> Option<Entry> {
        match &self.keys {
            Some(Keys { chosen }) => self.choose_by_key(entries, *chosen),
            None => self.choose_by_line(entries),
        }
    }

    fn line(&mut self, question: &str) -> Option<String> {
        if self.keys.is_some() {
            return edit_line(question, "");
        }
        self.show(question)?;
        // A question that is taken back must not eat the line after it.
        #[cfg(unix)]
        while !crate::raw::has_input().ok()? {
            if !self.standing.is_standing() {
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
        // Only what is shown as it is can be changed in place.
        let line = if self.keys.is_some() && escape_line(&compact) == compact {
            edit_line(question, &compact)
        } else {
            self.line(question)
        };
        let line = line.filter(|line| !line.trim().is_empty()).ok_or_else(nothing)?;
        Ok(if line == compact { text.to_owned() } else { line })
    }
}

/// The same JSON in one line, where that is certain to be the same.
fn one_line(text: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(text).ok();
    value
        .filter(|value| serde_json::to_string_pretty(value).is_ok_and(|pretty| pretty == text))
        .map_or_else(|| text.to_owned(), |value| value.to_string())
}

/// What a key does.
#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    Move(Entry),
    Choose(Entry),
    Leave,
}

fn press(key: &Key, entries: &[Entry], chosen: Entry) -> Pressed {
    let at = entries.iter().position(|entry| *entry == chosen).unwrap_or(0);
    let count = entries.len().max(1);
    let moved = |to: usize| Pressed::Move(entries.get(to % count).copied().unwrap_or(chosen));
    match key {
        Key::ArrowRight | Key::ArrowDown | Key::Tab => moved(at + 1),
        Key::ArrowLeft | Key::ArrowUp | Key::BackTab => moved(at + count - 1),
        Key::Home => moved(0),
        Key::End => moved(count - 1),
        Key::Enter => Pressed::Choose(chosen),
        Key::Char(c) => Entry::named(c.encode_utf8(&mut [0; 4]), entries)
            .map_or(Pressed::Move(chosen), Pressed::Choose),
        // Ctrl-D reads as a character, Ctrl-C as itself.
        Key::Escape | Key::CtrlC => Pressed::Leave,
        _ => Pressed::Move(chosen),
    }
}

/// The lines of the menu: as many entries in each as fit.
fn menu(entries: &[Entry], chosen: Entry, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
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

    use super::{Entry, Pressed, menu, one_line, press};

    const ENTRIES: [Entry; 4] = [Entry::Run, Entry::Skip, Entry::Tell, Entry::Edit];

    #[test]
    fn keys_move_choose_and_leave() {
        for (key, expected) in [
            (Key::Char('r'), Pressed::Choose(Entry::Run)),
            (Key::Char('R'), Pressed::Choose(Entry::Run)),
            (Key::Char('e'), Pressed::Choose(Entry::Edit)),
            (Key::Char('a'), Pressed::Move(Entry::Skip)),
            (Key::Char('q'), Pressed::Move(Entry::Skip)),
            (Key::Enter, Pressed::Choose(Entry::Skip)),
            (Key::ArrowRight, Pressed::Move(Entry::Tell)),
            (Key::ArrowUp, Pressed::Move(Entry::Run)),
            (Key::Home, Pressed::Move(Entry::Run)),
            (Key::End, Pressed::Move(Entry::Edit)),
            (Key::Escape, Pressed::Leave),
            (Key::CtrlC, Pressed::Leave),
            (Key::PageUp, Pressed::Move(Entry::Skip)),
        ] {
            assert_eq!(press(&key, &ENTRIES, Entry::Skip), expected, "{key:?}");
        }
        assert_eq!(press(&Key::Tab, &ENTRIES, Entry::Edit), Pressed::Move(Entry::Run));
        assert_eq!(press(&Key::ArrowLeft, &ENTRIES, Entry::Run), Pressed::Move(Entry::Edit));
    }

    #[test]
    fn the_menu_fits_the_terminal() {
        console::set_colors_enabled_stderr(false);
        let wide = "  [r] run> [s] skip  [t] tell what to do instead  [e] edit the arguments";
        assert_eq!(menu(&ENTRIES, Entry::Skip, 100), [wide]);
        let narrow =
            ["  [r] run> [s] skip", "  [t] tell what to do instead", "  [e] edit the arguments"];
        assert_eq!(menu(&ENTRIES, Entry::Skip, 40), narrow);
        assert_eq!(menu(&ENTRIES, Entry::Skip, 0).len(), 4);
    }

    #[test]
    fn arguments_become_one_line_only_if_they_stay_the_same() {
        assert_eq!(one_line("{\n  \"a\": 1\n}"), r#"{"a":1}"#);
        assert_eq!(one_line("{ \"a\": 1.0 }"), "{ \"a\": 1.0 }");
        assert_eq!(one_line("not JSON"), "not JSON");
    }
}
