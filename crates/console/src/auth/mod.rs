//! Access control: host and origin checks, browser sessions, and CSRF tokens for actions.

mod cookie;
mod guard;
mod host_names;
mod sign_ins;

pub(crate) use guard::{
    Principal, add_security_headers, check_host, new_link, require_action, require_session,
    set_security_headers, sign_out,
};
pub(crate) use host_names::HostNames;
pub(crate) use sign_ins::SignIns;
