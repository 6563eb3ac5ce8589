//! Access control of `serve`, built from its options.

use std::net::SocketAddr;
use std::sync::Arc;

use switchboard_access::{
    Authenticator, CombinedAuthenticator, OauthAuthenticator, OauthOptions, TokenAuthenticator,
    TokenFile,
};
use switchboard_gateway::AccessControl;
use switchboard_net::{HostPolicy, OwnPages};
use switchboard_terminal::CliError;
use switchboard_text::escape_line;

use crate::commands::serve::wishes::ServeOptions;
use crate::commands::tokens::key_error;
use crate::context::CommandContext;

/// Returns the checks for incoming requests. A non-loopback address requires authentication.
pub(crate) fn access_control(
    context: &CommandContext,
    wishes: &ServeOptions,
) -> Result<AccessControl, CliError> {
    check_names(wishes)?;
    let address = wishes.listen;
    let mut hosts = wishes.hosts.clone();
    if !address.ip().is_unspecified() {
        hosts.push(authority(address));
    }
    let oauth = wishes.oauth.clone().map(|options| oauth(context, options)).transpose()?;
    let open = address.ip().is_loopback() && !wishes.require_token && oauth.is_none();
    let keys = if open { None } else { Some(authenticator(context, address, oauth)?) };
    if !address.ip().is_loopback() {
        let hint = "put a proxy with TLS before it, and let only that one reach it";
        context.printer.warn(
            &format!("what is said to `{address}` can be read on the way, tokens too"),
            Some(hint),
        );
    }
    let origins = wishes.origins.clone();
    let policy = HostPolicy { hosts, origins, own_pages: OwnPages::AcceptedHosts };
    Ok(AccessControl { policy, authenticator: keys })
}

/// Creates the OAuth authenticator; reports when the issuer's keys cannot be fetched.
fn oauth(context: &CommandContext, options: OauthOptions) -> Result<OauthAuthenticator, CliError> {
    let printer = context.printer.clone();
    let issuer = options.issuer.clone();
    let told = move |problem: Option<&str>| match problem {
        Some(why) => printer.warn(
            &format!("the keys of the issuer `{issuer}` cannot be fetched: {why}"),
            Some("until they can, tokens count only if they were signed with a key that is known"),
        ),
        None => {
            let issuer = escape_line(&issuer);
            printer.say(&format!("the keys of the issuer `{issuer}` were fetched again"));
        }
    };
    Ok(OauthAuthenticator::new(options).map_err(key_error)?.with_problem_callback(told))
}

/// Rejects host names and origins that no request can match; otherwise the mistake would only show
/// when clients are refused.
fn check_names(wishes: &ServeOptions) -> Result<(), CliError> {
    if let Some(host) = wishes.hosts.iter().find(|host| !is_host(host)) {
        let message = format!("`{}` is not the name of a host", escape_line(host));
        return Err(CliError::usage(message).with_hint("write `tools.example.com`"));
    }
    let is_origin = |origin: &String| {
        origin.split_once("://").is_some_and(|(scheme, host)| !scheme.is_empty() && is_host(host))
    };
    if let Some(origin) = wishes.origins.iter().find(|origin| !is_origin(origin)) {
        let message = format!("`{}` is not the origin of a page", escape_line(origin));
        let hint = "write `https://pages.example.com`, with its port if it has one, and no path";
        return Err(CliError::usage(message).with_hint(hint));
    }
    Ok(())
}

fn is_host(text: &str) -> bool {
    !text.is_empty()
        && !text.contains(['/', '@', '*', '?', '#', ',', '\\'])
        && !text.contains(char::is_whitespace)
}

fn authenticator(
    context: &CommandContext,
    address: SocketAddr,
    oauth: Option<OauthAuthenticator>,
) -> Result<Arc<dyn Authenticator>, CliError> {
    let tokens = TokenAuthenticator::open(TokenFile::in_state_folder(&context.places.state))
        .map_err(key_error)?;
    if tokens.count() == 0 && oauth.is_none() {
        let hint = "`switchboard tokens add NAME` makes one";
        if !address.ip().is_loopback() {
            let message = format!(
                "`{address}` can be reached from other machines, and no token is there to present"
            );
            let hint = format!("{hint}; or `--oauth-issuer`, or listen on 127.0.0.1");
            return Err(CliError::usage(message).with_hint(hint));
        }
        context.printer.warn("there is no token yet, so nobody is let in", Some(hint));
    }
    Ok(Arc::new(CombinedAuthenticator { tokens, oauth }))
}

/// Returns the address in the form of a `Host` header, without the port.
fn authority(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}
