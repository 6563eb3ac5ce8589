//! Asks one hook about one call, whatever it is, and says how that went.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use switchboard_config::Environment;
use tokio::sync::Semaphore;

use crate::hooks::answer::{Failure, FailureKind, Judged, judge, trouble};
use crate::hooks::hook::{Hook, Rules, Run};
use crate::hooks::input::{Occasion, VERSION};
use crate::hooks::program::{Left, Start};
use crate::hooks::{program, web};

/// As many hooks are asked at the same time.
const AT_ONCE: usize = 32;

/// The system's shell and what makes it run the line that follows, without any start-up of its own.
const SHELL: (&str, &[&str]) =
    if cfg!(windows) { ("cmd", &["/D", "/S", "/C"]) } else { ("/bin/sh", &["-c"]) };

/// Asks hooks.
pub struct Runner {
    surroundings: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
    keeper: Option<Vec<String>>,
    client: OnceLock<reqwest::Client>,
    /// Many calls at once must not become many processes at once.
    slots: Semaphore,
}

/// What came of asking a hook before a call.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What it said, or why it did not.
    pub judged: Judged,
    /// How long that took.
    pub took: Duration,
}

impl Runner {
    /// Asks hooks in this environment, for a project in this folder, with a keeper between us and
    /// them if there is one.
    #[must_use]
    pub fn new(
        environment: &Environment,
        project: Option<&PathBuf>,
        keeper: Option<Vec<String>>,
    ) -> Self {
        let project = project.unwrap_or(&environment.current_dir).display().to_string();
        let env = [
            ("CURSOR_PROJECT_DIR", project.as_str()),
            ("CLAUDE_PROJECT_DIR", project.as_str()),
            ("CURSOR_VERSION", VERSION),
            ("SWITCHBOARD_VERSION", VERSION),
        ];
        Self {
            surroundings: environment.variables.clone(),
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            keeper,
            client: OnceLock::new(),
            slots: Semaphore::new(AT_ONCE),
        }
    }

    /// Asks a hook whether a call may run.
    pub async fn ask(&self, hook: &Hook, occasion: &Occasion) -> Ran {
        let began = Instant::now();
        let left = self.run(hook, occasion.before(hook.rules)).await;
        let judged = judge(&left.end, &left.output, &left.errors);
        Ran { judged, took: began.elapsed() }
    }

    /// Tells a hook of the result of a call; gives what went wrong, and how long it took.
    pub async fn tell(
        &self,
        hook: &Hook,
        occasion: &Occasion,
        result: &str,
        call_took: Duration,
    ) -> (Option<Failure>, Duration) {
        let began = Instant::now();
        let left = self.run(hook, occasion.after(hook.rules, result, call_took)).await;
        (trouble(&left.end, &left.errors), began.elapsed())
    }

    async fn run(&self, hook: &Hook, input: String) -> Left {
        // Who waits here waits for hooks that have a limit of their own.
        let Ok(_slot) = self.slots.acquire().await else { return Left::broke("cannot be asked") };
        if let Some(seal) = hook.seal.clone() {
            // A script may have been exchanged since it was approved.
            let checking = tokio::task::spawn_blocking(move || seal.holds());
            if !checking.await.unwrap_or(false) {
                return Left::broke(
                    "is not what was approved; look at it, then `switchboard hooks approve`",
                );
            }
        }
        let flags;
        let (program, args, line) = match &hook.run {
            Run::Program { program, args } => (program.as_str(), args.as_slice(), None),
            Run::Shell(line) => {
                let (program, words) = SHELL;
                flags = words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
                (program, flags.as_slice(), Some(line.as_str()))
            }
            Run::Web(url) => return self.ask_web(url, input, hook.limit).await,
            Run::Unusable(why) => return Left::broke(why.clone()),
        };
        let start = Start {
            program,
            args,
            line,
            folder: &hook.folder,
            env: &self.env,
            surroundings: &self.surroundings,
            keeper: self.keeper.as_deref(),
        };
        program::run(&start, &input, hook.limit).await
    }

    async fn ask_web(&self, url: &str, input: String, limit: Duration) -> Left {
        if self.client.get().is_none() {
            match web::client() {
                // Who was first has made the same one.
                Ok(client) => self.client.set(client).unwrap_or(()),
                Err(error) => return Left::broke(format!("cannot be asked: {error}")),
            }
        }
        match self.client.get() {
            Some(client) => web::ask(client, url, input, limit).await,
            None => Left::broke("cannot be asked"),
        }
    }
}

impl Ran {
    /// Whether a failure stops the call: unless the file says otherwise, and what is no answer
    /// even then, by the rules of today.
    #[must_use]
    pub fn stops(failure: &Failure, hook: &Hook) -> bool {
        hook.fail_closed || (hook.rules == Rules::Today && failure.kind == FailureKind::NoAnswer)
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("keeper", &self.keeper).finish_non_exhaustive()
    }
}
