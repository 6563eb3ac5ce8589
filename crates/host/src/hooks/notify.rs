//! Shows desktop notifications for pending reviews, if the settings enable them.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_config::{Config, Environment};
use switchboard_core::{EventKind, Events, Published, Tasks};
use tokio::sync::broadcast::error::RecvError;

use crate::hooks::program::{HookExit, HookLaunch, HookOutput, run_program};

/// How long the desktop's program may take to show a notification.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of characters shown of a name.
const MAX_NAME_CHARS: usize = 60;

/// Notifies of pending reviews while `settings.notifications` is on.
pub(crate) fn notify_pending_reviews(
    config: &Published<Config>,
    environment: &Environment,
    tasks: &Tasks,
    events: &Events,
) {
    let mut changes = config.changes();
    let environment = environment.clone();
    let events = events.clone();
    let stopping = tasks.stop_token().clone();
    tasks.spawn(async move {
        stopping
            .run_until_cancelled(async {
                let mut config = changes.load();
                loop {
                    // Subscribe only while enabled: events without a subscriber are not built.
                    if config.settings.notifications {
                        tokio::select! {
                            () = show_pending(&environment, &events) => return,
                            newer = changes.changed() => config = newer,
                        }
                    } else {
                        config = changes.changed().await;
                    }
                }
            })
            .await;
    });
}

async fn show_pending(environment: &Environment, events: &Events) {
    let mut watching = events.watch_without_calls();
    loop {
        match watching.recv().await {
            Ok(event) => {
                if let EventKind::Waiting { id, kind, server, target, .. } = event.what {
                    let about =
                        target.map_or_else(|| server.clone(), |it| format!("{server}/{it}"));
                    let text =
                        format!("{} {}: {}", sanitize(&kind), sanitize(&id), sanitize(&about));
                    if let Err(problem) = show_notification(environment, &text).await {
                        events.emit(|| EventKind::NotNotified { problem });
                    }
                }
            }
            // A missed notification is not lost work: the queue still lists the review.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// Replaces every character that a desktop could interpret as markup, an option or a new line.
fn sanitize(text: &str) -> String {
    let harmless = |c: char| if c.is_alphanumeric() || "-_./: ".contains(c) { c } else { '?' };
    text.chars().take(MAX_NAME_CHARS).map(harmless).collect()
}

const TITLE: &str = "Switchboard waits for you";

async fn show_notification(environment: &Environment, text: &str) -> Result<(), String> {
    let (program, args) = notify_command();
    let args: Vec<String> = args
        .iter()
        .map(|arg| match *arg {
            "TITLE" => TITLE.to_owned(),
            "TEXT" => text.to_owned(),
            other => other.to_owned(),
        })
        .collect();
    // Some scripts read the text from the environment, so that it is never interpreted as code.
    let env = BTreeMap::from([
        ("SWITCHBOARD_TITLE".to_owned(), TITLE.to_owned()),
        ("SWITCHBOARD_TEXT".to_owned(), text.to_owned()),
    ]);
    let mut inherited_env = environment.variables.clone();
    // Explicit variables: of the inherited ones, a program gets only an allow-list.
    let session = desktop_variables(&inherited_env);
    inherited_env.retain(|name, _| !session.contains_key(name));
    let env = env.into_iter().chain(session).collect();
    let start = HookLaunch {
        program,
        args: &args,
        shell_line: None,
        folder: &environment.current_dir,
        env: &env,
        inherited_env: &inherited_env,
        keeper: None,
    };
    let HookOutput { end, errors, .. } = run_program(&start, "", NOTIFY_TIMEOUT).await;
    let why = errors.last().map(|said| format!(": {said}")).unwrap_or_default();
    match end {
        HookExit::Exited(0) => Ok(()),
        HookExit::Exited(code) => Err(format!("`{program}` ended with exit status {code}{why}")),
        HookExit::Broke(what) => Err(format!("`{program}`: {what}{why}")),
        HookExit::OutputTooLong => Err(format!("`{program}` wrote too much{why}")),
    }
}

/// Returns the variables by which a program finds the desktop session.
fn desktop_variables(variables: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .filter_map(|name| variables.get_key_value(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

const fn notify_command() -> (&'static str, &'static [&'static str]) {
    if cfg!(target_os = "macos") {
        (
            "/usr/bin/osascript",
            &[
                "-e",
                "display notification (system attribute \"SWITCHBOARD_TEXT\") with title (system attribute \"SWITCHBOARD_TITLE\")",
            ],
        )
    } else if cfg!(windows) {
        ("powershell", &["-NoProfile", "-NonInteractive", "-Command", BALLOON])
    } else {
        ("notify-send", &["--app-name=Switchboard", "--", "TITLE", "TEXT"])
    }
}

const BALLOON: &str = "Add-Type -AssemblyName System.Windows.Forms; \
$icon = New-Object System.Windows.Forms.NotifyIcon; \
$icon.Icon = [System.Drawing.SystemIcons]::Information; $icon.Visible = $true; \
$icon.ShowBalloonTip(5000, $env:SWITCHBOARD_TITLE, $env:SWITCHBOARD_TEXT, 'Info'); \
Start-Sleep -Seconds 3; $icon.Dispose()";

#[cfg(test)]
mod tests {
    use super::sanitize;

    #[test]
    fn names_of_servers_are_shown_without_markup_and_control_characters() {
        assert_eq!(sanitize("files/write"), "files/write");
        assert_eq!(sanitize("<b>&amp;\u{1b}[1m\n\u{202e}$(x)`"), "?b??amp???1m????x??");
        assert_eq!(sanitize(&"a".repeat(500)).len(), 60);
    }
}
