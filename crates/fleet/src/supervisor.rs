//! One task: servers wanted against servers live; publishes the fleet.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_catalog::{Failure, Fleet, Health, Instance, Offers, Server, Status};
use switchboard_config::{Config, ServerConfig, Transport};
use switchboard_core::{Changes, Published, ServerId, What};
use switchboard_wire::handshake::Agreement;
use tokio::sync::mpsc;

use crate::connect_context::Surroundings;
use crate::connection::{Connection, Reins, Report};

/// What can be asked of the supervisor at run time.
#[derive(Clone, Debug)]
pub enum Command {
    /// Start a server again.
    Restart(ServerId),
    /// Switch a server on or off until the configuration changes.
    Enable(ServerId, bool),
}

/// Keeps the wanted servers alive.
pub struct Supervisor {
    around: Arc<Surroundings>,
    only: Option<Vec<ServerId>>,
    fleet: Published<Fleet>,
    entries: BTreeMap<ServerId, Entry>,
    /// Which server and instance a generation belongs to.
    generations: BTreeMap<u64, (ServerId, usize)>,
    next_generation: u64,
    edition: u64,
    reports: mpsc::Sender<(u64, Report)>,
}

/// One wanted server.
struct Entry {
    config: Option<Arc<ServerConfig>>,
    resting: Option<Status>,
    instances: Vec<Held>,
    offers: Arc<Offers>,
    agreement: Option<Arc<Agreement>>,
}

struct Held {
    instance: Instance,
    reins: Reins,
    generation: u64,
}

impl Supervisor {
    /// Starts the wanted servers of `config`, all at once, and keeps them until the host stops.
    ///
    /// With `only`, other servers are left alone.
    pub fn start(
        around: Surroundings,
        only: Option<Vec<ServerId>>,
        config: Changes<Config>,
        commands: mpsc::Receiver<Command>,
    ) -> Published<Fleet> {
        let fleet = Published::new(Fleet::default());
        let (reports, received) = mpsc::channel(256);
        let tasks = around.tasks.clone();
        let mut supervisor = Self {
            around: Arc::new(around),
            only,
            fleet: fleet.clone(),
            entries: BTreeMap::new(),
            generations: BTreeMap::new(),
            next_generation: 1,
            edition: 0,
            reports,
        };
        let mut config = config;
        supervisor.reconcile(&config.load());
        tasks.spawn(supervisor.run(config, commands, received));
        fleet
    }

    async fn run(
        mut self,
        mut config: Changes<Config>,
        mut commands: mpsc::Receiver<Command>,
        mut reports: mpsc::Receiver<(u64, Report)>,
    ) {
        let stopping = self.around.tasks.stopping().clone();
        loop {
            tokio::select! {
                () = stopping.cancelled() => break,
                newer = config.changed() => self.reconcile(&newer),
                Some(command) = commands.recv() => self.obey(command),
                Some((generation, report)) = reports.recv() => self.fold(generation, report),
            }
        }
        for entry in self.entries.values() {
            entry.instances.iter().for_each(|held| held.reins.stop.cancel());
        }
    }

    /// Makes what is live what is wanted; servers that did not change stay as they are.
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
                (id.clone(), Failure { hint, ..Failure::new(error.to_string()) })
            })
            .collect();
        let servers: Vec<_> =
            config.servers.values().filter(|server| wanted(&server.id)).cloned().collect();
        for id in gone {
            self.retire(&id);
            self.entries.remove(&id);
            self.around.events.tell(|| What::ServerChanged {
                server: id.to_string(),
                status: "gone".to_owned(),
                detail: None,
            });
        }
        for (id, failure) in broken {
            self.retire(&id);
            self.entries.insert(id, Entry::resting(None, Status::Failed(failure)));
        }
        for server in servers {
            self.want(Arc::new(server));
        }
        self.edition += 1;
        self.publish_all();
    }

    fn want(&mut self, config: Arc<ServerConfig>) {
        let id = config.id.clone();
        if let Some(entry) = self.entries.get_mut(&id)
            && let Some(old) = &entry.config
            && old.restart_key() == config.restart_key()
        {
            entry.config = Some(config);
            return;
        }
        self.retire(&id);
        let entry = if let Some(why) = &config.barred {
            let failure = Failure::new(why.as_str());
            Entry::resting(Some(config), Status::NotAllowed(failure))
        } else if config.disabled {
            Entry::resting(Some(config), Status::Disabled)
        } else if !config.approved {
            Entry::resting(Some(config), Status::NeedsApproval)
        } else {
            self.launch(config)
        };
        self.entries.insert(id, entry);
    }

    fn launch(&mut self, config: Arc<ServerConfig>) -> Entry {
        let count = match &config.transport {
            Transport::Http { urls, .. } => urls.len().max(1),
            Transport::Stdio { .. } => config.instances.max(1),
            Transport::Builtin => 1,
        };
        let before = self.entries.get(&config.id);
        // What a changed server offered stays visible until it has been listed again.
        let offers = before.map(|entry| Arc::clone(&entry.offers)).unwrap_or_default();
        let mut entry =
            Entry { offers, ..Entry::resting(Some(Arc::clone(&config)), Status::Starting) };
        entry.resting = None;
        for number in 0..count {
            let generation = self.next_generation;
            self.next_generation += 1;
            self.generations.insert(generation, (config.id.clone(), number));
            let reins =
                Reins { stop: self.around.tasks.stopping().child_token(), ..Reins::default() };
            let health = Arc::new(Health::default());
            let connection = Connection {
                config: Arc::clone(&config),
                number,
                before: Arc::clone(&entry.offers),
                generation,
                health: Arc::clone(&health),
                around: Arc::clone(&self.around),
                reins: reins.clone(),
                reports: self.reports.clone(),
            };
            self.around.tasks.spawn(connection.run());
            let instance = Instance { number, status: Status::Starting, peer: None, health };
            entry.instances.push(Held { instance, reins, generation });
        }
        entry
    }

    /// Lets go of a server's connections; calls on them may still end.
    fn retire(&mut self, id: &ServerId) {
        if let Some(entry) = self.entries.get_mut(id) {
            for held in entry.instances.drain(..) {
                held.reins.retire.cancel();
                self.generations.remove(&held.generation);
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Restart(id) => {
                if let Some(entry) = self.entries.get(&id) {
                    entry.instances.iter().for_each(|held| held.reins.restart.notify_one());
                }
            }
            Command::Enable(id, enabled) => {
                let config = self.entries.get(&id).and_then(|entry| entry.config.clone());
                if let Some(config) = config {
                    self.want(Arc::new(ServerConfig { disabled: !enabled, ..(*config).clone() }));
                    self.edition += 1;
                    self.publish(&id);
                }
            }
        }
    }

    fn fold(&mut self, generation: u64, report: Report) {
        let Some((id, number)) = self.generations.get(&generation).cloned() else { return };
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let Some(held) = entry.instances.get_mut(number) else { return };
        match report {
            Report::Down(status) => {
                held.instance.peer = None;
                held.instance.status = status;
            }
            Report::Ready { peer, agreement, offers } => {
                held.instance.peer = Some(peer);
                held.instance.status = Status::Ready;
                entry.agreement = Some(agreement);
                entry.offers = offers;
                self.edition += 1;
            }
            Report::Offers(offers) => {
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
            let server = entry.server(id);
            let old = before.servers.get(id).map(|server| server.status.clone());
            if old.as_ref() != Some(&server.status) {
                self.tell(&server);
            }
            servers.insert(id.clone(), Arc::new(server));
        }
        self.fleet.publish(Fleet { servers, edition: self.edition, ..Fleet::default() });
    }

    fn publish_all(&self) {
        let before = self.fleet.load();
        let mut servers = BTreeMap::new();
        for (id, entry) in &self.entries {
            let server = entry.server(id);
            if before.servers.get(id).is_none_or(|old| old.status != server.status) {
                self.tell(&server);
            }
            servers.insert(id.clone(), Arc::new(server));
        }
        self.fleet.publish(Fleet { servers, edition: self.edition, ..Fleet::default() });
    }

    fn tell(&self, server: &Server) {
        self.around.events.tell(|| What::ServerChanged {
            server: server.id.to_string(),
            status: server.status.word().to_owned(),
            detail: server.status.failure().map(|failure| failure.message.clone()),
        });
    }
}

impl Entry {
    fn resting(config: Option<Arc<ServerConfig>>, status: Status) -> Self {
        let (instances, offers) = (Vec::new(), Arc::default());
        Self { config, resting: Some(status), instances, offers, agreement: None }
    }

    fn server(&self, id: &ServerId) -> Server {
        let instances: Vec<Instance> =
            self.instances.iter().map(|held| held.instance.clone()).collect();
        let best =
            instances.iter().map(|instance| &instance.status).max_by_key(|status| status.rank());
        let status = self.resting.clone().or_else(|| best.cloned()).unwrap_or(Status::Starting);
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
