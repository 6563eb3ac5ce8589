//! Who is let in: the right `Host`, no foreign page, a browser that was signed in, and a token for
//! everything that acts.

mod cookie;
mod guard;
mod headers;
mod host_names;
mod sign_ins;

pub(crate) use guard::{Principal, check_host, require_action, require_session};
pub(crate) use headers::{add_security_headers, set_security_headers};
pub(crate) use host_names::HostNames;
pub(crate) use sign_ins::SignIns;
