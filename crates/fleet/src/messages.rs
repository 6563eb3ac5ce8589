//! Log messages of servers; the most recent ones are stored.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_config::LogLevel;
use switchboard_core::ServerId;
use switchboard_text::redact_text;
use switchboard_wire::Json;

use crate::stderr;

/// Maximum number of messages stored per server.
const MAX_MESSAGES: usize = 1_000;
/// Burst and refill per second of the rate limit.
const RATE_LIMIT: (f64, f64) = (200.0, 50.0);
/// Maximum length of a stored message, in characters.
const MAX_MESSAGE_CHARS: usize = 8_000;

/// A log message of a server. Its texts are untrusted: escape them before showing them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ServerMessage")]
pub struct ServerMessage {
    /// When the message was received (RFC 3339).
    pub at: String,
    /// Severity, as one of the levels of the protocol.
    pub level: String,
    /// The component of the server that logged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The text, with secrets redacted.
    pub text: String,
}

/// The most recent messages of every server. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ServerMessageStore {
    logs: Arc<Mutex<BTreeMap<ServerId, MessageLog>>>,
    state: Option<Arc<Path>>,
}

#[derive(Debug, Default)]
struct MessageLog {
    ring: VecDeque<ServerMessage>,
    file: Option<File>,
    written: usize,
    rate_limit: MessageRateLimit,
    left_out: u64,
}

#[derive(Debug)]
struct MessageRateLimit {
    left: f64,
    at: Option<Instant>,
}

impl Default for MessageRateLimit {
    fn default() -> Self {
        Self { left: RATE_LIMIT.0, at: None }
    }
}

/// Returns the file with the messages of a server as JSON lines, below the state folder.
#[must_use]
pub fn messages_file(state: &Path, server: &ServerId) -> PathBuf {
    stderr::log_file(state, server).with_extension("messages")
}

impl ServerMessageStore {
    pub(crate) fn with_state_folder(state: Option<&Path>) -> Self {
        Self { logs: Arc::default(), state: state.map(Into::into) }
    }

    /// Returns the messages of a server, oldest first.
    #[must_use]
    pub fn list(&self, server: &ServerId) -> Vec<ServerMessage> {
        let logs = self.logs.lock();
        logs.get(server).map(|log| log.ring.iter().cloned().collect()).unwrap_or_default()
    }

    /// Stores a message of at least the level `wanted`, unless the server exceeds its rate limit.
    pub fn record(
        &self,
        server: &ServerId,
        params: Option<&Json>,
        wanted: LogLevel,
    ) -> Option<ServerMessage> {
        let mut logs = self.logs.lock();
        let log = logs.entry(server.clone()).or_default();
        // Before parsing: messages over the limit must cost next to nothing.
        if !log.rate_limit.allows(Instant::now()) {
            log.left_out += 1;
            return None;
        }
        let message = parse_message(params?, wanted)?;
        let file = self.state.as_deref().map(|state| messages_file(state, server));
        if log.left_out > 0 {
            let dropped = std::mem::take(&mut log.left_out);
            let text = format!("(rate limit: {dropped} messages dropped)");
            let level = LogLevel::Notice.as_str().to_owned();
            log.keep(ServerMessage { at: now(), level, logger: None, text }, file.as_deref());
        }
        log.keep(message.clone(), file.as_deref());
        Some(message)
    }
}

impl MessageLog {
    fn keep(&mut self, message: ServerMessage, file: Option<&Path>) {
        if let (Some(path), Ok(mut line)) = (file, serde_json::to_vec(&message)) {
            line.push(b'\n');
            if self.file.is_none() || self.written > stderr::MAX_LOG_BYTES {
                // Without a file, the messages are still in memory; the next one tries again.
                self.file = stderr::open_log(path).ok();
                self.written = 0;
            }
            self.written += line.len();
            // A full disk must not affect the server.
            if self.file.as_mut().is_some_and(|file| file.write_all(&line).is_err()) {
                self.file = None;
            }
        }
        if self.ring.len() >= MAX_MESSAGES {
            self.ring.pop_front();
        }
        self.ring.push_back(message);
    }
}

impl MessageRateLimit {
    fn allows(&mut self, now: Instant) -> bool {
        let passed = self.at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.at = Some(now);
        self.left = passed.mul_add(RATE_LIMIT.1, self.left).min(RATE_LIMIT.0);
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

/// Parses and redacts a message; returns `None` if it is below the level `wanted`.
pub(crate) fn parse_message(params: &Json, wanted: LogLevel) -> Option<ServerMessage> {
    #[derive(Deserialize)]
    struct LogParams {
        level: Option<String>,
        logger: Option<String>,
        data: Option<serde_json::Value>,
    }
    let said: LogParams = params.read().ok()?;
    // Normalizes the level: servers also send words outside the protocol.
    let level = said.level.as_deref().and_then(LogLevel::from_word).unwrap_or(LogLevel::Info);
    if level < wanted {
        return None;
    }
    let text = match said.data {
        Some(serde_json::Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => String::new(),
    };
    // Truncated first, so that a huge message does not keep the redactor busy.
    let text: String = text.chars().take(MAX_MESSAGE_CHARS).collect();
    let text = redact_text(&text).into_owned();
    let logger = said.logger.map(|logger| redact_text(&logger).chars().take(200).collect());
    Some(ServerMessage { at: now(), level: level.as_str().to_owned(), logger, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_params(level: &str, text: &str) -> Json {
        Json::from(&serde_json::json!({"level": level, "logger": "db", "data": text}))
    }

    #[test]
    fn what_is_serious_enough_is_kept_in_memory_and_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let messages = ServerMessageStore::with_state_folder(Some(folder.path()));
        let server = ServerId::new("notes").unwrap();
        for (level, text) in [("debug", "a"), ("warning", "b"), ("shout", "c"), ("error", "d")] {
            messages.record(&server, Some(&log_params(level, text)), LogLevel::Info);
        }
        messages.record(&server, Some(&log_params("emergency", "e")), LogLevel::Off);
        let brief = |message: &ServerMessage| (message.level.clone(), message.text.clone());
        let kept = messages.list(&server);
        let expected = [("warning", "b"), ("info", "c"), ("error", "d")]
            .map(|(level, text)| (level.to_owned(), text.to_owned()));
        assert_eq!(kept.iter().map(brief).collect::<Vec<_>>(), expected);
        let file = std::fs::read_to_string(messages_file(folder.path(), &server)).unwrap();
        let filed: Vec<ServerMessage> =
            file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(filed, kept);
    }

    #[test]
    fn a_server_that_says_too_much_is_heard_in_part_and_the_rest_is_counted() {
        let messages = ServerMessageStore::default();
        let server = ServerId::new("notes").unwrap();
        let said = log_params("info", "again");
        for _ in 0..10_000 {
            messages.record(&server, Some(&said), LogLevel::Info);
        }
        let kept = messages.list(&server);
        assert!((200..=MAX_MESSAGES).contains(&kept.len()), "{}", kept.len());
    }

    #[test]
    fn the_oldest_messages_make_room() {
        let mut log = MessageLog::default();
        for number in 0..=MAX_MESSAGES {
            let text = number.to_string();
            let at = String::new();
            let level = String::new();
            log.keep(ServerMessage { at, level, logger: None, text }, None);
        }
        assert_eq!(log.ring.len(), MAX_MESSAGES);
        assert_eq!(log.ring[0].text, "1");
    }
}
