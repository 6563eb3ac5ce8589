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

pub(crate) fn access_control(
    context: &CommandContext,
    wishes: &ServeOptions,
) -> Result<AccessControl, CliError> {
    check_names(wishes)?;
    let address = wishes.listen;
    let mut hosts = wishes.hosts.clone();
    // Clients never send the unspecified address in `Host`, so accepting it would be of no use.
    if !address.ip().is_unspecified() {
        hosts.push(authority(address));
    }
    let oauth = wishes.oauth.clone().map(|options| oauth(context, options)).transpose()?;
    // An address that other machines can reach always requires authentication.
    let open = address.ip().is_loopback() && !wishes.require_token && oauth.is_none();
    let keys = if open { None } else { Some(authenticator(context, address, oauth)?) };
    if !address.ip().is_loopback() {
        let message = format!("traffic to `{address}` is not encrypted, and includes tokens");
        let hint = "put a proxy with TLS in front of it, and let only the proxy connect";
        context.printer.warn(&message, Some(hint));
    }
    let origins = wishes.origins.clone();
    let policy = HostPolicy { hosts, origins, own_pages: OwnPages::AcceptedHosts };
    Ok(AccessControl { policy, authenticator: keys })
}

fn oauth(context: &CommandContext, options: OauthOptions) -> Result<OauthAuthenticator, CliError> {
    let printer = context.printer.clone();
    let issuer = options.issuer.clone();
    let told = move |problem: Option<&str>| match problem {
        Some(why) => printer.warn(
            &format!("cannot fetch the keys of the issuer `{issuer}`: {why}"),
            Some("until it works, only tokens signed with a known key are accepted"),
        ),
        None => {
            let issuer = escape_line(&issuer);
            printer.say(&format!("fetched the keys of the issuer `{issuer}` again"));
        }
    };
    Ok(OauthAuthenticator::new(options).map_err(key_error)?.with_problem_callback(told))
}

/// Rejects host names and origins that no request can match.
fn check_names(wishes: &ServeOptions) -> Result<(), CliError> {
    // Otherwise the mistake would only show when clients are refused.
    if let Some(host) = wishes.hosts.iter().find(|host| !is_host(host)) {
        let message = format!("`{}` is not a host name", escape_line(host));
        return Err(CliError::usage(message).with_hint("write `tools.example.com`"));
    }
    let is_origin = |origin: &String| {
        origin.split_once("://").is_some_and(|(scheme, host)| !scheme.is_empty() && is_host(host))
    };
    if let Some(origin) = wishes.origins.iter().find(|origin| !is_origin(origin)) {
        let message = format!("`{}` is not an origin", escape_line(origin));
        let hint = "write `https://pages.example.com`, with a port if needed and without a path";
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
        let hint = "`switchboard tokens add NAME` creates one";
        if !address.ip().is_loopback() {
            let message = format!("other machines can reach `{address}`, but no token exists");
            let hint = format!("{hint}; or `--oauth-issuer`, or listen on 127.0.0.1");
            return Err(CliError::usage(message).with_hint(hint));
        }
        context.printer.warn("no token exists yet, so every request is rejected", Some(hint));
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
