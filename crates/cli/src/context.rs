//! What every command needs: the files, the host, the printer; puts everything together.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use switchboard_console::{Onlookers, Talks};
use switchboard_host::config::{self, Approvals, Config, Environment, Lock, Places};
use switchboard_host::policy::Pattern;
use switchboard_host::record::WaitingFile;
use switchboard_host::review::{Asker, FaceAnswers, NobodyThere, Reviewer, Waiting};
use switchboard_host::{FirstUseAsks, Host, Options, Presence, Recording, ServerId};
use switchboard_models::ModelSampler;

use crate::args::Shared;
use crate::args_review::Patience;
use crate::chat::review::Desk;
use crate::commands::lock_packages;
use crate::error::CliError;
use crate::interrupt::Interrupts;
use crate::recorded;
use crate::ui::ask::Terminal;
use crate::ui::asker::{NobodyAsked, TerminalAsker};
use crate::ui::at_console::AtConsole;
use crate::ui::elsewhere::Elsewhere;
use crate::ui::printer::Printer;

/// The first word that turns this program into the keeper of a server.
pub(crate) const KEEPER: &str = "__keep";

/// What every command needs.
pub(crate) struct Context {
    pub(crate) shared: Shared,
    pub(crate) printer: Printer,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    pub(crate) interrupts: Interrupts,
    /// Why servers must not be started, by name, where they are locked.
    refused: OnceLock<BTreeMap<String, String>>,
    /// The new servers that the person was asked about, each as it was.
    pub(crate) asked_about: Mutex<BTreeSet<String>>,
}

/// Which servers to start, and who is asked about calls.
pub(crate) struct Wanted {
    pub(crate) only: Option<Vec<ServerId>>,
    pub(crate) people: People,
    pub(crate) allow: Vec<Pattern>,
    /// The model that answers servers, if not the usual one.
    pub(crate) model: Option<String>,
}

/// Who is asked: about calls, and what servers ask.
pub(crate) struct People {
    reviewer: Arc<dyn Reviewer>,
    asker: Arc<dyn Asker>,
    /// How long a question waits, if not as long as the settings say.
    limit: Option<Duration>,
    /// Whether they are asked about servers that nobody has approved yet.
    first_use: FirstUseAsks,
    /// Whether they are here, and can look at a new server before it is used.
    presence: Presence,
}

impl People {
    /// Whoever sits at the desk.
    pub(crate) fn at(desk: &Desk) -> Self {
        Self {
            reviewer: Arc::new(desk.clone()),
            asker: Arc::new(desk.clone()),
            limit: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Person,
        }
    }

    /// Nobody.
    pub(crate) fn nobody(printer: &Printer) -> Self {
        let asker = NobodyAsked { printer: printer.clone() };
        Self {
            reviewer: Arc::new(NobodyThere),
            asker: Arc::new(asker),
            limit: None,
            first_use: FirstUseAsks::Nobody,
            presence: Presence::Nobody,
        }
    }

    /// Whoever looks at the web console.
    pub(crate) fn at_console(printer: &Printer, talks: &Talks, onlookers: &Onlookers) -> Self {
        let nobody = NobodyAsked { printer: printer.clone() };
        let (talks, onlookers) = (talks.clone(), onlookers.clone());
        let there = AtConsole { talks, onlookers, nobody };
        Self {
            reviewer: Arc::new(there.clone()),
            asker: Arc::new(there),
            limit: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Nobody,
        }
    }

    /// Whoever sits at another face.
    pub(crate) fn elsewhere(printer: &Printer) -> Self {
        let elsewhere = Elsewhere { printer: printer.clone() };
        Self {
            reviewer: Arc::new(elsewhere.clone()),
            asker: Arc::new(elsewhere),
            limit: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Nobody,
        }
    }

    /// The same, and whoever sits at another face is asked about servers that nobody has approved.
    pub(crate) const fn with_new_servers(mut self) -> Self {
        self.first_use = FirstUseAsks::InQueue;
        self
    }

    /// The same, with as much time as the command line says.
    pub(crate) fn with(mut self, patience: Option<Patience>) -> Self {
        if let Some(Patience::For(limit)) = patience {
            self.limit = Some(limit);
        }
        self
    }
}

impl Context {
    pub(crate) fn new(shared: &Shared) -> Result<Self, CliError> {
        let environment = Environment::readable()?;
        let places = Places::find(&environment, &shared.config)?;
        Ok(Self {
            printer: Printer::new(shared.json, shared.quiet, &environment),
            shared: shared.clone(),
            environment,
            places,
            interrupts: Interrupts::watch(),
            refused: OnceLock::new(),
            asked_about: Mutex::default(),
        })
    }

    /// The configuration, without a word about it.
    pub(crate) fn silent_config(&self) -> Config {
        let approvals = Approvals::load(&self.places.state);
        config::load(&self.places, &self.environment, &approvals)
    }

    /// Fetches what the team keeps at an address and is not here yet. What cannot be fetched is
    /// missed, and said, by whoever needs it.
    pub(crate) async fn fetch_team_files(&self) {
        let team = self.silent_config().team;
        for problem in config::fetch_team_files(&team, &self.places.state).await {
            self.printer.warn(&problem.to_string(), problem.hint.as_deref());
        }
    }

    /// With `--locked`, finds out which servers would fetch something else than was locked.
    pub(crate) async fn check_packages(&self) {
        if !self.shared.locked {
            return;
        }
        // A lock that is not there is missed by whoever needs it.
        let Ok(lock) = Lock::load(&self.lock_folder()) else { return };
        let refused = lock_packages::refused(self, &self.silent_config(), &lock).await;
        self.refused.get_or_init(|| refused);
    }

    /// The configuration, with its problems told.
    pub(crate) fn config(&self) -> Result<Config, CliError> {
        let approvals = Approvals::load(&self.places.state);
        let config = config::load(&self.places, &self.environment, &approvals);
        for problem in &config.problems {
            // A bad entry costs itself only.
            let costs_all = problem.is_error() && problem.server.is_none();
            if costs_all && !self.shared.config.is_empty() {
                return Err(problem.clone().into());
            }
            self.printer.warn(&problem.to_string(), problem.hint.as_deref());
        }
        Ok(config)
    }

    /// The id of a configured server, or an error that names near ones.
    pub(crate) fn known(&self, config: &Config, name: &str) -> Result<ServerId, CliError> {
        let ids = || config.servers.keys().chain(config.broken.keys());
        if let Some(id) = ids().find(|id| id.as_str() == name) {
            return Ok(id.clone());
        }
        let near = switchboard_host::catalog::nearest(name, ids().map(ServerId::as_str), 3);
        let hint = match near.as_slice() {
            [] => "`switchboard servers` lists them".to_owned(),
            near => format!("did you mean `{}`?", near.join("` or `")),
        };
        Err(CliError::usage(format!("there is no server `{name}`")).with_hint(hint))
    }

    /// Starts the host with the named servers, or with all.
    pub(crate) fn start(&self, only: Option<Vec<ServerId>>) -> Result<Host, CliError> {
        self.start_patiently(only, None)
    }

    /// The same, and questions that nobody here can answer may wait.
    pub(crate) fn start_patiently(
        &self,
        only: Option<Vec<ServerId>>,
        patience: Option<Patience>,
    ) -> Result<Host, CliError> {
        let people = if self.has_person() {
            People {
                reviewer: Arc::new(Terminal { stop: self.interrupts.token().clone() }),
                asker: Arc::new(TerminalAsker { printer: self.printer.clone() }),
                limit: None,
                first_use: FirstUseAsks::Nobody,
                presence: Presence::Person,
            }
        } else {
            self.nobody(patience)
        };
        let people = people.with(patience);
        self.start_with(Wanted { only, people, allow: Vec::new(), model: None })
    }

    /// Nobody here: nobody at all, unless there is patience to wait for another face.
    pub(crate) fn nobody(&self, patience: Option<Patience>) -> People {
        match patience {
            Some(_) => People::elsewhere(&self.printer),
            None => People::nobody(&self.printer),
        }
    }

    /// What stays between us and each program that we start.
    #[expect(clippy::unused_self, reason = "it is a fact about this program")]
    pub(crate) fn keeper(&self) -> Option<Vec<String>> {
        std::env::current_exe()
            .ok()
            .and_then(|path| path.to_str().map(str::to_owned))
            .filter(|_| cfg!(unix))
            .map(|program| vec![program, KEEPER.to_owned()])
    }

    /// What waits for a person, in these places.
    pub(crate) fn waiting(&self, places: &Places, limit: Duration) -> Waiting {
        let store = match self.shared.no_record {
            true => WaitingFile::in_memory(),
            false => WaitingFile::below(&places.state),
        };
        Waiting::new(store, limit)
    }

    /// The same, with somebody else to ask.
    pub(crate) fn start_with(&self, wanted: Wanted) -> Result<Host, CliError> {
        self.start_at(self.places.clone(), self.environment.clone(), wanted)
    }

    /// Whether a person can be asked.
    #[expect(clippy::unused_self, reason = "it is a fact about where the program runs")]
    pub(crate) fn has_person(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Whether a person can be shown a new server and asked about it: not where the output is for
    /// a program, and not where a build runs, which may have a terminal and nobody at it.
    pub(crate) fn can_show_new_servers(&self) -> bool {
        let is_build = |value: &str| !matches!(value, "" | "0" | "false");
        let builds = self.environment.variable("CI").is_some_and(is_build);
        self.has_person() && !self.printer.json && !builds
    }

    /// The same, in other places.
    pub(crate) fn start_at(
        &self,
        places: Places,
        environment: Environment,
        wanted: Wanted,
    ) -> Result<Host, CliError> {
        let keeper = self.keeper();
        let record = if self.shared.no_record { Recording::Off } else { Recording::On };
        let start_limit = Duration::from_secs(self.shared.start_timeout);
        let approvals = Approvals::load(&places.state);
        let config = config::load(&places, &environment, &approvals);
        let minutes = u64::try_from(config.settings.review_minutes).unwrap_or(u64::MAX);
        let patience = Duration::from_secs(minutes.saturating_mul(60));
        let waiting = self.waiting(&places, wanted.people.limit.unwrap_or(patience));
        let minded = waiting.clone();
        self.interrupts.mind(move || minded.is_needed());
        let usual = wanted.model.or(config.settings.chat.model);
        let sampler = ModelSampler::new(config.models, usual.as_deref(), environment.clone());
        let here = &environment.current_dir;
        let roots = self.shared.root.iter().map(|root| here.join(root)).collect();
        let answers = FaceAnswers::new(wanted.people.asker, Vec::new())
            .with_waiting(waiting.clone())
            .with_sampler(Arc::new(sampler));
        let lock = match self.shared.locked {
            true => {
                let refused = self.refused.get().cloned().unwrap_or_default();
                Some(Lock::load(&self.lock_folder())?.refusing(refused))
            }
            false => None,
        };
        let options = Options {
            lock,
            keeper,
            reviewer: wanted.people.reviewer,
            answers: Arc::new(answers),
            waiting: Some(waiting),
            only: wanted.only,
            record,
            start_limit,
            allow: wanted.allow,
            roots,
            first_use: wanted.people.first_use,
            presence: match self.can_show_new_servers() {
                true => wanted.people.presence,
                false => Presence::Nobody,
            },
            ..Options::new(places, environment)
        };
        let host = Host::start(options)?;
        if let Some(opened) = host.ledger().opened() {
            recorded::tell(&self.printer, opened);
        }
        Ok(host)
    }

    /// The folders that files may be written below: those of this run or of the settings, or else
    /// the current one.
    pub(crate) fn roots(&self, config: &Config) -> Vec<PathBuf> {
        let here = &self.environment.current_dir;
        let given = self.shared.root.iter().map(|root| here.join(root)).collect::<Vec<_>>();
        [given, config.settings.roots.clone()]
            .into_iter()
            .find(|roots| !roots.is_empty())
            .unwrap_or_else(|| vec![here.clone()])
    }

    /// The folder of the project, where its lock file is.
    pub(crate) fn lock_folder(&self) -> PathBuf {
        let project = self.places.around.clone();
        project.unwrap_or_else(|| self.environment.current_dir.clone())
    }
}
