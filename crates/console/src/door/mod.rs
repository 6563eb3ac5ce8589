//! Who is let in: the right `Host`, no foreign page, a browser that was signed in, and a token for
//! everything that acts.

mod cookie;
mod guard;
mod headers;
mod names;
mod sign_ins;

pub(crate) use guard::{Signed, acting, checked, signed_in};
pub(crate) use headers::{guard, guarded};
pub(crate) use names::Names;
pub(crate) use sign_ins::SignIns;
