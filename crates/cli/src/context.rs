//! What every command needs: the files, the host, the printer; puts everything together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_catalog::ServerStatus;
use switchboard_chat::StartOptions;
use switchboard_config::{Config, Environment, Places};
use switchboard_core::ServerId;
use switchboard_host::{FaceAnswers, Host, Options, Recording, ReviewQueue};
use switchboard_models::ModelSampler;
use switchboard_store::QueueFile;
use switchboard_terminal::{
    CliError, Interrupts, People, Printer, ReviewWait, StartSpinners, exit_code, has_person,
};
use switchboard_text::escape_line;
use switchboard_trust::{Approvals, LockFile, Presence, QuarantineReason, QuarantinedDefinition};

use crate::args::GlobalArgs;
use crate::commands::{first_use, lock};
use crate::recorded;

/// The first word that turns this program into the keeper of a server.
pub(crate) const KEEPER_WORD: &str = "__keep";

/// What every command needs.
pub(crate) struct CommandContext {
    pub(crate) shared: GlobalArgs,
    pub(crate) printer: Printer,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    pub(crate) interrupts: Interrupts,
    /// Why servers must not be started, by name, where they are locked.
    refused: OnceLock<BTreeMap<String, String>>,
    /// The new servers that the person was asked about, each as it was.
    pub(crate) asked_about: Mutex<BTreeSet<String>>,
}

impl CommandContext {
    pub(crate) fn new(shared: &GlobalArgs) -> Result<Self, CliError> {
        let environment = Environment::from_process_checked()?;
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
        switchboard_config::load(&self.places, &self.environment, &approvals)
    }

    /// Fetches what the team keeps at an address and is not here yet. What cannot be fetched is
    /// missed, and said, by whoever needs it.
    pub(crate) async fn fetch_team_files(&self) {
        let team = self.silent_config().team;
        for problem in switchboard_trust::fetch_team_files(&team, &self.places.state).await {
            self.printer.warn(&problem.to_string(), problem.hint.as_deref());
        }
    }

    /// With `--locked`, finds out which servers would fetch something else than was locked.
    pub(crate) async fn check_packages(&self) {
        if !self.shared.locked {
            return;
        }
        // A lock that is not there is missed by whoever needs it.
        let Ok(lock) = LockFile::load(&self.lock_folder()) else { return };
        let refused = lock::refusals(self, &self.silent_config(), &lock).await;
        self.refused.get_or_init(|| refused);
    }

    /// The configuration, with its problems told.
    pub(crate) fn config(&self) -> Result<Config, CliError> {
        let approvals = Approvals::load(&self.places.state);
        let config = switchboard_config::load(&self.places, &self.environment, &approvals);
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
    pub(crate) fn server_id(&self, config: &Config, name: &str) -> Result<ServerId, CliError> {
        let ids = || config.servers.keys().chain(config.broken.keys());
        if let Some(id) = ids().find(|id| id.as_str() == name) {
            return Ok(id.clone());
        }
        let near = switchboard_text::nearest_names(name, ids().map(ServerId::as_str), 3);
        let hint = match near.as_slice() {
            [] => "`switchboard servers` lists them".to_owned(),
            near => format!("did you mean `{}`?", near.join("` or `")),
        };
        Err(CliError::usage(format!("there is no server `{name}`")).with_hint(hint))
    }

    /// Starts the host with the named servers, or with all.
    pub(crate) fn start(&self, only: Option<Vec<ServerId>>) -> Result<Host, CliError> {
        self.start_with_wait(only, None)
    }

    /// The same, and questions that nobody here can answer may wait.
    pub(crate) fn start_with_wait(
        &self,
        only: Option<Vec<ServerId>>,
        patience: Option<ReviewWait>,
    ) -> Result<Host, CliError> {
        let people = if has_person() {
            People::at_terminal(&self.printer, self.interrupts.token())
        } else {
            People::nobody_here(&self.printer, patience)
        };
        let people = people.with_wait(patience);
        let options = StartOptions { only, people, allow: Vec::new(), model: None };
        self.start_at(self.places.clone(), self.environment.clone(), options)
    }

    /// What stays between us and each program that we start.
    #[expect(clippy::unused_self, reason = "it is a fact about this program")]
    pub(crate) fn keeper(&self) -> Option<Vec<String>> {
        std::env::current_exe()
            .ok()
            .and_then(|path| path.to_str().map(str::to_owned))
            .filter(|_| cfg!(unix))
            .map(|program| vec![program, KEEPER_WORD.to_owned()])
    }

    /// What waits for a person, in these places.
    pub(crate) fn review_queue(&self, places: &Places, limit: Duration) -> ReviewQueue {
        let store = match self.shared.no_record {
            true => QueueFile::in_memory(),
            false => QueueFile::in_state_folder(&places.state),
        };
        ReviewQueue::new(store, limit)
    }

    /// Whether calls and conversations are recorded.
    pub(crate) const fn recording(&self) -> Recording {
        if self.shared.no_record { Recording::Off } else { Recording::On }
    }

    /// Whether a person can be shown a new server and asked about it: not where the output is for
    /// a program, and not where a build runs, which may have a terminal and nobody at it.
    pub(crate) fn can_show_new_servers(&self) -> bool {
        let is_build = |value: &str| !matches!(value, "" | "0" | "false");
        let builds = self.environment.variable("CI").is_some_and(is_build);
        has_person() && !self.printer.json && !builds
    }

    /// Starts the host with these files and this environment.
    pub(crate) fn start_at(
        &self,
        places: Places,
        environment: Environment,
        wanted: StartOptions,
    ) -> Result<Host, CliError> {
        let keeper = self.keeper();
        let record = self.recording();
        let start_limit = Duration::from_secs(self.shared.start_timeout);
        let approvals = Approvals::load(&places.state);
        let config = switchboard_config::load(&places, &environment, &approvals);
        let minutes = u64::try_from(config.settings.review_minutes).unwrap_or(u64::MAX);
        let patience = Duration::from_secs(minutes.saturating_mul(60));
        let waiting = self.review_queue(&places, wanted.people.limit.unwrap_or(patience));
        let minded = waiting.clone();
        self.interrupts.ignore_hang_up_while(move || minded.is_needed());
        let usual = wanted.model.or(config.settings.chat.model);
        let sampler = ModelSampler::new(config.models, usual.as_deref(), environment.clone());
        let here = &environment.current_dir;
        let roots = self.shared.root.iter().map(|root| here.join(root)).collect();
        let answers = FaceAnswers::new(wanted.people.asker, Vec::new())
            .with_queue(waiting.clone())
            .with_sampler(Arc::new(sampler));
        let lock = match self.shared.locked {
            true => {
                let refused = self.refused.get().cloned().unwrap_or_default();
                Some(LockFile::load(&self.lock_folder())?.with_refused(refused))
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
        if let Some(opened) = host.ledger().open_report() {
            recorded::warn_opened(&self.printer, opened);
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
        let project = self.places.project_folder.clone();
        project.unwrap_or_else(|| self.environment.current_dir.clone())
    }
}

/// What is to be said of a server that was not waited for any longer, and what to do about it.
pub(crate) const NOT_YET: &str = "it has not come up in the time it was given";
pub(crate) const MORE_TIME: &str = "give it more with `--start-timeout SECONDS`, or look at what it \
                                    wrote with `switchboard servers logs NAME`";

impl CommandContext {
    /// Runs `work` to its end, or fails when the person interrupts it.
    pub(crate) async fn or_interrupted<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, CliError> {
        let done = self.interrupts.token().run_until_cancelled(work).await;
        done.ok_or_else(|| CliError::new(exit_code::INTERRUPTED, "interrupted"))
    }

    /// Watches something until the person interrupts, which is the usual end.
    pub(crate) async fn watch(
        &self,
        watching: impl Future<Output = Result<(), CliError>>,
    ) -> Result<u8, CliError> {
        let ended = self.interrupts.token().run_until_cancelled(watching).await;
        ended.unwrap_or(Ok(())).map(|()| exit_code::OK)
    }

    /// Waits for the servers to come up, shows that on a terminal, and tells which did not. The
    /// person who is here is asked about those that are new.
    pub(crate) async fn wait_ready(
        &self,
        host: &Host,
        only: Option<&[ServerId]>,
    ) -> Result<(), CliError> {
        self.wait_up(host, only).await?;
        first_use::ask_about_new(self, host).await?;
        self.report_state(host, only);
        Ok(())
    }

    /// The same without a word about new servers.
    pub(crate) async fn wait_ready_unasked(
        &self,
        host: &Host,
        only: Option<&[ServerId]>,
    ) -> Result<(), CliError> {
        self.wait_up(host, only).await?;
        self.report_state(host, only);
        Ok(())
    }

    /// Waits for the servers to come up, and shows that on a terminal.
    pub(crate) async fn wait_up(
        &self,
        host: &Host,
        only: Option<&[ServerId]>,
    ) -> Result<(), CliError> {
        let starting = StartSpinners::show(&self.printer, host);
        let waited = self.or_interrupted(host.wait_settled(only)).await;
        starting.finish();
        if waited.is_err() {
            host.stop().await;
        }
        waited
    }

    fn report_state(&self, host: &Host, only: Option<&[ServerId]>) {
        for problem in host.hooks().problems() {
            let hint = "`switchboard hooks list` shows them";
            self.printer.warn(&escape_line(&problem), Some(hint));
        }
        for server in host.fleet().load().servers.values() {
            if let ServerStatus::NeedsApproval = server.status {
                let hint = format!("look at it, then `switchboard servers approve {}`", server.id);
                self.printer
                    .warn(&format!("server `{}` has not been approved", server.id), Some(&hint));
            }
            let was_awaited = only.is_none_or(|only| only.contains(&server.id));
            if server.status == ServerStatus::Starting && was_awaited {
                let message = format!("server `{}` is not ready: {NOT_YET}", server.id);
                self.printer.warn(&message, Some(MORE_TIME));
            }
            if let Some(why) = server.missing_tools_reason() {
                let hint = format!("`switchboard doctor {}` tells more", server.id);
                self.printer.warn(&format!("server `{}`: {why}", server.id), Some(&hint));
            }
            if let Some(failure) = server.status.failure() {
                let message = format!("server `{}` is not ready: {}", server.id, failure.message);
                self.printer.warn(&message, failure.hint.as_deref());
            }
        }
        for (server, held) in &host.quarantine().load().servers {
            let whole = held.whole.as_ref().map(ToString::to_string);
            let is_gone = |one: &&QuarantinedDefinition| one.why == QuarantineReason::Gone;
            let gone = held.definitions.iter().filter(is_gone).count();
            if whole.is_none() && gone > 0 {
                let message = format!("server `{server}` has no instructions any more");
                let hint = format!("look with `switchboard pins diff {server}`");
                self.printer.warn(&escape_line(&message), Some(&hint));
            }
            let count = held.definitions.len() - if whole.is_none() { gone } else { 0 };
            if whole.is_some() || count > 0 {
                self.report_held(server.as_str(), whole.as_deref(), count);
            }
        }
    }

    /// Tells what a person has to look at before a server can be used: all of it and why, or so
    /// many definitions.
    pub(crate) fn report_held(&self, server: &str, whole: Option<&str>, count: usize) {
        let what = match (whole, count) {
            (Some(why), _) => format!("is held: {why}"),
            (None, 1) => "has a definition that is held".to_owned(),
            (None, _) => format!("has {count} definitions that are held"),
        };
        let hint = format!("look with `switchboard pins diff {server}`");
        self.printer.warn(&escape_line(&format!("server `{server}` {what}")), Some(&hint));
    }
}
