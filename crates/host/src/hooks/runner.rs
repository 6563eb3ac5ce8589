//! Runs one hook for one call, and reports its answer or failure.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use switchboard_config::Environment;
use tokio::sync::Semaphore;

use crate::hooks::answer::{HookFailure, HookFailureKind, HookOutcome, exit_failure, judge};
use crate::hooks::hook::{Hook, HookAction, HookRules};
use crate::hooks::input::{HookInput, VERSION};
use crate::hooks::program::{HookLaunch, HookOutput};
use crate::hooks::{program, web};

/// Maximum number of concurrent hooks, so that many calls do not start many processes.
const MAX_CONCURRENT_HOOKS: usize = 32;

/// The system's shell, with the options that run a line without start-up files.
const SHELL: (&str, &[&str]) =
    if cfg!(windows) { ("cmd", &["/D", "/S", "/C"]) } else { ("/bin/sh", &["-c"]) };

/// Runs hooks as programs or web requests.
pub struct HookRunner {
    inherited_env: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
    keeper: Option<Vec<String>>,
    client: OnceLock<reqwest::Client>,
    slots: Semaphore,
}

/// The result of running a hook before a call.
#[derive(Clone, Debug)]
pub struct HookResult {
    pub outcome: HookOutcome,
    pub took: Duration,
}

impl HookRunner {
    /// Creates a runner; the keeper, if any, runs between this process and the hooks.
    pub fn new(
        environment: &Environment,
        project: Option<&PathBuf>,
        keeper: Option<Vec<String>>,
    ) -> Self {
        let project = project.unwrap_or(&environment.current_dir).display().to_string();
        // The names under which scripts for Cursor and Claude Code expect the project folder.
        let env = [
            ("CURSOR_PROJECT_DIR", project.as_str()),
            ("CLAUDE_PROJECT_DIR", project.as_str()),
            ("CURSOR_VERSION", VERSION),
            ("SWITCHBOARD_VERSION", VERSION),
        ];
        Self {
            inherited_env: environment.variables.clone(),
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            keeper,
            client: OnceLock::new(),
            slots: Semaphore::new(MAX_CONCURRENT_HOOKS),
        }
    }

    /// Runs a hook before a call, and returns its answer.
    pub async fn ask(&self, hook: &Hook, occasion: &HookInput) -> HookResult {
        let began = Instant::now();
        let left = self.run_hook(hook, occasion.before_json(hook.rules)).await;
        let judged = judge(&left.end, &left.output, &left.errors);
        HookResult { outcome: judged, took: began.elapsed() }
    }

    /// Notifies a hook of the result of a call; returns its failure, if any, and its duration.
    pub async fn notify(
        &self,
        hook: &Hook,
        occasion: &HookInput,
        result: &str,
        call_took: Duration,
    ) -> (Option<HookFailure>, Duration) {
        let began = Instant::now();
        let left = self.run_hook(hook, occasion.after_json(hook.rules, result, call_took)).await;
        (exit_failure(&left.end, &left.errors), began.elapsed())
    }

    async fn run_hook(&self, hook: &Hook, input: String) -> HookOutput {
        // The wait is bounded: the running hooks have timeouts.
        let Ok(_slot) = self.slots.acquire().await else {
            return HookOutput::from_failure("cannot run");
        };
        if let Some(seal) = hook.seal.clone() {
            // A script may have been replaced since it was approved.
            let checking = tokio::task::spawn_blocking(move || seal.is_intact());
            if !checking.await.unwrap_or(false) {
                return HookOutput::from_failure(
                    "has changed since its approval; review it, then `switchboard hooks approve`",
                );
            }
        }
        let flags;
        let (program, args, line) = match &hook.action {
            HookAction::Program { program, args } => (program.as_str(), args.as_slice(), None),
            HookAction::Shell(line) => {
                let (program, words) = SHELL;
                flags = words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
                (program, flags.as_slice(), Some(line.as_str()))
            }
            HookAction::Web(url) => return self.ask_url(url, input, hook.limit).await,
            HookAction::Unusable(why) => return HookOutput::from_failure(why.clone()),
        };
        let start = HookLaunch {
            program,
            args,
            shell_line: line,
            folder: &hook.folder,
            env: &self.env,
            inherited_env: &self.inherited_env,
            keeper: self.keeper.as_deref(),
        };
        program::run_program(&start, &input, hook.limit).await
    }

    async fn ask_url(&self, url: &str, input: String, limit: Duration) -> HookOutput {
        if self.client.get().is_none() {
            match web::build_client() {
                // Another call may have set an equal client first.
                Ok(client) => self.client.set(client).unwrap_or(()),
                Err(error) => return HookOutput::from_failure(format!("cannot run: {error}")),
            }
        }
        match self.client.get() {
            Some(client) => web::post_input(client, url, input, limit).await,
            None => HookOutput::from_failure("cannot run"),
        }
    }
}

impl HookResult {
    /// Returns whether a failure of the hook stops the call.
    pub fn blocks_call(failure: &HookFailure, hook: &Hook) -> bool {
        // An invalid answer may be a misspelled denial, so `failClosed: false` does not excuse it.
        hook.fail_closed
            || (hook.rules == HookRules::Current && failure.kind == HookFailureKind::NoAnswer)
    }
}

impl std::fmt::Debug for HookRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}
