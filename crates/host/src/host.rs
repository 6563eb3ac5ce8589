//! The handle on the engine: start, lease, call, watch, stop. Wiring, no logic.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_catalog::Fleet;
use switchboard_config::{Config, Environment, Places};
use switchboard_core::{Events, Published, ServerId, Tasks};
use switchboard_fleet::{
    Answers, ConnectContext, ConnectParts, ServerMessageStore, Subscriptions, Supervisor,
    SupervisorCommand,
};
use switchboard_oauth::Logins;
use switchboard_policy::ActiveRules;
use switchboard_rules::Pattern;
use switchboard_store::{Audit, CallId, Ledger, LedgerError, QueueFile};
use switchboard_trust::{AlwaysAllowed, PinGate, PinGateOptions, PinnedAnnotations};
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::call::in_flight::{InFlight, Registration, WhichCall};
use crate::call::session_answers::SessionAnswers;
use crate::config_watch::ConfigSource;
use crate::first_use::queue::FirstUseAsker;
use crate::hooks::{HookContext, HookSet, LiveHooks, notify_pending_reviews};
use crate::leases::Leases;
use crate::options::{FirstUseAsks, Options, Recording, StartError};
use crate::review::{Asker, DEFAULT_REVIEW_LIMIT, ReviewQueue, Reviewer};

/// The engine. Clones are handles on the same instance.
#[derive(Clone)]
pub struct Host {
    inner: Arc<HostInner>,
}

struct HostInner {
    config: Published<Config>,
    fleet: Published<Fleet>,
    messages: ServerMessageStore,
    subscriptions: Subscriptions,
    ledger: Ledger,
    reviewer: Arc<dyn Reviewer>,
    answers: Arc<dyn Answers>,
    in_flight: InFlight,
    waiting: ReviewQueue,
    commands: mpsc::Sender<SupervisorCommand>,
    events: Events,
    tasks: Tasks,
    start_limit: Duration,
    logins: Logins,
    places: Places,
    environment: Environment,
    allow: Vec<Pattern>,
    always_allowed: AlwaysAllowed,
    session_answers: SessionAnswers,
    rules: ActiveRules,
    hooks: LiveHooks,
    pins: PinGate,
    leases: Leases,
    audit: Audit,
}

impl Host {
    /// Loads the configuration and starts the servers, without waiting for them.
    pub fn start(options: Options) -> Result<Self, StartError> {
        let reading = config_source(&options);
        let Options { places, environment, reviewer, answers, lock, presence, .. } = options;
        let state = places.state.clone();
        let config = reading.load();
        // Without its deny rules, a host would allow too much.
        if let Some(problem) = &config.policies.broken {
            return Err(StartError::Policy(problem.clone()));
        }
        let ledger = open_ledger(options.record, &config, &state)?;
        let tasks = Tasks::default();
        let events = Events::default();
        let in_flight = InFlight::default();
        let waiting = options.waiting.unwrap_or_else(|| review_queue(options.record, &state));
        // Before any server starts: its first question already needs the table of calls.
        waiting.attach(events.clone(), in_flight.clone());
        let (commands, received) = mpsc::channel(16);
        let (late, late_answers) = mpsc::channel(64);
        let visitor = options.visitor;
        let settings = &config.settings;
        let logins = Logins::for_host(&state, &environment, settings, visitor, tasks.clone());
        let config = Published::new(config);
        answers.set_config(&config);
        let parts = ConnectParts {
            logins: logins.clone(),
            in_process: options.in_process,
            answers: Arc::clone(&answers),
            calls: Arc::new(in_flight.clone()),
            keeper: options.keeper.clone(),
            variables: environment.variables.clone(),
            config: config.clone(),
            roots: roots(&config.load(), &environment),
            state: Some(state.clone()),
            start_limit: options.start_limit,
            late_answers: late,
            tasks: tasks.clone(),
            events: events.clone(),
        };
        let around = ConnectContext::from(parts);
        let messages = around.messages().clone();
        let subscriptions = around.subscriptions().clone();
        let fleet = Supervisor::start(around, options.only, config.changes(), received);
        let around = HookContext {
            environment: &environment,
            config: &config,
            keeper: options.keeper,
            tasks: &tasks,
            events: &events,
        };
        let hooks = LiveHooks::start(&places, around);
        let audit = open_audit(options.record, &state);
        let pin_options = PinGateOptions { state, lock, presence };
        let pins = PinGate::start(fleet, &config, pin_options, &tasks, &events);
        let inner = HostInner {
            // Callers see only what the pins let through, never the supervisor's own fleet.
            fleet: pins.visible().clone(),
            leases: Leases::new(&config, &events),
            always_allowed: AlwaysAllowed::new(places.clone(), environment.clone()),
            config,
            messages,
            subscriptions,
            ledger,
            reviewer,
            answers,
            in_flight,
            waiting,
            commands,
            events,
            tasks,
            start_limit: options.start_limit,
            logins,
            places,
            environment,
            allow: options.allow,
            session_answers: SessionAnswers::default(),
            rules: ActiveRules::default(),
            hooks,
            pins,
            audit,
        };
        keep_late_answers(&inner.ledger, late_answers, &inner.tasks);
        reading.spawn_watch(&inner.config, &inner.tasks, &inner.events);
        inner.spawn_watchers(options.first_use);
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the tool annotations of servers, from approved and quarantined definitions.
    pub fn annotations(&self) -> PinnedAnnotations {
        PinnedAnnotations::load(&self.inner.places.state, &self.inner.config.load())
    }

    /// Waits until the first start of every server, or of the named ones, has succeeded or failed;
    /// at most twice the start limit.
    pub async fn wait_settled(&self, servers: Option<&[ServerId]>) {
        // A safety net: the supervisor enforces the start limit itself.
        let until = Instant::now() + self.inner.start_limit * 2;
        let mut changes = self.inner.fleet.changes();
        let mut fleet = changes.load();
        loop {
            let wanted = |id: &ServerId| servers.is_none_or(|wanted| wanted.contains(id));
            let waiting =
                fleet.servers.iter().any(|(id, server)| wanted(id) && !server.status.is_settled());
            if !waiting {
                return;
            }
            match timeout_at(until, changes.changed()).await {
                Ok(newer) => fleet = newer,
                Err(_) => return,
            }
        }
    }

    /// Sends a command to the supervisor of the servers.
    pub async fn command(&self, command: SupervisorCommand) {
        // The supervisor ends only with the host; no command is needed then.
        _ = self.inner.commands.send(command).await;
    }

    /// Returns the folder that holds the host's state.
    pub fn state_folder(&self) -> &std::path::Path {
        &self.inner.places.state
    }

    /// Returns the published fleet: the servers and their approved definitions.
    pub fn fleet(&self) -> &Published<Fleet> {
        &self.inner.fleet
    }

    /// Returns the published configuration.
    pub fn config(&self) -> &Published<Config> {
        &self.inner.config
    }

    /// Returns the record of all calls.
    pub fn ledger(&self) -> &Ledger {
        &self.inner.ledger
    }

    /// Returns the logins of servers.
    pub fn logins(&self) -> &Logins {
        &self.inner.logins
    }

    /// Returns the events of the host.
    pub fn events(&self) -> &Events {
        &self.inner.events
    }

    /// Returns the queue of pending reviews and questions, shared with other processes.
    pub fn reviews(&self) -> &ReviewQueue {
        &self.inner.waiting
    }

    /// Registers `asker` for the questions of one call, until the registration is dropped or the
    /// call ends. Other questions still go to the face.
    pub fn answer_for(&self, call: impl Into<WhichCall>, asker: Arc<dyn Asker>) -> Registration {
        self.inner.in_flight.register(call.into(), asker)
    }

    /// Returns the roots of the options or settings, or else the current folder.
    pub fn roots(&self) -> Vec<PathBuf> {
        roots(&self.inner.config.load(), &self.inner.environment)
    }

    /// Returns the log messages of servers.
    pub fn messages(&self) -> &ServerMessageStore {
        &self.inner.messages
    }

    /// Returns the token that is cancelled when the host stops.
    pub fn stop_token(&self) -> &CancellationToken {
        self.inner.tasks.stop_token()
    }

    /// Stops all tasks, connections and processes, and then the ledger.
    pub async fn stop(&self) {
        self.inner.tasks.stop(crate::call::pipeline::STOP_TIMEOUT).await;
        // Last, because calls that end during the stop still record their outcome.
        self.inner.ledger.stop().await;
    }

    pub(crate) fn subscriptions(&self) -> &Subscriptions {
        &self.inner.subscriptions
    }

    pub(crate) fn rules(&self) -> &ActiveRules {
        &self.inner.rules
    }

    pub(crate) fn live_hooks(&self) -> &LiveHooks {
        &self.inner.hooks
    }

    pub(crate) fn pins(&self) -> &PinGate {
        &self.inner.pins
    }

    pub(crate) fn leases(&self) -> &Leases {
        &self.inner.leases
    }

    pub(crate) fn session_answers(&self) -> &SessionAnswers {
        &self.inner.session_answers
    }

    pub(crate) fn always_allowed(&self) -> &AlwaysAllowed {
        &self.inner.always_allowed
    }

    /// Returns the audit log of definitions and entries. Reading and writing it block.
    pub fn audit(&self) -> &Audit {
        &self.inner.audit
    }

    /// Returns the hooks of all levels, whether or not they are in force.
    pub fn hooks(&self) -> Arc<HookSet> {
        self.inner.hooks.set()
    }

    pub(crate) fn allow_patterns(&self) -> &[Pattern] {
        &self.inner.allow
    }

    pub(crate) fn reviewer(&self) -> &Arc<dyn Reviewer> {
        &self.inner.reviewer
    }

    /// Returns the answers to requests of servers, for callers without their own.
    pub fn answers(&self) -> &Arc<dyn Answers> {
        &self.inner.answers
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.inner.in_flight
    }

    pub(crate) fn start_timeout(&self) -> Duration {
        self.inner.start_limit
    }
}

impl HostInner {
    fn spawn_watchers(&self, first_use: FirstUseAsks) {
        notify_pending_reviews(&self.config, &self.environment, &self.tasks, &self.events);
        self.leases.spawn_audit(&self.pins, self.audit.clone(), &self.tasks);
        if first_use == FirstUseAsks::InQueue {
            let asker = FirstUseAsker {
                config: self.config.clone(),
                waiting: self.waiting.clone(),
                audit: self.audit.clone(),
                state: self.places.state.clone(),
            };
            asker.follow(self.pins.quarantine(), &self.tasks);
        }
    }
}

fn config_source(options: &Options) -> ConfigSource {
    ConfigSource {
        places: options.places.clone(),
        environment: options.environment.clone(),
        roots: options.roots.clone(),
        in_process: options.in_process.keys().cloned().collect(),
        lock: options.lock.clone(),
        verify: switchboard_policy::check_examples,
    }
}

fn open_ledger(
    record: Recording,
    config: &Config,
    state: &std::path::Path,
) -> Result<Ledger, LedgerError> {
    match record {
        Recording::Off => Ok(Ledger::off()),
        Recording::On => Ledger::open(&ledger_file(state), config.settings.durability),
    }
}

fn open_audit(record: Recording, state: &std::path::Path) -> Audit {
    match record {
        Recording::Off => Audit::off(),
        Recording::On => Audit::in_state_folder(state),
    }
}

fn review_queue(record: Recording, state: &std::path::Path) -> ReviewQueue {
    let file = match record {
        Recording::Off => QueueFile::in_memory(),
        Recording::On => QueueFile::in_state_folder(state),
    };
    ReviewQueue::new(file, DEFAULT_REVIEW_LIMIT)
}

/// Stores answers that arrive after their call has ended, without changing its outcome.
fn keep_late_answers(ledger: &Ledger, mut late: mpsc::Receiver<(u64, Json)>, tasks: &Tasks) {
    let ledger = ledger.clone();
    let stopping = tasks.stop_token().clone();
    tasks.spawn(async move {
        while let Some(Some((tag, answer))) = stopping.run_until_cancelled(late.recv()).await {
            let id = CallId::new(tag.cast_signed());
            // The outcome is recorded already; a ledger that cannot be written reports its status.
            _ = ledger.store_late_answer(id, answer.bytes().clone()).await;
        }
    });
}

/// Returns the path of the ledger below the state folder.
#[must_use]
pub fn ledger_file(state: &std::path::Path) -> PathBuf {
    // A separate folder: the state folder is watched for approvals, and the ledger changes often.
    state.join("record").join("calls.db")
}

fn roots(config: &Config, environment: &Environment) -> Vec<PathBuf> {
    match config.settings.roots.as_slice() {
        [] => vec![environment.current_dir.clone()],
        roots => roots.to_vec(),
    }
}
