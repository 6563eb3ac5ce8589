//! Calls through the `switchboard serve` that runs for this home: its servers are not started again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_console::{CallEnded, Proposer, TaskWanted, Told, WantedCall, Whom};
use switchboard_host::connect::definition;
use switchboard_host::execute::TaskWish;
use switchboard_host::format::escape_line;
use switchboard_host::review::{Asked, Given};
use switchboard_host::{Json, Origin, Outcome, ProposedCall, Target};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::args::OfServer;
use crate::args_review::Patience;
use crate::commands::beside_running;
use crate::commands::call::How;
use crate::commands::outcome::Ended;
use crate::commands::tool_row::ToolRow;
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;
use crate::running_instance::{Instance, encoded};
use crate::running_stream::CallStream;
use crate::ui::passed_on::{self, Putting};
use crate::ui::progress;

/// The longest call that is passed on.
const LONGEST: usize = 32 << 20;
/// As long we wait to hear that a call was given up.
const GIVING_UP: Duration = Duration::from_secs(10);
/// What is part of this program needs no start, and looks at the folder that it is called in.
const BUILT_IN: &str = "built in";

/// A server of the instance that runs.
pub(crate) struct RunningServer {
    instance: Instance,
    name: String,
}

impl RunningServer {
    /// The server, ready where it runs; nothing if it is not: the usual way has the words for why.
    pub(crate) async fn find(context: &Context, name: &str) -> Result<Option<Self>, CliError> {
        let of = OfServer { server: Some(name.to_owned()) };
        let looking = async {
            let (instance, rows) = Instance::find(context).await?;
            let is_it = |row: &&Value| row["name"] == name;
            let row = rows.iter().find(is_it)?;
            if row["transport"] == BUILT_IN {
                return None;
            }
            beside_running::settled(context, &instance, &of, rows).await?;
            Some(Self { instance, name: name.to_owned() })
        };
        let found = context.interrupts.token().run_until_cancelled(looking).await;
        let found = found.ok_or_else(interrupted)?;
        if let Some(found) = &found {
            found.tell_held(context).await;
        }
        Ok(found)
    }

    /// What a tool takes.
    pub(crate) async fn schema(&self, tool: &str) -> Option<Value> {
        let (server, tool) = (encoded(&self.name), encoded(tool));
        let path = format!("/api/v1/catalog/tools/{server}/{tool}");
        let row: ToolRow = self.instance.get(&path).await?;
        serde_json::from_str(definition(&row.item()).input_schema?.get()).ok()
    }

    /// How the value of an argument may go on; nothing if it does not say.
    pub(crate) async fn complete(&self, begun: &Value) -> Option<Value> {
        self.instance.tell("/api/v1/complete", begun).await
    }

    /// Makes a call there; nothing if it was not taken, and so has not run.
    pub(crate) async fn call(
        &self,
        context: &Context,
        proposed: &ProposedCall,
        how: &How<'_>,
    ) -> Result<Option<Ended>, CliError> {
        let Some(wanted) = wanted(context, proposed, how) else { return Ok(None) };
        let target = &proposed.target;
        let limit_bytes = context.silent_config().settings.result_limit_bytes;
        let stop = context.interrupts.token();
        let beginning = self.instance.begin_call(&wanted, limit_bytes);
        let begun = stop.run_until_cancelled(beginning).await.ok_or_else(interrupted)?;
        let Some(stream) = begun.map_err(|_| gone(target))? else { return Ok(None) };
        let (progress, bar) = progress::show(&context.printer, &format!("calling {target}"));
        // The question needs the terminal for itself.
        if how.caller.origin != Origin::Person {
            bar.finish_and_clear();
        }
        let is_needed = Arc::new(AtomicBool::new(false));
        let minded = Arc::clone(&is_needed);
        context.interrupts.mind(move || minded.load(Ordering::Acquire));
        let following = Following {
            context,
            instance: &self.instance,
            stream,
            progress,
            call: None,
            current: None,
            waiting: VecDeque::new(),
            is_needed,
        };
        let ended = following.until_the_end().await;
        bar.finish_and_clear();
        match ended {
            Some(ended) => Ok(Some(ended_of(ended))),
            None if stop.is_cancelled() => Err(interrupted()),
            None => Err(gone(target)),
        }
    }

    /// What a person has to look at before it can be used.
    async fn tell_held(&self, context: &Context) {
        let name = &self.name;
        let held: Vec<Value> = self.instance.get("/api/v1/pins").await.unwrap_or_default();
        let Some(held) = held.iter().find(|one| one["server"] == **name) else { return };
        let count = held["definitions"].as_array().map_or(0, Vec::len);
        let what = match (held["whole"].as_str(), count) {
            (Some(why), _) => format!("is held: {why}"),
            (None, 1) => "has a definition that is held".to_owned(),
            (None, _) => format!("has {count} definitions that are held"),
        };
        let hint = format!("look with `switchboard pins diff {name}`");
        context.printer.warn(&escape_line(&format!("server `{name}` {what}")), Some(&hint));
    }
}

/// What is told there of what is wanted; nothing if it cannot be told.
fn wanted(context: &Context, proposed: &ProposedCall, how: &How<'_>) -> Option<WantedCall> {
    let ProposedCall { target, arguments } = proposed;
    let text = arguments.as_str();
    let people = match how.patience {
        _ if context.has_person() => Whom::Here,
        Some(_) => Whom::Elsewhere,
        None => Whom::Nobody,
    };
    let wait_seconds = match how.patience {
        Some(Patience::For(limit)) => Some(limit.as_secs()),
        Some(Patience::Usual) | None => None,
    };
    let origin = match how.caller.origin {
        Origin::Person => Proposer::Person,
        Origin::Model | Origin::Client => Proposer::Model,
    };
    let task = match how.wish {
        TaskWish::AsConfigured => TaskWanted::AsConfigured,
        TaskWish::Task => TaskWanted::Task,
        TaskWish::Detach => TaskWanted::Detach,
    };
    Some(WantedCall {
        server: target.server.clone(),
        kind: target.kind.as_str().to_owned(),
        name: target.name.clone(),
        arguments: Some(RawValue::from_string(text.to_owned()).ok()?),
        origin,
        people,
        wait_seconds,
        task,
    })
    .filter(|_| text.len() <= LONGEST)
}

/// A call that runs elsewhere, and what this terminal has to do with it.
struct Following<'a> {
    context: &'a Context,
    instance: &'a Instance,
    stream: CallStream,
    progress: mpsc::Sender<Json>,
    /// Its name there.
    call: Option<String>,
    /// The question that the person reads.
    current: Option<(u64, Putting)>,
    /// Those that come after it.
    waiting: VecDeque<(u64, Asked, Option<String>)>,
    /// Whether something waits for a person.
    is_needed: Arc<AtomicBool>,
}

impl Following<'_> {
    /// How it ended; nothing if that is not told.
    async fn until_the_end(mut self) -> Option<CallEnded> {
        let stop = self.context.interrupts.token().clone();
        let mut until: Option<Instant> = None;
        loop {
            let may_give_up = until.is_none() && self.call.is_some();
            tokio::select! {
                biased;
                told = self.stream.next() => match told.ok()? {
                    Told::Ended(ended) => return Some(ended),
                    told => self.take(told),
                },
                () = stop.cancelled(), if may_give_up => {
                    until = Some(Instant::now() + GIVING_UP);
                    self.send("give-up", &json!({})).await;
                }
                () = at(until) => return None,
                (question, given) = answered(&mut self.current) => {
                    self.current = None;
                    self.answer(question, &given).await;
                    self.put_next();
                }
            }
        }
    }

    fn take(&mut self, told: Told) {
        match told {
            Told::Began { call } => self.call = Some(call),
            // Whoever does not keep up hears of the next.
            Told::Progress { report } => drop(self.progress.try_send(Json::from(&report))),
            Told::Asked { question, asked, anyway } => {
                self.waiting.push_back((question, asked, anyway));
                self.put_next();
            }
            Told::Over { question } => {
                self.waiting.retain(|(number, ..)| *number != question);
                if self.current.as_ref().is_some_and(|(number, _)| *number == question) {
                    self.current = None;
                }
                self.put_next();
            }
            Told::Waits { .. } => {
                self.is_needed.store(true, Ordering::Release);
                passed_on::tell(self.context, &told);
            }
            told => {
                if matches!(told, Told::AnsweredElsewhere { .. } | Told::Expired) {
                    self.put_next();
                }
                passed_on::tell(self.context, &told);
            }
        }
    }

    /// Puts the next question, if none is being read: one person reads one at a time.
    fn put_next(&mut self) {
        if self.current.is_none() {
            let next = self.waiting.pop_front();
            self.current = next.map(|(question, asked, anyway)| {
                (question, passed_on::put(self.context, asked, anyway))
            });
        }
        self.is_needed.store(self.current.is_some(), Ordering::Release);
    }

    async fn answer(&self, question: u64, given: &Given) {
        let mut body = json!({"question": question, "answer": given.word()});
        let with = match given {
            Given::RunWith(arguments) => Some(("arguments", json!(arguments))),
            Given::Reject(words) => Some(("words", json!(words))),
            Given::Accept(Some(content)) => Some(("content", json!(content))),
            Given::Run
            | Given::Session
            | Given::Always
            | Given::Skip
            | Given::Accept(None)
            | Given::Decline
            | Given::Cancel => None,
        };
        if let (Some((name, value)), Some(members)) = (with, body.as_object_mut()) {
            members.insert(name.to_owned(), value);
        }
        // If somebody else was faster, that is told.
        self.send("answer", &body).await;
    }

    async fn send(&self, what: &str, body: &Value) {
        let call = self.call.as_deref().unwrap_or_default();
        let path = format!("/api/v1/calls/{}/{what}", encoded(call));
        // Where it does not arrive, the stream of the call ends as well.
        tokio::time::timeout(GIVING_UP, self.instance.tell(&path, body)).await.ok();
    }
}

async fn answered(current: &mut Option<(u64, Putting)>) -> (u64, Given) {
    match current {
        Some((question, putting)) => (*question, putting.await),
        None => std::future::pending().await,
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

fn ended_of(ended: CallEnded) -> Ended {
    let outcome = Outcome {
        reason: ended.reason,
        message: ended.message,
        hint: ended.hint,
        result: ended.result.map(Into::into),
        ..Outcome::new(ended.outcome)
    };
    Ended {
        id: ended.id.and_then(|id| id.parse().ok()),
        outcome,
        duration: Duration::from_micros(ended.microseconds),
        recorded: ended.recorded,
    }
}

fn interrupted() -> CliError {
    CliError::new(exit_code::INTERRUPTED, "interrupted")
}

/// It is not called again: it may have run.
fn gone(target: &Target) -> CliError {
    let server = &target.server;
    let message = format!(
        "the `switchboard serve` that called `{target}` went away before it told how that ended; \
         it may have run"
    );
    let hint = format!("`switchboard calls --server {server}` shows what is known of it");
    CliError::new(exit_code::FAILED, message).with_hint(hint)
}
