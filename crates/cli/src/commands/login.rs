//! `switchboard login` and `logout`: the OAuth flow with a browser or a pasted URL.

use std::io::BufRead as _;
use std::time::Instant;

use clap::Args;
use switchboard_config::ServerConfig;
use switchboard_core::ServerId;
use switchboard_oauth::{
    LoginError, LoginOptions, LoginStep, Logins, LogoutReport, PendingLogin, StoredLogin,
};
use switchboard_terminal::{
    CallbackListener, CallbackPage, CallbackVisit, CliError, exit_code, open_address, talk,
};
use switchboard_text::escape_line;
use tokio::sync::mpsc;

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// Name of the server
    pub(crate) server: String,
    /// Print the URL instead of opening a browser, and read the redirect URL from standard input
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Request this scope as well (can be repeated)
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// Name of the server
    #[arg(required_unless_present = "all")]
    pub(crate) server: Option<String>,
    /// Log out of all servers, including logins that cannot be read
    #[arg(long, conflicts_with = "server")]
    pub(crate) all: bool,
}

pub(crate) async fn login(context: &CommandContext, login: &LoginArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, &login.server)?;
    let Some(server) = config.servers.get(&id) else {
        let error = CliError::new(exit_code::CONFIG, format!("the entry of `{id}` is invalid"));
        return Err(error.with_hint(format!("`switchboard doctor {id}` shows details")));
    };
    let logins = Logins::new(&context.places.state, &context.environment, &config.settings);
    let whole = log_in(context, &logins, server, login);
    let held = context.or_interrupted(whole).await??;
    if context.printer.json {
        context.printer.json(&held)?;
    } else {
        context.printer.say(&format!("logged in to `{id}`: {}", login_text(&held)));
    }
    Ok(exit_code::OK)
}

async fn log_in(
    context: &CommandContext,
    logins: &Logins,
    server: &ServerConfig,
    login: &LoginArgs,
) -> Result<StoredLogin, CliError> {
    // A dynamic registration is bound to its redirect URI, and thereby to the port.
    let before = logins.callback_port(server).await;
    let callback =
        CallbackListener::listen(server.oauth.callback_port, before).await.map_err(|error| {
            CliError::new(
                exit_code::TROUBLE,
                format!("cannot listen for the browser's redirect: {error}"),
            )
        })?;
    let printer = context.printer.clone();
    let told = move |step: LoginStep| printer.say(&escape_line(&step_text(&step)));
    let redirect_uri = callback.address();
    let scopes = login.scope.clone();
    let pending =
        logins.begin(server, LoginOptions { redirect_uri, scopes, on_step: &told }).await?;
    let (arrived, mut visits) = mpsc::channel(4);
    let listening = callback.run(arrived);
    let person = async {
        let mut pasted = send_person(context, &server.id, login, &pending);
        wait(context, pending, &mut visits, pasted.as_mut()).await
    };
    tokio::select! {
        held = person => held,
        () = listening => Err(CliError::new(exit_code::TROUBLE, "the redirect listener stopped")),
    }
}

fn send_person(
    context: &CommandContext,
    id: &ServerId,
    login: &LoginArgs,
    pending: &PendingLogin,
) -> Option<mpsc::Receiver<String>> {
    let url = pending.authorization_url();
    let printer = &context.printer;
    if !login.no_browser {
        printer.say(&format!("opening a browser to log in to `{id}`; waiting for the redirect"));
        match open_address(url, context.environment.variable("BROWSER")) {
            Ok(()) => {
                printer.say(&format!("if it does not open, go to\n{}", escape_line(url)));
                return None;
            }
            Err(why) => printer.warn(&why, None),
        }
    }
    // The URL is necessary, so print it even with `--quiet`.
    talk(&format!(
        "open this URL in a browser:\n{}\nif the browser runs on another machine, paste the URL \
         that it ends at here:",
        escape_line(url)
    ));
    Some(lines())
}

async fn wait(
    context: &CommandContext,
    pending: PendingLogin,
    visits: &mut mpsc::Receiver<CallbackVisit>,
    mut pasted: Option<&mut mpsc::Receiver<String>>,
) -> Result<StoredLogin, CliError> {
    let limit = pending.deadline().saturating_duration_since(Instant::now());
    let too_late = tokio::time::sleep(limit);
    tokio::pin!(too_late);
    let mut wrong = None;
    loop {
        tokio::select! {
            Some(visit) = visits.recv() => {
                if !pending.accepts(&visit.url) {
                    // Any local program or web page can send a redirect; one with another state is
                    // not ours.
                    visit.show(CallbackPage::Wrong).await;
                    continue;
                }
                let held = pending.finish(&visit.url).await;
                visit.show(if held.is_ok() { CallbackPage::Done } else { CallbackPage::Failed }).await;
                return Ok(held?);
            }
            line = next(&mut pasted) => match line {
                Some(line) if line.trim().is_empty() => {}
                Some(line) if pending.accepts(&line) => return Ok(pending.finish(&line).await?),
                Some(line) => {
                    context.printer.warn("this URL does not belong to this login", None);
                    wrong = Some(line);
                }
                // End of input: report a wrong paste, or else keep waiting for the browser.
                None => match wrong.take() {
                    Some(line) => return Ok(pending.finish(&line).await?),
                    None => pasted = None,
                },
            },
            () = &mut too_late => return Err(LoginError::TooLate(10).into()),
        }
    }
}

async fn next(lines: &mut Option<&mut mpsc::Receiver<String>>) -> Option<String> {
    match lines {
        Some(lines) => lines.recv().await,
        None => std::future::pending().await,
    }
}

fn lines() -> mpsc::Receiver<String> {
    let (read, lines) = mpsc::channel(4);
    // A blocking read cannot be cancelled, so a thread does it, which may outlive the login.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if read.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn step_text(step: &LoginStep) -> String {
    match step {
        LoginStep::Asking => "querying the server".to_owned(),
        LoginStep::Discovering => "discovering the authorization server".to_owned(),
        LoginStep::Registering(issuer) => format!("registering with {issuer}"),
    }
}

pub(crate) fn login_text(held: &StoredLogin) -> String {
    let scopes = match held.scopes.as_slice() {
        [] => String::new(),
        scopes => format!(" for {}", scopes.join(" ")),
    };
    let until = match (held.renewable, held.ends) {
        (true, _) => ", renewed automatically".to_owned(),
        (false, Some(ends)) => {
            format!(", until {}", ends.strftime("%Y-%m-%d %H:%M:%SZ"))
        }
        (false, None) => String::new(),
    };
    escape_line(&format!("by {}{scopes}{until}", held.issuer)).into_owned()
}

pub(crate) async fn logout(context: &CommandContext, logout: &LogoutArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let logins = Logins::new(&context.places.state, &context.environment, &config.settings);
    // A login may outlive the entry of its server, so do not require one.
    let ended = match &logout.server {
        Some(server) => logins.logout(server).await?,
        None => logins.logout_all().await?,
    };
    if let (Some(server), true) = (&logout.server, ended.is_empty()) {
        context.server_id(&config, server)?;
    }
    if context.printer.json {
        context.printer.json(&ended)?;
    } else if ended.is_empty() {
        context.printer.say("not logged in");
    } else {
        ended.iter().for_each(|ended| tell_ended(context, ended));
    }
    Ok(exit_code::OK)
}

fn tell_ended(context: &CommandContext, ended: &LogoutReport) {
    let server = escape_line(&ended.server);
    match &ended.why {
        None => context.printer.say(&format!("logged out of `{server}`")),
        Some(why) => context.printer.warn(
            &format!("deleted the login to `{server}`, but its tokens may still be valid: {why}"),
            None,
        ),
    }
}
