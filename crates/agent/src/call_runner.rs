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

/// Whether an earlier process may have started a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallStart {
    Now,
    AnotherProcess,
}

/// The result of looking up a call that another process may have started.
enum PriorAttempt {
    NotBegun,
    Begun(Box<FullCall>),
    CannotTell(String),
}

/// Runs one call of an answer, identified by `number` and `slot`.
pub(crate) struct CallRunner {
    pub(crate) parts: ConversationParts,
    pub(crate) session: SessionId,
    pub(crate) offer: std::sync::Arc<ToolOffer>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) notices: ServerNotices,
    pub(crate) stop: CancellationToken,
    pub(crate) since: CallStart,
    /// Whether the user cancelled the calls of this answer, perhaps in an earlier process.
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
                let sessions = &self.parts.sessions;
                let ended = own_tools::run(&asked, &self.offer, sessions, &self.session).await;
                match own_tools::result_handle(&asked).filter(|_| ended.outcome == OutcomeKind::Ok)
                {
                    Some(handle) => self.label_result_part(&handle, ended).await,
                    None => ended,
                }
            }
        }
    }

    /// Labels a part of a long result with its origin, as the truncated result was labelled.
    async fn label_result_part(&self, handle: &str, ended: CallEnd) -> CallEnd {
        let kept = self.parts.sessions.text(&self.session, &origin_handle(handle)).await;
        // Texts without an origin are not results: the part of the conversation that was cut.
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

    /// Looks up whether a process that died started this call.
    async fn prior_attempt(&self) -> PriorAttempt {
        if self.since == CallStart::Now {
            return PriorAttempt::NotBegun;
        }
        let ledger = self.parts.host.ledger();
        let found = match ledger.find_by_reference(&self.reference()).await {
            Ok(found) => found,
            // Not run again: without the record, the call may have run.
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
            // Fail closed: a call that may have run is not repeated.
            (Err(_), _) | (_, Err(_)) => true,
        }
    }

    /// Waits for a call of another process that its server still runs as a task.
    async fn resume_task(&self, full: &FullCall, wanted: CallKind) -> CallEnd {
        let host = &self.parts.host;
        let id = full.summary.id;
        if self.given_up {
            // The cancel was stored, but the process may have died before it reached the server.
            self.stop.cancel();
        }
        let options = |progress| CallOptions {
            cancel: self.stop.clone(),
            progress: Some(progress),
            ..CallOptions::default()
        };
        let mut record = self
            .with_progress(async |progress| host.tasks().finish(id, &options(progress)).await)
            .await;
        // Cancelling the wait leaves the task running at its server.
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
            let options =
                CallOptions { cancel, progress: Some(progress), ..CallOptions::default() };
            host.call_with(&self.offer.lease, proposed, &caller, &options).await
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
        // Progress is optional in MCP, so a malformed report is dropped.
        if let Ok(ProgressReport { progress, total, message }) = report.read() {
            self.emit(Event::Progress { slot: self.slot, progress, total, message }).await;
        }
    }

    async fn end_from_record(&self, record: &Record, wanted: CallKind) -> CallEnd {
        let known = CallFacts {
            outcome: &record.outcome,
            wanted,
            verdict: record.verdict.as_ref().map(|(verdict, _)| *verdict),
            // An id that is not in the record would lead a reader nowhere.
            call: record.id.filter(|_| record.recorded).map(|id| id.to_string()),
            milliseconds: u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
            edited: record.edited.as_ref().map(text),
        };
        self.report_end(&known).await
    }

    /// Reports a call of a process that died; without a recorded outcome, the call may have run.
    async fn end_from_full(&self, full: &FullCall, wanted: CallKind) -> CallEnd {
        let summary = &full.summary;
        // An unreadable result is reported as empty: the recorded outcome counts either way.
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
            None => Outcome::unknown("interrupted", "its process exited during the call"),
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
            ended.text.push_str(&format!("\n\n[The full text could not be stored: {error}.]"));
        }
        ended
    }

    async fn store_text(&self, handle: &str, whole: &str) -> Result<(), SessionError> {
        let sessions = &self.parts.sessions;
        let session = &self.session;
        // The origin first, so that a text can never be read without its label.
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
        // Neither a rejection nor a denial contains text from the server.
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

fn origin_handle(handle: &str) -> String {
    format!("{handle}.from")
}

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
