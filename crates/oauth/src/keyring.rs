//! Access to the system's keyring through its command-line program.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::secret::Secret;

/// How long the keyring may take; it may ask the person to unlock it.
const KEYRING_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Keyring {
    /// Environment of this process, which locates the keyring.
    pub(crate) variables: BTreeMap<String, String>,
}

struct KeyringCommand {
    program: &'static str,
    arguments: &'static [&'static str],
    input: Option<String>,
}

impl Keyring {
    /// Returns the key if the keyring has one.
    pub(crate) async fn look_up(&self) -> Result<Option<Secret>, String> {
        let found = self.run(look_up_command()?).await?;
        let key = found.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Ok(key.map(Secret::new))
    }

    pub(crate) async fn store(&self, key: &Secret) -> Result<(), String> {
        match self.run(store_command(key)?).await? {
            Some(_) => Ok(()),
            None => Err("the system's keyring did not store the key".to_owned()),
        }
    }

    /// Returns the program's output, or `None` if it fails.
    async fn run(&self, action: KeyringCommand) -> Result<Option<String>, String> {
        let mut command = Command::new(action.program);
        command
            .args(action.arguments)
            .env_clear()
            .envs(&self.variables)
            .stdin(if action.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let missing = |error: std::io::Error| {
            format!("the system's keyring cannot be reached through `{}`: {error}", action.program)
        };
        let mut child = command.spawn().map_err(missing)?;
        if let (Some(input), Some(mut stdin)) = (action.input, child.stdin.take()) {
            // Dropping `stdin` afterwards tells the program that the key is complete.
            stdin.write_all(input.as_bytes()).await.map_err(missing)?;
        }
        match timeout(KEYRING_TIMEOUT, child.wait_with_output()).await {
            Err(_) => Err("the system's keyring did not respond in time".to_owned()),
            Ok(Err(error)) => Err(missing(error)),
            Ok(Ok(output)) if output.status.success() => {
                Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
            }
            // Both programs exit with an error if there is no such entry.
            Ok(Ok(_)) => Ok(None),
        }
    }
}

fn look_up_command() -> Result<KeyringCommand, String> {
    if cfg!(target_os = "macos") {
        let arguments = &["find-generic-password", "-s", "switchboard", "-a", "token-key", "-w"];
        Ok(KeyringCommand { program: "/usr/bin/security", arguments, input: None })
    } else if cfg!(unix) {
        let arguments = &["lookup", "application", "switchboard", "purpose", "token-key"];
        Ok(KeyringCommand { program: "secret-tool", arguments, input: None })
    } else {
        Err("the keyring of this system is not supported".to_owned())
    }
}

/// Passes the key through standard input, because other users can see arguments.
fn store_command(key: &Secret) -> Result<KeyringCommand, String> {
    let key = key.reveal();
    if cfg!(target_os = "macos") {
        let input = format!("add-generic-password -U -s switchboard -a token-key -w {key}\n");
        Ok(KeyringCommand { program: "/usr/bin/security", arguments: &["-i"], input: Some(input) })
    } else if cfg!(unix) {
        let arguments = &[
            "store",
            "--label=Switchboard: key of stored logins",
            "application",
            "switchboard",
            "purpose",
            "token-key",
        ];
        Ok(KeyringCommand { program: "secret-tool", arguments, input: Some(key.to_owned()) })
    } else {
        Err("the keyring of this system is not supported".to_owned())
    }
}
