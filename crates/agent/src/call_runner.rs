//! Runs one call of a model's answer.

use serde::Deserialize;
use switchboard_core::{Caller, EventKind as Happened, Origin, Outcome, OutcomeKind, ProposedCall};
use switchboard_host::CallOptions;
use switchboard_scan::provenance;
use switchboard_store::{FullCall, Record, SessionError, SessionId};
use switchboard_text::escape_line;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::call_report::{CallFacts, ModelReport, report_call};
use crate::conversation::ConversationParts;
use crate::event::Event;
use crate::notices::ServerNotices;
use crate::own_tools;
use crate::tool_offer::ToolOffer;
use crate::turn::{CallEnd, CallKind, TurnCall, TurnCallKind, texts};

/// Whether a call may have been started before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallStart {
    Now,
    /// Possibly started by a process that died.
    AnotherProcess,
}

/// The result of looking up a call that another process may have started.
enum PriorAttempt {
    NotBegun,
    Begun(Box<FullCall>),
    CannotTell(String),
}

/// The context for running one call.
pub(crate) struct CallRunner {
    pub(crate) parts: ConversationParts,
    pub(crate) session: SessionId,
    pub(crate) offer: std::sync::Arc<ToolOffer>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) notices: ServerNotices,
    pub(crate) stop: CancellationToken,
    pub(crate) since: CallStart,
    /// Whether the user has cancelled the calls of this answer.
    pub(crate) given_up: bool,
    pub(crate) number: u64,
    pub(crate) slot: usize,
    /// The server and target, unless it is one of the conversation's own tools.
    pub(crate) from: Option<(String, String)>,
}

impl CallRunner {
    pub(crate) async fn announce(&self, asked: &TurnCall) {
        let (server, target, arguments) = match &asked.what {
            TurnCallKind::Call { server, target, arguments, .. } => {
                (server.clone(), target.clone(), arguments.clone())
            }
            TurnCallKind::Own | TurnCallKind::Mistake { .. } => {
                (String::new(), asked.name.clone(), asked.arguments.clone())
            }
        };
        self.emit(Event::Call { slot: self.slot, server, target, arguments }).await;
    }

    pub(crate) async fn run(&self, asked: TurnCall) -> CallEnd {
        let ConversationParts { sessions, .. } = &self.parts;
        match &asked.what {
            TurnCallKind::Call { server, wanted, target, arguments } => {
                let proposed = match wanted {
                    CallKind::Tool => {
                        ProposedCall::tool(server, target, Json::from_trusted(arguments.clone()))
                    }
                    CallKind::Resource => ProposedCall::resource(server, target),
                };
                let ended = match self.prior_attempt().await {
                    PriorAttempt::Begun(full) if is_running_task(&full) => {
                        self.resume_task(&full, *wanted).await
                    }
                    PriorAttempt::Begun(full) => self.end_from_full(&full, *wanted).await,
                    PriorAttempt::CannotTell(why) => {
                        let outcome = Outcome::unknown("interrupted", why);
                        self.end_from_outcome(&outcome, *wanted).await
                    }
                    PriorAttempt::NotBegun if self.given_up => {
                        CallEnd::not_run(OutcomeKind::Cancelled, texts::CANCELLED)
                    }
                    PriorAttempt::NotBegun => self.call(proposed, *wanted).await,
                };
                // Messages that the server sent before its answer are reported with it.
                self.parts.host.caught_up(server).await;
                self.with_origin(server, target, ended)
            }
            TurnCallKind::Own | TurnCallKind::Mistake { .. } => {
                let ended = own_tools::run(&asked, &self.offer, sessions, &self.session).await;
                match own_tools::result_handle(&asked).filter(|_| ended.outcome == OutcomeKind::Ok)
                {
                    Some(handle) => self.label_result_part(&handle, ended).await,
                    None => ended,
                }
            }
        }
    }

    /// Labels a part of a long result with its origin, like the beginning of the result.
    async fn label_result_part(&self, handle: &str, ended: CallEnd) -> CallEnd {
        let kept = self.parts.sessions.text(&self.session, &origin_handle(handle)).await;
        let from = kept.ok().flatten();
        match from.as_deref().and_then(|from| from.split_once('\n')) {
            Some((server, target)) => self.with_label(server, target, ended),
            None => ended,
        }
    }

    /// Returns the reference of this call in the record, by which it is found after a crash.
    fn reference(&self) -> String {
        format!("{}/{}/{}", self.session, self.number, self.slot)
    }

    /// Looks up whether a process that died started this call. If the record cannot tell, the call
    /// is not run again, since it may have run.
    async fn prior_attempt(&self) -> PriorAttempt {
        if self.since == CallStart::Now {
            return PriorAttempt::NotBegun;
        }
        let ledger = self.parts.host.ledger();
        let found = match ledger.find_by_reference(&self.reference()).await {
            Ok(found) => found,
            Err(error) => {
                return PriorAttempt::CannotTell(format!("the record cannot be read: {error}"));
            }
        };
        match found {
            // A call that provably was not sent is decided and run like a new one.
            Some(full) if never_left(&full) => PriorAttempt::NotBegun,
            Some(full) => PriorAttempt::Begun(Box::new(full)),
            None if self.is_older_than_record().await => {
                PriorAttempt::CannotTell("its record was lost".to_owned())
            }
            None => PriorAttempt::NotBegun,
        }
    }

    /// Returns whether calls of this conversation may have been in a record that is lost.
    async fn is_older_than_record(&self) -> bool {
        let ConversationParts { host, sessions, .. } = &self.parts;
        let session = sessions.find(self.session.as_str()).await;
        match (host.ledger().recording_since().await, session) {
            (Ok(begun), Ok(session)) => begun.is_some_and(|begun| session.created_at < begun),
            (Err(_), _) | (_, Err(_)) => true,
        }
    }

    /// Waits for a call that another process started and its server continues as a task.
    async fn resume_task(&self, full: &FullCall, wanted: CallKind) -> CallEnd {
        let host = &self.parts.host;
        let id = full.summary.id;
        if self.given_up {
            self.stop.cancel();
        }
        let attention = |progress| CallOptions {
            cancel: self.stop.clone(),
            progress: Some(progress),
            ..CallOptions::default()
        };
        let waiting = self
            .with_progress(async |progress| host.tasks().finish(id, &attention(progress)).await);
        let mut record = waiting.await;
        if self.stop.is_cancelled() && record.as_ref().is_ok_and(|it| it.outcome.is_running()) {
            record = host.tasks().cancel(id).await;
        }
        match record {
            Ok(record) => self.end_from_record(&record, wanted).await,
            Err(error) => {
                self.end_from_outcome(&Outcome::unknown("task_away", error.to_string()), wanted)
                    .await
            }
        }
    }

    /// Runs `work` and forwards its progress reports as events.
    async fn with_progress<T>(&self, work: impl AsyncFnOnce(mpsc::Sender<Json>) -> T) -> T {
        let (progress, mut reports) = mpsc::channel(64);
        let listening = async {
            while let Some(report) = reports.recv().await {
                self.emit_progress(&report).await;
            }
        };
        // The receiver ends when `work` drops the sender.
        let (done, ()) = tokio::join!(work(progress), listening);
        done
    }

    async fn call(&self, proposed: ProposedCall, wanted: CallKind) -> CallEnd {
        let caller = Caller {
            face: self.parts.face,
            origin: Origin::Model,
            name: self.parts.model.info().profile.clone(),
            reference: Some(self.reference()),
        };
        let host = &self.parts.host;
        let calling = self.with_progress(async |progress| {
            let cancel = self.stop.clone();
            let attention =
                CallOptions { cancel, progress: Some(progress), ..CallOptions::default() };
            host.call_with(&self.offer.lease, proposed, &caller, &attention).await
        });
        let record = calling.await;
        self.end_from_record(&record, wanted).await
    }

    async fn emit_progress(&self, report: &Json) {
        #[derive(Deserialize)]
        struct ProgressReport {
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        if let Ok(ProgressReport { progress, total, message }) = report.read() {
            self.emit(Event::Progress { slot: self.slot, progress, total, message }).await;
        }
    }

    async fn end_from_record(&self, record: &Record, wanted: CallKind) -> CallEnd {
        let known = CallFacts {
            outcome: &record.outcome,
            wanted,
            verdict: record.verdict.as_ref().map(|(verdict, _)| *verdict),
            call: record.id.filter(|_| record.recorded).map(|id| id.to_string()),
            milliseconds: u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
            edited: record.edited.as_ref().map(text),
        };
        self.report_end(&known).await
    }

    /// Reports a call of a process that died. Without a recorded outcome, the call may have run.
    async fn end_from_full(&self, full: &FullCall, wanted: CallKind) -> CallEnd {
        let summary = &full.summary;
        let result = self.parts.host.ledger().load_result(full).await.ok().flatten();
        let outcome = match summary.outcome {
            Some(kind) => Outcome {
                error: None,
                kind,
                reason: summary.reason.clone(),
                message: full.message.clone(),
                hint: full.hint.clone(),
                result,
            },
            None => Outcome::unknown("interrupted", "its process went away while it ran"),
        };
        let known = CallFacts {
            outcome: &outcome,
            wanted,
            verdict: summary.verdict.as_ref().map(|(verdict, _)| *verdict),
            call: Some(summary.id.to_string()),
            milliseconds: summary
                .duration
                .map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            edited: full.sent_arguments.as_ref().map(text),
        };
        self.report_end(&known).await
    }

    async fn end_from_outcome(&self, outcome: &Outcome, wanted: CallKind) -> CallEnd {
        let known =
            CallFacts { outcome, wanted, verdict: None, call: None, milliseconds: 0, edited: None };
        self.report_end(&known).await
    }

    async fn report_end(&self, known: &CallFacts<'_>) -> CallEnd {
        let handle = format!("r{}-{}", self.number, self.slot + 1);
        let limit = self.parts.settings.result_chars;
        let ModelReport { mut ended, whole } = report_call(known, limit, &handle);
        if let Some(whole) = whole
            && let Err(error) = self.store_text(&handle, &whole).await
        {
            ended.text.push_str(&format!("\n\n[The whole text could not be kept: {error}.]"));
        }
        ended
    }

    /// Stores a long text and its origin. The origin comes first, so that the text is never read
    /// without it.
    async fn store_text(&self, handle: &str, whole: &str) -> Result<(), SessionError> {
        let sessions = &self.parts.sessions;
        let session = &self.session;
        if let Some((server, target)) = &self.from {
            let from = format!("{server}\n{target}");
            sessions.keep_text(session, &origin_handle(handle), &from).await?;
        }
        sessions.keep_text(session, handle, whole).await
    }

    /// Adds the messages that the server sent meanwhile, and labels the text with its origin.
    fn with_origin(&self, server: &str, target: &str, mut ended: CallEnd) -> CallEnd {
        if let Some(said) = self.notices.take(server) {
            ended.text.push_str("\n\n");
            ended.text.push_str(&said);
        }
        self.with_label(server, target, ended)
    }

    /// Labels a text with its origin, with a warning if it contains instructions.
    fn with_label(&self, server: &str, target: &str, mut ended: CallEnd) -> CallEnd {
        // A target may be crafted to look like the end of the label.
        let origin = escape_line(&format!("{server}/{target}")).replace('`', "'");
        let ours = matches!(ended.outcome, OutcomeKind::Rejected | OutcomeKind::Denied);
        if !ours && let Some(found) = provenance(&origin, &ended.text) {
            ended.text = format!("{}\n\n{}", found.label, ended.text);
            self.parts.host.events().emit(|| Happened::ResultFlagged {
                call: ended.call.clone(),
                server: server.to_owned(),
                target: target.to_owned(),
                severity: found.severity.as_str(),
                rules: found.rules,
            });
        } else if has_server_text(ended.outcome) && !self.is_trusted(server) {
            ended.origin = Some(origin);
        }
        ended
    }

    fn is_trusted(&self, server: &str) -> bool {
        let config = self.parts.host.config().load();
        config.servers.get(server).is_some_and(switchboard_host::policy::is_trusted)
    }

    async fn emit(&self, event: Event) {
        // The face may have gone; the call is recorded without it.
        _ = self.events.send(event).await;
    }
}

/// Returns the handle under which the origin of a text is stored.
fn origin_handle(handle: &str) -> String {
    format!("{handle}.from")
}

/// Returns whether the server continues the call as a task.
fn is_running_task(full: &FullCall) -> bool {
    full.summary.outcome.is_none() && full.summary.task.is_some()
}

/// Returns whether the process that made the call died before anything was sent.
fn never_left(full: &FullCall) -> bool {
    full.summary.outcome == Some(OutcomeKind::NotSent)
        && full.summary.reason.as_deref() == Some("host_crash")
}

/// Returns whether the report to the model contains text of the server.
const fn has_server_text(outcome: OutcomeKind) -> bool {
    match outcome {
        OutcomeKind::Ok | OutcomeKind::ToolError | OutcomeKind::Refused | OutcomeKind::Failed => {
            true
        }
        OutcomeKind::InvalidOutput
        | OutcomeKind::Denied
        | OutcomeKind::Rejected
        | OutcomeKind::NotSent
        | OutcomeKind::Unknown
        | OutcomeKind::Cancelled => false,
    }
}

fn text(bytes: &bytes::Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
