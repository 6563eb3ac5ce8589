//! Ends logins, here and at the authorization server.

use switchboard_host::format::escape_line;
use switchboard_host::login::{Ended, Logins};
use switchboard_terminal::{CliError, exit_code};

use crate::args_login::Logout;
use crate::context::Context;

/// Logs out.
pub(crate) async fn logout(context: &Context, logout: &Logout) -> Result<u8, CliError> {
    let config = context.config()?;
    let logins = Logins::new(&context.places.state, &context.environment, &config.settings);
    // A server that is not configured any more can have a login all the same.
    let ended = match &logout.server {
        Some(server) => logins.logout(server).await?,
        None => logins.logout_all().await?,
    };
    if let (Some(server), true) = (&logout.server, ended.is_empty()) {
        context.known(&config, server)?;
    }
    if context.printer.json {
        context.printer.json(&ended)?;
    } else if ended.is_empty() {
        context.printer.say("there was no login");
    } else {
        ended.iter().for_each(|ended| tell(context, ended));
    }
    Ok(exit_code::OK)
}

fn tell(context: &Context, ended: &Ended) {
    let server = escape_line(&ended.server);
    match &ended.why {
        None => context.printer.say(&format!("logged out of `{server}`")),
        Some(why) => context.printer.warn(
            &format!("the login to `{server}` is forgotten here, but may live on there: {why}"),
            None,
        ),
    }
}
