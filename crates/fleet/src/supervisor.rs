//! The supervisor task: reconciles configured and running servers and publishes the fleet.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_catalog::{Fleet, Health, Instance, Offers, Server, ServerFailure, ServerStatus};
use switchboard_config::{Config, ServerConfig, Transport};
use switchboard_core::{Changes, EventKind, Published, ServerId};
use switchboard_wire::Agreement;
use tokio::sync::mpsc;

use crate::connect_context::ConnectContext;
use crate::connection::{ConnectionControl, ConnectionReport, ServerConnection};

/// A command to the supervisor.
#[derive(Clone, Debug)]
pub enum SupervisorCommand {
    Restart(ServerId),
    /// Enables or disables a server until the configuration changes.
    Enable(ServerId, bool),
}

/// The task that keeps the configured servers running.
pub struct Supervisor {
    context: Arc<ConnectContext>,
    only: Option<Vec<ServerId>>,
    fleet: Published<Fleet>,
    entries: BTreeMap<ServerId, SupervisedServer>,
    /// The server and instance that each generation belongs to.
    generations: BTreeMap<u64, (ServerId, usize)>,
    next_generation: u64,
    edition: u64,
    reports: mpsc::Sender<(u64, ConnectionReport)>,
}

struct SupervisedServer {
    config: Option<Arc<ServerConfig>>,
    inactive_status: Option<ServerStatus>,
    instances: Vec<InstanceHandle>,
    offers: Arc<Offers>,
    agreement: Option<Arc<Agreement>>,
}

struct InstanceHandle {
    instance: Instance,
    control: ConnectionControl,
    generation: u64,
}

impl Supervisor {
    /// Starts the servers of `config`, or only those in `only`, and keeps them running.
    pub fn start(
        around: ConnectContext,
        only: Option<Vec<ServerId>>,
        mut config: Changes<Config>,
        commands: mpsc::Receiver<SupervisorCommand>,
    ) -> Published<Fleet> {
        let fleet = Published::new(Fleet::default());
        let (reports, received) = mpsc::channel(256);
        let tasks = around.tasks.clone();
        let mut supervisor = Self {
            context: Arc::new(around),
            only,
            fleet: fleet.clone(),
            entries: BTreeMap::new(),
            generations: BTreeMap::new(),
            next_generation: 1,
            edition: 0,
            reports,
        };
        supervisor.reconcile(&config.load());
        tasks.spawn(supervisor.run(config, commands, received));
        fleet
    }

    async fn run(
        mut self,
        mut config: Changes<Config>,
        mut commands: mpsc::Receiver<SupervisorCommand>,
        mut reports: mpsc::Receiver<(u64, ConnectionReport)>,
    ) {
        let stopping = self.context.tasks.stop_token().clone();
        loop {
            tokio::select! {
                // Connections stop too: their tokens are children of this one.
                () = stopping.cancelled() => return,
                newer = config.changed() => self.reconcile(&newer),
                Some(command) = commands.recv() => self.handle_command(command),
                Some((generation, report)) = reports.recv() => self.apply_report(generation, report),
            }
        }
    }

    /// Reconciles the running servers with the configuration. Unchanged servers keep running.
    fn reconcile(&mut self, config: &Config) {
        let wanted = |id: &ServerId| self.only.as_ref().is_none_or(|only| only.contains(id));
        let gone: Vec<ServerId> = self
            .entries
            .keys()
            .filter(|id| !config.servers.contains_key(*id) && !config.broken.contains_key(*id))
            .cloned()
            .collect();
        let broken: Vec<_> = config
            .broken
            .iter()
            .filter(|(id, _)| wanted(id))
            .map(|(id, error)| {
                let hint = error.hint.as_deref().map(str::to_owned);
                (id.clone(), ServerFailure { hint, ..ServerFailure::new(error.to_string()) })
            })
            .collect();
        let servers: Vec<_> =
            config.servers.values().filter(|server| wanted(&server.id)).cloned().collect();
        for id in gone {
            self.retire(&id);
            self.entries.remove(&id);
            self.context.events.emit(|| EventKind::ServerChanged {
                server: id.to_string(),
                status: "gone".to_owned(),
                detail: None,
            });
        }
        for (id, failure) in broken {
            self.retire(&id);
            self.entries
                .insert(id, SupervisedServer::inactive(None, ServerStatus::Failed(failure)));
        }
        for server in servers {
            self.ensure_server(Arc::new(server));
        }
        self.edition += 1;
        self.publish_all();
    }

    fn ensure_server(&mut self, config: Arc<ServerConfig>) {
        let id = config.id.clone();
        if let Some(entry) = self.entries.get_mut(&id)
            && let Some(old) = &entry.config
            && old.restart_key() == config.restart_key()
        {
            // The other settings, such as timeouts, apply without a restart.
            entry.config = Some(config);
            return;
        }
        self.retire(&id);
        // The policy comes first: approving or enabling a server that it bars would not help.
        let entry = if let Some(why) = &config.barred {
            let failure = ServerFailure::new(why.as_str());
            SupervisedServer::inactive(Some(config), ServerStatus::NotAllowed(failure))
        } else if config.disabled {
            SupervisedServer::inactive(Some(config), ServerStatus::Disabled)
        } else if !config.approved {
            SupervisedServer::inactive(Some(config), ServerStatus::NeedsApproval)
        } else {
            self.launch(config)
        };
        self.entries.insert(id, entry);
    }

    fn launch(&mut self, config: Arc<ServerConfig>) -> SupervisedServer {
        let count = match &config.transport {
            Transport::Http { urls, .. } => urls.len().max(1),
            Transport::Stdio { .. } => config.instances.max(1),
            Transport::Builtin => 1,
        };
        let before = self.entries.get(&config.id);
        // The offers of a changed server stay visible until it has been listed again.
        let offers = before.map(|entry| Arc::clone(&entry.offers)).unwrap_or_default();
        let mut entry = SupervisedServer {
            offers,
            ..SupervisedServer::inactive(Some(Arc::clone(&config)), ServerStatus::Starting)
        };
        entry.inactive_status = None;
        for number in 0..count {
            let generation = self.next_generation;
            self.next_generation += 1;
            self.generations.insert(generation, (config.id.clone(), number));
            let control = ConnectionControl {
                stop: self.context.tasks.stop_token().child_token(),
                ..ConnectionControl::default()
            };
            let health = Arc::new(Health::default());
            let connection = ServerConnection {
                config: Arc::clone(&config),
                number,
                previous_offers: Arc::clone(&entry.offers),
                generation,
                health: Arc::clone(&health),
                context: Arc::clone(&self.context),
                control: control.clone(),
                reports: self.reports.clone(),
            };
            self.context.tasks.spawn(connection.run());
            let instance = Instance { number, status: ServerStatus::Starting, peer: None, health };
            entry.instances.push(InstanceHandle { instance, control, generation });
        }
        entry
    }

    /// Retires a server's connections; their calls in flight may still end.
    fn retire(&mut self, id: &ServerId) {
        if let Some(entry) = self.entries.get_mut(id) {
            for held in entry.instances.drain(..) {
                held.control.retire.cancel();
                self.generations.remove(&held.generation);
            }
        }
    }

    fn handle_command(&mut self, command: SupervisorCommand) {
        match command {
            SupervisorCommand::Restart(id) => {
                if let Some(entry) = self.entries.get(&id) {
                    entry.instances.iter().for_each(|held| held.control.restart.notify_one());
                }
            }
            SupervisorCommand::Enable(id, enabled) => {
                let config = self.entries.get(&id).and_then(|entry| entry.config.clone());
                if let Some(config) = config {
                    self.ensure_server(Arc::new(ServerConfig {
                        disabled: !enabled,
                        ..(*config).clone()
                    }));
                    self.edition += 1;
                    self.publish(&id);
                }
            }
        }
    }

    fn apply_report(&mut self, generation: u64, report: ConnectionReport) {
        // A retired connection may still report, but must not overwrite its successor's state.
        let Some((id, number)) = self.generations.get(&generation).cloned() else { return };
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let Some(held) = entry.instances.get_mut(number) else { return };
        match report {
            ConnectionReport::Down(status) => {
                held.instance.peer = None;
                held.instance.status = status;
            }
            ConnectionReport::Ready { peer, agreement, offers } => {
                held.instance.peer = Some(peer);
                held.instance.status = ServerStatus::Ready;
                entry.agreement = Some(agreement);
                entry.offers = offers;
                self.edition += 1;
            }
            ConnectionReport::Offers(offers) => {
                entry.offers = offers;
                self.edition += 1;
            }
        }
        self.publish(&id);
    }

    fn publish(&self, id: &ServerId) {
        let before = self.fleet.load();
        let mut servers = before.servers.clone();
        if let Some(entry) = self.entries.get(id) {
            servers.insert(id.clone(), self.snapshot(id, entry, &before));
        }
        self.fleet.publish(Fleet { servers, edition: self.edition, ..Fleet::default() });
    }

    fn publish_all(&self) {
        let before = self.fleet.load();
        let mut servers = BTreeMap::new();
        for (id, entry) in &self.entries {
            servers.insert(id.clone(), self.snapshot(id, entry, &before));
        }
        self.fleet.publish(Fleet { servers, edition: self.edition, ..Fleet::default() });
    }

    /// Returns a server to publish; emits an event if its status differs from `before`.
    fn snapshot(&self, id: &ServerId, entry: &SupervisedServer, before: &Fleet) -> Arc<Server> {
        let server = entry.server(id);
        if before.servers.get(id).is_none_or(|old| old.status != server.status) {
            self.context.events.emit(|| EventKind::ServerChanged {
                server: server.id.to_string(),
                status: server.status.word().to_owned(),
                detail: server.status.failure().map(|failure| failure.message.clone()),
            });
        }
        Arc::new(server)
    }
}

impl SupervisedServer {
    fn inactive(config: Option<Arc<ServerConfig>>, status: ServerStatus) -> Self {
        let instances = Vec::new();
        let offers = Arc::default();
        Self { config, inactive_status: Some(status), instances, offers, agreement: None }
    }

    fn server(&self, id: &ServerId) -> Server {
        let instances: Vec<Instance> =
            self.instances.iter().map(|held| held.instance.clone()).collect();
        // The server is as usable as its best instance.
        let best =
            instances.iter().map(|instance| &instance.status).max_by_key(|status| status.rank());
        let status = self
            .inactive_status
            .clone()
            .or_else(|| best.cloned())
            .unwrap_or(ServerStatus::Starting);
        Server {
            id: id.clone(),
            config: self.config.clone(),
            status,
            instances,
            offers: Arc::clone(&self.offers),
            agreement: self.agreement.clone(),
        }
    }
}
