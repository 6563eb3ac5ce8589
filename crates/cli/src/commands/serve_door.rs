//! Who may call `serve`, and how much: from the arguments to the door and the limits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard_gateway::http::{Door, Keys};
use switchboard_gateway::keys::{AnyOf, Oauth, OauthOptions, TokenFile, Tokens};
use switchboard_gateway::{CallerLimits, Options};

use crate::args_serve::{LimitArguments, OauthArguments, Serve};
use crate::context::Context;
use crate::error::CliError;

/// What is checked before a request is read. An address that other machines reach needs a proof.
pub(crate) fn door(context: &Context, serve: &Serve) -> Result<Door, CliError> {
    let address = serve.listen;
    let mut hosts = serve.allow_host.clone();
    if !address.ip().is_unspecified() {
        hosts.push(authority(address));
    }
    let oauth = oauth(&serve.oauth)?;
    let open = address.ip().is_loopback() && !serve.require_token && oauth.is_none();
    let keys = if open { None } else { Some(keys(context, address, oauth)?) };
    if !address.ip().is_loopback() {
        let hint = "put a proxy with TLS before it, and let only that one reach it";
        context.printer.warn(
            &format!("what is said to `{address}` can be read on the way, tokens too"),
            Some(hint),
        );
    }
    Ok(Door { hosts, origins: serve.allow_origin.clone(), keys })
}

fn keys(
    context: &Context,
    address: SocketAddr,
    oauth: Option<Oauth>,
) -> Result<Arc<dyn Keys>, CliError> {
    let tokens = Tokens::open(TokenFile::in_state(&context.places.state))?;
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
    Ok(Arc::new(AnyOf { tokens, oauth }))
}

fn oauth(arguments: &OauthArguments) -> Result<Option<Oauth>, CliError> {
    let (Some(issuer), Some(audience)) = (&arguments.oauth_issuer, &arguments.oauth_audience)
    else {
        return Ok(None);
    };
    let options = OauthOptions {
        issuer: issuer.clone(),
        audience: audience.clone(),
        scopes: arguments.oauth_scope.clone(),
        keys_at: arguments.oauth_jwks.clone(),
    };
    Ok(Some(Oauth::new(options)?))
}

/// The options with the limits put in; `door` tells whether callers are told apart.
pub(crate) fn limited(options: Options, door: &Door, limits: &LimitArguments) -> Options {
    let usual =
        if door.keys.is_some() { CallerLimits::default() } else { CallerLimits::of_machine() };
    let count = |given: Option<u32>, usual: usize| {
        given.and_then(|count| usize::try_from(count).ok()).unwrap_or(usual)
    };
    Options {
        body_limit_bytes: count(Some(limits.max_body), options.body_limit_bytes),
        read_limit: Duration::from_secs(limits.read_timeout),
        drain: Duration::from_secs(limits.drain),
        caller: CallerLimits {
            in_flight: count(limits.max_in_flight, usual.in_flight),
            per_second: limits.max_rate,
            sessions: count(limits.max_sessions, usual.sessions),
            waiting: usual.waiting,
        },
        ..options
    }
}

/// The address as a `Host` without its port.
fn authority(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}
