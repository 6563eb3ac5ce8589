//! Event streams: events and pending questions; for the owner, also those of other processes.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, stream};
use switchboard_catalog::Fleet;
use switchboard_core::{Changes, EventKind};
use switchboard_host::ReviewQueue;
use switchboard_store::{EntryState, QueueEntry};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::concurrency::ConcurrencySlot;
use crate::generated::v1::host_event::Event;
use crate::generated::v1::{
    CallFinished, CallStarted, HostEvent, Missed, OfferingsChanged, ServerSaid, StreamOpened,
};
use crate::grpc_service::GrpcService;
use crate::hub::{HubMessage, OpenStream, resolved_event, with_timestamp};
use crate::queue_events::{EventRecipient, queue_event};

pub(crate) type EventStream = Pin<Box<dyn Stream<Item = Result<HostEvent, Status>> + Send>>;

/// Maximum events queued for a stream.
const MAX_QUEUED_EVENTS: usize = 64;
/// Retry delay after the review queue could not be read.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The sources of one event stream.
struct EventFeed {
    editor: GrpcService,
    visitor: AuthorizedCaller,
    open: OpenStream,
    pass: ConcurrencySlot,
    told: broadcast::Receiver<Arc<HubMessage>>,
    happened: broadcast::Receiver<switchboard_core::Event>,
    fleet: Changes<Fleet>,
    edition: u64,
    /// All pending entries, after every change.
    waiting: mpsc::Receiver<Vec<QueueEntry>>,
    /// Ids of published entries that come from other faces or processes.
    elsewhere: BTreeSet<String>,
    out: mpsc::Sender<Result<HostEvent, Status>>,
}

/// The client has disconnected, or the stream has to end.
struct ReaderGone;

impl GrpcService {
    pub(crate) fn stream(&self, visitor: AuthorizedCaller) -> Result<EventStream, Status> {
        let pass = self.reserve_slot(&visitor)?;
        let (open, told, waiting) = self.inner.hub.open(&visitor);
        let (out, events) = mpsc::channel(MAX_QUEUED_EVENTS);
        let (found, changes) = mpsc::channel(1);
        // Only the owner may see the questions of other faces and processes.
        if visitor.is_owner() {
            self.inner.tasks.spawn(watch_queue(self.host().reviews().clone(), found));
        }
        let mut fleet = self.host().fleet().changes();
        let edition = fleet.load().edition;
        let feed = EventFeed {
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

impl EventFeed {
    async fn run(mut self, waiting: Vec<Arc<HubMessage>>) {
        // An error only means that the client has disconnected.
        if self.begin(waiting).await.is_ok() {
            let stop = self.editor.inner.stop.clone();
            let over = self.pass.revoked().clone();
            let out = self.out.clone();
            loop {
                let going = tokio::select! {
                    () = stop.cancelled() => Err(ReaderGone),
                    () = over.cancelled() => Err(ReaderGone),
                    () = out.closed() => Err(ReaderGone),
                    going = self.next() => going,
                };
                if going.is_err() {
                    break;
                }
            }
        }
    }

    async fn begin(&self, waiting: Vec<Arc<HubMessage>>) -> Result<(), ReaderGone> {
        let stream_id = self.open.number.to_string();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.send(Event::Opened(StreamOpened { stream_id, version })).await?;
        for told in waiting {
            self.send_host_event(told.event.clone()).await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<(), ReaderGone> {
        tokio::select! {
            told = self.told.recv() => match told {
                Ok(told) if told.audience.includes(&self.visitor, self.open.number) => {
                    self.send_host_event(told.event.clone()).await
                }
                Ok(_) => Ok(()),
                Err(RecvError::Lagged(count)) => self.send(Event::Missed(Missed { count })).await,
                Err(RecvError::Closed) => Err(ReaderGone),
            },
            happened = self.happened.recv() => match happened {
                Ok(happened) => match self.visible_event(happened.what) {
                    Some(event) => self.send(event).await,
                    None => Ok(()),
                },
                Err(RecvError::Lagged(count)) => self.send(Event::Missed(Missed { count })).await,
                Err(RecvError::Closed) => Err(ReaderGone),
            },
            fleet = self.fleet.changed() => {
                // The fleet also changes with the state of a server, which is another event.
                let is_news = fleet.edition != self.edition;
                self.edition = fleet.edition;
                let event = OfferingsChanged { edition: fleet.edition };
                if is_news { self.send(Event::OfferingsChanged(event)).await } else { Ok(()) }
            },
            Some(entries) = self.waiting.recv() => self.publish_queue_changes(&entries).await,
        }
    }

    /// Publishes pending entries of other faces, and those that are no longer pending.
    async fn publish_queue_changes(&mut self, entries: &[QueueEntry]) -> Result<(), ReaderGone> {
        let hub = Arc::clone(&self.editor.inner.hub);
        for entry in entries {
            // The hub publishes these itself, to the stream of their caller.
            let is_ours = hub.is_from_here(&entry.id, entry.asked.reference.as_deref());
            if !is_ours && self.elsewhere.insert(entry.id.clone()) {
                self.send(queue_event(entry, EventRecipient::Owner)).await?;
            }
        }
        let waits = |id: &String| entries.iter().any(|entry| entry.id == *id);
        let gone: Vec<String> = self.elsewhere.iter().filter(|id| !waits(id)).cloned().collect();
        for id in gone {
            self.elsewhere.remove(&id);
            let state = self.editor.host().reviews().find(&id).await.map(|entry| entry.state);
            let (how, by) = match state {
                Ok(EntryState::Answered { by, word }) => (word, by),
                Ok(EntryState::Expired) => ("expired".to_owned(), String::new()),
                Ok(EntryState::Withdrawn { .. } | EntryState::Waiting) | Err(_) => {
                    ("withdrawn".to_owned(), String::new())
                }
            };
            self.send(resolved_event(&id, &how, &by)).await?;
        }
        Ok(())
    }

    /// Converts an event of the host, if this caller may see it.
    fn visible_event(&self, what: EventKind) -> Option<Event> {
        if let EventKind::ServerChanged { server, .. } = &what {
            return self.editor.server(&self.visitor, server).map(Event::ServerChanged);
        }
        // The events below are about the calls of all callers.
        if !self.visitor.is_owner() {
            return None;
        }
        match what {
            EventKind::CallStarted { call: call_id, server: server_identifier, target, .. } => {
                Some(Event::CallStarted(CallStarted { call_id, server_identifier, target }))
            }
            EventKind::CallFinished { call, server, target, outcome, message, milliseconds } => {
                Some(Event::CallFinished(CallFinished {
                    call_id: call,
                    server_identifier: server,
                    target,
                    outcome,
                    message: message.unwrap_or_default(),
                    duration_ms: i64::try_from(milliseconds).unwrap_or(i64::MAX),
                }))
            }
            EventKind::ServerSaid { server, level, text, .. } => {
                Some(Event::ServerSaid(ServerSaid { server_identifier: server, level, text }))
            }
            // Other events are published elsewhere, or are of no use to an editor.
            _ => None,
        }
    }

    async fn send(&self, event: Event) -> Result<(), ReaderGone> {
        self.send_host_event(with_timestamp(event)).await
    }

    async fn send_host_event(&self, event: HostEvent) -> Result<(), ReaderGone> {
        self.out.send(Ok(event)).await.map_err(|_| ReaderGone)
    }
}

/// Polls the review queue while the stream is open: other processes send no notifications.
async fn watch_queue(waiting: ReviewQueue, found: mpsc::Sender<Vec<QueueEntry>>) {
    let mut watch = waiting.watch();
    let looking = async {
        loop {
            match watch.next_change().await {
                Ok(entries) => {
                    if found.send(entries).await.is_err() {
                        return;
                    }
                }
                // The queue may be locked by another process; the next attempt finds all changes.
                Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    };
    tokio::select! {
        () = found.closed() => {}
        () = looking => {}
    }
}
