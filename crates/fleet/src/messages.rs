//! What servers say unasked, the last of it kept for whoever looks later.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_config::LogLevel;
use switchboard_core::ServerId;
use switchboard_text::redact;
use switchboard_wire::Json;

use crate::stderr;

/// So many messages of one server are kept.
const KEPT: usize = 1_000;
/// So many messages may come at once, and so many in a second from then on.
const PACE: (f64, f64) = (200.0, 50.0);
/// The longest message that is kept, in characters.
const LONGEST: usize = 8_000;

/// One message of a server. All texts are the server's own: escape them to show them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ServerMessage")]
pub struct Message {
    /// When it came.
    pub at: String,
    /// How serious it is, in one of the protocol's words.
    pub level: String,
    /// Which part of the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What it says.
    pub text: String,
}

/// The last messages of every server. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    logs: Arc<Mutex<BTreeMap<ServerId, Log>>>,
    state: Option<Arc<Path>>,
}

#[derive(Debug, Default)]
struct Log {
    ring: VecDeque<Message>,
    file: Option<File>,
    written: usize,
    pace: Pace,
    left_out: u64,
}

#[derive(Debug)]
struct Pace {
    left: f64,
    at: Option<Instant>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { left: PACE.0, at: None }
    }
}

/// Where the messages of a server are kept, below the folder for state: one JSON object per line.
#[must_use]
pub fn messages_file(state: &Path, server: &ServerId) -> PathBuf {
    stderr::log_file(state, server).with_extension("messages")
}

impl Messages {
    /// Messages that are kept below the folder for state as well.
    pub(crate) fn kept_in(state: Option<&Path>) -> Self {
        Self { logs: Arc::default(), state: state.map(Into::into) }
    }

    /// The messages of a server, oldest first.
    #[must_use]
    pub fn of(&self, server: &ServerId) -> Vec<Message> {
        let logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        logs.get(server).map(|log| log.ring.iter().cloned().collect()).unwrap_or_default()
    }

    /// Keeps a message that is serious enough, unless the server says too much at a time.
    pub fn take(
        &self,
        server: &ServerId,
        params: Option<&Json>,
        wanted: LogLevel,
    ) -> Option<Message> {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let log = logs.entry(server.clone()).or_default();
        if !log.pace.allows(Instant::now()) {
            log.left_out += 1;
            return None;
        }
        let message = read(params?, wanted)?;
        let file = self.state.as_deref().map(|state| messages_file(state, server));
        if log.left_out > 0 {
            let text = format!("({} messages were left out)", std::mem::take(&mut log.left_out));
            let level = LogLevel::Notice.as_str().to_owned();
            log.keep(Message { at: now(), level, logger: None, text }, file.as_deref());
        }
        log.keep(message.clone(), file.as_deref());
        Some(message)
    }
}

impl Log {
    fn keep(&mut self, message: Message, file: Option<&Path>) {
        if let (Some(path), Ok(mut line)) = (file, serde_json::to_vec(&message)) {
            line.push(b'\n');
            if self.file.is_none() || self.written > stderr::KEPT_BYTES {
                self.file = stderr::open(path).ok();
                self.written = 0;
            }
            self.written += line.len();
            // A full disk must not cost the server.
            if self.file.as_mut().is_some_and(|file| file.write_all(&line).is_err()) {
                self.file = None;
            }
        }
        if self.ring.len() >= KEPT {
            self.ring.pop_front();
        }
        self.ring.push_back(message);
    }
}

impl Pace {
    fn allows(&mut self, now: Instant) -> bool {
        let passed = self.at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.at = Some(now);
        self.left = passed.mul_add(PACE.1, self.left).min(PACE.0);
        let allowed = self.left >= 1.0;
        if allowed {
            self.left -= 1.0;
        }
        allowed
    }
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// A message that is serious enough.
pub(crate) fn read(params: &Json, wanted: LogLevel) -> Option<Message> {
    #[derive(Deserialize)]
    struct Said {
        level: Option<String>,
        logger: Option<String>,
        data: Option<serde_json::Value>,
    }
    let said: Said = params.read().ok()?;
    // The level is one of the protocol's words, whatever a server makes of it.
    let level = said.level.as_deref().and_then(LogLevel::from_word).unwrap_or(LogLevel::Info);
    if level < wanted {
        return None;
    }
    let text = match said.data {
        Some(serde_json::Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let text = if text.len() > LONGEST { text.chars().take(LONGEST).collect() } else { text };
    let text = redact::text(&text).into_owned();
    let logger = said.logger.map(|logger| redact::text(&logger).chars().take(200).collect());
    Some(Message { at: now(), level: level.as_str().to_owned(), logger, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(level: &str, text: &str) -> Json {
        Json::from(&serde_json::json!({"level": level, "logger": "db", "data": text}))
    }

    #[test]
    fn what_is_serious_enough_is_kept_in_memory_and_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let messages = Messages::kept_in(Some(folder.path()));
        let server = ServerId::new("notes").unwrap();
        for (level, text) in [("debug", "a"), ("warning", "b"), ("shout", "c"), ("error", "d")] {
            messages.take(&server, Some(&said(level, text)), LogLevel::Info);
        }
        messages.take(&server, Some(&said("emergency", "e")), LogLevel::Off);
        let brief = |message: &Message| (message.level.clone(), message.text.clone());
        let kept = messages.of(&server);
        let expected = [("warning", "b"), ("info", "c"), ("error", "d")]
            .map(|(level, text)| (level.to_owned(), text.to_owned()));
        assert_eq!(kept.iter().map(brief).collect::<Vec<_>>(), expected);
        let file = std::fs::read_to_string(messages_file(folder.path(), &server)).unwrap();
        let filed: Vec<Message> =
            file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(filed, kept);
    }

    #[test]
    fn a_server_that_says_too_much_is_heard_in_part_and_the_rest_is_counted() {
        let (messages, server) = (Messages::default(), ServerId::new("notes").unwrap());
        let said = said("info", "again");
        for _ in 0..10_000 {
            messages.take(&server, Some(&said), LogLevel::Info);
        }
        let kept = messages.of(&server);
        assert!((200..=KEPT).contains(&kept.len()), "{}", kept.len());
    }

    #[test]
    fn the_oldest_messages_make_room() {
        let mut log = Log::default();
        for number in 0..=KEPT {
            let text = number.to_string();
            let (at, level) = (String::new(), String::new());
            log.keep(Message { at, level, logger: None, text }, None);
        }
        assert_eq!(log.ring.len(), KEPT);
        assert_eq!(log.ring[0].text, "1");
    }
}
