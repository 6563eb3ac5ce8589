//! What servers say unasked: shown at once, and passed on with the next result of the server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_host::Host;
use switchboard_host::events::What;
use switchboard_host::format::is_hidden;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use crate::event::Event;

/// At most so many messages of a server are passed on with one result.
const MOST: usize = 20;
/// The longest message that is passed on, in characters.
const LONGEST: usize = 300;

/// What servers have said since it was last passed on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notices(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl Notices {
    /// Listens until nobody hears the events any more.
    pub(crate) fn watch(host: &Host, events: mpsc::Sender<Event>) -> Self {
        let notices = Self::default();
        let (heard, mut said) = (notices.clone(), host.events().watch());
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    event = said.recv() => event,
                    () = events.closed() => return,
                };
                let (server, level, text) = match event {
                    Ok(event) => match event.what {
                        What::ServerSaid { server, level, text } => (server, level, text),
                        _ => continue,
                    },
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                heard.add(&server, &level, &text);
                if events.send(Event::Notice { server, level, text }).await.is_err() {
                    return;
                }
            }
        });
        notices
    }

    fn add(&self, server: &str, level: &str, text: &str) {
        let clean: String = text.chars().filter(|c| !is_hidden(*c)).take(LONGEST).collect();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_server = all.entry(server.to_owned()).or_default();
        if of_server.len() < MOST {
            of_server.push(format!("- {level}: {clean}"));
        }
    }

    /// What a server has said, in words for the model; it is passed on only once.
    pub(crate) fn take(&self, server: &str) -> Option<String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let said = all.remove(server)?;
        Some(format!("[The server also said:]\n{}", said.join("\n")))
    }
}
