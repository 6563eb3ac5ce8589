//! The context of a command: environment, paths and printer, and the start of hosts.

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

pub(crate) const KEEPER_WORD: &str = "__keep";

/// Warning for a server that did not start within the timeout; [`MORE_TIME`] is its hint.
pub(crate) const NOT_YET: &str = "it did not start in time";
pub(crate) const MORE_TIME: &str =
    "raise `--start-timeout SECONDS`, or read its log with `switchboard servers logs NAME`";

pub(crate) struct CommandContext {
    pub(crate) shared: GlobalArgs,
    pub(crate) printer: Printer,
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    pub(crate) interrupts: Interrupts,
    refused: OnceLock<BTreeMap<String, String>>,
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

    pub(crate) fn silent_config(&self) -> Config {
        let approvals = Approvals::load(&self.places.state);
        switchboard_config::load(&self.places, &self.environment, &approvals)
    }

    /// Fetches the team's files that are missing here.
    pub(crate) async fn fetch_team_files(&self) {
        let team = self.silent_config().team;
        for problem in switchboard_trust::fetch_team_files(&team, &self.places.state).await {
            self.printer.warn(&problem.to_string(), problem.hint.as_deref());
        }
    }

    /// With `--locked`, finds the servers whose packages differ from the locked ones.
    pub(crate) async fn check_packages(&self) {
        if !self.shared.locked {
            return;
        }
        // A missing lock file is reported when the host starts.
        let Ok(lock) = LockFile::load(&self.lock_folder()) else { return };
        let refused = lock::refusals(self, &self.silent_config(), &lock).await;
        self.refused.get_or_init(|| refused);
    }

    pub(crate) fn config(&self) -> Result<Config, CliError> {
        let approvals = Approvals::load(&self.places.state);
        let config = switchboard_config::load(&self.places, &self.environment, &approvals);
        for problem in &config.problems {
            // A broken entry affects only its own server.
            let costs_all = problem.is_error() && problem.server.is_none();
            // A file that the user names has to work; the usual ones must not block every command.
            if costs_all && !self.shared.config.is_empty() {
                return Err(problem.clone().into());
            }
            self.printer.warn(&problem.to_string(), problem.hint.as_deref());
        }
        Ok(config)
    }

    /// Returns the id of a configured server; the error suggests similar names.
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
        Err(CliError::usage(format!("unknown server `{name}`")).with_hint(hint))
    }

    pub(crate) fn start(&self, only: Option<Vec<ServerId>>) -> Result<Host, CliError> {
        self.start_with_wait(only, None)
    }

    /// Starts a host like [`start`](Self::start); questions that no one here can answer may wait.
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

    /// Returns the command line of the keeper, the process between this one and each server.
    #[expect(clippy::unused_self, reason = "it is a fact about this program")]
    pub(crate) fn keeper(&self) -> Option<Vec<String>> {
        std::env::current_exe()
            .ok()
            .and_then(|path| path.to_str().map(str::to_owned))
            .filter(|_| cfg!(unix))
            .map(|program| vec![program, KEEPER_WORD.to_owned()])
    }

    /// Returns the review queue in the state folder, or one in memory if recording is off.
    pub(crate) fn review_queue(&self, places: &Places, limit: Duration) -> ReviewQueue {
        let store = match self.shared.no_record {
            true => QueueFile::in_memory(),
            false => QueueFile::in_state_folder(&places.state),
        };
        ReviewQueue::new(store, limit)
    }

    pub(crate) const fn recording(&self) -> Recording {
        if self.shared.no_record { Recording::Off } else { Recording::On }
    }

    pub(crate) fn can_show_new_servers(&self) -> bool {
        // CI systems may provide a terminal although no person is there.
        let is_build = |value: &str| !matches!(value, "" | "0" | "false");
        let builds = self.environment.variable("CI").is_some_and(is_build);
        has_person() && !self.printer.json && !builds
    }

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
        // A call that waits for approval outlives its terminal: another face may answer it.
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
            // The prompt for new servers has to be visible; a person behind `--json` would never
            // see it.
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

    pub(crate) fn roots(&self, config: &Config) -> Vec<PathBuf> {
        let here = &self.environment.current_dir;
        let given = self.shared.root.iter().map(|root| here.join(root)).collect::<Vec<_>>();
        [given, config.settings.roots.clone()]
            .into_iter()
            .find(|roots| !roots.is_empty())
            .unwrap_or_else(|| vec![here.clone()])
    }

    pub(crate) fn lock_folder(&self) -> PathBuf {
        let project = self.places.project_folder.clone();
        project.unwrap_or_else(|| self.environment.current_dir.clone())
    }

    pub(crate) async fn or_interrupted<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, CliError> {
        let done = self.interrupts.token().run_until_cancelled(work).await;
        done.ok_or_else(|| CliError::new(exit_code::INTERRUPTED, "interrupted"))
    }

    /// Runs `watching` until the user interrupts it, which is a successful end.
    pub(crate) async fn watch(
        &self,
        watching: impl Future<Output = Result<(), CliError>>,
    ) -> Result<u8, CliError> {
        let ended = self.interrupts.token().run_until_cancelled(watching).await;
        ended.unwrap_or(Ok(())).map(|()| exit_code::OK)
    }

    /// Waits until the servers have started, asks about new ones and reports failed ones.
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

    /// Waits like [`wait_ready`](Self::wait_ready), but does not ask about new servers.
    pub(crate) async fn wait_ready_unasked(
        &self,
        host: &Host,
        only: Option<&[ServerId]>,
    ) -> Result<(), CliError> {
        self.wait_up(host, only).await?;
        self.report_state(host, only);
        Ok(())
    }

    pub(crate) async fn wait_up(
        &self,
        host: &Host,
        only: Option<&[ServerId]>,
    ) -> Result<(), CliError> {
        let starting = StartSpinners::show(&self.printer, host);
        let waited = self.or_interrupted(host.wait_settled(only)).await;
        starting.finish();
        // Ctrl-C during the start: the servers must not outlive the command.
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
                let hint =
                    format!("review it, then run `switchboard servers approve {}`", server.id);
                let message = format!("server `{}` has not been approved", server.id);
                self.printer.warn(&message, Some(&hint));
            }
            let was_awaited = only.is_none_or(|only| only.contains(&server.id));
            if server.status == ServerStatus::Starting && was_awaited {
                let message = format!("server `{}` is not ready: {NOT_YET}", server.id);
                self.printer.warn(&message, Some(MORE_TIME));
            }
            if let Some(why) = server.missing_tools_reason() {
                let hint = format!("`switchboard doctor {}` shows details", server.id);
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
                let message = format!("server `{server}` no longer sends instructions");
                let hint = format!("review with `switchboard pins diff {server}`");
                self.printer.warn(&escape_line(&message), Some(&hint));
            }
            let count = held.definitions.len() - if whole.is_none() { gone } else { 0 };
            if whole.is_some() || count > 0 {
                self.report_held(server.as_str(), whole.as_deref(), count);
            }
        }
    }

    /// Warns that a server is quarantined: as a whole with a reason, or `count` of its definitions.
    pub(crate) fn report_held(&self, server: &str, whole: Option<&str>, count: usize) {
        let what = match (whole, count) {
            (Some(why), _) => format!("is quarantined: {why}"),
            (None, 1) => "has a quarantined definition".to_owned(),
            (None, _) => format!("has {count} quarantined definitions"),
        };
        let hint = format!("review with `switchboard pins diff {server}`");
        self.printer.warn(&escape_line(&format!("server `{server}` {what}")), Some(&hint));
    }
}
