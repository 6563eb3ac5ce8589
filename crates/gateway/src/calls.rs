//! Tools called, resources read and prompts fetched: the line, and what comes up on the way.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_catalog::Lease;
use switchboard_core::{ProposedCall, TargetKind, TaskNews};
use switchboard_host::Attention;
use switchboard_wire::{Era, Json, RpcError};
use tokio::sync::{broadcast, mpsc};
use tokio_util::task::AbortOnDropHandle;

use crate::answer::Reply;
use crate::asked::{Asked, Params, arguments, find};
use crate::client::is_serious;
use crate::gateway::Gateway;
use crate::members::{Members, push_text};
use crate::notices::Notice;
use crate::parked::Running;
use crate::relay::{Ask, Relay, put};
use crate::tasks::Wanted;

/// Times that a server may ask in one call.
pub(crate) const ROUNDS: usize = 10;

/// How long the last messages of a server may take to get here.
const LAST_WORDS: Duration = Duration::from_millis(5);

/// Questions of one server that come this close after one another are put together: each round
/// costs a person more than the wait.
const TOGETHER: Duration = Duration::from_millis(250);

/// What happens next in a call.
pub(crate) enum Happening {
    Ended(Box<switchboard_store::Record>),
    Became(TaskNews),
    Asked(Ask),
    Progress(Json),
    Said(Notice),
}

impl Gateway {
    /// Runs what a client asks for, or goes on with it.
    pub(crate) async fn call(&self, asked: &Asked, kind: TargetKind) -> Result<Reply, RpcError> {
        self.call_with(asked, kind, asked.params()?).await
    }

    /// The same where the parameters have been read: long arguments are not walked through again.
    pub(crate) async fn call_with(
        &self,
        asked: &Asked,
        kind: TargetKind,
        params: &Params,
    ) -> Result<Reply, RpcError> {
        let token = params.meta.as_ref().and_then(|meta| meta.progress_token.as_ref());
        if let Some(word) = &params.request_state
            && asked.client.era() == Era::Modern
        {
            return match self.resumed(asked, word, params)? {
                Ok(running) => Box::pin(self.follow_resumed(asked, running, token)).await,
                Err(again) => Ok(again),
            };
        }
        let running = match self.started(asked, kind, params) {
            Ok(running) => running,
            // Boxed: only a name that is not there needs it.
            Err(error) => Box::pin(self.started_later(asked, kind, params, error)).await?,
        };
        self.follow(asked, running, token).await
    }

    /// Follows a call that another request began: whoever gives this one up gives up the call.
    async fn follow_resumed(
        &self,
        asked: &Asked,
        running: Running,
        token: Option<&Json>,
    ) -> Result<Reply, RpcError> {
        let cancel = running.cancel.clone();
        let mut following = Box::pin(self.follow(asked, running, token));
        tokio::select! {
            answer = &mut following => answer,
            () = asked.cancel.cancelled() => {
                cancel.cancel();
                following.await
            }
        }
    }

    /// Starts a call on the catalog of this moment.
    pub(crate) fn started(
        &self,
        asked: &Asked,
        kind: TargetKind,
        params: &Params,
    ) -> Result<Running, RpcError> {
        let listing = self.listing(&asked.client.view);
        let held = || self.held(&asked.client.view, kind, params.name.as_deref()?);
        let target = match find(&listing, kind, params, asked.client.era()) {
            Ok(target) => target,
            Err(error) => held().ok_or(error)?,
        };
        Wanted::check(asked, &listing, &target)?;
        if let (TargetKind::Tool, Some(name)) = (kind, params.name.as_deref()) {
            self.count(&asked.client, &listing, name);
        }
        let proposed = ProposedCall { target, arguments: arguments(params) };
        let running = self.run(asked, &listing.lease, proposed, params);
        Ok(Running { renamed: listing.for_results(), ..running })
    }

    /// Runs a call for a client.
    pub(crate) fn run(
        &self,
        asked: &Asked,
        lease: &Lease,
        proposed: ProposedCall,
        params: &Params,
    ) -> Running {
        let wants_progress = params.meta.as_ref().is_some_and(|meta| meta.progress_token.is_some());
        let (reports, progress) = match wants_progress {
            true => Some(mpsc::channel(16)).unzip(),
            false => (None, None),
        };
        let (relay, asks) = Relay::new(&asked.client, Arc::clone(self.host().answers()));
        let relay = Arc::new(relay);
        let least = params.meta.as_ref().and_then(|meta| meta.log_level.as_deref());
        let (wanted, cancel) = (Wanted::of(asked), asked.cancel.child_token());
        let (tasks, news) = match wanted {
            Wanted::Result => (None, None),
            Wanted::TaskIfAny | Wanted::Task { .. } => Some(mpsc::channel(16)).unzip(),
        };
        let hears = least.is_some() || asked.client.hears();
        let (number, wanting) = hears.then(|| self.notices().wanted().add(&asked.client)).unzip();
        let attention = Attention {
            number,
            cancel: cancel.clone(),
            wish: wanted.wish(),
            tasks,
            progress: reports,
            answers: Some(Arc::clone(&relay) as _),
            reviewer: Some(relay),
            asker: None,
            session: asked.client.past(),
            log_level: least.map(str::to_owned).or_else(|| asked.client.level()),
            further_meta: params.meta.as_ref().and_then(|meta| meta.others.clone()),
        };
        let (host, lease) = (self.host().clone(), lease.clone());
        let (client, target) = (Arc::clone(&asked.client), proposed.target.clone());
        let call =
            Box::pin(
                async move { host.call_with(&lease, proposed, &client.caller, &attention).await },
            );
        let logs = hears.then(|| self.notices().watch());
        let busy = asked.client.busy_with(&target.server);
        let given = given(params);
        let (rounds, renamed) = (0, None);
        Running {
            call,
            target,
            asks,
            progress,
            logs,
            wanting,
            busy,
            rounds,
            given,
            wanted,
            cancel,
            news,
            renamed,
        }
    }

    /// Follows a call to its end, or to where its client has to come back.
    pub(crate) async fn follow(
        &self,
        asked: &Asked,
        mut running: Running,
        token: Option<&Json>,
    ) -> Result<Reply, RpcError> {
        let mut asks = Vec::new();
        loop {
            let happening = match asks.is_empty() {
                true => next(&mut running).await,
                // What was asked together is answered together.
                false => match tokio::time::timeout(TOGETHER, next(&mut running)).await {
                    Ok(happening) => happening,
                    Err(_) => return self.wait(asked, running.by_itself(), asks),
                },
            };
            match happening {
                Happening::Ended(record) => {
                    self.say_the_rest(asked, &mut running, token).await;
                    return self.hand_out_ended(asked, &running, record.outcome);
                }
                Happening::Became(news) => match self.hand_out(asked, running, &news) {
                    Ok(created) => return Ok(created),
                    Err(back) => running = *back,
                },
                Happening::Progress(report) => tell_progress(asked, token, &report).await,
                Happening::Said(notice) => self.tell(asked, &running.target.server, notice).await,
                Happening::Asked(ask) if running.rounds >= ROUNDS => {
                    let why = format!("the server asked more than {ROUNDS} times");
                    ask.answer.send(Err(RpcError::new(RpcError::INTERNAL_ERROR, why))).ok();
                }
                Happening::Asked(ask) => {
                    let Some(ask) = running.answered_already(ask) else { continue };
                    if asks.is_empty() {
                        running.rounds += 1;
                    }
                    match asked.client.era() {
                        // Beside the call, which may go on without the answer: another face is
                        // asked about it as well, or its server loses its patience.
                        Era::Legacy => {
                            drop(tokio::spawn(put(asked.way(), self.over().clone(), ask)));
                        }
                        Era::Modern => {
                            let key = ask.key.clone();
                            let key = key.unwrap_or_else(|| format!("ask-{}", asks.len() + 1));
                            asks.push((key, ask));
                        }
                    }
                }
            }
        }
    }

    /// Lets a call wait for its client, who is told what its server asks.
    fn wait(
        &self,
        asked: &Asked,
        running: Running,
        asks: Vec<(String, Ask)>,
    ) -> Result<Reply, RpcError> {
        let about = about(asked, asked.params()?);
        let mut requests = String::new();
        for (key, ask) in &asks {
            let comma = if requests.is_empty() { "" } else { "," };
            let params = ask.params.as_ref().map_or("{}", Json::as_str);
            let (key, method) = (json!(key), &ask.method);
            // Writing to a `String` cannot fail.
            _ = write!(requests, r#"{comma}{key}:{{"method":"{method}","params":{params}}}"#);
        }
        let word = self.parked().park(running, asks, &asked.client.identity, about);
        let word = word.ok_or_else(|| {
            RpcError::new(RpcError::INTERNAL_ERROR, "too many calls wait for their clients")
        })?;
        Ok(Reply::from(format!(
            r#"{{"resultType":"input_required","inputRequests":{{{requests}}},"requestState":"{word}"}}"#
        )))
    }

    /// Takes up a call whose client came back; or asks again for what it left out.
    fn resumed(
        &self,
        asked: &Asked,
        word: &str,
        params: &Params,
    ) -> Result<Result<Running, Reply>, RpcError> {
        let about = about(asked, params);
        let waiting =
            self.parked().take(word, &asked.client.identity, &about).ok_or_else(|| {
                let why =
                    "the `requestState` is not one of ours, or no longer: call again without it";
                RpcError::new(RpcError::INVALID_PARAMS, why)
            })?;
        let given = params.input_responses.as_ref().and_then(|given| given.read().ok());
        let Members(given) = given.unwrap_or(Members(Vec::new()));
        let (running, asks) = (waiting.running, waiting.asks);
        let of = |key: &str| given.iter().find(|(name, _)| name == key).map(|(_, raw)| *raw);
        if asks.iter().any(|(key, _)| of(key).is_none()) {
            return self.wait(asked, running, asks).map(Err);
        }
        for (key, ask) in asks {
            if let Some(raw) = of(&key) {
                // The server may have lost its patience.
                ask.answer.send(Ok(Json::from(raw))).ok();
            }
        }
        Ok(Ok(running))
    }
}

impl Gateway {
    /// What a server said before it answered may come to us with the answer, or after it.
    async fn say_the_rest(&self, asked: &Asked, running: &mut Running, token: Option<&Json>) {
        while let Some(report) = running.progress.as_mut().and_then(|from| from.try_recv().ok()) {
            tell_progress(asked, token, &report).await;
        }
        let Some(logs) = running.logs.as_mut() else { return };
        tokio::time::sleep(LAST_WORDS).await;
        while let Ok(notice) = logs.try_recv() {
            self.tell(asked, &running.target.server, notice).await;
        }
    }

    /// Tells a client what the server of its call says, if it wants to hear that.
    async fn tell(&self, asked: &Asked, server: &str, notice: Notice) {
        let Notice::Said { server: from, level, params, during } = notice else { return };
        let meta = asked.params().ok().and_then(|params| params.meta.as_ref());
        let least = meta.and_then(|meta| meta.log_level.as_deref());
        let wanted = match (asked.client.era(), least) {
            (Era::Modern, Some(least)) => is_serious(&level, least),
            (Era::Modern, None) => false,
            (Era::Legacy, _) => asked.client.wants(&level),
        };
        if wanted && *from == *server && self.notices().wanted().are_of(&asked.client, &during) {
            asked.out.notify("notifications/message", &params).await;
        }
    }
}

pub(crate) async fn next(running: &mut Running) -> Happening {
    let Running { call, asks, progress, logs, news, .. } = running;
    tokio::select! {
        biased;
        Some(notice) = next_notice(logs.as_mut()) => Happening::Said(notice),
        Some(news) = next_of(news.as_mut()) => Happening::Became(news),
        Some(report) = next_of(progress.as_mut()) => Happening::Progress(report),
        Some(ask) = next_of(asks.as_mut()) => Happening::Asked(ask),
        record = call => Happening::Ended(Box::new(record)),
    }
}

async fn next_of<T>(from: Option<&mut mpsc::Receiver<T>>) -> Option<T> {
    match from {
        Some(from) => from.recv().await,
        None => None,
    }
}

async fn next_notice(from: Option<&mut broadcast::Receiver<Notice>>) -> Option<Notice> {
    // What was missed is lost: messages are news, not records.
    from?.recv().await.ok()
}

async fn tell_progress(asked: &Asked, token: Option<&Json>, report: &Json) {
    if let Some(params) = token.and_then(|token| with_token(report, token)) {
        asked.out.notify("notifications/progress", &params).await;
    }
}

/// Answers that came with the call itself, before anybody asked.
fn given(params: &Params) -> Vec<(String, Json)> {
    let given = params.input_responses.as_ref().filter(|_| params.request_state.is_none());
    let members = given.and_then(|given| given.read().ok());
    let Members(members) = members.unwrap_or(Members(Vec::new()));
    members.into_iter().map(|(name, raw)| (name.into_owned(), Json::from(raw))).collect()
}

impl Running {
    /// Goes on while nobody follows it: its server may say more, give up, or go away.
    fn by_itself(mut self) -> Self {
        let call = AbortOnDropHandle::new(tokio::spawn(self.call));
        self.call = Box::pin(async move {
            match call.await {
                Ok(record) => record,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The whole program ends.
                    Err(_) => std::future::pending().await,
                },
            }
        });
        self
    }

    /// Answers what the client has answered already; gives back what it has not.
    fn answered_already(&mut self, ask: Ask) -> Option<Ask> {
        let place = self.given.iter().position(|(key, _)| Some(key) == ask.key.as_ref());
        let Some(place) = place else { return Some(ask) };
        let (_, answer) = self.given.swap_remove(place);
        ask.answer.send(Ok(answer)).ok();
        None
    }
}

/// What a request is about, so that nobody comes back with another one.
fn about(asked: &Asked, params: &Params) -> String {
    let name = params.name.as_deref().or(params.uri.as_deref()).unwrap_or_default();
    let arguments = params.arguments.as_ref().map_or(b"".as_slice(), |given| given.bytes());
    switchboard_text::digest::of([asked.method.as_bytes(), name.as_bytes(), arguments])
}

/// A report of progress under the client's own token.
fn with_token(report: &Json, token: &Json) -> Option<String> {
    let Members(members) = report.read().ok()?;
    let mut out = format!(r#"{{"progressToken":{}"#, token.as_str());
    for (name, value) in members.iter().filter(|(name, _)| name != "progressToken") {
        out.push(',');
        push_text(&mut out, name);
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    Some(out)
}
