//! Log messages of servers: shown immediately, and added to the server's next result.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_core::{Event as HostEvent, EventKind};
use switchboard_host::Host;
use switchboard_text::is_hidden;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, mpsc};

use crate::event::Event;

/// Maximum number of messages of a server added to one result.
const MAX_MESSAGES: usize = 20;
/// Maximum length of a message added to a result, in characters.
const MAX_MESSAGE_CHARS: usize = 300;
/// Maximum number of messages shown per second; further ones are only counted.
const MAX_PER_SECOND: usize = 20;

/// The messages of servers that have not been added to a result yet.
#[derive(Clone, Debug)]
pub(crate) struct ServerNotices(Arc<Mutex<NoticeBuffer>>);

#[derive(Debug)]
struct NoticeBuffer {
    events: broadcast::Receiver<HostEvent>,
    by_server: BTreeMap<String, ServerMessages>,
}

#[derive(Debug, Default)]
struct ServerMessages {
    newest: VecDeque<String>,
    left_out: usize,
}

impl ServerNotices {
    /// Collects the log messages of all servers, and shows them until the event channel is closed.
    pub(crate) fn watch(host: &Host, events: mpsc::Sender<Event>) -> Self {
        let mut said = host.events().watch_without_calls();
        // A receiver of its own: `take` has to see every message that preceded an answer, however
        // far behind a slow face has left the task below.
        let events_to_take = host.events().watch_without_calls();
        let heard = NoticeBuffer { events: events_to_take, by_server: BTreeMap::new() };
        tokio::spawn(async move {
            let mut pace = NoticeRateLimit::new();
            loop {
                let event = tokio::select! {
                    event = said.recv() => event,
                    () = events.closed() => return,
                };
                let (server, level, text) = match event {
                    Ok(event) => match event.what {
                        EventKind::ServerSaid { server, level, text, .. } => (server, level, text),
                        _ => continue,
                    },
                    // Log messages may get lost; later ones are still shown.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                for event in pace.let_through(Event::Notice { server, level, text }) {
                    if events.send(event).await.is_err() {
                        return;
                    }
                }
            }
        });
        Self(Arc::new(Mutex::new(heard)))
    }

    /// Takes the messages of a server so far, formatted for the model.
    pub(crate) fn take(&self, server: &str) -> Option<String> {
        let mut heard = self.0.lock();
        heard.catch_up();
        let ServerMessages { newest, left_out } = heard.by_server.remove(server)?;
        let lines: Vec<String> = newest.into();
        let before = match left_out {
            0 => String::new(),
            count => format!(" ({count} earlier ones omitted)"),
        };
        Some(format!("[Log messages of the server{before}:]\n{}", lines.join("\n")))
    }
}

impl NoticeBuffer {
    fn catch_up(&mut self) {
        loop {
            match self.events.try_recv() {
                Ok(event) => {
                    if let EventKind::ServerSaid { server, level, text, .. } = event.what {
                        self.by_server.entry(server).or_default().add(&level, &text);
                    }
                }
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}

impl ServerMessages {
    fn add(&mut self, level: &str, text: &str) {
        // One line each, so that a message cannot pass for several. Hidden characters could carry
        // instructions that only the model reads.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let shown = text.chars().map(plain).filter(|c| !is_hidden(*c)).take(MAX_MESSAGE_CHARS);
        if self.newest.len() == MAX_MESSAGES {
            self.newest.pop_front();
            self.left_out += 1;
        }
        self.newest.push_back(format!("- {level}: {}", shown.collect::<String>()));
    }
}

struct NoticeRateLimit {
    since: Instant,
    shown: usize,
    left_out: usize,
}

impl NoticeRateLimit {
    fn new() -> Self {
        Self { since: Instant::now(), shown: 0, left_out: 0 }
    }

    fn let_through(&mut self, event: Event) -> Vec<Event> {
        let mut through = Vec::new();
        if self.since.elapsed() >= Duration::from_secs(1) {
            if self.left_out > 0 {
                let text = format!("rate limit: {} server messages not shown", self.left_out);
                through.push(Event::Warning { text, hint: None });
            }
            *self = Self::new();
        }
        if self.shown < MAX_PER_SECOND {
            self.shown += 1;
            through.push(event);
        } else {
            self.left_out += 1;
        }
        through
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_messages_are_passed_on_once_and_each_in_a_line() {
        let events = switchboard_core::Events::default();
        let heard = NoticeBuffer { events: events.watch(), by_server: BTreeMap::new() };
        let notices = ServerNotices(Arc::new(Mutex::new(heard)));
        for number in 0..22 {
            events.emit(|| EventKind::ServerSaid {
                server: "s".to_owned(),
                level: "info".to_owned(),
                text: format!("line {number}\nmore"),
                raw: None,
                during: Vec::new(),
            });
        }
        let said = notices.take("s").unwrap();
        assert!(said.starts_with("[Log messages of the server (2 earlier ones omitted):]\n"));
        assert!(said.contains("- info: line 2 more\n") && said.ends_with("- info: line 21 more"));
        assert_eq!(notices.take("s"), None);
    }

    #[test]
    fn a_flood_is_not_shown() {
        let mut pace = NoticeRateLimit::new();
        let event = || Event::Warning { text: "x".to_owned(), hint: None };
        let shown: usize = (0..1_000).map(|_| pace.let_through(event()).len()).sum();
        assert!(shown <= 2 * MAX_PER_SECOND + 1, "{shown}");
    }
}
