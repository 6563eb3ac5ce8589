//! Reads single keys in a raw mode that keeps the terminal's output processing.

use std::sync::Arc;
use std::time::Duration;

use console::Key;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use switchboard_text::escape_line;

const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long bytes after Escape belong to the same key.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(40);
const MAX_LINE_BYTES: usize = 64 * 1_024;

/// The saved terminal mode while raw mode is active.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawMode(Arc<Mutex<Option<Termios>>>);

impl RawMode {
    /// Disables line buffering, echo and signals, so that every key arrives, including Ctrl-C.
    pub(crate) fn enter(&self) {
        let input = rustix::stdio::stdin();
        let Ok(before) = tcgetattr(input) else { return };
        let mut single = before.clone();
        single.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        // Entering twice must not save the raw mode as the one to restore.
        let mut kept = self.0.lock();
        if kept.is_none() && tcsetattr(input, OptionalActions::Now, &single).is_ok() {
            *kept = Some(before);
        }
    }

    pub(crate) fn restore(&self) {
        if let Some(before) = self.0.lock().take() {
            // A terminal that was closed has no mode to restore.
            _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &before);
        }
    }
}

/// Returns the bytes of the next key; `None` if no key is pressed within the poll interval.
pub(crate) fn read_key() -> Result<Option<Vec<u8>>, Errno> {
    if !is_ready(POLL_INTERVAL)? {
        return Ok(None);
    }
    let mut bytes = read()?;
    while bytes == [0x1b] && is_ready(ESCAPE_TIMEOUT)? {
        bytes.extend(read()?);
    }
    Ok(Some(bytes))
}

pub(crate) fn has_input() -> Result<bool, Errno> {
    is_ready(POLL_INTERVAL)
}

pub(crate) fn parse_keys(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let mut keys = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        keys.push(match c {
            '\u{1b}' => match rest.next_if(|c| matches!(c, '[' | 'O')) {
                Some(_) => match rest.find(|c| ('@'..='~').contains(c)) {
                    Some('A') => Key::ArrowUp,
                    Some('B') => Key::ArrowDown,
                    Some('C') => Key::ArrowRight,
                    Some('D') => Key::ArrowLeft,
                    Some('H') => Key::Home,
                    Some('F') => Key::End,
                    Some('Z') => Key::BackTab,
                    Some(_) | None => Key::Unknown,
                },
                None => Key::Escape,
            },
            '\r' | '\n' => Key::Enter,
            '\t' => Key::Tab,
            '\u{3}' => Key::CtrlC,
            '\u{7f}' => Key::Backspace,
            c => Key::Char(c),
        });
    }
    keys
}

fn is_ready(limit: Duration) -> Result<bool, Errno> {
    let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
    let input = rustix::stdio::stdin();
    let mut inputs = [PollFd::new(&input, PollFlags::IN)];
    match poll(&mut inputs, Some(&limit)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR | Errno::AGAIN) => Ok(false),
        Err(error) => Err(error),
    }
}

fn read() -> Result<Vec<u8>, Errno> {
    let mut chunk = [0; 1_024];
    match rustix::io::read(rustix::stdio::stdin(), &mut chunk) {
        // The terminal was hung up.
        Ok(0) => Err(Errno::IO),
        Ok(length) => Ok(chunk.iter().take(length).copied().collect()),
        Err(Errno::INTR | Errno::AGAIN) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    Line,
    /// Ended by Escape, Ctrl-C or Ctrl-D.
    Left,
}

#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    text: String,
    /// The first bytes of an incomplete character.
    begun: Vec<u8>,
}

impl LineBuffer {
    /// Processes typed bytes, and returns the echo and how the line ended, if it did.
    pub(crate) fn press(&mut self, bytes: &[u8]) -> (String, Option<LineEnd>) {
        if let [0x1b, rest @ ..] = bytes {
            // Arrow and function keys also start with Escape, and are ignored.
            return (String::new(), rest.is_empty().then_some(LineEnd::Left));
        }
        let mut echo = String::new();
        for byte in bytes {
            match byte {
                // Pasted text ends at its first line break; the rest is discarded.
                b'\r' | b'\n' => return (format!("{echo}\r\n"), Some(LineEnd::Line)),
                0x03 | 0x04 => return (format!("{echo}\r\n"), Some(LineEnd::Left)),
                0x08 | 0x7f => {
                    let last = self.text.pop().map(String::from);
                    echo.push_str(&erase_text(last.as_deref().unwrap_or_default()));
                }
                0x15 => echo.push_str(&erase_text(&std::mem::take(&mut self.text))),
                0x00..=0x1f if *byte != b'\t' => {}
                byte => self.grow(*byte, &mut echo),
            }
        }
        (echo, None)
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn grow(&mut self, byte: u8, echo: &mut String) {
        if self.text.len() >= MAX_LINE_BYTES {
            return;
        }
        self.begun.push(byte);
        match std::str::from_utf8(&self.begun) {
            Ok(text) => {
                echo.push_str(&escape_line(text));
                self.text.push_str(text);
                self.begun.clear();
            }
            // Bytes that can never become a character are dropped, or they would block the line.
            Err(error) if error.error_len().is_some() => self.begun.clear(),
            // The character is not complete yet.
            Err(_) => {}
        }
    }
}

fn erase_text(text: &str) -> String {
    "\u{8} \u{8}".repeat(console::measure_text_width(&escape_line(text)))
}

#[cfg(test)]
mod tests {
    use super::{Key, LineBuffer, LineEnd, parse_keys};

    #[test]
    fn keys_make_a_line_and_leave_it() {
        for (pressed, text, echo, ended) in [
            (vec!["ab", "\r"], "ab", "ab\r\n", Some(LineEnd::Line)),
            (vec!["gr", "\u{f6}", "\n"], "gr\u{f6}", "gr\u{f6}\r\n", Some(LineEnd::Line)),
            (vec!["ab\u{7f}c\r"], "ac", "ab\u{8} \u{8}c\r\n", Some(LineEnd::Line)),
            (vec!["\u{7f}a\r"], "a", "a\r\n", Some(LineEnd::Line)),
            (vec!["ab\u{15}c\r"], "c", "ab\u{8} \u{8}\u{8} \u{8}c\r\n", Some(LineEnd::Line)),
            (vec!["\u{1b}[A", "a", "\r"], "a", "a\r\n", Some(LineEnd::Line)),
            (vec!["a", "\u{1b}"], "a", "a", Some(LineEnd::Left)),
            (vec!["a\u{3}"], "a", "a\r\n", Some(LineEnd::Left)),
            (vec!["\u{4}"], "", "\r\n", Some(LineEnd::Left)),
            (vec!["one\rtwo\r"], "one", "one\r\n", Some(LineEnd::Line)),
            (vec!["a\u{1}\u{202e}"], "a\u{202e}", "a<U+202E>", None),
        ] {
            let mut line = LineBuffer::default();
            let mut got = (String::new(), None);
            for key in &pressed {
                let (echo, ended) = line.press(key.as_bytes());
                got.0.push_str(&echo);
                got.1 = ended;
            }
            assert_eq!(got, (echo.to_owned(), ended), "{pressed:?}");
            assert_eq!(line.into_text(), text, "{pressed:?}");
        }
    }

    #[test]
    fn bytes_stand_for_keys() {
        for (bytes, keys) in [
            ("r", vec![Key::Char('r')]),
            ("\u{1b}[A\r", vec![Key::ArrowUp, Key::Enter]),
            ("\u{1b}OC\t\u{1b}[Z", vec![Key::ArrowRight, Key::Tab, Key::BackTab]),
            ("\u{1b}", vec![Key::Escape]),
            ("\u{1b}[5~x", vec![Key::Unknown, Key::Char('x')]),
            ("\u{3}\u{4}", vec![Key::CtrlC, Key::Char('\u{4}')]),
        ] {
            assert_eq!(parse_keys(bytes.as_bytes()), keys, "{bytes:?}");
        }
    }

    #[test]
    fn a_character_may_come_in_parts() {
        let mut line = LineBuffer::default();
        let shown: String = "€".bytes().map(|byte| line.press(&[byte]).0).collect();
        assert_eq!((shown.as_str(), line.into_text().as_str()), ("€", "€"));
    }
}
