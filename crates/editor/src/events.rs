//! One stream of events: what happens, what waits, and for the owner what waits elsewhere, too.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, stream};
use switchboard_catalog::Fleet;
use switchboard_core::{Changes, What};
use switchboard_host::Waiting;
use switchboard_store::{Entry, State};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tonic::Status;

use crate::callers::Pass;
use crate::door::Visitor;
use crate::editor::Editor;
use crate::generated::v1::host_event::Event;
use crate::generated::v1::{
    CallFinished, CallStarted, HostEvent, Missed, OfferingsChanged, ServerSaid, StreamOpened,
};
use crate::hub::{OpenStream, Told, now, resolved};
use crate::waiting::{Listener, event};

/// A stream of events on its way to whoever asked for it.
pub(crate) type Events = Pin<Box<dyn Stream<Item = Result<HostEvent, Status>> + Send>>;

/// Events that wait for the network.
const AHEAD: usize = 64;
/// When to look again after what waits could not be read.
const AGAIN: Duration = Duration::from_secs(1);

/// What one stream is made of.
struct Feed {
    editor: Editor,
    visitor: Visitor,
    open: OpenStream,
    pass: Pass,
    told: broadcast::Receiver<Arc<Told>>,
    happened: broadcast::Receiver<switchboard_core::Event>,
    fleet: Changes<Fleet>,
    edition: u64,
    /// What waits, whenever that is something else.
    waiting: mpsc::Receiver<Vec<Entry>>,
    /// What waits elsewhere and was told.
    elsewhere: BTreeSet<String>,
    out: mpsc::Sender<Result<HostEvent, Status>>,
}

/// The reader has gone.
struct Gone;

impl Editor {
    /// Opens a stream.
    pub(crate) fn stream(&self, visitor: Visitor) -> Result<Events, Status> {
        let pass = self.enter(&visitor)?;
        let (open, told, waiting) = self.inner.hub.open(&visitor);
        let (out, events) = mpsc::channel(AHEAD);
        let (found, changes) = mpsc::channel(1);
        if visitor.is_owner() {
            self.inner.tasks.spawn(look_around(self.host().waiting().clone(), found));
        }
        let mut fleet = self.host().fleet().changes();
        let edition = fleet.load().edition;
        let feed = Feed {
            happened: self.host().events().watch(),
            waiting: changes,
            elsewhere: BTreeSet::new(),
            editor: self.clone(),
            visitor,
            open,
            pass,
            told,
            fleet,
            edition,
            out,
        };
        self.inner.tasks.spawn(feed.run(waiting));
        let stream = stream::unfold(events, |mut events| async move {
            let event = events.recv().await?;
            Some((event, events))
        });
        Ok(Box::pin(stream))
    }
}

impl Feed {
    async fn run(mut self, waiting: Vec<Arc<Told>>) {
        // Whoever has gone needs no news.
        if self.begin(waiting).await.is_ok() {
            let stop = self.editor.inner.stop.clone();
            let over = self.pass.over().clone();
            let out = self.out.clone();
            loop {
                let going = tokio::select! {
                    () = stop.cancelled() => Err(Gone),
                    () = over.cancelled() => Err(Gone),
                    () = out.closed() => Err(Gone),
                    going = self.next() => going,
                };
                if going.is_err() {
                    break;
                }
            }
        }
    }

    async fn begin(&self, waiting: Vec<Arc<Told>>) -> Result<(), Gone> {
        let stream_id = self.open.number.to_string();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.send(Event::Opened(StreamOpened { stream_id, version })).await?;
        for told in waiting {
            self.pass_on(told.event.clone()).await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<(), Gone> {
        tokio::select! {
            told = self.told.recv() => match told {
                Ok(told) if told.audience.has(&self.visitor, self.open.number) => {
                    self.pass_on(told.event.clone()).await
                }
                Ok(_) => Ok(()),
                Err(RecvError::Lagged(count)) => self.send(missed(count)).await,
                Err(RecvError::Closed) => Err(Gone),
            },
            happened = self.happened.recv() => match happened {
                Ok(happened) => match self.shown(happened.what) {
                    Some(event) => self.send(event).await,
                    None => Ok(()),
                },
                Err(RecvError::Lagged(count)) => self.send(missed(count)).await,
                Err(RecvError::Closed) => Err(Gone),
            },
            fleet = self.fleet.changed() => {
                let is_news = fleet.edition != self.edition;
                self.edition = fleet.edition;
                let event = OfferingsChanged { edition: fleet.edition };
                if is_news { self.send(Event::OfferingsChanged(event)).await } else { Ok(()) }
            },
            Some(entries) = self.waiting.recv() => self.compare(&entries).await,
        }
    }

    /// Tells what waits because of other faces, and what of that does not wait any more.
    async fn compare(&mut self, entries: &[Entry]) -> Result<(), Gone> {
        let hub = Arc::clone(&self.editor.inner.hub);
        for entry in entries {
            let is_ours = hub.knows(&entry.id, entry.asked.reference.as_deref());
            if !is_ours && self.elsewhere.insert(entry.id.clone()) {
                self.send(event(entry, Listener::Owner)).await?;
            }
        }
        let waits = |id: &String| entries.iter().any(|entry| entry.id == *id);
        let gone: Vec<String> = self.elsewhere.iter().filter(|id| !waits(id)).cloned().collect();
        for id in gone {
            self.elsewhere.remove(&id);
            let state = self.editor.host().waiting().find(&id).await.map(|entry| entry.state);
            let (how, by) = match state {
                Ok(State::Answered { by, word }) => (word, by),
                Ok(State::Expired) => ("expired".to_owned(), String::new()),
                Ok(State::Withdrawn { .. } | State::Waiting) | Err(_) => {
                    ("withdrawn".to_owned(), String::new())
                }
            };
            self.send(resolved(&id, &how, &by)).await?;
        }
        Ok(())
    }

    /// An event of the host, if it is for this visitor.
    fn shown(&self, what: What) -> Option<Event> {
        if let What::ServerChanged { server, .. } = &what {
            return self.editor.server(&self.visitor, server).map(Event::ServerChanged);
        }
        if !self.visitor.is_owner() {
            return None;
        }
        match what {
            What::CallStarted { call, server, target, .. } => {
                Some(Event::CallStarted(CallStarted {
                    call_id: call,
                    server_identifier: server,
                    target,
                }))
            }
            What::CallFinished { call, server, target, outcome, message, milliseconds } => {
                Some(Event::CallFinished(CallFinished {
                    call_id: call,
                    server_identifier: server,
                    target,
                    outcome,
                    message: message.unwrap_or_default(),
                    duration_ms: i64::try_from(milliseconds).unwrap_or(i64::MAX),
                }))
            }
            What::ServerSaid { server, level, text, .. } => {
                Some(Event::ServerSaid(ServerSaid { server_identifier: server, level, text }))
            }
            // The others are told in another way, or are no business of an editor.
            _ => None,
        }
    }

    async fn send(&self, event: Event) -> Result<(), Gone> {
        self.pass_on(now(event)).await
    }

    async fn pass_on(&self, event: HostEvent) -> Result<(), Gone> {
        self.out.send(Ok(event)).await.map_err(|_| Gone)
    }
}

/// Looks for what waits in other processes, which nobody tells; as long as somebody listens.
async fn look_around(waiting: Waiting, found: mpsc::Sender<Vec<Entry>>) {
    let mut watch = waiting.watch();
    let looking = async {
        loop {
            match watch.changed().await {
                Ok(entries) => {
                    if found.send(entries).await.is_err() {
                        return;
                    }
                }
                // It cannot be read for now.
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    };
    tokio::select! {
        () = found.closed() => {}
        () = looking => {}
    }
}

fn missed(count: u64) -> Event {
    Event::Missed(Missed { count })
}
